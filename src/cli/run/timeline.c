// Timeline: history entries as lines for people.
//
// The store's log is the run: nothing here has to be told what happens, it reads. A line is
//     [+24h] order: task refund completed {"id":7}
// Invariants [timeline-1], [timeline-2] are in run/timeline.h.
#include "cli/run/timeline.h"
#include "base/array.h"
#include "base/time/duration.h"
#include "json/value.h"
#include <stdio.h>

enum { PAGE_MAX = 1000, EXCERPT_MAX = 200 };

void timeline_init(Timeline *timeline, abide_engine *engine, Arena *arena) {
    *timeline = (Timeline){.engine = engine, .arena = arena};
    strmap_init(&timeline->names);
}

void timeline_done(Timeline *timeline) {
    vec_free(&timeline->runs);
    vec_free(&timeline->lines);
    strmap_done(&timeline->names);
}

static size_t find_run(const Timeline *timeline, const char *run_id) {
    for (size_t i = 0; i < timeline->runs.count; i++)
        if (strcmp(timeline->runs.data[i].id, run_id) == 0) return i;
    return SIZE_MAX;
}

void timeline_add(Timeline *timeline, const char *run_id, const char *workflow) {
    if (find_run(timeline, run_id) != SIZE_MAX) return;
    TimelineRun run = {.id = arena_cstr(timeline->arena, str_from(run_id)),
                       .workflow = arena_cstr(timeline->arena, str_from(workflow))};
    vec_push(&timeline->runs, run);
}

Str timeline_name(const Timeline *timeline, Str id) {
    const Str *name = strmap_get(&timeline->names, id);
    return name != NULL ? *name : id;
}

// ---- one entry ----

static Str unquote(Timeline *timeline, const char *json) {
    JsonValue *value;
    Diag diag;
    Str text = arena_str(timeline->arena, str_from(json));
    if (json_parse(timeline->arena, text, &value, &diag) != OK) return text;
    return value->kind == JSON_KIND_STRING ? value->string : text;
}

static Str excerpt(Timeline *timeline, const char *data) {
    Str text = str_trim(str_from(data));
    if (data == NULL || text.len == 0) return STR("");
    size_t len = text.len < EXCERPT_MAX ? text.len : EXCERPT_MAX;
    while (len < text.len && ((unsigned char)text.data[len] & 0xC0) == 0x80) len--; // whole letters
    char *line = arena_cstr(timeline->arena, (Str){text.data, len});
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < ' ') line[i] = ' '; // JSON may have been written in lines
    return arena_printf(timeline->arena, " %s%s", line, len < text.len ? "…" : "");
}

static void remember(Timeline *timeline, const abide_log_entry *entry) {
    Str id = arena_str(timeline->arena, unquote(timeline, entry->data));
    Str *name = ARENA_NEW(timeline->arena, Str);
    *name = arena_str(timeline->arena, str_from(entry->name));
    strmap_put(&timeline->names, id, name);
    if (strcmp(entry->kind, "child") == 0)
        timeline_add(timeline, id.data, entry->name); // [timeline-2]
}

static Str describe_wait(Timeline *timeline, const abide_log_entry *entry) {
    const char *called = entry->target != NULL ? entry->target : entry->name;
    Str id = str_from(called != NULL ? called : "");
    Str name = timeline_name(timeline, id);
    Str data = excerpt(timeline, entry->data);
    bool is_started = name.data != id.data; // a task or child of ours
    switch (entry->outcome) {
    case ABIDE_TIMEOUT: return arena_printf(timeline->arena, "%.*s timed out", STR_ARG(name));
    case ABIDE_CANCELLED: return STR("is told to end");
    case ABIDE_OK:
        if (!is_started && str_equal(name, STR("timer"))) return STR("timer");
        return arena_printf(timeline->arena, is_started ? "%.*s completed%.*s" : "gets %.*s%.*s",
                            STR_ARG(name), STR_ARG(data));
    default: return arena_printf(timeline->arena, "%.*s failed%.*s", STR_ARG(name), STR_ARG(data));
    }
}

static Str describe(Timeline *timeline, const abide_log_entry *entry) {
    static const struct {
        const char *kind, *text;
        bool has_name, has_data;
    } plain[] = {
        {"started", "started", false, true},
        {"task", "task", true, false},
        {"child", "child", true, false},
        {"emit", "event", true, true},
        {"stream", "stream", true, true},
        {"continued", "begins again", false, true},
        {"paused", "paused", false, true},
        {"resumed", "resumed", false, false},
        {"cancel_requested", "cancel", false, true},
        {"retry", "fails, tries again", false, true},
    };
    Arena *arena = timeline->arena;
    // Written with the entry of the attempt that failed, which says when this one begins.
    if (strcmp(entry->kind, "started") == 0 && entry->attempt > 1) return STR_NULL;
    if (strcmp(entry->kind, "wait") == 0) return describe_wait(timeline, entry);
    if (strcmp(entry->kind, "line") == 0)
        return arena_printf(arena, "> %.*s", STR_ARG(unquote(timeline, entry->data)));
    if (strcmp(entry->kind, "finished") == 0) {
        const char *verb = entry->outcome == ABIDE_OK          ? "completed"
                           : entry->outcome == ABIDE_CANCELLED ? "cancelled"
                                                               : "failed";
        return arena_printf(arena, "%s%.*s", verb, STR_ARG(excerpt(timeline, entry->data)));
    }
    for (size_t i = 0; i < COUNT_OF(plain); i++) {
        if (strcmp(plain[i].kind, entry->kind) != 0) continue;
        bool has_name = plain[i].has_name && entry->name != NULL;
        Str data = plain[i].has_data ? excerpt(timeline, entry->data) : STR("");
        return arena_printf(arena, "%s%s%s%.*s", plain[i].text, has_name ? " " : "",
                            has_name ? entry->name : "", STR_ARG(data));
    }
    return STR_NULL; // nothing people ask for
}

static int take_entry(void *user, const abide_log_entry *entry) {
    Timeline *timeline = user;
    TimelineRun *run = &timeline->runs.data[timeline->reading];
    run->seq = entry->seq;
    const char *workflow = run->workflow;
    if (strcmp(entry->kind, "finished") == 0) run->is_ended = true;
    bool is_start = strcmp(entry->kind, "task") == 0 || strcmp(entry->kind, "child") == 0;
    if (is_start && entry->data != NULL && entry->name != NULL) remember(timeline, entry);
    if (!timeline->is_shown) return 0;
    Str text = describe(timeline, entry);
    if (str_is_null(text)) return 0;
    char when[INSTANT_TEXT_MAX];
    int64_t passed_ms = entry->at_ms - timeline->start_ms;
    duration_format(passed_ms > 0 ? passed_ms : 0, when);
    TimelineLine line = {.at_ms = entry->at_ms, .run = timeline->reading, .after = SIZE_MAX};
    line.text = arena_printf(timeline->arena, "[+%s] %s: %.*s", when, workflow, STR_ARG(text));
    if (entry->target != NULL) line.after = find_run(timeline, entry->target);
    vec_push(&timeline->lines, line);
    return 0;
}

// ---- all of them ----

static void read_run(Timeline *timeline, size_t number) {
    int64_t before;
    timeline->reading = number;
    do {
        before = timeline->runs.data[number].seq;
        const char *id = timeline->runs.data[number].id;
        int code =
            abide_history(timeline->engine, id, before, PAGE_MAX, take_entry, timeline, NULL);
        if (code != ABIDE_OK) return; // a child that was refused has no history
    } while (timeline->runs.data[number].seq != before);
}

// Recursion goes down the tree of children, which has at most 64 levels.
static void show_line(Timeline *timeline, size_t number) {
    TimelineLine *line = &timeline->lines.data[number];
    if (line->is_shown) return;
    line->is_shown = true;
    for (size_t i = number + 1; line->after != SIZE_MAX && i < timeline->lines.count; i++) {
        const TimelineLine *other = &timeline->lines.data[i];
        if (other->at_ms != line->at_ms) break;
        if (other->run == line->after) show_line(timeline, i);
    }
    fprintf(stderr, "%.*s\n", STR_ARG(line->text));
}

// [timeline-1] Insertion: what comes in is nearly in order.
static void show(Timeline *timeline) {
    TimelineLine *lines = timeline->lines.data;
    for (size_t i = 1; i < timeline->lines.count; i++) {
        TimelineLine line = lines[i];
        size_t at = i;
        for (; at > 0 && lines[at - 1].at_ms > line.at_ms; at--) lines[at] = lines[at - 1];
        lines[at] = line;
    }
    for (size_t i = 0; i < timeline->lines.count; i++) show_line(timeline, i);
    vec_clear(&timeline->lines);
}

void timeline_read(Timeline *timeline) {
    for (size_t i = 0; i < timeline->runs.count; i++) // grows while it is walked
        if (!timeline->runs.data[i].is_ended) read_run(timeline, i);
    show(timeline);
}
