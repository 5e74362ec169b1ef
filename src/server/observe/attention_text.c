// How groups of what needs a person are told: titles, advice, and the requests that help.
//
// An action is a request that can be sent as it stands, and the same as a command.
//
// Not here: how they are found (attention.c).
#include "server/exchange/render.h"
#include "server/observe/attention_groups.h"

typedef struct KindText {
    const char *kind;
    const char *advice;
} KindText;

static const KindText kind_texts[] = {
    {"dead_nodes", "the other nodes have taken its runs; look at why the process ended"},
    {"paused_runs", "look at the reason, remove it, then resume them"},
    {"failed_runs", "look at one of them, correct the cause, then retry them"},
    {"unserved_runs", "start a process that has this version of the workflow"},
    {"unserved_tasks", "start a worker that asks for this name in this queue"},
    {"failing_retries", "look at the error; the next attempt comes by itself, or now with retry"},
    {"full_topics", "events are refused: start runs that take them, raise its cap, or remove some"},
    {"late_schedules", "its ticks do not come: look at the log of the server"},
    {"dead_letters", "nobody took them: replay them once somebody waits, or remove them"},
};

static const char *advice_of(const char *kind) {
    for (size_t i = 0; i < sizeof kind_texts / sizeof *kind_texts; i++)
        if (strcmp(kind, kind_texts[i].kind) == 0) return kind_texts[i].advice;
    return "";
}

static bool is_kind(const AttentionGroup *group, const char *kind) {
    return strcmp(group->kind, kind) == 0;
}

static Str error_line(Arena *arena, const AttentionGroup *group) {
    if (str_is_null(group->error_name)) return group->error_message;
    return arena_printf(arena, "%.*s: %.*s", STR_ARG(group->error_name),
                        STR_ARG(group->error_message));
}

static Str title_of(Arena *arena, const AttentionGroup *group) {
    long long count = (long long)group->count;
    const char *s = count == 1 ? "" : "s";
    Str error = error_line(arena, group);
    if (is_kind(group, "failed_runs"))
        return arena_printf(arena, "%lld run%s of %.*s failed: %.*s", count, s,
                            STR_ARG(group->workflow), STR_ARG(error));
    if (is_kind(group, "paused_runs"))
        return arena_printf(arena, "%lld run%s of %.*s paused: %.*s", count, s,
                            STR_ARG(group->workflow), STR_ARG(error));
    if (is_kind(group, "unserved_tasks"))
        return arena_printf(arena, "nobody asks for %.*s in queue %.*s", STR_ARG(group->name),
                            STR_ARG(group->queue));
    if (is_kind(group, "unserved_runs"))
        return arena_printf(arena, "%lld run%s of %.*s wait%s for a process that has %s%.*s", count,
                            s, STR_ARG(group->workflow), count == 1 ? "s" : "",
                            str_is_null(group->name) ? "it" : "version ", STR_ARG(group->name));
    if (is_kind(group, "failing_retries"))
        return arena_printf(arena, "%lld task%s %.*s failing again and again: %.*s", count, s,
                            STR_ARG(group->name), STR_ARG(error));
    if (is_kind(group, "full_topics"))
        return arena_printf(arena, "topic %.*s is full", STR_ARG(group->name));
    if (is_kind(group, "late_schedules"))
        return arena_printf(arena, "schedule %.*s is late", STR_ARG(group->name));
    if (is_kind(group, "dead_nodes"))
        return arena_printf(arena, "node %.*s died", STR_ARG(group->name));
    return arena_printf(arena, "%lld dead letter%s of %.*s: %.*s", count, s, STR_ARG(group->name),
                        STR_ARG(error));
}

// ---- filters ----

static void append_quoted(Buf *text, Str value) {
    buf_append_char(text, '"');
    for (size_t i = 0; i < value.len; i++) {
        if (value.data[i] == '"' || value.data[i] == '\\') buf_append_char(text, '\\');
        buf_append_char(text, value.data[i]);
    }
    buf_append_char(text, '"');
}

// The runs of the group, as GET /v1/runs?q= takes it.
static Str query_of(Arena *arena, const AttentionGroup *group) {
    bool is_failed = is_kind(group, "failed_runs");
    if (!is_failed && !is_kind(group, "paused_runs")) return STR_NULL;
    Buf text;
    buf_init(&text, 4096);
    buf_printf(&text, "status:%s workflow:", is_failed ? "failed" : "paused");
    append_quoted(&text, group->workflow);
    bool has_message = !str_is_null(group->error_message) && group->error_message.len > 0;
    if (has_message || !str_is_null(group->error_name)) {
        buf_append_cstr(&text, has_message ? " error~" : " error:");
        append_quoted(&text, has_message ? group->error_message : group->error_name);
    }
    Str query = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return query;
}

// ---- actions ----

typedef struct Action {
    const char *verb, *method, *about;
    Str path, body, command;
} Action;

static void put_action(JsonWriter *json, const Action *action) {
    json_write_object_begin(json);
    json_put_cstr(json, "verb", action->verb);
    json_put_cstr(json, "method", action->method);
    json_put_string(json, "path", action->path);
    json_put_raw(json, "body", action->body);
    json_put_cstr(json, "about", action->about);
    json_put_string(json, "command", action->command);
    json_write_object_end(json);
}

// The text as one segment of a path.
static Str segment(Arena *arena, Str text) {
    char *encoded = arena_alloc(arena, 3 * text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (is_plain) {
            encoded[len++] = (char)c;
            continue;
        }
        encoded[len++] = '%';
        encoded[len++] = "0123456789ABCDEF"[c >> 4];
        encoded[len++] = "0123456789ABCDEF"[c & 15];
    }
    return (Str){encoded, len};
}

// The text as one word of a shell.
static Str word(Arena *arena, Str text) {
    char *quoted = arena_alloc(arena, 4 * text.len + 2);
    size_t len = 0;
    quoted[len++] = '\'';
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'') {
            memcpy(quoted + len, "'\\''", 4);
            len += 4;
        } else quoted[len++] = text.data[i];
    }
    quoted[len++] = '\'';
    return (Str){quoted, len};
}

static void put_one(JsonWriter *json, const char *verb, Str path, Str command) {
    bool is_removal = strcmp(verb, "remove") == 0;
    const Action action = {.verb = verb,
                           .method = is_removal ? "DELETE" : "POST",
                           .about = "the newest of them",
                           .path = path,
                           .command = command};
    put_action(json, &action);
}

// All runs of the group at once.
static void put_bulk(JsonWriter *json, Arena *arena, const AttentionGroup *group,
                     const char *verb) {
    Str query = query_of(arena, group);
    Buf body;
    JsonWriter writer;
    buf_init(&body, 4096);
    json_writer_init(&writer, &body, STR_NULL);
    json_write_object_begin(&writer);
    json_put_cstr(&writer, "verb", verb);
    json_put_string(&writer, "q", query);
    json_write_object_end(&writer);
    bool is_removal = strcmp(verb, "remove") == 0;
    const Action action = {.verb = verb,
                           .method = "POST",
                           .about = "all of them",
                           .path = STR("/v1/runs/bulk"),
                           .body = arena_str(arena, buf_str(&body)),
                           .command =
                               arena_printf(arena, "abide wf ls -q %.*s -o ids | abide wf %s -",
                                            STR_ARG(word(arena, query)), is_removal ? "rm" : verb)};
    put_action(json, &action);
    buf_done(&body);
}

static void put_actions(JsonWriter *json, Arena *arena, const AttentionGroup *group) {
    Str id = segment(arena, group->examples[0]), shown = word(arena, group->examples[0]);
    json_write_key(json, STR("actions"));
    json_write_array_begin(json);
    if (is_kind(group, "paused_runs")) {
        put_bulk(json, arena, group, "resume");
        put_bulk(json, arena, group, "cancel");
    } else if (is_kind(group, "failed_runs")) {
        put_bulk(json, arena, group, "retry");
        put_bulk(json, arena, group, "remove");
    } else if (is_kind(group, "failing_retries")) {
        put_one(json, "retry", arena_printf(arena, "/v1/tasks/%.*s/retry", STR_ARG(id)),
                arena_printf(arena, "abide task retry %.*s", STR_ARG(shown)));
    } else if (is_kind(group, "late_schedules")) {
        put_one(json, "trigger", arena_printf(arena, "/v1/schedules/%.*s/trigger", STR_ARG(id)),
                arena_printf(arena, "abide schedule trigger %.*s", STR_ARG(shown)));
    } else if (is_kind(group, "full_topics")) {
        put_one(json, "remove", arena_printf(arena, "/v1/topics/%.*s/events", STR_ARG(id)),
                arena_printf(arena, "abide topic rm-events %.*s --all", STR_ARG(shown)));
    } else if (is_kind(group, "dead_letters")) {
        put_one(json, "replay", arena_printf(arena, "/v1/dead-letters/%.*s/replay", STR_ARG(id)),
                arena_printf(arena, "abide dead replay %.*s", STR_ARG(shown)));
        put_one(json, "remove", arena_printf(arena, "/v1/dead-letters/%.*s", STR_ARG(id)),
                arena_printf(arena, "abide dead rm %.*s", STR_ARG(shown)));
    }
    json_write_array_end(json);
}

// ---- the answer ----

static void put_error(JsonWriter *json, const AttentionGroup *group) {
    if (str_is_null(group->error_name) && str_is_null(group->error_message)) {
        json_put_null(json, "error");
        return;
    }
    json_write_key(json, STR("error"));
    json_write_object_begin(json);
    json_put_string(json, "name", group->error_name);
    json_put_string(json, "message", group->error_message);
    json_write_object_end(json);
}

static void put_group(JsonWriter *json, Arena *arena, const AttentionGroup *group) {
    json_write_object_begin(json);
    json_put_cstr(json, "kind", group->kind);
    json_put_string(json, "title", title_of(arena, group));
    json_put_i64(json, "count", group->count);
    json_put_bool(json, "is_exact", !group->is_more);
    render_instant(json, "since", group->since_ms);
    render_instant(json, "latest", group->latest_ms);
    json_put_string(json, "workflow", group->workflow);
    put_error(json, group);
    json_put_string(json, "place", group->place);
    json_put_string(json, "queue", group->queue);
    json_put_string(json, "name", group->name);
    json_write_key(json, STR("examples"));
    json_write_array_begin(json);
    for (size_t i = 0; i < group->example_count; i++) json_write_string(json, group->examples[i]);
    json_write_array_end(json);
    json_put_string(json, "q", query_of(arena, group));
    json_put_cstr(json, "advice", advice_of(group->kind));
    put_actions(json, arena, group);
    json_write_object_end(json);
}

void attention_render(JsonWriter *json, const AttentionGroups *groups) {
    const int64_t *counters = groups->stats.counters;
    json_write_object_begin(json);
    render_instant(json, "at", groups->now_ms);
    json_write_key(json, STR("groups"));
    json_write_array_begin(json);
    for (size_t i = 0; i < groups->count; i++) put_group(json, groups->arena, &groups->groups[i]);
    json_write_array_end(json);
    json_write_key(json, STR("looked_at"));
    json_write_object_begin(json);
    json_put_i64(json, "failed_runs", groups->failed_seen);
    json_put_i64(json, "paused_runs", groups->paused_seen);
    json_put_i64(json, "tasks", groups->tasks_seen);
    json_write_object_end(json);
    json_write_key(json, STR("totals"));
    json_write_object_begin(json);
    json_put_i64(json, "failed_runs", counters[COUNTER_RUNS_FIRST + RUN_FAILED]);
    json_put_i64(json, "paused_runs", counters[COUNTER_RUNS_FIRST + RUN_PAUSED]);
    json_put_i64(json, "dead_letters", counters[COUNTER_DEAD_LETTERS]);
    json_write_object_end(json);
    json_write_object_end(json);
}
