/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs on one node, side by side. The contenders are lines on standard input (contender.h), and the
 * figures one JSON object a line on standard output, raw: what to make of them is figures.py's.
 *
 *   bench_node latency CODE ROUNDS PAUSE_MS     one run at a time; those of a round take turns in
 * an order that is drawn anew, each after a pause bench_node flood CODE AT_ONCE WINDOW_MS     as
 * many as they can, so many at once, in turn
 *
 * A contender that fails is told with its error, and takes no further part.
 */
#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"
#include "common/random.h"
#include "tests/bench/node/contender.h"

#include <inttypes.h>
#include <string.h>

#define MAX_SPEC   (256u << 10)
#define MAX_ROUNDS 100000
#define WARM_UP    2u

struct bench {
    struct contender contenders[MAX_CONTENDERS];
    bool out[MAX_CONTENDERS]; /* has failed */
    size_t count;
    const char *code;
};

/* Error texts hold no quotes but their own; what JSON forbids in a string becomes a space. */
static void print_text(const char *key, const char *text)
{
    printf(",\"%s\":\"", key);
    for (const char *c = text; *c; c++)
        (void)putchar(*c == '"' || *c == '\\' || (unsigned char)*c < 0x20 ? ' ' : *c);
    (void)putchar('"');
}

static void drop(struct bench *bench, size_t index, const struct error *err)
{
    bench->out[index] = true;
    printf("{\"contender\":\"%s\"", bench->contenders[index].name);
    print_text("error", err->text);
    printf("}\n");
}

static void print_sample(const struct contender *contender, const struct sample *sample)
{
    char output[sizeof(sample->output)];
    (void)snprintf(output, sizeof(output), "%.*s", (int)strcspn(sample->output, "\n"),
                   sample->output);
    printf("{\"contender\":\"%s\",\"output_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64, contender->name,
           sample->output_ns, sample->end_ns);
    if (sample->id[0]) {
        printf(",\"from_ns\":%" PRIu64 ",\"created_ns\":%" PRIu64 ",\"started_ns\":%" PRIu64
               ",\"warm\":%s",
               sample->from_ns, sample->created_ns, sample->started_ns,
               sample->warm ? "true" : "false");
        print_text("id", sample->id);
    }
    print_text("output", output);
    printf("}\n");
}

static void take_turn(struct bench *bench, size_t index, uint64_t pause, bool counts)
{
    struct contender *contender = &bench->contenders[index];
    struct sample sample;
    struct error err = {0};
    int r = contender->kind->prepare ? contender->kind->prepare(contender, bench->code, &err) : 0;
    pause_ms(pause);
    if (r >= 0)
        r = contender->kind->run(contender, bench->code, &sample, &err);
    if (r < 0)
        drop(bench, index, &err);
    else if (counts)
        print_sample(contender, &sample);
    if (contender->kind->settle)
        contender->kind->settle(contender);
}

static void shuffle(size_t *order, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        uint32_t drawn = 0;
        if (random_bytes(&drawn, sizeof(drawn)) < 0)
            return;
        size_t other = drawn % i;
        size_t swapped = order[other];
        order[other] = order[i - 1];
        order[i - 1] = swapped;
    }
}

static void latency(struct bench *bench, uint64_t rounds, uint64_t pause)
{
    size_t order[MAX_CONTENDERS] = {0};
    for (size_t i = 0; i < bench->count; i++)
        order[i] = i;
    for (uint64_t round = 0; round < rounds + WARM_UP; round++) {
        shuffle(order, bench->count);
        for (size_t i = 0; i < bench->count; i++) {
            size_t index = order[i];
            bool turn = round < WARM_UP || (round - WARM_UP) % bench->contenders[index].every == 0;
            if (turn && !bench->out[index])
                take_turn(bench, index, pause, round >= WARM_UP);
        }
    }
}

static void flood(struct bench *bench, unsigned int at_once, uint64_t window_ms)
{
    for (size_t i = 0; i < bench->count; i++) {
        struct contender *contender = &bench->contenders[i];
        struct flood flood = {0};
        struct error err = {0};
        if (bench->out[i])
            continue;
        (void)fflush(stdout);
        if (contender->kind->flood(contender, bench->code, at_once, window_ms, &flood, &err) < 0) {
            drop(bench, i, &err);
            continue;
        }
        printf("{\"contender\":\"%s\",\"at_once\":%u,\"counted\":%" PRIu64 ",\"seconds\":%.3f"
               ",\"runs\":%" PRIu64 ",\"warm\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 "}\n",
               contender->name, at_once, flood.counted, flood.seconds, flood.runs, flood.warm,
               flood.cpu_ns);
    }
}

static int read_contenders(struct bench *bench, char *text, struct error *err)
{
    for (char *line = text; *line;) {
        char *end = line + strcspn(line, "\n");
        char *next = *end ? end + 1 : end;
        *end = '\0';
        if (bench->count == MAX_CONTENDERS)
            return error_set(err, E2BIG, "more than %d contenders", MAX_CONTENDERS);
        int r = contender_parse(&bench->contenders[bench->count], line, err);
        if (r < 0)
            return r;
        bench->count++;
        line = next;
    }
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: bench_node latency CODE ROUNDS PAUSE_MS\n"
                    "       bench_node flood CODE AT_ONCE WINDOW_MS\n"
                    "the contenders come on standard input\n");
    return 2;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct error err = {0};
    uint64_t first = 0, second = 0;
    bool floods = argc == 5 && strcmp(argv[1], "flood") == 0;
    if (argc != 5 || (!floods && strcmp(argv[1], "latency") != 0) ||
        parse_u64(argv[3], 1, floods ? 256 : MAX_ROUNDS, &first) < 0 ||
        parse_u64(argv[4], 0, 600000, &second) < 0)
        return usage();
    bench.code = argv[2];
    cleanup_buf struct buf spec = BUF_INIT(MAX_SPEC);
    int r = fd_read_all(STDIN_FILENO, &spec);
    if (r < 0 || !spec.data)
        (void)error_set_errno(&err, r < 0 ? -r : EINVAL, "read the contenders");
    else
        r = read_contenders(&bench, spec.data, &err);
    if (err.code != 0) {
        fprintf(stderr, "bench_node: %s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < bench.count; i++) {
        if (bench.contenders[i].kind->open(&bench.contenders[i], &err) < 0)
            drop(&bench, i, &err);
    }
    if (floods)
        flood(&bench, (unsigned int)first, second);
    else
        latency(&bench, first, second);
    for (size_t i = 0; i < bench.count; i++)
        bench.contenders[i].kind->close(&bench.contenders[i]);
    return 0;
}
