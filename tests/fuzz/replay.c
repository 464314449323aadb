/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main function of a fuzz target in ordinary builds: gives each file named on the command
 * line, and each file directly in a folder named there, to LLVMFuzzerTestOneInput(). A target
 * without a single input fails, for it would prove nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rbe");
    /* Exactly as long as the input, so that a sanitizer sees a read behind its end. */
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    if (!file || !bytes || fread(bytes, 1, size, file) != size) {
        fprintf(stderr, "replay: cannot read %s: %s\n", path, strerror(errno));
        exit(1);
    }
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

static int replay_path(const char *path);

static int replay_folder(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    int replayed = 0;
    for (int i = 0; i < count; i++) {
        char child[4096];
        if (entries[i]->d_name[0] != '.' && (size_t)snprintf(child, sizeof(child), "%s/%s", path,
                                                             entries[i]->d_name) < sizeof(child))
            replayed += replay_path(child);
        free(entries[i]);
    }
    free(entries);
    return replayed;
}

static int replay_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return S_ISDIR(st.st_mode) ? replay_folder(path) : replay_file(path, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
    int replayed = 0;
    for (int i = 1; i < argc; i++)
        replayed += replay_path(argv[i]);
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}
