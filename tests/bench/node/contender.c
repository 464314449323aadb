/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/node/contender.h"

#include "common/cleanup.h"
#include "common/parse.h"

#include <string.h>
#include <time.h>

static const struct contender_kind *const kinds[] = {&spawned_kind, &prestarted_kind, &jailed_kind};

int contender_parse(struct contender *contender, char *line, struct error *err)
{
    *contender = (struct contender){.line = line};
    const char *fields[MAX_WORDS + 4];
    size_t count = 0;
    for (char *field = line; field; count++) {
        if (count == ARRAY_SIZE(fields))
            return error_set(err, E2BIG, "a contender has more than %d words", MAX_WORDS);
        char *tab = strchr(field, '\t');
        if (tab)
            *tab = '\0';
        fields[count] = field;
        field = tab ? tab + 1 : NULL;
    }
    for (size_t i = 0; count > 0 && i < ARRAY_SIZE(kinds); i++) {
        if (strcmp(kinds[i]->name, fields[0]) == 0)
            contender->kind = kinds[i];
    }
    if (!contender->kind || count < 4 || count - 3 > MAX_WORDS ||
        parse_u64(fields[2], 1, UINT32_MAX, &contender->every) < 0)
        return error_set(err, EINVAL, "'%s' is no line of a contender", line);
    contender->name = fields[1];
    contender->word_count = count - 3;
    memcpy(contender->words, fields + 3, contender->word_count * sizeof(fields[0]));
    return 0;
}

char *const *spawn_arguments(const char *const argv[])
{
    union {
        const char *const *in;
        char *const *out;
    } cast = {.in = argv};
    return cast.out;
}

void pause_ms(uint64_t ms)
{
    struct timespec pause = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (ms > 0 && nanosleep(&pause, &pause) < 0 && errno == EINTR)
        continue;
}
