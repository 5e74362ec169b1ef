// abide worker: does tasks with a program, one process per task, until it is told to end.
//
// Signals that end it are blocked in all threads and taken by one that waits for them, so that a
// stop is never lost and no call is cut off in the middle.
//
// Not here: claiming and telling (worker/loop.c), the program (worker/program.c).
#include "cli/worker/worker.h"
#include "base/array.h"
#include "base/env.h"
#include "base/time/duration.h"
#include "cli/client/session.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { CONCURRENCY_MAX = 1000 };

typedef struct Arguments {
    Str command, name, timeout, lease, heartbeat, grace, kill_after;
    OptionTexts tasks, queues;
    uint64_t concurrency;
    bool is_text;
} Arguments;

static void write_line(void *context, LogLevel level, const char *line) {
    (void)context;
    fprintf(stderr, "%s %s\n", log_level_name(level), line);
}

static bool read_duration(Session *session, const char *option, Str text, int64_t min_ms,
                          int64_t *ret_ms) {
    Diag diag;
    if (str_is_null(text)) return true;
    if (duration_parse(text, ret_ms, &diag) != OK)
        return session_misuse(session, "--%s: %s", option, diag.message);
    if (*ret_ms >= min_ms) return true;
    return session_misuse(session, "--%s takes at least %lldms", option, (long long)min_ms);
}

static Str *copy_texts(Arena *arena, const OptionTexts *texts) {
    Str *copies = ARENA_ARRAY(arena, Str, texts->count + 1);
    for (size_t i = 0; i < texts->count; i++) copies[i] = str_from(texts->items[i]);
    return copies;
}

// --exec TEXT goes through the shell; words behind -- are the program and its arguments.
static bool read_program(Session *session, const Arguments *given, const Operands *operands,
                         ProgramConfig *program) {
    Arena *arena = &session->arena;
    bool has_command = !str_is_null(given->command);
    if (has_command == (operands->count > 0))
        return session_misuse(session, "say what to run, with --exec COMMAND or -- PROGRAM …");
    if (has_command) {
        program->argv = ARENA_ARRAY(arena, char *, 4);
        program->argv[0] = arena_cstr(arena, STR("/bin/sh"));
        program->argv[1] = arena_cstr(arena, STR("-c"));
        program->argv[2] = arena_cstr(arena, given->command);
    } else {
        program->argv = ARENA_ARRAY(arena, char *, operands->count + 1);
        for (size_t i = 0; i < operands->count; i++) program->argv[i] = operands->items[i];
    }
    program->is_text = given->is_text;
    program->kill_after_ms = 5000;
    return read_duration(session, "timeout", given->timeout, 1, &program->timeout_ms) &&
           read_duration(session, "kill-after", given->kill_after, 1, &program->kill_after_ms);
}

static bool read_worker(Session *session, const Arguments *given, WorkerConfig *config) {
    char host[64] = "worker";
    if (given->tasks.count == 0)
        return session_misuse(session, "say which tasks it does, with --task NAME");
    if (given->concurrency < 1 || given->concurrency > CONCURRENCY_MAX)
        return session_misuse(session, "--concurrency takes 1 to %d", CONCURRENCY_MAX);
    (void)gethostname(host, sizeof host - 1);
    *config = (WorkerConfig){
        .connection = session->config,
        .names = copy_texts(&session->arena, &given->tasks),
        .name_count = given->tasks.count,
        .queues = copy_texts(&session->arena, &given->queues),
        .queue_count = given->queues.count,
        .concurrency = (int64_t)given->concurrency,
        .lease_ms = 30000,
        .grace_ms = 30000,
        .perform = worker_perform_program,
    };
    unsigned random = (unsigned)(env_random_u64(env_system()) & 0xFFFF);
    config->name = str_is_null(given->name)
                       ? arena_printf(&session->arena, "%s-%d-%04x", host, (int)getpid(), random)
                       : given->name;
    if (!read_duration(session, "lease", given->lease, 100, &config->lease_ms)) return false;
    config->heartbeat_ms = config->lease_ms / 3 < 5000 ? config->lease_ms / 3 : 5000;
    return read_duration(session, "heartbeat", given->heartbeat, 20, &config->heartbeat_ms) &&
           read_duration(session, "grace", given->grace, 0, &config->grace_ms);
}

static void block_signals(void) { // in every thread that is started from here on
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
}

static void work(Session *session, const WorkerConfig *config) {
    LOG(config->logger, LOG_INFO, "worker %.*s is ready", STR_ARG(config->name));
    Diag diag;
    session->answer = (ClientAnswer){0};
    Status status = worker_run(config, &session->answer.http_status, &diag);
    if (status != OK) session_fail(session, status, &diag);
}

int cli_worker(int argument_count, char **arguments) {
    Arguments given = {.concurrency = 1};
    const Option options[] = {
        {"task", 't', OPTION_TEXTS, &given.tasks, "NAME", "a task it does; several are allowed"},
        {"exec", 'x', OPTION_TEXT, &given.command, "COMMAND", "what the shell runs per task"},
        {"queue", 'q', OPTION_TEXTS, &given.queues, "NAME", "a queue to look at; default"},
        {"concurrency", 'c', OPTION_COUNT, &given.concurrency, "N", "programs at a time; 1"},
        {"timeout", 0, OPTION_TEXT, &given.timeout, "DURATION", "longest time of a program; none"},
        {"kill-after", 0, OPTION_TEXT, &given.kill_after, "DURATION",
         "from SIGTERM to SIGKILL; 5s"},
        {"text", 0, OPTION_FLAG, &given.is_text, NULL, "its output is a text, not JSON"},
        {"lease", 0, OPTION_TEXT, &given.lease, "DURATION",
         "how soon another worker takes over from a dead one; 30s"},
        {"heartbeat", 0, OPTION_TEXT, &given.heartbeat, "DURATION",
         "how often to tell it is alive; 5s"},
        {"grace", 0, OPTION_TEXT, &given.grace, "DURATION",
         "for programs to finish when it is stopped; 30s"},
        {"name", 0, OPTION_TEXT, &given.name, "NAME", "shown to operators"},
    };
    OptionTable table = {
        .usage = "abide worker --task NAME [options] --exec COMMAND | -- PROGRAM [ARGUMENT...]",
        .about = "Does tasks with a program: its standard input is the task's input, its\n"
                 "standard output the result, both JSON. An exit status other than 0 fails the\n"
                 "attempt; 100 says that trying again cannot help. docs/workers.md says more.",
        .example = "abide worker --task resize --concurrency 4 -- python3 resize.py\n"
                   "abide worker --task count --exec 'jq length'",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_max = 1000,
    };
    Session session;
    Operands operands;
    block_signals();
    session_init(&session, SESSION_CHANGES);
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Logger logger = {.least = LOG_INFO, .write = write_line};
    ProgramConfig program = {.logger = &logger};
    WorkerConfig config;
    if (read_worker(&session, &given, &config) &&
        read_program(&session, &given, &operands, &program)) {
        program.worker = config.name;
        config.context = &program;
        config.logger = &logger;
        work(&session, &config);
    }
    return session_end(&session);
}
