// What of a run waits, why, and what to do about it.
//
// Commands are printed as they would be typed, ids and names quoted where a shell needs it.
//
// Not here: the other parts of `wf show` (runs/show.c), errors as text (failure.c).
#include "cli/runs/next.h"
#include "cli/runs/failure.h"

enum {
    TASKS_SHOWN = 20,
    INPUT_SHOWN = 200, // bytes of an input
    HINTS_MAX = 8,
};

// ---- texts ----

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-_./:@,+", c) != NULL;
}

Str next_shell_word(Arena *arena, Str text) {
    size_t plain = 0;
    while (plain < text.len && text.data[plain] != 0 && is_plain(text.data[plain])) plain++;
    if (text.len > 0 && plain == text.len && text.data[0] != '-') return text;
    Buf word;
    buf_init(&word, FAILURE_TEXT_MAX);
    buf_append_char(&word, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'') buf_append_cstr(&word, "'\\''");
        else buf_append_char(&word, text.data[i]);
    }
    buf_append_char(&word, '\'');
    Str quoted = arena_str(arena, buf_str(&word));
    buf_done(&word);
    return quoted;
}

static Str join_names(Arena *arena, const JsonValue *list) {
    Str joined = STR("");
    if (list != NULL)
        JSON_EACH (item, list)
            joined = arena_printf(arena, "%.*s%s%.*s", STR_ARG(joined), joined.len > 0 ? ", " : "",
                                  STR_ARG(item->string));
    return joined;
}

Str next_unserved_text(Arena *arena, const JsonValue *unserved) {
    Str name = field_text(unserved, "name"), queue = field_text(unserved, "queue");
    Str asked = join_names(arena, json_member(unserved, STR("asked")));
    Str others = join_names(arena, json_member(unserved, STR("other_queues")));
    Str near = field_text(unserved, "did_you_mean");
    Str text = arena_printf(arena, "no worker asks for the task \"%.*s\" in the queue \"%.*s\"",
                            STR_ARG(name), STR_ARG(queue));
    if (others.len > 0)
        text = arena_printf(arena, "%.*s; it is asked for in %.*s", STR_ARG(text), STR_ARG(others));
    if (asked.len > 0)
        text = arena_printf(arena, "%.*s; workers of that queue ask for %.*s", STR_ARG(text),
                            STR_ARG(asked));
    if (near.len > 0)
        text = arena_printf(arena, "%.*s; did you mean \"%.*s\"?", STR_ARG(text), STR_ARG(near));
    return text;
}

// "in 59m (2026-11-17T13:54:40.289Z)"
static Str time_text(Session *session, const JsonValue *object, const char *field) {
    Str relative = output_relative(&session->arena, session->now_ms, field_ms(object, field));
    return arena_printf(&session->arena, "%.*s (%.*s)", STR_ARG(relative),
                        STR_ARG(field_text(object, field)));
}

Str next_short_json(Arena *arena, const JsonValue *value) {
    if (value == NULL) return STR_NULL;
    if (value->raw.len <= INPUT_SHOWN) return value->raw;
    size_t len = INPUT_SHOWN;
    while (len > 0 && ((unsigned char)value->raw.data[len] & 0xC0) == 0x80) len--;
    return arena_printf(arena, "%.*s… (%zu bytes)", (int)len, value->raw.data, value->raw.len);
}

// ---- tasks ----

static const JsonValue *get_task(Session *session, Str id) {
    Diag diag;
    const ClientRequest request = {.method = "GET",
                                   .path = session_path(session, "/v1/tasks/%s", id, STR_NULL)};
    return session_try(session, &request, &diag) == OK ? session->answer.json : NULL;
}

static bool is_in_backoff(Session *session, const JsonValue *task) {
    return str_equal(field_text(task, "status"), STR("queued")) &&
           field_ms(task, "next_at") > session->now_ms;
}

static void print_task(Session *session, const JsonValue *task, BlockPrinter print) {
    Arena *arena = &session->arena;
    Str status = field_text(task, "status"), worker = field_text(task, "worker");
    bool is_running = str_equal(status, STR("running")) || str_equal(status, STR("leased"));
    Str text = arena_printf(
        arena, "%.*s (%.*s) in queue %.*s: %.*s%s%.*s, attempt %lld of %lld",
        STR_ARG(field_text(task, "name")), STR_ARG(field_text(task, "id")),
        STR_ARG(field_text(task, "queue")), STR_ARG(status),
        is_running && worker.len > 0 ? " by " : "", STR_ARG(is_running ? worker : STR("")),
        (long long)field_count(task, "attempt"), (long long)field_count(task, "max_attempts"));
    print(session, "task", text);
    Str input = next_short_json(arena, json_member(task, STR("input")));
    if (!str_is_null(input)) print(session, "", arena_printf(arena, "input %.*s", STR_ARG(input)));
    const JsonValue *error = json_member(task, STR("error"));
    if (error != NULL && error->kind != JSON_KIND_NULL) {
        Buf lines;
        buf_init(&lines, FAILURE_TEXT_MAX);
        buf_append_cstr(&lines, "last error ");
        failure_append(&lines, error, 0);
        print(session, "", arena_str(arena, buf_str(&lines)));
        buf_done(&lines);
    }
    if (is_in_backoff(session, task))
        print(
            session, "",
            arena_printf(arena, "next attempt %.*s", STR_ARG(time_text(session, task, "next_at"))));
    const JsonValue *unserved = json_member(task, STR("unserved"));
    if (unserved != NULL) print(session, "", next_unserved_text(arena, unserved));
}

// The last step that went wrong; NULL: none.
static const JsonValue *failed_step(const ListItems *steps) {
    for (size_t i = steps->count; i > 0; i--) {
        Str outcome = field_text(steps->data[i - 1], "outcome");
        if (str_equal(outcome, STR("error")) || str_equal(outcome, STR("timeout")))
            return steps->data[i - 1];
    }
    return NULL;
}

static bool has_failed(const JsonValue *run) {
    return str_equal(field_text(run, "status"), STR("failed"));
}

void next_print_tasks(Session *session, const JsonValue *run, const ListItems *steps,
                      BlockPrinter print) {
    const JsonValue *waits = json_member(run, STR("waits"));
    size_t shown = 0;
    if (waits != NULL)
        JSON_EACH (wait, waits) {
            if (!str_equal(field_text(wait, "on"), STR("task")) || shown++ >= TASKS_SHOWN) continue;
            const JsonValue *task = get_task(session, field_text(wait, "name"));
            if (task != NULL) print_task(session, task, print);
        }
    if (shown > TASKS_SHOWN)
        print(session, "",
              arena_printf(&session->arena, "and %zu more tasks", shown - TASKS_SHOWN));
    const JsonValue *step = has_failed(run) ? failed_step(steps) : NULL;
    Str target = step != NULL ? field_text(step, "target") : STR_NULL;
    if (str_is_null(target)) return;
    const JsonValue *task = get_task(session, target); // a child has no task
    if (task != NULL) print_task(session, task, print);
}

// ---- what to do ----

typedef struct Hints {
    Session *session;
    BlockPrinter print;
    size_t count;
} Hints;

static void hint(Hints *hints, Str command, const char *what) {
    Arena *arena = &hints->session->arena;
    if (hints->count == HINTS_MAX) return;
    if (hints->count == 0) putchar('\n');
    hints->print(hints->session, hints->count++ == 0 ? "next" : "",
                 arena_printf(arena, "%.*s   # %s", STR_ARG(command), what));
}

static Str command(Session *session, const char *words, Str first, Str second) {
    Arena *arena = &session->arena;
    Str text = arena_printf(arena, "%s %.*s", words, STR_ARG(next_shell_word(arena, first)));
    if (str_is_null(second)) return text;
    return arena_printf(arena, "%.*s %.*s", STR_ARG(text), STR_ARG(next_shell_word(arena, second)));
}

static void hint_failed(Hints *hints, Str id, const ListItems *steps) {
    Session *session = hints->session;
    const JsonValue *step = failed_step(steps);
    Str name = step != NULL ? field_text(step, "name") : STR_NULL;
    Str target = step != NULL ? field_text(step, "target") : STR_NULL;
    if (str_starts_with(target, STR("run_")))
        hint(hints, command(session, "abide wf show", target, STR_NULL), "the child that failed");
    hint(hints, command(session, "abide wf retry", id, STR_NULL),
         "a new run that goes on where this one was last well");
    if (!str_is_null(name))
        hint(hints, command(session, "abide wf fork", id, name),
             "a new run that does this step again and keeps what came before");
    hint(hints, command(session, "abide wf fork", id, STR_NULL),
         "a new run from the beginning, with the same input");
}

static void hint_unserved(Hints *hints, const JsonValue *unserved) {
    Session *session = hints->session;
    Str near = field_text(unserved, "did_you_mean"), queue = field_text(unserved, "queue");
    Str worker = command(session, "abide worker --task", field_text(unserved, "name"), STR_NULL);
    if (!str_equal(queue, STR("default")))
        worker = arena_printf(&session->arena, "%.*s --queue %.*s", STR_ARG(worker),
                              STR_ARG(next_shell_word(&session->arena, queue)));
    hint(hints, arena_printf(&session->arena, "%.*s --exec COMMAND", STR_ARG(worker)),
         near.len > 0 ? "a worker that does it; or mend the name in the script and deploy it"
                      : "a worker that does it, or any that asks for this name");
}

static void hint_task(Hints *hints, const JsonValue *wait) {
    Session *session = hints->session;
    const JsonValue *unserved = json_member(wait, STR("unserved"));
    if (unserved != NULL) {
        hint_unserved(hints, unserved);
        return;
    }
    Str id = field_text(wait, "name");
    const JsonValue *task = get_task(session, id);
    if (task != NULL && is_in_backoff(session, task))
        hint(hints, command(session, "abide task retry", id, STR_NULL),
             "tries it now instead of waiting");
}

static void hint_wait(Hints *hints, Str id, const JsonValue *wait) {
    Session *session = hints->session;
    Str on = field_text(wait, "on"), name = field_text(wait, "name");
    if (str_equal(on, STR("signal"))) {
        Str send = command(session, "abide signal", id, name);
        hint(hints, arena_printf(&session->arena, "%.*s '{}'", STR_ARG(send)),
             "sends the signal it waits for; the payload is JSON");
    } else if (str_equal(on, STR("event"))) {
        Str emit = command(session, "abide emit", name, STR_NULL);
        hint(hints, arena_printf(&session->arena, "%.*s '{}'", STR_ARG(emit)),
             "publishes the event it waits for; the payload is JSON");
    } else if (str_equal(on, STR("child"))) {
        hint(hints, command(session, "abide wf show", name, STR_NULL), "the run it waits for");
    } else if (str_equal(on, STR("task"))) {
        hint_task(hints, wait);
    }
}

void next_print_hints(Session *session, const JsonValue *run, const ListItems *steps,
                      BlockPrinter print) {
    Hints hints = {.session = session, .print = print};
    Str id = field_text(run, "id"), status = field_text(run, "status");
    if (has_failed(run)) hint_failed(&hints, id, steps);
    else if (str_equal(status, STR("cancelled")))
        hint(&hints, command(session, "abide wf fork", id, STR_NULL),
             "a new run from the beginning, with the same input");
    else if (str_equal(status, STR("paused")))
        hint(&hints, command(session, "abide wf resume", id, STR_NULL), "lets it go on");
    const JsonValue *waits = json_member(run, STR("waits"));
    if (!str_equal(status, STR("suspended")) || waits == NULL) return;
    JSON_EACH (wait, waits) {
        if (hints.count == HINTS_MAX) return;
        hint_wait(&hints, id, wait);
    }
}
