/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/cgroup_layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const controller_names[CGROUP_CONTROLLER_COUNT] = {
    [CGROUP_MEMORY] = "memory",
    [CGROUP_CPU] = "cpu",
    [CGROUP_CPUACCT] = "cpuacct",
    [CGROUP_PIDS] = "pids",
};

struct word {
    const char *at;
    size_t len;
};

/* The next word before `end`, behind any blanks; len 0 at the end. */
static struct word next_word(const char **at, const char *end, const char *separators)
{
    while (*at < end && strchr(separators, **at))
        (*at)++;
    struct word word = {.at = *at};
    while (*at < end && !strchr(separators, **at))
        (*at)++;
    word.len = (size_t)(*at - word.at);
    return word;
}

static bool word_is(struct word word, const char *text)
{
    return strlen(text) == word.len && memcmp(word.at, text, word.len) == 0;
}

static bool list_has(struct word list, const char *name)
{
    const char *at = list.at, *end = list.at + list.len;
    for (struct word word = next_word(&at, end, ","); word.len > 0;
         word = next_word(&at, end, ",")) {
        if (word_is(word, name))
            return true;
    }
    return false;
}

static unsigned int controllers_of(struct word list, const char *separators)
{
    unsigned int found = 0;
    const char *at = list.at, *end = list.at + list.len;
    for (struct word word = next_word(&at, end, separators); word.len > 0;
         word = next_word(&at, end, separators)) {
        for (unsigned int i = 0; i < CGROUP_CONTROLLER_COUNT; i++)
            found |= word_is(word, controller_names[i]) ? CGROUP_BIT(i) : 0;
    }
    return found;
}

unsigned int cgroup_controllers_parse(const char *list, const char *separators)
{
    return controllers_of((struct word){.at = list, .len = strlen(list)}, separators);
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* mountinfo writes blanks, newlines and backslashes as \ooo. */
static bool unescape(struct word word, char ret_text[static CGROUP_PATH_SIZE])
{
    size_t len = 0;
    for (size_t i = 0; i < word.len; i++) {
        if (len + 1 >= CGROUP_PATH_SIZE)
            return false;
        const char *c = word.at + i;
        if (c[0] == '\\' && word.len - i >= 4 && is_octal(c[1]) && is_octal(c[2]) &&
            is_octal(c[3])) {
            ret_text[len++] = (char)((c[1] - '0') * 64 + (c[2] - '0') * 8 + (c[3] - '0'));
            i += 3;
        } else {
            ret_text[len++] = *c;
        }
    }
    ret_text[len] = '\0';
    return true;
}

/* id parent major:minor root point options [tags...] - type source super-options */
static bool parse_mount(const char *line, const char *end, struct cgroup_mount *ret_mount)
{
    struct word fields[6];
    for (size_t i = 0; i < 6; i++)
        fields[i] = next_word(&line, end, " ");
    struct word word;
    do {
        word = next_word(&line, end, " ");
    } while (word.len > 0 && !word_is(word, "-"));
    struct word type = next_word(&line, end, " ");
    (void)next_word(&line, end, " ");
    struct word super_options = next_word(&line, end, " ");

    *ret_mount = (struct cgroup_mount){0};
    if (word_is(type, "cgroup2"))
        ret_mount->version = 2;
    else if (word_is(type, "cgroup"))
        ret_mount->version = 1;
    else
        return false;
    if (ret_mount->version == 1)
        ret_mount->controllers = controllers_of(super_options, ",");
    ret_mount->read_only = list_has(fields[5], "ro") || list_has(super_options, "ro");
    return unescape(fields[3], ret_mount->root) && unescape(fields[4], ret_mount->point);
}

void cgroup_mounts_parse(const char *mountinfo, struct cgroup_mounts *ret_mounts)
{
    ret_mounts->count = 0;
    while (*mountinfo && ret_mounts->count < MAX_CGROUP_MOUNTS) {
        const char *end = mountinfo + strcspn(mountinfo, "\n");
        if (parse_mount(mountinfo, end, &ret_mounts->mounts[ret_mounts->count]))
            ret_mounts->count++;
        mountinfo = *end ? end + 1 : end;
    }
}

/* Of several mounts of the same, one that can be written. */
static const struct cgroup_mount *find_mount(const struct cgroup_mounts *mounts,
                                             unsigned int version, unsigned int controllers)
{
    const struct cgroup_mount *found = NULL;
    for (size_t i = 0; i < mounts->count; i++) {
        const struct cgroup_mount *mount = &mounts->mounts[i];
        if (mount->version == version && (mount->controllers & controllers) == controllers &&
            (!found || (found->read_only && !mount->read_only)))
            found = mount;
    }
    return found;
}

const struct cgroup_mount *cgroup_mounts_find_v2(const struct cgroup_mounts *mounts)
{
    return find_mount(mounts, 2, 0);
}

const struct cgroup_mount *cgroup_mounts_find_v1(const struct cgroup_mounts *mounts,
                                                 enum cgroup_controller controller)
{
    return find_mount(mounts, 1, CGROUP_BIT(controller));
}

const char *cgroup_controller_name(enum cgroup_controller controller)
{
    return controller_names[controller];
}

static void name_controllers(unsigned int controllers, char *ret_text, size_t size)
{
    size_t len = 0;
    ret_text[0] = '\0';
    for (unsigned int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
        if (!(controllers & CGROUP_BIT(i)))
            continue;
        int n =
            snprintf(ret_text + len, size - len, "%s%s", len > 0 ? ", " : "", controller_names[i]);
        if (n > 0 && (size_t)n < size - len)
            len += (size_t)n;
    }
}

static void layout_add(struct cgroup_layout *layout, const struct cgroup_mount *mount)
{
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->hierarchies[i] == mount)
            return;
    }
    layout->hierarchies[layout->count++] = mount;
}

static int check_writable(const struct cgroup_layout *layout, struct error *err)
{
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->hierarchies[i]->read_only)
            return error_set(err, EROFS,
                             "the cgroup file system at %s is mounted read-only: the jailer makes "
                             "a cgroup for each run and needs it writable",
                             layout->hierarchies[i]->point);
    }
    return 0;
}

int cgroup_layout_choose(const struct cgroup_mounts *mounts, unsigned int v2_controllers,
                         struct cgroup_layout *ret_layout, struct error *err)
{
    struct cgroup_layout layout = {.version = 2};
    const struct cgroup_mount *v2 = find_mount(mounts, 2, 0);
    if (v2 && (v2_controllers & CGROUP_V2_NEEDED) == CGROUP_V2_NEEDED) {
        layout_add(&layout, v2);
    } else {
        layout.version = 1;
        unsigned int missing = 0;
        for (unsigned int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
            const struct cgroup_mount *mount = cgroup_mounts_find_v1(mounts, i);
            if (mount)
                layout_add(&layout, mount);
            else
                missing |= CGROUP_BIT(i);
        }
        if (missing) {
            char v1_lacks[64], v2_lacks[64];
            name_controllers(missing, v1_lacks, sizeof(v1_lacks));
            name_controllers(CGROUP_V2_NEEDED & ~v2_controllers, v2_lacks, sizeof(v2_lacks));
            return error_set(err, ENODEV,
                             "no usable cgroups: v2 %s%s, v1 lacks %s; mount cgroup2 with its "
                             "controllers at /sys/fs/cgroup",
                             v2 ? "lacks " : "is not mounted", v2 ? v2_lacks : "", v1_lacks);
        }
    }
    int r = check_writable(&layout, err);
    if (r < 0)
        return r;
    *ret_layout = layout;
    return 0;
}

/* "12:cpu,cpuacct:/path" for v1, "0::/path" for v2. */
static bool line_is_of(const char *line, const char *end, const struct cgroup_mount *mount,
                       struct word *ret_path)
{
    const char *first = memchr(line, ':', (size_t)(end - line));
    const char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
    if (!second)
        return false;
    struct word list = {.at = first + 1, .len = (size_t)(second - first - 1)};
    *ret_path = (struct word){.at = second + 1, .len = (size_t)(end - second - 1)};
    if (mount->version == 2)
        return list.len == 0;
    return (controllers_of(list, ",") & mount->controllers) != 0;
}

int cgroup_own_path(const char *self_cgroup, const struct cgroup_mount *mount,
                    char ret_path[static CGROUP_PATH_SIZE])
{
    struct word path = {0};
    bool found = false;
    while (*self_cgroup && !found) {
        const char *end = self_cgroup + strcspn(self_cgroup, "\n");
        found = line_is_of(self_cgroup, end, mount, &path);
        self_cgroup = *end ? end + 1 : end;
    }
    if (!found || path.len == 0 || path.len >= CGROUP_PATH_SIZE)
        return -ENOENT;

    /* What is mounted may itself be a cgroup further down, as in a container. */
    size_t root_len = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    if (path.len < root_len || memcmp(path.at, mount->root, root_len) != 0 ||
        (path.len > root_len && path.at[root_len] != '/'))
        return -ENOENT;
    size_t len = path.len - root_len;
    memcpy(ret_path, path.at + root_len, len);
    ret_path[len] = '\0';
    if (strcmp(ret_path, "/") == 0)
        ret_path[0] = '\0';
    return strncmp(ret_path, "/..", 3) == 0 ? -ENOENT : 0;
}
