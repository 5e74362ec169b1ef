// QueueLimit: reads NAME:max=N,per-key=N,rate=N/PERIOD, each of the three at most once.
//
// Whether the numbers make sense is the engine's to say (abide_queue_set); only the form is checked
// here. The name may hold anything but ends at the last colon, so that "eu:mail:max=2" works.
//
// Not here: what limits do (docs/queues.md).
#include "cli/run/queue.h"

static bool parse_number(Str text, int *ret_number) {
    int number = 0;
    if (text.len == 0 || text.len > 9) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        number = number * 10 + (text.data[i] - '0');
    }
    *ret_number = number;
    return true;
}

static Str before(Str text, char mark) {
    const char *at = memchr(text.data, mark, text.len);
    return at != NULL ? (Str){text.data, (size_t)(at - text.data)} : text;
}

static Str behind(Str text, Str head) {
    size_t skipped = head.len < text.len ? head.len + 1 : head.len;
    return (Str){text.data + skipped, text.len - skipped};
}

static bool read_limit(Arena *arena, Str item, abide_queue_limits *limits) {
    Str key = before(item, '='), value = behind(item, key);
    if (str_equal(key, STR("max"))) return parse_number(value, &limits->max_running);
    if (str_equal(key, STR("per-key"))) return parse_number(value, &limits->max_per_key);
    if (!str_equal(key, STR("rate"))) return false;
    Str count = before(value, '/');
    limits->rate_period = arena_cstr(arena, behind(value, count));
    return limits->rate_period[0] != 0 && parse_number(count, &limits->rate_count);
}

Status queue_limit_parse(Arena *arena, const char *text, QueueLimit *ret_limit, Diag *diag) {
    *ret_limit = (QueueLimit){0};
    const char *colon = strrchr(text, ':');
    Str rest = str_from(colon != NULL ? colon + 1 : "");
    bool is_good = colon != NULL && colon != text && rest.len > 0;
    while (is_good && rest.len > 0) {
        Str item = before(rest, ',');
        is_good = read_limit(arena, item, &ret_limit->limits);
        rest = behind(rest, item);
    }
    if (!is_good)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                        "--queue %s: write NAME:max=N,per-key=N,rate=N/PERIOD, or some of these, "
                        "like mail:max=2,rate=3/1m",
                        text);
    ret_limit->name = arena_cstr(arena, (Str){text, (size_t)(colon - text)});
    return OK;
}
