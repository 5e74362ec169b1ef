// abide wf show: one run, as somebody who wonders why it does not go on wants to see it.
//
// Status, what it waits for and since when, when it wakes by itself, where its script stands, its
// tasks and steps, its result or error, and what to do next. JSON has the run as the API shows it,
// with "steps" and "snapshot".
//   [show-1] An error is never cut, however narrow the terminal.
//
// Not here: following (follow.c), errors as text (failure.c), tasks and advice (runs/next.c).
#include "base/array.h"
#include "base/containers/map.h"
#include "cli/runs/failure.h"
#include "cli/runs/follow.h"
#include "cli/runs/next.h"
#include "cli/runs/wf.h"
#include "cli/verbs/list.h"
#include "json/write.h"

enum {
    STEPS_SHOWN = 100, // the last ones; JSON has all
    WAITS_SHOWN = 20,
    VARIABLES_SHOWN = 20, // of a frame
    ITEMS_SHOWN = 6,      // of a value
    SHOWN_TEXT_MAX = 60,  // what the server shows of a string
    STEPS_MAX = 1000000,
    SHOW_MAX = 256 << 20,
    LABEL_WIDTH = 12,
};

static const TableColumn step_columns[] = {
    {"#", true, false},        {"KIND", false, false}, {"STEP", false, true},
    {"OUTCOME", false, false}, {"AT", false, false},   {"DATA", false, true},
};

static void print_label(Session *session, const char *label) {
    Buf text;
    buf_init(&text, 256);
    output_painted(&text, session->terminal, PAINT_BOLD, str_from(label));
    for (size_t width = strlen(label); width < LABEL_WIDTH; width++) buf_append_char(&text, ' ');
    fwrite(text.data, 1, text.len, stdout);
    buf_done(&text);
}

static void print_line(Session *session, const char *label, Str value, Paint paint) {
    if (str_is_null(value)) return;
    Buf text, clean;
    buf_init(&text, SHOW_MAX);
    buf_init(&clean, SHOW_MAX);
    size_t width = session->terminal.width;
    output_clean(&clean, value, width > LABEL_WIDTH + 8 ? width - LABEL_WIDTH : 0);
    output_painted(&text, session->terminal, paint, buf_str(&clean));
    print_label(session, label);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
    buf_done(&clean);
}

// Lines below each other, none cut [show-1].
static void print_painted_block(Session *session, const char *label, Str lines, Paint paint) {
    Str left = lines, line;
    while (str_split(&left, '\n', &line)) {
        if (line.len == 0 && str_is_null(left)) return; // what ends with a newline
        Buf text, clean;
        buf_init(&text, SHOW_MAX);
        buf_init(&clean, SHOW_MAX);
        output_clean(&clean, line, 0);
        output_painted(&text, session->terminal, paint, buf_str(&clean));
        print_label(session, label);
        output_json_line(stdout, buf_str(&text));
        buf_done(&text);
        buf_done(&clean);
        label = "";
    }
}

static void print_block(Session *session, const char *label, Str lines) {
    print_painted_block(session, label, lines, PAINT_NONE);
}

// "3m ago (2026-11-15T19:33:44.952Z)"
static void print_time(Session *session, const char *label, const JsonValue *run,
                       const char *field) {
    Str instant = field_text(run, field);
    if (str_is_null(instant)) return;
    Str relative = output_relative(&session->arena, session->now_ms, field_ms(run, field));
    print_line(session, label,
               arena_printf(&session->arena, "%.*s (%.*s)", STR_ARG(relative), STR_ARG(instant)),
               PAINT_NONE);
}

// Tasks and children are waited for by id; the step that began them has the name people know.
static Str wait_name(Session *session, const JsonValue *wait, const ListItems *steps) {
    Str id = field_text(wait, "name");
    for (size_t i = steps->count; i > 0 && !str_is_null(id); i--) {
        const JsonValue *step = steps->data[i - 1];
        if (!str_equal(field_text(step, "data"), id)) continue;
        return arena_printf(&session->arena, "%.*s (%.*s)", STR_ARG(field_text(step, "name")),
                            STR_ARG(id));
    }
    return id;
}

static void print_waits(Session *session, const JsonValue *run, const ListItems *steps) {
    const JsonValue *waits = json_member(run, STR("waits"));
    if (waits == NULL) return;
    size_t shown = 0;
    JSON_EACH (wait, waits) {
        if (shown++ == WAITS_SHOWN) {
            print_line(session, "",
                       arena_printf(&session->arena, "and %u more", waits->count - WAITS_SHOWN),
                       PAINT_NONE);
            return;
        }
        Arena *arena = &session->arena;
        Str name = wait_name(session, wait, steps), filter = field_text(wait, "filter");
        int64_t deadline_ms = field_ms(wait, "deadline");
        Str since = output_relative(arena, session->now_ms, field_ms(wait, "since"));
        Str until =
            deadline_ms == 0 ? STR("") : output_relative(arena, session->now_ms, deadline_ms);
        Str text = arena_printf(
            arena, "%.*s%s%.*s%s%.*s, since %.*s%s%.*s", STR_ARG(field_text(wait, "on")),
            str_is_null(name) ? "" : " ", STR_ARG(name), str_is_null(filter) ? "" : " where ",
            STR_ARG(filter), STR_ARG(since), until.len > 0 ? ", deadline " : "", STR_ARG(until));
        print_line(session, "waits for", text, PAINT_NONE);
    }
}

// The script it is pinned to; null when it cannot be had.
static Str get_source(Session *session, const JsonValue *run, Str *ret_file) {
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(
        &path, session_path(session, "/v1/workflows/%s", field_text(run, "workflow"), STR_NULL));
    client_put_query(&path, "version", field_text(run, "version"));
    const ClientRequest request = {.method = "GET",
                                   .path = arena_str(&session->arena, buf_str(&path))};
    buf_done(&path);
    Diag diag;
    if (session_try(session, &request, &diag) != OK) return STR_NULL;
    Str file = field_text(session->answer.json, "file");
    *ret_file = !str_is_null(file) ? file
                                   : arena_printf(&session->arena, "%.*s.flow",
                                                  STR_ARG(field_text(run, "workflow")));
    return field_text(session->answer.json, "source");
}

static void print_error(Session *session, const JsonValue *run) {
    const JsonValue *error = json_member(run, STR("error"));
    if (error == NULL || error->kind == JSON_KIND_NULL) return;
    Buf text;
    buf_init(&text, SHOW_MAX);
    failure_append(&text, error, 0);
    print_painted_block(session, "error", buf_str(&text), PAINT_RED);
    buf_clear(&text);
    FailurePlace place;
    Str file = STR_NULL;
    Str source = failure_place(error, &place) ? get_source(session, run, &file) : STR_NULL;
    if (!str_is_null(source) && str_equal(file, place.file)) {
        failure_append_excerpt(&text, source, &place, 0);
        print_block(session, "", buf_str(&text));
    }
    buf_done(&text);
}

// What it was started with: the first entry of its history.
static void print_input(Session *session, Str id) {
    Diag diag;
    const ClientRequest request = {
        .method = "GET", .path = session_path(session, "/v1/runs/%s/log?limit=1", id, STR_NULL)};
    if (session_try(session, &request, &diag) != OK) return;
    const JsonValue *items = json_member(session->answer.json, STR("items"));
    const JsonValue *entry = items != NULL ? items->first : NULL;
    if (entry == NULL || !str_equal(field_text(entry, "kind"), STR("started"))) return;
    Str input = next_short_json(&session->arena, json_member(entry, STR("data")));
    if (!str_is_null(input)) print_block(session, "input", input);
}

// Why it is paused.
static void print_reason(Session *session, const JsonValue *run) {
    const JsonValue *reason = json_member(run, STR("pause_reason"));
    if (reason == NULL || reason->kind != JSON_KIND_OBJECT) return;
    Buf text;
    buf_init(&text, SHOW_MAX);
    failure_append(&text, reason, 0);
    print_painted_block(session, "because", buf_str(&text), PAINT_RED);
    buf_done(&text);
}

static void print_tags(Session *session, const JsonValue *run) {
    const JsonValue *tags = json_member(run, STR("tags"));
    if (tags == NULL || tags->count == 0) return;
    Buf text;
    buf_init(&text, 1 << 16);
    JSON_EACH (tag, tags) {
        if (text.len > 0) buf_append_cstr(&text, ", ");
        buf_append_str(&text, tag->string);
    }
    print_line(session, "tags", buf_str(&text), PAINT_NONE);
    buf_done(&text);
}

static void print_run(Session *session, const JsonValue *run, const ListItems *steps) {
    Str status = field_text(run, "status");
    Str workflow = field_text(run, "workflow"), version = field_text(run, "version");
    Str shown = str_is_null(version)
                    ? workflow
                    : arena_printf(&session->arena, "%.*s (version %.*s)", STR_ARG(workflow),
                                   version.len < 12 ? (int)version.len : 12, version.data);
    print_line(session, "run", field_text(run, "id"), PAINT_NONE);
    print_line(session, "workflow", shown, PAINT_NONE);
    if (field_flag(run, "cancel_requested") && str_is_null(field_text(run, "finished_at")))
        status = arena_printf(&session->arena, "%.*s, asked to end", STR_ARG(status));
    print_line(session, "status", status, output_status_paint(field_text(run, "status")));
    print_reason(session, run);
    if (field_flag(run, "waits_for_code"))
        print_line(session, "no code",
                   STR("it waits for a node that has a C function of that name; "
                       "abide serve --plugin FILE loads it"),
                   PAINT_YELLOW);
    print_waits(session, run, steps);
    print_time(session, "next wake", run, "next_wake_at");
    print_time(session, "deadline", run, "deadline_at");
    print_time(session, "idle since", run, "idle_since");
    print_line(session, "attempt", field_text(run, "attempt"), PAINT_NONE);
    print_line(session, "attempts", field_text(run, "attempts"), PAINT_NONE);
    print_line(session, "parent", field_text(run, "parent_id"), PAINT_NONE);
    print_tags(session, run);
    const JsonValue *state = json_member(run, STR("state"));
    if (state != NULL && state->kind == JSON_KIND_OBJECT && state->count > 0)
        print_line(session, "state", state->raw, PAINT_NONE);
    print_time(session, "created", run, "created_at");
    print_time(session, "started", run, "started_at");
    print_time(session, "updated", run, "updated_at");
    print_time(session, "finished", run, "finished_at");
    print_input(session, field_text(run, "id"));
    print_error(session, run);
    if (str_equal(field_text(run, "status"), STR("completed"))) {
        const JsonValue *result = json_member(run, STR("result"));
        print_line(session, "result", result != NULL ? result->raw : STR("null"), PAINT_NONE);
    }
}

// {id: "o-7", items: Array(3)}, a string with its length when it was cut.
static Str view_text(Session *session, const JsonValue *view) {
    const JsonValue *items = json_member(view, STR("items"));
    Str type = field_text(view, "type"), text = field_text(view, "text");
    int64_t size = field_count(view, "size");
    if (items == NULL) {
        bool is_cut = str_equal(type, STR("string")) && size > SHOWN_TEXT_MAX;
        return is_cut ? arena_printf(&session->arena, "%.*s (%lld characters)", STR_ARG(text),
                                     (long long)size)
                      : text;
    }
    bool is_list = str_equal(type, STR("array")) || str_equal(type, STR("set"));
    Buf out;
    size_t shown = 0;
    buf_init(&out, SHOW_MAX);
    buf_append_cstr(&out, is_list ? "[" : "{");
    JSON_EACH (item, items) {
        if (shown == ITEMS_SHOWN) break;
        if (shown++ > 0) buf_append_cstr(&out, ", ");
        if (!is_list) {
            buf_append_str(&out, field_text(item, "key"));
            buf_append_cstr(&out, ": ");
        }
        buf_append_str(&out, field_text(item, "text"));
    }
    if ((int64_t)shown < size) buf_printf(&out, ", … of %lld", (long long)size);
    buf_append_cstr(&out, is_list ? "]" : "}");
    Str shown_text = arena_str(&session->arena, buf_str(&out));
    buf_done(&out);
    return shown_text;
}

// User data; functions and promises are left to -o json.
static void print_variables(Session *session, const JsonValue *frame) {
    const JsonValue *variables = json_member(frame, STR("variables"));
    size_t shown = 0, left = 0;
    if (variables == NULL) return;
    JSON_EACH (variable, variables) {
        Str type = field_text(variable, "type");
        bool is_data = !str_equal(type, STR("function")) && !str_equal(type, STR("promise"));
        if (!is_data) continue;
        if (shown++ >= VARIABLES_SHOWN) {
            left++;
            continue;
        }
        print_line(session, "",
                   arena_printf(&session->arena, "  %.*s = %.*s",
                                STR_ARG(field_text(variable, "name")),
                                STR_ARG(view_text(session, variable))),
                   PAINT_NONE);
    }
    if (left > 0)
        print_line(session, "",
                   arena_printf(&session->arena, "  and %zu more; -o json has all", left),
                   PAINT_NONE);
}

static void print_frames(Session *session, const JsonValue *frames, const char *label) {
    JSON_EACH (frame, frames) {
        Str function = field_text(frame, "function");
        Str text = arena_printf(
            &session->arena, "%.*s:%lld:%lld%s%.*s", STR_ARG(field_text(frame, "file")),
            (long long)field_count(frame, "line"), (long long)field_count(frame, "column"),
            function.len > 0 ? " in " : "", STR_ARG(function));
        print_line(session, label, text, PAINT_NONE);
        print_variables(session, frame);
    }
}

// Of a run that failed: how it looked then, and where it waited last.
static void print_place(Session *session, const JsonValue *snapshot) {
    const JsonValue *frames = json_member(snapshot, STR("frames"));
    const JsonValue *failure = json_member(snapshot, STR("failure"));
    const JsonValue *failed = failure != NULL ? json_member(failure, STR("frames")) : NULL;
    bool is_failed = str_equal(field_text(snapshot, "status"), STR("failed"));
    if (failed != NULL) print_frames(session, failed, "failed at");
    if (frames == NULL) return;
    print_frames(session, frames, is_failed ? "waited at" : "stands at");
    if (frames->count > 0)
        print_line(
            session, "snapshot",
            arena_printf(&session->arena, "%lld bytes", (long long)field_count(snapshot, "bytes")),
            PAINT_NONE);
}

// Names that occur more than once: their steps are numbered.
static void find_repeated(const ListItems *steps, StrMap *repeated) {
    strmap_init(repeated);
    for (size_t i = 0; i < steps->count; i++) {
        const JsonValue *step = steps->data[i];
        Str name = field_text(step, "name");
        if (field_count(step, "iteration") > 0 && !str_is_null(name))
            strmap_put(repeated, name, repeated);
    }
}

static void print_steps(Session *session, const ListItems *steps) {
    if (steps->count == 0) return;
    StrMap repeated;
    find_repeated(steps, &repeated);
    size_t from = steps->count > STEPS_SHOWN ? steps->count - STEPS_SHOWN : 0;
    TextTable table;
    table_init(&table, step_columns, COUNT_OF(step_columns));
    for (size_t i = from; i < steps->count; i++) {
        const JsonValue *step = steps->data[i];
        Str outcome = field_text(step, "outcome"), name = field_text(step, "name");
        int64_t iteration = field_count(step, "iteration"), attempt = field_count(step, "attempt");
        if (!str_is_null(name) && strmap_get(&repeated, name) != NULL)
            name =
                arena_printf(&session->arena, "%.*s [%lld]", STR_ARG(name), (long long)iteration);
        if (attempt > 1)
            outcome = arena_printf(&session->arena, "%.*s (attempt %lld)", STR_ARG(outcome),
                                   (long long)attempt);
        const JsonValue *data = json_member(step, STR("data"));
        bool is_error = str_equal(field_text(step, "outcome"), STR("error"));
        Str shown = data == NULL ? STR_NULL
                    : is_error   ? failure_headline(&session->arena, data)
                                 : data->raw;
        table_add(&table, field_text(step, "position"));
        table_add(&table, field_text(step, "kind"));
        table_add(&table, name);
        table_add_painted(&table, outcome, output_status_paint(field_text(step, "outcome")));
        table_add(&table, output_relative(&session->arena, session->now_ms, field_ms(step, "at")));
        table_add(&table, shown);
    }
    putchar('\n');
    if (from > 0) printf("%zu earlier steps are left out; -o json has all\n", from);
    table_print(&table, stdout, session->terminal);
    table_done(&table);
    strmap_done(&repeated);
}

static void print_json(const JsonValue *run, const ListItems *steps, const JsonValue *snapshot) {
    Buf text;
    JsonWriter json;
    buf_init(&text, SHOW_MAX);
    json_writer_init(&json, &text, STR("  "));
    json_write_object_begin(&json);
    JSON_EACH (member, run) {
        json_write_key(&json, member->key);
        json_write_value(&json, member);
    }
    json_write_key(&json, STR("steps"));
    json_write_array_begin(&json);
    for (size_t i = 0; i < steps->count; i++) json_write_value(&json, steps->data[i]);
    json_write_array_end(&json);
    json_write_key(&json, STR("snapshot"));
    if (snapshot != NULL) json_write_value(&json, snapshot);
    else json_write_null(&json);
    json_write_object_end(&json);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

// How it looked when a kept turn began.
static bool show_turn(Session *session, Str id, Str turn) {
    Str path = session_path(session, "/v1/runs/%s/snapshot", id, STR_NULL);
    path = arena_printf(&session->arena, "%.*s?depth=1&turn=%.*s", STR_ARG(path), STR_ARG(turn));
    if (!session_get(session, path)) return false;
    if (session->format == OUTPUT_JSON) {
        output_json_line(stdout, session->answer.json->raw);
    } else if (session->format == OUTPUT_IDS) {
        output_id(stdout, id);
    } else {
        print_line(session, "run", id, PAINT_NONE);
        print_line(session, "turn", turn, PAINT_NONE);
        print_frames(session, json_member(session->answer.json, STR("frames")), "stood at");
    }
    return session_flush(session);
}

// Where it stands; NULL when that cannot be seen, which is no reason not to show the rest.
static const JsonValue *get_snapshot(Session *session, Str id) {
    Diag diag;
    const ClientRequest request = {
        .method = "GET",
        .path = session_path(session, "/v1/runs/%s/snapshot?depth=1", id, STR_NULL)};
    return session_try(session, &request, &diag) == OK ? session->answer.json : NULL;
}

static bool show_run(Session *session, Str id) {
    if (!session_get(session, session_path(session, "/v1/runs/%s", id, STR_NULL))) return false;
    const JsonValue *run = session->answer.json;
    const Listing listing = {.path = session_path(session, "/v1/runs/%s/steps", id, STR_NULL),
                             .limit = STEPS_MAX};
    ListItems steps = {0};
    Str next;
    bool is_ok = list_gather(session, &listing, &steps, &next);
    const JsonValue *snapshot = is_ok ? get_snapshot(session, id) : NULL;
    if (is_ok && session->format == OUTPUT_JSON) {
        print_json(run, &steps, snapshot);
    } else if (is_ok && session->format == OUTPUT_IDS) {
        output_id(stdout, field_text(run, "id"));
    } else if (is_ok) {
        print_run(session, run, &steps);
        print_place(session, snapshot);
        next_print_tasks(session, run, &steps, print_block);
        print_steps(session, &steps);
        next_print_hints(session, run, &steps, print_block);
    }
    vec_free(&steps);
    return is_ok && session_flush(session);
}

static void show(VerbCall *call) {
    Session *session = &call->session;
    Str id = verb_operand(call, 0);
    bool is_following = verb_flag(call, "follow");
    Str turn = verb_text(call, "turn");
    if (!str_is_null(turn)) {
        (void)show_turn(session, id, turn);
        return;
    }
    if (is_following && session->format == OUTPUT_JSON) (void)follow_print_log(session, id);
    else if (show_run(session, id) && is_following) {
        putchar('\n');
        (void)follow_print_log(session, id);
    }
}

static const VerbOption options[] = {
    {"follow", 'f', NULL, "go on with the history, and what happens until it ends", VALUE_FLAG,
     VERB_WORKS},
    {"turn", 't', "N", "how it looked when that kept turn began (abide wf turns)", VALUE_NUMBER, 0},
    {0},
};

const Verb wf_show_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf show RUN [--follow] [--turn N] [options]",
    .about = "Shows a run: its status, what it waits for and since when, when it wakes by "
             "itself, where its\nscript stands, its tasks and steps, its result or error, "
             "and what to do next.",
    .example = "abide wf show order-7\nabide wf show order-7 --follow",
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .act = show,
};
