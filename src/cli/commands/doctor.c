// abide doctor: is everything as it should be, and if not, what to do about it.
//
// Each check adds findings: ok, warning or error, with advice for the last two. A check that cannot
// be made because an earlier one failed is left out. Exit code 1 when there is an error.
//
//   [doctor-1] It only looks: nothing is changed, nothing is put to work.
//
// Not here: the content of a store (verify.c).
#include "base/env.h"
#include "base/time/duration.h"
#include "cli/client/local.h"
#include "cli/commands/verify.h"
#include "cli/groups.h"
#include "cli/runs/next.h"
#include "cli/verbs/verb.h"
#include "json/write.h"

enum {
    CLOCK_SKEW_MS = 5000,
    LATE_MS = 60 * 1000,         // a timer that is late by more
    STUCK_MS = 10 * 60 * 1000,   // running without a commit for so long
    WAITING_MS = 10 * 60 * 1000, // a task nobody takes
    SLOW_MS = 1000,
    DISK_WARNING_MIB = 1024,
    DISK_ERROR_MIB = 100,
};

typedef enum Level { LEVEL_OK, LEVEL_WARNING, LEVEL_ERROR } Level;
static const char *const level_names[] = {"ok", "warning", "error"};

typedef struct Finding {
    const char *check;
    Level level;
    Str message;
    const char *advice; // NULL: none is needed
} Finding;

typedef struct Doctor {
    Session *session;
    VEC(Finding) findings;
} Doctor;

__attribute__((format(printf, 5, 6))) static void note(Doctor *doctor, const char *check,
                                                       Level level, const char *advice,
                                                       const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Str message = arena_vprintf(&doctor->session->arena, format, arguments);
    va_end(arguments);
    vec_push(&doctor->findings, (Finding){check, level, message, advice});
}

// ---- the server ----

static const JsonValue *ask(Doctor *doctor, const char *check, const char *path,
                            const char *advice) {
    const ClientRequest request = {.method = "GET", .path = str_from(path)};
    Diag diag;
    if (session_try(doctor->session, &request, &diag) == OK) return doctor->session->answer.json;
    int http_status = doctor->session->answer.http_status;
    if (http_status == 401 || http_status == 403) doctor->session->exit_code = EXIT_CODE_AUTH;
    note(doctor, check, LEVEL_ERROR, advice, "%s", diag.message);
    return NULL;
}

static bool check_server(Doctor *doctor) {
    int64_t before_ms = env_now_ms(env_system());
    if (ask(doctor, "server", "/livez",
            "start a server with `abide serve`, or name it with "
            "--server") == NULL)
        return false;
    int64_t after_ms = env_now_ms(env_system()), took_ms = after_ms - before_ms;
    note(doctor, "server", took_ms > SLOW_MS ? LEVEL_WARNING : LEVEL_OK,
         took_ms > SLOW_MS ? "look at the load of the machine and the network" : NULL,
         "answers in %lld ms", (long long)took_ms);
    int64_t date_ms = doctor->session->answer.date_ms;
    int64_t skew_ms = (before_ms + after_ms) / 2 - date_ms - 500; // it is cut to full seconds
    bool is_off = skew_ms > CLOCK_SKEW_MS || skew_ms < -CLOCK_SKEW_MS;
    if (date_ms != 0 && is_off)
        note(doctor, "clock", LEVEL_WARNING, "set both clocks by NTP: timers use the server's",
             "the server's clock is %lld s %s this machine's",
             (long long)((skew_ms < 0 ? -skew_ms : skew_ms) / 1000),
             skew_ms > 0 ? "behind" : "ahead of");
    else if (date_ms != 0) note(doctor, "clock", LEVEL_OK, NULL, "agrees with the server's");
    return true;
}

static void check_version(Doctor *doctor) {
    const JsonValue *answer = ask(doctor, "version", "/version", "is it an abide server?");
    if (answer == NULL) return;
    Str version = field_text(answer, "version");
    bool is_same = str_equal(version, STR(ABIDE_VERSION));
    note(doctor, "version", is_same ? LEVEL_OK : LEVEL_WARNING,
         is_same ? NULL : "use the same version on both sides",
         is_same ? "%s on both sides" : "this program is %s, the server %.*s", ABIDE_VERSION,
         STR_ARG(version));
}

static bool check_ready(Doctor *doctor) {
    if (ask(doctor, "store", "/readyz",
            "look at the server's log: its store does not answer, or it is stopping") == NULL)
        return false;
    note(doctor, "store", LEVEL_OK, NULL, "answers");
    return true;
}

// ---- what it does ----

static void check_disk(Doctor *doctor, const JsonValue *stats) {
    if (str_is_null(field_text(stats, "disk_free_bytes"))) return; // the store is no file
    int64_t free_mib = field_count(stats, "disk_free_bytes") >> 20;
    Level level = free_mib >= DISK_WARNING_MIB ? LEVEL_OK
                  : free_mib >= DISK_ERROR_MIB ? LEVEL_WARNING
                                               : LEVEL_ERROR;
    note(doctor, "disk", level,
         level == LEVEL_OK ? NULL : "make room, or remove ended runs with abide wf rm",
         "%lld MiB are left for the store", (long long)free_mib);
}

static bool check_stats(Doctor *doctor) {
    const JsonValue *stats = ask(doctor, "access", "/v1/stats",
                                 "give a token with the scope read: --token, ABIDE_TOKEN");
    if (stats == NULL) return false;
    const JsonValue *runs = json_member(stats, STR("runs"));
    int64_t paused = field_count(runs, "paused"), dead = field_count(stats, "dead_letters");
    note(doctor, "runs", LEVEL_OK, NULL, "%lld running, %lld suspended, %lld failed",
         (long long)field_count(runs, "running"), (long long)field_count(runs, "suspended"),
         (long long)field_count(runs, "failed"));
    if (paused > 0)
        note(doctor, "runs", LEVEL_WARNING, "abide wf ls --status paused; then abide wf resume",
             "%lld paused: they wait for a person", (long long)paused);
    if (dead > 0)
        note(doctor, "dead letters", LEVEL_WARNING, "abide dead ls; then replay or remove them",
             "%lld events or signals reached nobody", (long long)dead);
    check_disk(doctor, stats);
    return true;
}

static void check_stuck(Doctor *doctor) {
    const JsonValue *answer = ask(doctor, "runs", "/v1/runs?status=running,suspended&limit=1000",
                                  "look at the server's log");
    const JsonValue *runs = answer != NULL ? json_member(answer, STR("items")) : NULL;
    int64_t late = 0, stuck = 0, now_ms = doctor->session->now_ms;
    Str late_id = STR_NULL, stuck_id = STR_NULL;
    if (runs != NULL)
        JSON_EACH (run, runs) {
            int64_t wake_ms = field_ms(run, "next_wake_at"),
                    updated_ms = field_ms(run, "updated_at");
            bool is_running = str_equal(field_text(run, "status"), STR("running"));
            if (wake_ms != 0 && now_ms - wake_ms > LATE_MS) {
                late++;
                late_id = field_text(run, "id");
            } else if (is_running && now_ms - updated_ms > STUCK_MS) {
                stuck++;
                stuck_id = field_text(run, "id");
            }
        }
    if (late > 0)
        note(doctor, "timers", LEVEL_ERROR,
             "the server is overloaded or stopped: look at its log and at abide stats",
             "%lld runs should have been woken over a minute ago, such as %.*s", (long long)late,
             STR_ARG(late_id));
    if (stuck > 0)
        note(doctor, "runs", LEVEL_WARNING,
             "abide wf show RUN: its workflow may not be registered in any process",
             "%lld runs are running without a step for ten minutes, such as %.*s", (long long)stuck,
             STR_ARG(stuck_id));
    if (runs != NULL && late == 0 && stuck == 0)
        note(doctor, "timers", LEVEL_OK, NULL, "no run is stuck, no timer late");
}

// Runs of workflows in C that no node has a function for.
static void check_code(Doctor *doctor) {
    const JsonValue *answer =
        ask(doctor, "workflows", "/v1/workflows?limit=1000", "look at the server's log");
    const JsonValue *workflows = answer != NULL ? json_member(answer, STR("items")) : NULL;
    if (workflows == NULL || doctor->session->local != NULL) return; // a command has no plug-ins
    JSON_EACH (workflow, workflows) {
        if (json_member(workflow, STR("registered")) == NULL || field_flag(workflow, "registered"))
            continue;
        Str name = field_text(workflow, "name");
        Buf path;
        buf_init(&path, 1 << 12);
        buf_append_cstr(&path, "/v1/runs?status=running&limit=1000");
        client_put_query(&path, "workflow", name);
        const JsonValue *runs =
            ask(doctor, "workflows", arena_cstr(&doctor->session->arena, buf_str(&path)),
                "look at the server's log");
        buf_done(&path);
        const JsonValue *items = runs != NULL ? json_member(runs, STR("items")) : NULL;
        size_t waiting_count = 0;
        if (items != NULL)
            JSON_EACH (run, items) waiting_count += field_flag(run, "waits_for_code");
        if (waiting_count == 0) continue;
        note(doctor, "workflows", LEVEL_WARNING,
             "start a server with the plug-in that has it: abide serve --plugin FILE",
             "%.*s is written in C; %zu runs of it wait for a server that has it", STR_ARG(name),
             waiting_count);
    }
}

static void check_queues(Doctor *doctor) {
    const JsonValue *answer = ask(doctor, "queues", "/v1/queues", "look at the server's log");
    const JsonValue *queues = answer != NULL ? json_member(answer, STR("items")) : NULL;
    size_t bad = 0;
    if (queues != NULL)
        JSON_EACH (queue, queues) {
            Str name = field_text(queue, "name");
            int64_t oldest_ms = field_ms(queue, "oldest_at"),
                    running = field_count(queue, "running");
            bool is_old = oldest_ms != 0 && doctor->session->now_ms - oldest_ms > WAITING_MS;
            if (field_flag(queue, "paused")) {
                note(doctor, "queues", LEVEL_WARNING, "abide queue resume QUEUE",
                     "%.*s is paused, %lld tasks wait", STR_ARG(name),
                     (long long)field_count(queue, "queued"));
            } else if (is_old) {
                Str age =
                    output_relative(&doctor->session->arena, doctor->session->now_ms, oldest_ms);
                note(doctor, "queues", LEVEL_WARNING,
                     running > 0 ? "run more workers for it"
                                 : "start a worker that knows its tasks",
                     "%.*s: %lld tasks wait, the oldest since %.*s, %lld are being done",
                     STR_ARG(name), (long long)field_count(queue, "queued"), STR_ARG(age),
                     (long long)running);
            } else {
                continue;
            }
            bad++;
        }
    if (queues != NULL && bad == 0) note(doctor, "queues", LEVEL_OK, NULL, "none is held up");
}

// Tasks that wait, held against who asks for tasks.
static void check_workers(Doctor *doctor) {
    const JsonValue *answer = ask(doctor, "workers", "/v1/workers", "look at the server's log");
    const JsonValue *unserved = answer != NULL ? json_member(answer, STR("unserved")) : NULL;
    const JsonValue *workers = answer != NULL ? json_member(answer, STR("items")) : NULL;
    if (unserved == NULL || workers == NULL) return;
    int64_t present = 0, now_ms = doctor->session->now_ms;
    Arena *arena = &doctor->session->arena;
    JSON_EACH (worker, workers)
        if (field_flag(worker, "present")) present++;
    JSON_EACH (one, unserved) {
        Str text = next_unserved_text(arena, one);
        Str since = output_relative(arena, now_ms, field_ms(one, "since"));
        note(doctor, "workers", LEVEL_WARNING,
             "start a worker that asks for it, or mend the name where the task is made",
             "%.*s; the first one waits since %.*s: %.*s", STR_ARG(text), STR_ARG(since),
             STR_ARG(field_text(one, "task_id")));
    }
    if (unserved->count == 0)
        note(doctor, "workers", LEVEL_OK, NULL, "%lld ask for tasks; no task waits in vain",
             (long long)present);
}

static void check_topics(Doctor *doctor) {
    const JsonValue *answer =
        ask(doctor, "topics", "/v1/topics?limit=1000", "look at the server's log");
    const JsonValue *topics = answer != NULL ? json_member(answer, STR("items")) : NULL;
    size_t bad = 0;
    if (topics != NULL)
        JSON_EACH (topic, topics) {
            if (!field_flag(topic, "full")) continue;
            bad++;
            note(doctor, "topics", LEVEL_WARNING,
                 "abide topic events TOPIC shows them, abide topic rm-events TOPIC --all "
                 "removes them; or raise the cap: abide topic set TOPIC --cap N",
                 "%.*s is full: %lld events are pending, and new ones are refused (TOPIC_FULL)",
                 STR_ARG(field_text(topic, "name")), (long long)field_count(topic, "pending"));
        }
    if (topics != NULL && bad == 0) note(doctor, "topics", LEVEL_OK, NULL, "none is full");
}

static void check_nodes(Doctor *doctor) {
    const JsonValue *answer = ask(doctor, "nodes", "/v1/nodes", "look at the server's log");
    const JsonValue *nodes = answer != NULL ? json_member(answer, STR("items")) : NULL;
    int64_t alive = 0, gone = 0;
    if (nodes != NULL)
        JSON_EACH (node, nodes) {
            if (field_flag(node, "alive")) alive++;
            else gone++;
        }
    if (nodes != NULL && doctor->session->local == NULL)
        note(doctor, "nodes", alive > 0 ? LEVEL_OK : LEVEL_ERROR,
             alive > 0 ? NULL : "no node executes anything: start a server",
             "%lld alive, %lld gone", (long long)alive, (long long)gone);
}

// ---- a store of one's own ----

// What a server says that it keeps, and what not (docs/redis.md).
static void hear_promise(void *context, LogLevel level, const char *line) {
    bool is_warning = level >= LOG_WARN;
    note(context, "promise", is_warning ? LEVEL_WARNING : LEVEL_OK,
         is_warning ? "see docs/redis.md for the settings that promise more" : NULL, "%s", line);
}

static void check_store(Doctor *doctor) {
    Str url = doctor->session->store;
    int64_t row_count = 0;
    Diag diag;
    Logger logger = {.least = LOG_INFO, .write = hear_promise, .context = doctor};
    if (verify_store(url, &logger, &row_count, &diag) != OK)
        note(doctor, "content", LEVEL_ERROR, "stop, and restore a backup", "%s", diag.message);
    else note(doctor, "content", LEVEL_OK, NULL, "%lld rows, all in order", (long long)row_count);
}

// ---- the report ----

static void print_json(const Doctor *doctor, Level worst) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 1 << 22);
    json_writer_init(&json, &text, STR("  "));
    json_write_object_begin(&json);
    json_put_bool(&json, "ok", worst != LEVEL_ERROR);
    json_write_key(&json, STR("findings"));
    json_write_array_begin(&json);
    for (size_t i = 0; i < doctor->findings.count; i++) {
        const Finding *finding = &doctor->findings.data[i];
        json_write_object_begin(&json);
        json_put_cstr(&json, "check", finding->check);
        json_put_cstr(&json, "status", level_names[finding->level]);
        json_put_string(&json, "message", finding->message);
        json_put_cstr(&json, "advice", finding->advice);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

static void print_findings(const Doctor *doctor) {
    const Session *session = doctor->session;
    for (size_t i = 0; i < doctor->findings.count; i++) {
        const Finding *finding = &doctor->findings.data[i];
        Str level = str_from(level_names[finding->level]);
        Buf line;
        buf_init(&line, 1 << 16);
        output_painted(&line, session->terminal, output_status_paint(level), level);
        for (size_t width = level.len; width < 9; width++) buf_append_char(&line, ' ');
        buf_printf(&line, "%s: ", finding->check);
        output_clean(&line, finding->message, 0);
        if (finding->advice != NULL) buf_printf(&line, "\n         %s", finding->advice);
        output_json_line(stdout, buf_str(&line));
        buf_done(&line);
    }
}

static void report(Doctor *doctor) {
    Level worst = LEVEL_OK;
    for (size_t i = 0; i < doctor->findings.count; i++)
        if (doctor->findings.data[i].level > worst) worst = doctor->findings.data[i].level;
    if (doctor->session->format == OUTPUT_JSON) print_json(doctor, worst);
    else print_findings(doctor);
    if (worst == LEVEL_ERROR && doctor->session->exit_code == EXIT_CODE_OK)
        doctor->session->exit_code = EXIT_CODE_FAILED;
}

static void look(VerbCall *call) {
    Doctor doctor = {.session = &call->session};
    bool is_local = call->session.local != NULL;
    if (check_server(&doctor)) {
        check_version(&doctor);
        if (check_ready(&doctor) && check_stats(&doctor)) {
            check_nodes(&doctor);
            check_stuck(&doctor);
            check_code(&doctor);
            check_queues(&doctor);
            if (!is_local) check_workers(&doctor);
            check_topics(&doctor);
        }
    }
    if (is_local) check_store(&doctor);
    report(&doctor);
    vec_free(&doctor.findings);
}

const Verb doctor_verb = {
    .kind = VERB_CALL,
    .usage = "abide doctor [options]",
    .about = "Looks whether a server, or a store, is well: reachable, the same version, the "
             "same time, room on\nthe disk, nothing stuck. Exit code 1 when something is "
             "wrong; each finding comes with advice.",
    .example = "abide doctor\nabide doctor --store sqlite:orders.db",
    .has_no_ids = true,
    .act = look,
};
