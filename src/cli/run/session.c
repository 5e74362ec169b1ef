// RunSession: the loop around an engine that has one run to see to its end.
//
// The engine has its own threads and the tasks theirs; this thread only waits for it to stand
// still, looks, and moves time on: by waiting, or in virtual time by setting the clock. All it does
// is in include/abide.h, so a test of an embedding program can do the same. Invariants
// [run-session-1]-[run-session-3] are in run/session.h.
//
// Not here: mocks (run/mock.c), scripted events (run/script.c), what is shown (run/timeline.c).
#include "cli/run/session.h"
#include "abide.h"
#include "base/env.h"
#include "cli/run/timeline.h"
#include "json/value.h"
#include <stdio.h>

typedef struct Session {
    const RunRequest *request;
    const RunSetting *setting;
    Arena *arena;
    abide_engine *engine;
    Timeline timeline;
    const char *run_id;
    int64_t start_ms;
    int64_t virtual_now_ms; // 0 = real time
    size_t script_done;     // items of the script that have happened
    RunAnswer *answer;
} Session;

static int64_t now_ms(const Session *session) {
    return session->virtual_now_ms != 0 ? session->virtual_now_ms : env_now_ms(env_system());
}

static Status fail_opening(const abide_error *error, Diag *diag) {
    return diag_set(diag, ERR_INVALID, error->name, "%s", error->message);
}

// ---- beginning ----

static void say(void *user, const abide_event *event) {
    (void)user;
    Arena arena;
    JsonValue *value;
    Diag diag;
    if (event->detail == NULL) return;
    switch (event->kind) {
    case ABIDE_EVENT_LINE:
        arena_init(&arena);
        if (json_parse(&arena, str_from(event->detail), &value, &diag) == OK &&
            value->kind == JSON_KIND_STRING)
            fprintf(stderr, "%.*s\n", STR_ARG(value->string));
        arena_done(&arena);
        break;
    case ABIDE_EVENT_STREAM:
        fprintf(stderr, "stream %s %s\n", event->name ? event->name : "", event->detail);
        break;
    case ABIDE_EVENT_PUBLISHED:
        fprintf(stderr, "event %s %s\n", event->name ? event->name : "", event->detail);
        break;
    default: break;
    }
}

static int open_engine(Session *session, abide_error *error) {
    const RunSetting *setting = session->setting;
    const RunRequest *request = session->request;
    abide_options options = {
        .threads = setting->is_virtual ? 1 : 0, // one after the other: the same each time
        .node_name = "abide run",
        .run_retention = "forever",
        .max_script_memory = (int64_t)request->memory_bytes,
        .max_turn_steps = request->max_steps ? (int64_t)request->max_steps : INT64_MAX,
        .virtual_time_ms = session->virtual_now_ms,
        .on_event = setting->is_virtual ? NULL : say, // the timeline has it with its time
    };
    const char *url = setting->store_url != NULL ? setting->store_url : "memory:";
    return abide_open(url, &options, &session->engine, error);
}

static int register_all(Session *session, abide_error *error) {
    const RunSetting *setting = session->setting;
    abide_builtin_options builtin = {.allow_exec = setting->is_exec_allowed,
                                     .allow_private = setting->is_private_allowed,
                                     .allow_addresses = setting->allowed_addresses};
    ABIDE_TRY(abide_register_builtin_tasks(session->engine, &builtin, error));
    for (size_t i = 0; i < setting->plugin_count; i++)
        ABIDE_TRY(abide_load_plugin(session->engine, setting->plugins[i], error));
    for (size_t i = 0; i < setting->queue_count; i++)
        ABIDE_TRY(abide_queue_set(session->engine, setting->queues[i].name,
                                  &setting->queues[i].limits, error));
    return setting->mocks != NULL ? mocks_register(setting->mocks, session->engine, error)
                                  : ABIDE_OK;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int begin(Session *session, abide_error *error) {
    const RunRequest *request = session->request;
    Arena *arena = session->arena;
    Str name = flow_module_workflow(request->module, request->workflow_index).name;
    const char *workflow = arena_cstr(arena, name);
    const char *file = arena_cstr(arena, flow_module_file_name(request->module));
    const char *input =
        str_is_null(request->input_json) ? NULL : arena_cstr(arena, request->input_json);
    const RunSetting *setting = session->setting;
    session->run_id = setting->run_id != NULL      ? setting->run_id
                      : setting->store_url != NULL ? workflow
                                                   : "local";
    ABIDE_TRY(register_all(session, error));
    ABIDE_TRY(abide_deploy(session->engine, base_name(file), arena_cstr(arena, request->source),
                           NULL, NULL, error));
    ABIDE_TRY(abide_recover(session->engine, NULL, error));
    int is_new = 1;
    abide_start_options options = {.id = session->run_id};
    ABIDE_TRY(abide_start_once(session->engine, workflow, input, &options, NULL, &is_new, error));
    if (!is_new) fprintf(stderr, "abide: going on with run %s\n", session->run_id);
    timeline_add(&session->timeline, session->run_id, workflow);
    return ABIDE_OK;
}

// ---- what the outside does ----

static void perform_item(Session *session, const ScriptItem *item) {
    abide_error error;
    const char *run = str_is_null(item->run_id) ? session->run_id : item->run_id.data;
    int code = ABIDE_OK;
    switch (item->kind) {
    case SCRIPT_SIGNAL:
        code =
            abide_signal(session->engine, run, item->name.data, item->payload.data, NULL, &error);
        break;
    case SCRIPT_EVENT:
        code = abide_emit(session->engine, item->name.data, item->payload.data, NULL, NULL, &error);
        break;
    case SCRIPT_CANCEL:
        code = abide_cancel(session->engine, run, item->name.data, NULL, &error);
        break;
    }
    if (code != ABIDE_OK) fprintf(stderr, "abide: script: %s\n", error.message);
}

static void perform_due(Session *session) {
    const EventScript *script = session->setting->script;
    while (script != NULL && session->script_done < script->count) {
        const ScriptItem *item = &script->items[session->script_done];
        if (session->start_ms + item->after_ms > now_ms(session)) return;
        session->script_done++;
        perform_item(session, item);
    }
}

// The first of "signal:a, timer, event:b" and its like; `rest` goes on behind it.
static Str next_wait(Str *rest) {
    for (size_t i = 0; i + 1 < rest->len; i++) {
        if (rest->data[i] != ',' || rest->data[i + 1] != ' ') continue;
        Str item = {rest->data, i};
        *rest = (Str){rest->data + i + 2, rest->len - i - 2};
        return item;
    }
    Str item = *rest;
    *rest = (Str){rest->data + rest->len, 0};
    return item;
}

static bool send_mocked(Session *session, const char *run_id, Str waiting_on) {
    static const Str prefix = STR("signal:");
    bool is_sent = false;
    while (waiting_on.len > 0) {
        Str item = next_wait(&waiting_on);
        if (!str_starts_with(item, prefix)) continue;
        Str name = arena_str(session->arena, (Str){item.data + prefix.len, item.len - prefix.len});
        Str payload = mocks_next_signal(session->setting->mocks, name);
        if (str_is_null(payload)) continue;
        const char *json = arena_cstr(session->arena, payload);
        is_sent = abide_signal(session->engine, run_id, name.data, json, NULL, NULL) == ABIDE_OK ||
                  is_sent;
    }
    return is_sent;
}

static bool send_mocked_signals(Session *session) {
    if (session->setting->mocks == NULL) return false;
    bool is_sent = false;
    for (size_t i = 0; i < session->timeline.runs.count; i++) {
        const TimelineRun *run = &session->timeline.runs.data[i];
        abide_run_info info;
        if (run->is_ended || abide_status(session->engine, run->id, &info, NULL) != ABIDE_OK)
            continue;
        is_sent = send_mocked(session, run->id, str_from(info.waiting_on)) || is_sent;
    }
    return is_sent;
}

// ---- time ----

// When something happens by itself or by the script; 0 = never.
static int64_t next_moment(const Session *session, int64_t due_ms) {
    const EventScript *script = session->setting->script;
    if (script == NULL || session->script_done == script->count) return due_ms;
    int64_t at_ms = session->start_ms + script->items[session->script_done].after_ms;
    return due_ms == 0 || at_ms < due_ms ? at_ms : due_ms;
}

static void go_to(Session *session, int64_t at_ms) {
    if (session->virtual_now_ms != 0) { // [run-session-2]
        if (at_ms <= session->virtual_now_ms) return;
        session->virtual_now_ms = at_ms;
        (void)abide_clock_set(session->engine, at_ms, NULL);
        return;
    }
    int64_t left_ms = at_ms - now_ms(session);
    if (left_ms <= 0) return;
    char text[32];
    char *json = NULL;
    snprintf(text, sizeof text, "%lldms", (long long)left_ms);
    (void)abide_result(session->engine, session->run_id, text, &json, NULL);
    abide_free(json);
}

// ---- the end ----

static void fail_with(Session *session, Str message) {
    *session->answer = (RunAnswer){.error_name = STR("Error"), .error_message = message};
}

// [run-session-1] A run that waits for a child is stuck because of what the child waits for.
static void fail_stuck(Session *session) {
    static const Str task = STR("task:"), child = STR("child:");
    abide_run_info info = {0};
    const char *run_id = session->run_id;
    Str item = STR_NULL, kind = STR("something");
    for (int depth = 0; depth < 64; depth++) {
        if (abide_status(session->engine, run_id, &info, NULL) != ABIDE_OK) break;
        Str rest = arena_str(session->arena, str_from(info.waiting_on));
        item = next_wait(&rest);
        if (!str_starts_with(item, child)) break;
        run_id = arena_cstr(session->arena, (Str){item.data + child.len, item.len - child.len});
    }
    const char *colon = item.len > 0 ? memchr(item.data, ':', item.len) : NULL;
    if (colon == NULL) {
        fail_with(session,
                  arena_printf(session->arena, "The run is %s and nothing here can change that",
                               abide_state_name(info.state)));
        return;
    }
    kind = (Str){item.data, (size_t)(colon - item.data)};
    Str name = {colon + 1, item.len - kind.len - 1};
    bool is_task = str_starts_with(item, task);
    if (is_task) name = timeline_name(&session->timeline, name);
    fail_with(session,
              arena_printf(session->arena,
                           "The script waits for %.*s \"%.*s\", which nothing here can answer: %s",
                           STR_ARG(kind), STR_ARG(name),
                           is_task ? "abide run has no handler for it; --plugin or --mock gives one"
                                   : "--mock or --script can"));
}

static void take_error(Session *session, const char *json) {
    JsonValue *error;
    Diag diag;
    RunAnswer *answer = session->answer;
    *answer = (RunAnswer){.error_name = STR("Error"), .error_message = STR("failed")};
    if (json == NULL) return;
    Str text = arena_str(session->arena, str_from(json));
    answer->error_json = text;
    if (json_parse(session->arena, text, &error, &diag) != OK) return;
    Status status = json_get_string(error, "type", &answer->error_name, &diag);
    if (status == OK) status = json_get_string(error, "message", &answer->error_message, &diag);
    if (status == OK) status = json_get_string(error, "stack", &answer->error_stack, &diag);
}

// Answers whether the run has ended; then its answer is there.
static bool take_answer(Session *session) {
    char *json = NULL;
    abide_error error;
    int code = abide_result(session->engine, session->run_id, NULL, &json, &error);
    if (code == ABIDE_PENDING) return false;
    if (code == ABIDE_OK) {
        Str result = json != NULL ? arena_str(session->arena, str_from(json)) : STR("null");
        *session->answer = (RunAnswer){.is_completed = true, .result_json = result};
    } else if (code == ABIDE_FAILED || code == ABIDE_CANCELLED) {
        take_error(session, json);
        if (code == ABIDE_CANCELLED && json == NULL)
            *session->answer = (RunAnswer){.error_name = STR("CancelledError"),
                                           .error_message = STR("the run was cancelled")};
    } else {
        fail_with(session, arena_str(session->arena, str_from(error.message)));
    }
    abide_free(json);
    return true;
}

static void see_to_the_end(Session *session) {
    for (;;) {
        int64_t due_ms = 0;
        (void)abide_settle(session->engine, &due_ms, NULL); // [run-session-3]
        timeline_read(&session->timeline);
        if (take_answer(session)) return;
        if (send_mocked_signals(session)) continue;
        int64_t at_ms = next_moment(session, due_ms);
        if (at_ms == 0) {
            fail_stuck(session);
            return;
        }
        go_to(session, at_ms);
        perform_due(session);
    }
}

Status run_session(const RunRequest *request, Arena *arena, RunAnswer *ret_answer, Diag *diag) {
    static const RunSetting plain = {0};
    Session session = {.request = request, .arena = arena, .answer = ret_answer};
    session.setting = request->setting != NULL ? request->setting : &plain;
    session.start_ms = env_now_ms(env_system());
    if (session.setting->is_virtual) {
        if (session.setting->start_ms > 0) session.start_ms = session.setting->start_ms;
        session.virtual_now_ms = session.start_ms;
    }
    abide_error error;
    if (open_engine(&session, &error) != ABIDE_OK) return fail_opening(&error, diag);
    timeline_init(&session.timeline, session.engine, arena);
    session.timeline.start_ms = session.start_ms;
    session.timeline.is_shown = session.setting->is_virtual;
    int code = begin(&session, &error);
    if (code == ABIDE_OK) see_to_the_end(&session);
    timeline_done(&session.timeline);
    abide_close(session.engine);
    return code == ABIDE_OK ? OK : fail_opening(&error, diag);
}
