// Limits: the table of limits.h, and how tests lower what is in it.
//
// What is shipped reads `current` and never writes it. The suites (test/servers/servers.c) and the
// simulator (sim/limits.c) write it before they begin. [limits-1]
//
// Not here: what happens at a limit; each module says so for its own.
#include "base/limits.h"
#include "base/array.h"
#include "base/assert.h"

#define LIMITS_VALUE(NAME, name, most, least, meaning) .name = LIMIT_##NAME##_MAX,
static const Limits documented = {LIMITS(LIMITS_VALUE)};
static Limits current = {LIMITS(LIMITS_VALUE)};
const Limits *const limits_in_force = &current;

#define LIMITS_INFO(NAME, name, most, least, meaning)                                              \
    {#name, meaning, LIMIT_##NAME##_MAX, least, offsetof(Limits, name)},
const LimitInfo limit_infos[] = {LIMITS(LIMITS_INFO)};
const size_t limit_count = COUNT_OF(limit_infos);

void limits_set(const LimitInfo *info, uint32_t value) {
    ASSERT(value >= info->least && value <= info->most);
    *(uint32_t *)(void *)((char *)&current + info->offset) = value;
}

uint32_t limits_get(const LimitInfo *info) {
    return *(const uint32_t *)(const void *)((const char *)&current + info->offset);
}

void limits_reset(void) { current = documented; }

static const LimitInfo *find(Str name) {
    for (size_t i = 0; i < limit_count; i++)
        if (str_equal(name, str_from(limit_infos[i].name))) return &limit_infos[i];
    return NULL;
}

static bool read_number(Str text, uint32_t *ret_value) {
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || value > UINT32_MAX) return false;
        value = 10 * value + (uint64_t)(text.data[i] - '0');
    }
    *ret_value = (uint32_t)value;
    return text.len > 0 && value <= UINT32_MAX;
}

static bool read_one(Str word) {
    if (str_equal(word, STR("smallest"))) {
        for (size_t i = 0; i < limit_count; i++) limits_set(&limit_infos[i], limit_infos[i].least);
        return true;
    }
    size_t at = 0;
    while (at < word.len && word.data[at] != '=') at++;
    if (at == word.len) return false;
    const LimitInfo *info = find((Str){word.data, at});
    uint32_t value;
    if (info == NULL || !read_number((Str){word.data + at + 1, word.len - at - 1}, &value))
        return false;
    if (value < info->least || value > info->most) return false;
    limits_set(info, value);
    return true;
}

bool limits_read(Str text) {
    for (size_t from = 0; from < text.len;) {
        size_t to = from;
        while (to < text.len && text.data[to] != ',') to++;
        if (!read_one((Str){text.data + from, to - from})) return false;
        from = to + 1;
    }
    return true;
}
