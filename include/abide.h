/*
** abide: durable workflows as plain C functions.
**
** A workflow is a function. Between its durable calls (abide_step, abide_sleep,
** abide_await_event, …) the process may die, be upgraded, or forget the run for a month: the
** engine calls the function again from the top, every durable call that already happened answers
** at once with what it answered before, and execution goes on where it stopped.
**
**     static int order(abide_ctx *ctx, const char *input) {
**         const char *receipt, *answer;
**         ABIDE_TRY(abide_step(ctx, "charge", charge_card, input, &receipt));
**         ABIDE_TRY(abide_sleep(ctx, "2s"));
**         int rc = abide_await_event(ctx, "approved", &(abide_wait){.timeout = "24h"}, &answer);
**         if (rc == ABIDE_TIMEOUT) return abide_fail(ctx, "not approved in time");
**         if (rc != ABIDE_OK) return rc;
**         return abide_complete(ctx, answer);
**     }
**
** Conventions
**   - Payloads (inputs, results, events) are JSON text in UTF-8, kept byte for byte. A NULL
**     payload means "no value", which differs from the JSON text "null".
**   - Durations are text: "500ms", "2s", "15m", "24h", "30d", "1h30m", "PT15M"; a bare number is
**     seconds. Times are milliseconds since 1970-01-01 UTC.
**   - Functions answer ABIDE_OK (0) or another ABIDE_ code. Engine functions take an optional
**     `abide_error *` that receives a stable code and a sentence for people.
**   - Every function of an engine may be called from any thread. There is no global state; a
**     process may have many engines. Functions that take an abide_ctx or abide_call may only be
**     called on the thread that runs the workflow or step, while it runs.
**   - Structs that you fill in begin as zeros, and zero means the default: `{.id = "o-1"}`.
**
** Compatibility
**   - The layout of a struct in a released header does not change while the library's number
**     stays (libabide.so.0). What has to be added comes as a new struct and a new function whose
**     names end in _v2; the old ones stay. So a program need not be compiled again for a newer
**     library of that number, and no field is ever ignored because its struct is too short.
**   - Constants keep their values; functions are not removed and keep their arguments.
**
** Rules for workflow functions
**   - Pass every code that is not ABIDE_OK up (ABIDE_TRY does), unless the code is one you
**     handle: ABIDE_TIMEOUT, ABIDE_FAILED or ABIDE_CANCELLED.
**   - Make the same durable calls in the same order when given the same answers: read clocks,
**     random numbers, files and sockets only inside steps, or through abide_now/abide_random.
**     A run whose function asks for something else than what is recorded is paused, not guessed.
*/
#ifndef ABIDE_H
#define ABIDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ABIDE_API                __attribute__((visibility("default")))
#define ABIDE_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define ABIDE_API
#define ABIDE_PRINTF(text, args)
#endif

/* ---- Version ----------------------------------------------------------------------------- */

/*
** The version of this header: as text, in parts, and as a number that can be compared, as in
** `#if ABIDE_VERSION_NUMBER >= ABIDE_VERSION_OF(0, 2, 0)`.
*/
#define ABIDE_VERSION                         "0.1.0"
#define ABIDE_VERSION_MAJOR                   0
#define ABIDE_VERSION_MINOR                   1
#define ABIDE_VERSION_PATCH                   0
#define ABIDE_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define ABIDE_VERSION_NUMBER                                                                       \
    ABIDE_VERSION_OF(ABIDE_VERSION_MAJOR, ABIDE_VERSION_MINOR, ABIDE_VERSION_PATCH)

/* The version of the library that the program runs with: "0.1.0". */
ABIDE_API const char *abide_version(void);

/* ---- Codes ------------------------------------------------------------------------------- */

enum {
    ABIDE_OK = 0,
    ABIDE_SUSPENDED = 1,    /* inside workflows only: not there yet, pass it up */
    ABIDE_TIMEOUT = 2,      /* the wait's deadline came first */
    ABIDE_CANCELLED = 3,    /* the run was asked to end: clean up and pass it up */
    ABIDE_FAILED = 4,       /* the step, task or child failed for good: abide_error_json() */
    ABIDE_PENDING = 5,      /* abide_result: the run has not ended yet */
    ABIDE_NOT_FOUND = 10,   /* no such run, workflow, step, topic … */
    ABIDE_TERMINAL = 11,    /* the run has ended; nothing changes it any more */
    ABIDE_CONFLICT = 12,    /* exists already with other content, or not in this state */
    ABIDE_INVALID = 13,     /* bad argument: the message says which and why */
    ABIDE_LIMIT = 14,       /* a documented limit was reached; see docs/limits.md */
    ABIDE_UNSUPPORTED = 15, /* this store cannot do that */
    ABIDE_UNAVAILABLE = 16, /* the store cannot answer now; try again */
    ABIDE_CORRUPT = 17,     /* stored data fails its own check; nothing was changed */
    ABIDE_FENCED = 18,      /* somebody else has taken it over */
    ABIDE_CLOSED = 19       /* the engine is shutting down */
};

/* "ABIDE_TIMEOUT" for 2; never NULL. */
ABIDE_API const char *abide_code_name(int code);

typedef struct abide_error {
    int code;          /* ABIDE_… */
    char name[48];     /* stable, documented: "RUN_NOT_FOUND"; docs/errors.md */
    char message[464]; /* what, where, and what to do */
} abide_error;

/* Returns from the calling function when `call` does not answer ABIDE_OK. */
#define ABIDE_TRY(call)                                                                            \
    do {                                                                                           \
        int abide_try_ = (call);                                                                   \
        if (abide_try_ != ABIDE_OK) return abide_try_;                                             \
    } while (0)

/* ---- The engine -------------------------------------------------------------------------- */

typedef struct abide_engine abide_engine;
typedef struct abide_ctx abide_ctx;   /* one execution of a workflow function */
typedef struct abide_call abide_call; /* one execution of a step or task function */

typedef int (*abide_workflow_fn)(abide_ctx *ctx, const char *input);
typedef int (*abide_call_fn)(abide_call *call, const char *input);

/* What happened, for abide_options.on_event. */
enum {
    ABIDE_EVENT_STARTED = 1, /* a run was created */
    ABIDE_EVENT_SUSPENDED,
    ABIDE_EVENT_RESUMED, /* something woke it; also when it had been released */
    ABIDE_EVENT_STEP,    /* a step finished; detail: its name */
    /* Once per run that this process ends, also when nothing of it was in memory. */
    ABIDE_EVENT_COMPLETED,
    ABIDE_EVENT_FAILED,    /* detail: error JSON */
    ABIDE_EVENT_CANCELLED, /* detail likewise */
    ABIDE_EVENT_PAUSED,    /* detail: why, when the engine did it by itself */
    ABIDE_EVENT_RELEASED,  /* nothing of the run is in memory any more */
    ABIDE_EVENT_RELOADED,
    ABIDE_EVENT_STORE_DOWN, /* the store does not answer; the engine keeps trying */
    ABIDE_EVENT_STORE_UP,
    ABIDE_EVENT_LINE,   /* a script's console; name: "log", "warn" …; detail: a JSON string */
    ABIDE_EVENT_STREAM, /* something was written to the run's stream; name: type; detail: value */
    ABIDE_EVENT_PUBLISHED, /* the run published an event; name: topic; detail: payload */
    ABIDE_EVENT_IDLE,      /* the run waits for the outside world and for nothing else */
    ABIDE_EVENT_RETRIED    /* the run failed and begins again later; detail: error JSON */
};

typedef struct abide_event {
    int kind;             /* ABIDE_EVENT_… */
    const char *run_id;   /* NULL when it is not about a run */
    const char *workflow; /* NULL likewise */
    const char *name;     /* may be NULL */
    const char *detail;   /* may be NULL */
    int64_t at_ms;
} abide_event;

#define ABIDE_SNAPSHOTS_OFF (-1)
#define ABIDE_UNLIMITED     (-1)

/* Zero-initialise, then set what you want to change. */
typedef struct abide_options {
    int threads;           /* that execute workflow, step and task functions; 0 = 4 */
    int max_resident_runs; /* waiting runs kept in memory; 0 = 10000 */
    int max_active_runs;   /* runs executing or waiting for their commit; 0 = 4096 */
    const char *lease;     /* how long a node may be silent before others take over; "10s" */
    const char *node_name; /* shown to operators; NULL = "node", or host and process */
    /* Storage retry policy: how the engine itself goes on when the store does not answer. */
    /* Before callers whose outcome is unknown are told ABIDE_UNAVAILABLE; 0 = 10. Others are told
    ** when the store has been away for three seconds. */
    int store_retry_attempts;
    const char *store_retry_delay;     /* first pause; "50ms" */
    const char *store_retry_max_delay; /* "5s" */
    /* Timers that are due within one such span fire together at its end: never early, late by
    ** less than this; "1ms". Coarser means fewer commits where many timers are close. */
    const char *timer_resolution;
    /* 1 = the failure of an awaited child is a value: abide_child answers ABIDE_OK and
    ** {"error": …}, and so does a script's await. Failures do not propagate by themselves. */
    int isolate_child_failures;
    int max_pending_events_per_topic; /* 0 = 10000 */
    const char *event_retention;      /* how long unread events are kept; "7d" */
    const char *run_retention;        /* how long ended runs are kept; "30d", "forever" */
    const char *cancel_grace;         /* time a cancelled run has for cleanup; "10s" */
    int keep_snapshots;               /* scripts: beginnings of turns kept per run, so that it can
                                         be rewound and forked; 0 = 10, ABIDE_SNAPSHOTS_OFF */
    int discard_step_events;          /* 1 = no ABIDE_EVENT_STEP callbacks */
    /* Called on an engine thread after the commit that recorded the event; must be quick and
       must not call the engine. */
    void (*on_event)(void *user, const abide_event *event);
    /* Log lines; level 0 debug … 3 error. NULL = silent. Any thread. */
    void (*on_log)(void *user, int level, const char *line);
    void *user;
    /* Scripts. */
    int64_t max_script_memory; /* bytes one run may use; 0 = 64 MiB */
    int64_t max_turn_steps;    /* instructions between two waits; 0 = 1,000,000,000 */
    /* Virtual time, for tests: when not 0, the engine's clock shows this moment and stands still
       until abide_clock_set moves it. */
    int64_t virtual_time_ms;
    /* Memory of waiting runs. What waits is in the store anyway: releasing a run only means that it
       is read again when it wakes. The least recently used leave first. */
    const char *idle_release_timeout; /* how long a run may wait in memory; "60s", "off" */
    const char *idle_timeouts;        /* per workflow, before what scripts say themselves
                                         (config.idleTimeout): "chat=10m, order=off" */
    int64_t max_resident_memory;      /* bytes of all runs in memory, about; 0 = 256 MiB,
                                         ABIDE_UNLIMITED */
    int default_consume; /* ABIDE_CONSUME_… of topics that nobody has set with abide_set_topic */
    /* A run whose executions are lost so many times in a row, because each time the process ended
       before it got on, is paused with RUN_CRASHES and not tried again until it is resumed. An
       orderly end does not count. 0 = 10, ABIDE_UNLIMITED */
    int max_crashes;
} abide_options;

/*
** Opens a store and makes an engine on it. `url` is "sqlite:PATH" (or just a path), "memory:",
** "postgres://HOST/DATABASE?schema=NAME" (docs/postgres.md) or "redis://HOST/DATABASE?prefix=NAME"
** (docs/redis.md).
** Nothing executes yet: register the workflows, then call abide_recover.
** Errors: STORE_URL, STORE_LOCKED (another process owns the file), STORE_NEWER, STORE_NOT_OURS,
** STORE_READ_ONLY, STORE_FULL, STORE_IO, BAD_OPTION. ABIDE_UNSUPPORTED when what this kind of store
** needs is not there: STORE_NOT_BUILT, STORE_MODULE_NOT_FOUND, STORE_MODULE_LOAD,
** STORE_MODULE_VERSION.
*/
ABIDE_API int abide_open(const char *url, const abide_options *options, abide_engine **ret_engine,
                         abide_error *error);

typedef struct abide_recovery {
    int64_t resumed_running;  /* runs that were executing when the last process stopped */
    int64_t timers_due;       /* waits whose deadline passed meanwhile */
    int64_t starts_due;       /* delayed starts that came due */
    int64_t events_delivered; /* pending events handed to waits. Always 0 after a clean commit:
                                 an event and the wait that wants it meet in one transaction */
    int64_t taken_over;       /* runs of nodes that are gone */
    int64_t suspended;        /* runs that go on waiting; none of them was loaded */
} abide_recovery;

/*
** Puts the engine to work: takes up what was running, fires what is due, and from then on
** executes. `report` may be NULL. Calling it again answers ABIDE_OK and the first report.
*/
ABIDE_API int abide_recover(abide_engine *engine, abide_recovery *report, abide_error *error);

/*
** Waits until the engine has nothing to do at the present moment: nothing executes, nothing is
** queued that it could take up. *ret_next_ms (may be NULL) is when something will happen by itself
** (a timer, a time-out, another attempt, a tick); 0 = never.
*/
ABIDE_API int abide_settle(abide_engine *engine, int64_t *ret_next_ms, abide_error *error);

/*
** Virtual time: moves the clock of an engine that was opened with virtual_time_ms. Settle, set the
** clock to what is next, settle again: timers fire without anybody waiting for them. Time-outs of
** abide_result count by this clock too. Errors: CLOCK_REAL, BAD_TIME (it does not go back).
*/
ABIDE_API int abide_clock_set(abide_engine *engine, int64_t now_ms, abide_error *error);

/*
** Orderly stop: no new executions begin, running functions are awaited for at most `timeout`
** (NULL = "30s"), their results are committed, claims are handed back. Then only abide_close may
** be called. Answers ABIDE_TIMEOUT when functions were still running at the end; their runs are
** taken up again by the next process. Nothing that was acknowledged is lost either way.
*/
ABIDE_API int abide_shutdown(abide_engine *engine, const char *timeout, abide_error *error);

/*
** Frees the engine; shuts it down first if that was not done (at most 30 s). NULL is fine.
** It waits no longer than that: a function that is still running then is left to itself. The store
** is closed and can be opened again at once; what the function was doing is done anew by whoever
** opens it, and its result is dropped. The engine's memory, and what abide_on_close was given,
** goes when the last such function returns, on its thread; until then it may use its call and what
** the host gave it, and must not call the engine.
*/
ABIDE_API void abide_close(abide_engine *engine);

/* ---- Registering code -------------------------------------------------------------------- */

/*
** `user` is handed to the function through abide_user_data. Names are up to 255 bytes. Registering
** a name twice is ABIDE_CONFLICT (ALREADY_REGISTERED). The name is noted in the store, so that runs
** can be started and scheduled from elsewhere; it cannot be that of a deployed script
** (ABIDE_CONFLICT, WORKFLOW_KIND). Runs are executed by a process that has their workflow, whatever
** process started or woke them; while none has it they wait.
*/
ABIDE_API int abide_register_workflow(abide_engine *engine, const char *name, abide_workflow_fn fn,
                                      void *user, abide_error *error);

/*
** As abide_register_workflow, for tests: the store learns nothing of it, and in this process it
** takes the place of a deployed script of that name.
*/
ABIDE_API int abide_mock_workflow(abide_engine *engine, const char *name, abide_workflow_fn fn,
                                  void *user, abide_error *error);
typedef struct abide_workflow_options {
    abide_workflow_fn fn;
    void *user;
    /* A run that failed begins again from its input, after a pause. NULL = it stays failed. Not
    ** tried again: runs that were cancelled or timed out, and those whose function answered
    ** ABIDE_INVALID. The run's time-out covers all attempts. */
    const struct abide_retry *retry;
} abide_workflow_options;

/* As abide_register_workflow. `options` is copied. Errors: BAD_OPTION, BAD_DURATION … */
ABIDE_API int abide_register_workflow_with(abide_engine *engine, const char *name,
                                           const abide_workflow_options *options,
                                           abide_error *error);

typedef struct abide_deployment {
    char name[256];   /* of the workflow */
    char version[65]; /* SHA-256 of the source */
    int is_new;       /* 0 = this version was there already; it is current again */
    /* What is probably a mistake in the file, as a JSON array; "[]" when there is nothing. Each has
    ** code, message, hint, suggestion, file, line, column, excerpt. Lives during the call. */
    const char *warnings;
} abide_deployment;

/*
** Deploys a `.flow` script: compiles `source` and makes each workflow in it current under its name
** (a file with a top-level body is the workflow called after `file_name`). Runs that are under way
** finish on the version they began with. If one of the workflows is refused, none of them changes.
** `visit` (may be NULL) is called for each workflow once all are current.
** Errors: the code of the first finding (FLOW_SYNTAX, FLOW_UNDECLARED … docs/errors.md) with file,
** line, column and what to do; WORKFLOW_KIND: the name is that of a workflow in C.
*/
ABIDE_API int abide_deploy(abide_engine *engine, const char *file_name, const char *source,
                           void (*visit)(void *user, const abide_deployment *deployment),
                           void *user, abide_error *error);

/* Functions that execute tasks of that name, whatever queue they are in; see abide_task_start. */
ABIDE_API int abide_register_task(abide_engine *engine, const char *name, abide_call_fn fn,
                                  void *user, abide_error *error);

/* As abide_register_task, but takes the place of what is registered under that name. For tests. */
ABIDE_API int abide_replace_task(abide_engine *engine, const char *name, abide_call_fn fn,
                                 void *user, abide_error *error);

typedef struct abide_builtin_options {
    int allow_exec;    /* 1 = the task exec may run programs */
    int allow_private; /* 1 = the task http may reach private, loopback and link-local addresses */
    /* Further addresses http may reach: "10.1.0.0/16, 127.0.0.2, fd00::/8". NULL = none. */
    const char *allow_addresses;
    /* Lines of the task log; level as in abide_options. NULL = standard error. Any thread. */
    void (*on_log)(void *user, int level, const char *line);
    void *user;
} abide_builtin_options;

/*
** Registers the tasks that come with abide: http, exec, log and fail; docs/tasks.md describes
** them. `options` may be NULL and is copied. Errors: BAD_ADDRESS, ALREADY_REGISTERED.
*/
ABIDE_API int abide_register_builtin_tasks(abide_engine *engine,
                                           const abide_builtin_options *options,
                                           abide_error *error);

/*
** `fn(user)` is called when the engine is closed and nothing it was given executes any more; those
** registered last come first. For what task functions and plug-ins keep.
*/
ABIDE_API int abide_on_close(abide_engine *engine, void (*fn)(void *user), void *user,
                             abide_error *error);

/*
** A plug-in is a shared object that adds functions to an engine. One of its files says
**
**     static int init(abide_engine *engine, abide_error *error) {
**         return abide_register_task(engine, "double", double_it, NULL, error);
**     }
**     ABIDE_PLUGIN("numbers", init);
**
** It is compiled with -shared -fPIC and need not be linked with libabide. docs/tasks.md has a
** whole one.
*/
#define ABIDE_PLUGIN_ABI 1

typedef struct abide_plugin_info {
    int abi;          /* ABIDE_PLUGIN_ABI of the header it was compiled with */
    const char *name; /* for messages */
    int (*init)(abide_engine *engine, abide_error *error); /* what is not ABIDE_OK fails the load */
} abide_plugin_info;

#ifdef __cplusplus
#define ABIDE_PLUGIN_LINKAGE extern "C"
#else
#define ABIDE_PLUGIN_LINKAGE extern
#endif
#define ABIDE_PLUGIN(plugin_name, plugin_init)                                                     \
    ABIDE_PLUGIN_LINKAGE ABIDE_API const abide_plugin_info abide_plugin;                           \
    const abide_plugin_info abide_plugin = {ABIDE_PLUGIN_ABI, plugin_name, plugin_init}

/*
** Loads a plug-in and calls its init. A path without a slash is a file in the current folder.
** Errors: PLUGIN_NOT_FOUND, PLUGIN_LOAD (no shared object, or one that misses something),
** PLUGIN_SYMBOL (no plug-in), PLUGIN_VERSION, PLUGIN_INIT.
*/
ABIDE_API int abide_load_plugin(abide_engine *engine, const char *path, abide_error *error);

/* ---- Starting and steering runs ---------------------------------------------------------- */

enum { ABIDE_LEFTOVER_DISCARD = 0, ABIDE_LEFTOVER_TO_TOPIC, ABIDE_LEFTOVER_DEAD_LETTER };
enum { ABIDE_CLOSE_ABANDON = 0, ABIDE_CLOSE_CANCEL };

typedef struct abide_start_options {
    const char *id;      /* yours; NULL = generated. An existing id starts nothing */
    const char *key;     /* idempotency key: same key, same input: the same run */
    const char *delay;   /* begin after this duration … */
    int64_t start_at_ms; /* … or at this moment; not both (BAD_OPTION) */
    /* What a script says in its config counts where nothing is said here: NULL, 0, no tags. */
    const char *timeout;     /* overall time-out, of all attempts together; NULL = none */
    const char *retention;   /* keep this long once ended; NULL = the engine's */
    int priority;            /* -1000 … 1000, higher first */
    const char *const *tags; /* up to 16 */
    int tag_count;
    int leftover_signals;       /* ABIDE_LEFTOVER_…: what to do with unread ones at the end */
    const char *leftover_topic; /* for ABIDE_LEFTOVER_TO_TOPIC */
    int close_policy; /* children only, ABIDE_CLOSE_…: what happens when the parent ends */
} abide_start_options;

/* Longest run id, and the size of a buffer that holds one. */
#define ABIDE_RUN_ID_SIZE 256

/*
** Starts a run. When it answers ABIDE_OK the run is durable. `ret_id` (may be NULL) receives its
** id. An id or key that exists answers ABIDE_OK with the existing run and sets *ret_is_new = 0
** (may be NULL); the same key with other content is ABIDE_CONFLICT (DUPLICATE_KEY).
** Errors: WORKFLOW_NOT_FOUND, BAD_JSON, BAD_ID, BAD_DURATION, PAYLOAD_TOO_LARGE, BAD_INPUT (it does
** not fit the schema in the script's config) …
*/
ABIDE_API int abide_start(abide_engine *engine, const char *workflow, const char *input,
                          const abide_start_options *options, char ret_id[ABIDE_RUN_ID_SIZE],
                          abide_error *error);

/* As abide_start, and says whether the run is new. */
ABIDE_API int abide_start_once(abide_engine *engine, const char *workflow, const char *input,
                               const abide_start_options *options, char ret_id[ABIDE_RUN_ID_SIZE],
                               int *ret_is_new, abide_error *error);

typedef struct abide_emit_options {
    const char *id; /* deduplicates: a second event with this id does nothing */
} abide_emit_options;

/*
** Publishes an event to a topic: durable when ABIDE_OK. *ret_resumed (may be NULL) is the number
** of runs it woke. With the default policy an event that nobody waits for is kept until a wait
** takes it. ABIDE_LIMIT (TOPIC_FULL) when nobody waits for it and too many are pending:
** abide_list_events shows them, abide_remove_events removes them.
*/
ABIDE_API int abide_emit(abide_engine *engine, const char *topic, const char *payload,
                         const abide_emit_options *options, int64_t *ret_resumed,
                         abide_error *error);

/*
** Sends a signal to one run; kept until the run takes it. ABIDE_NOT_FOUND, ABIDE_TERMINAL,
** ABIDE_LIMIT (TOO_MANY_SIGNALS).
*/
ABIDE_API int abide_signal(abide_engine *engine, const char *run_id, const char *name,
                           const char *payload, const abide_emit_options *options,
                           abide_error *error);

enum { ABIDE_CONSUME_ONE = 0, ABIDE_CONSUME_ALL };
enum { ABIDE_VISIBLE_ALL = 0, ABIDE_VISIBLE_AFTER_CREATE, ABIDE_VISIBLE_AFTER_WAIT };

typedef struct abide_topic_policy {
    int consume;        /* the oldest waiter gets it, or every waiter */
    int visible;        /* to whom: all, runs that existed, or only those waiting at that moment */
    const char *expire; /* NULL = event_retention */
    int cap;            /* most events that are kept; 0 = max_pending_events_per_topic */
} abide_topic_policy;
/* Sets the policy of a topic, for what is published from now on. Errors: BAD_NAME, BAD_DURATION. */
ABIDE_API int abide_set_topic(abide_engine *engine, const char *topic,
                              const abide_topic_policy *policy, abide_error *error);

/* An event that is kept on a topic, or a signal that a run has not taken yet. */
typedef struct abide_pending {
    int64_t id;           /* its number, by which it is removed */
    const char *event_id; /* the sender's, or made for it */
    const char *name;     /* of a signal; NULL for events */
    const char *payload;  /* JSON; NULL = none */
    int64_t created_at_ms;
    int64_t expires_at_ms; /* 0 = never */
    int is_taken;          /* ABIDE_CONSUME_ALL: a run has taken it, it is kept for others */
} abide_pending;

/*
** What is pending on a topic or for a run: up to `limit` (0 = 100) of them, oldest first, beyond
** the one with the id `after` (0 = from the beginning). `visit` answers 0 to go on.
** ABIDE_NOT_FOUND when there is no such run.
*/
ABIDE_API int abide_list_events(abide_engine *engine, const char *topic, int64_t after, int limit,
                                int (*visit)(void *user, const abide_pending *event), void *user,
                                abide_error *error);
ABIDE_API int abide_list_signals(abide_engine *engine, const char *run_id, int64_t after, int limit,
                                 int (*visit)(void *user, const abide_pending *signal), void *user,
                                 abide_error *error);
/*
** Removes what is pending: the one called `id`, or all that are there (0); signals also only those
** of a name (NULL = any). *ret_removed (may be NULL) says how many. ABIDE_NOT_FOUND
** (EVENT_NOT_FOUND, SIGNAL_NOT_FOUND) when that one is not pending any more.
*/
ABIDE_API int abide_remove_events(abide_engine *engine, const char *topic, int64_t id,
                                  int64_t *ret_removed, abide_error *error);
ABIDE_API int abide_remove_signals(abide_engine *engine, const char *run_id, const char *name,
                                   int64_t id, int64_t *ret_removed, abide_error *error);

/*
** Asks a run to end. *ret_changed = 0 when it had ended already (terminal states are final). The
** run learns of it at its present or next wait (ABIDE_CANCELLED), may clean up within the grace
** period, and then is `cancelled`, whatever it answers. `reason` may be NULL.
*/
ABIDE_API int abide_cancel(abide_engine *engine, const char *run_id, const char *reason,
                           int *ret_changed, abide_error *error);
/* Holds a run for a person, and lets it go on. */
ABIDE_API int abide_pause(abide_engine *engine, const char *run_id, int *ret_changed,
                          abide_error *error);
ABIDE_API int abide_resume(abide_engine *engine, const char *run_id, int *ret_changed,
                           abide_error *error);
/*
** Takes a waiting run out of memory now; it comes back by itself when something happens to it.
** *ret_changed = 0 when it was not in memory. Errors: RUN_NOT_FOUND, RUN_TERMINAL, RUN_NOT_IDLE (it
** executes, or a task or retry of it is under way), RUN_HAS_READER.
*/
ABIDE_API int abide_release(abide_engine *engine, const char *run_id, int *ret_changed,
                            abide_error *error);
/*
** Brings a released run back into memory, where it stays for its idle time-out. What the store has
** of it is looked at: ABIDE_CORRUPT when that cannot be read. *ret_changed = 0 when it was in
** memory. Errors besides: RUN_NOT_FOUND, RUN_TERMINAL, RUN_NOT_IDLE (it is paused, or has not
** begun).
*/
ABIDE_API int abide_load(abide_engine *engine, const char *run_id, int *ret_changed,
                         abide_error *error);
/*
** Drops the checkpoints from the named step on and runs it again from there. `iteration` counts
** repeated names from 0; ABIDE_LAST_ITERATION is the last of them. Not for ended runs
** (ABIDE_TERMINAL): use abide_fork. A script goes back to the beginning of the turn that began the
** step: a task, a child, a wait for a signal or topic of that name, or "timer". Only the last turns
** are kept (abide_options.keep_snapshots, or keepSnapshots in the script's config), and the first:
** SNAPSHOT_NOT_KEPT.
*/
enum { ABIDE_LAST_ITERATION = -1 };
ABIDE_API int abide_rewind(abide_engine *engine, const char *run_id, const char *step,
                           int iteration, abide_error *error);
/*
** A new run with the old one's input and its checkpoints before `step` (NULL = none), of which
** `iteration` says which, as for abide_rewind. The old run is not changed. `new_id` may be NULL.
*/
ABIDE_API int abide_fork(abide_engine *engine, const char *run_id, const char *step, int iteration,
                         const char *new_id, char ret_id[ABIDE_RUN_ID_SIZE], abide_error *error);
/*
** Takes up a run that failed at its last good place, by a new run; the failed one is not changed. A
** script begins at the beginning of the turn that failed, with its variables and what was delivered
** to it; a C workflow with all its checkpoints but the failed one. Tasks and children that had
** failed there are begun anew. `new_id` may be NULL: the id is then made of the old one
** ("order-7~2"), and a second call answers the run that the first one made. Errors: RUN_NOT_FOUND,
** RUN_NOT_FAILED (it goes on, or ended in another way), SNAPSHOT_NOT_KEPT, RUN_EXISTS.
*/
ABIDE_API int abide_retry_run(abide_engine *engine, const char *run_id, const char *new_id,
                              char ret_id[ABIDE_RUN_ID_SIZE], abide_error *error);
/*
** abide_fork and abide_retry_run with further options. With `version` the new run of a script goes
** on at that place in another version of it: one of its workflow, at least the first six characters
** of one, or "current". `flags`: 0, or with a version ABIDE_DRY_RUN to be told only whether it can.
** Further errors: WORKFLOW_NOT_FOUND, RUN_NOT_PARKED (it is of a C workflow), MOVE_REFUSED (the
** text says what is missing at its place in that version), RUN_CHANGED (it went on meanwhile).
*/
typedef struct abide_fork_options {
    const char *id;      /* of the new run; NULL = as abide_fork and abide_retry_run say */
    const char *version; /* NULL = the one that the run had there */
    int flags;
    const char *step; /* of a fork; NULL = from the start */
    int iteration;    /* of that step */
} abide_fork_options;
ABIDE_API int abide_fork_with(abide_engine *engine, const char *run_id,
                              const abide_fork_options *options, char ret_id[ABIDE_RUN_ID_SIZE],
                              abide_error *error);
ABIDE_API int abide_retry_run_with(abide_engine *engine, const char *run_id,
                                   const abide_fork_options *options,
                                   char ret_id[ABIDE_RUN_ID_SIZE], abide_error *error);
/*
** What a run of a script would do next, without doing it: a copy of it goes on with made-up answers
** under a clock of its own. Nothing is written and nothing leaves. `answers_json` (NULL = none):
**   {"tasks": [{"name", "result"} or {"name", "error"}], "children": [likewise],
**    "signals": [{"name", "payload"}], "events": [{"topic", "payload"}], "time": "2d",
**    "turn": 3, "version": "current", "source": "…"}
** The copy begins as the run is, or as its kept turn `turn` began; with `version` or `source` it is
** put on that version of its script first. *ret_json: {"status", "result", "error", "effects",
** "state", "waits", "variables", …}; free it with abide_free. Errors: RUN_NOT_FOUND, RUN_TERMINAL,
** RUN_NOT_SCRIPT, TURN_NOT_KEPT, WORKFLOW_NOT_FOUND, MOVE_REFUSED, FLOW_SYNTAX, FLOW_CHECK,
** BAD_FIELD, UNKNOWN_FIELD.
*/
ABIDE_API int abide_try(abide_engine *engine, const char *run_id, const char *answers_json,
                        char **ret_json, abide_error *error);
/*
** Where a run stands, as of its last commit: *ret_json is the JSON of GET /v1/runs/{id}/snapshot,
** to be freed with abide_free: {"run_id", "kind", "status", "bytes", "taken_at", "waits", "frames",
** "variables", "value", "failure"}. Looking runs no code and changes nothing. `options` may be
** NULL. Errors: RUN_NOT_FOUND, TURN_NOT_KEPT, BAD_PATH, VARIABLE_NOT_FOUND, BAD_OPTION,
** SNAPSHOT_CORRUPT, SNAPSHOT_VERSION.
*/
typedef struct abide_snapshot_options {
    int64_t turn;     /* as that kept turn began (abide_turns); 0 = as it is now */
    int depth;        /* levels of each value that are shown, up to 16 */
    const char *path; /* one value besides, such as "order.items[3].price"; NULL = none */
} abide_snapshot_options;
ABIDE_API int abide_snapshot(abide_engine *engine, const char *run_id,
                             const abide_snapshot_options *options, char **ret_json,
                             abide_error *error);
/*
** The turns of a script that are kept, after the turn `after` (0 = from the first), at most `limit`
** (0 = 100, which is also the most). *ret_json: {"items": [{"turn", "bytes", "after", "last",
** "file", "line", "column", "function"}], "next"}; free it with abide_free. `next` is the `after`
** of the next page as text, or null. Errors: RUN_NOT_FOUND, BAD_OPTION.
*/
ABIDE_API int abide_turns(abide_engine *engine, const char *run_id, int64_t after, int limit,
                          char **ret_json, abide_error *error);
/*
** What changed in the variables of a script between two kept turns; 0 = as it is now. *ret_json:
** {"run_id", "from", "to", "changes": [{"function", "path", "change", "from", "to"}], "more"}; free
** it with abide_free. Errors: RUN_NOT_FOUND, TURN_NOT_KEPT, BAD_OPTION, SNAPSHOT_CORRUPT,
** SNAPSHOT_VERSION.
*/
ABIDE_API int abide_diff(abide_engine *engine, const char *run_id, int64_t from_turn,
                         int64_t to_turn, char **ret_json, abide_error *error);
/*
** Puts a run that waits on another version of its script, at the same place and with its variables.
** `version` is one of its workflow, or at least the first six characters of one; NULL: the current
** one. `flags`: 0, or ABIDE_DRY_RUN to be told only. *ret_changed is 0 for a dry run, and when it
** has that version. Errors: RUN_NOT_FOUND, WORKFLOW_NOT_FOUND, RUN_NOT_PARKED, MOVE_REFUSED (the
** text says what is missing at its place in that version), RUN_CHANGED (it went on meanwhile).
*/
enum { ABIDE_DRY_RUN = 1 };
ABIDE_API int abide_move(abide_engine *engine, const char *run_id, const char *version, int flags,
                         int *ret_changed, abide_error *error);
/*
** Gives variables of a script that waits other values, or what is inside them: all or none.
** `values_json` is an array of {"path", "value"}, as in [{"path": "order.items[0].price",
** "value": 40}]. `flags`: 0, or ABIDE_DRY_RUN to be told only. *ret_json (NULL: not wanted) is
** {"changed", "values": [{"path", "old", "new"}]}; free it with abide_free. Errors: RUN_NOT_FOUND,
** RUN_NOT_PARKED, BAD_PATH, VARIABLE_NOT_FOUND, SET_REFUSED (a constant, a function or whatever
** else is no plain data; the text says what), RUN_CHANGED (it went on meanwhile).
*/
ABIDE_API int abide_set_variables(abide_engine *engine, const char *run_id, const char *values_json,
                                  int flags, char **ret_json, abide_error *error);
/* Removes an ended run and all that belongs to it. ABIDE_CONFLICT when it has not ended. */
ABIDE_API int abide_purge(abide_engine *engine, const char *run_id, abide_error *error);

/* ---- Schedules --------------------------------------------------------------------------- */

/*
** A schedule starts a run of a workflow at each of its ticks: exactly one, also across restarts
** and nodes. The run's id is made of name and tick: "sched:nightly:2026-11-15T00:00:00Z".
** docs/schedules.md has cron's syntax, what happens when clocks change, and the policies.
*/

/* What happens at a tick while the run before has not ended. */
enum {
    ABIDE_OVERLAP_SKIP = 0,  /* nothing: the tick is counted as skipped */
    ABIDE_OVERLAP_QUEUE,     /* it starts when that run has ended; one can wait, more are skipped */
    ABIDE_OVERLAP_ALLOW,     /* it starts all the same */
    ABIDE_OVERLAP_CANCEL_OLD /* that run is cancelled, and the tick starts when it has ended */
};

typedef struct abide_schedule {
    const char *workflow;
    const char *input; /* JSON; NULL = none */
    /* When: exactly one of the three. */
    const char *cron;     /* "30 9 * * MON-FRI", "@daily" */
    const char *every;    /* a duration of a second or more; ticks at its multiples since 1970 */
    int64_t at_ms;        /* once */
    const char *timezone; /* for cron alone: "Europe/Berlin"; NULL = "UTC" */
    const char *jitter;   /* start up to this much after the tick; NULL = none */
    int overlap;          /* ABIDE_OVERLAP_… */
    const char *cancel_grace; /* ABIDE_OVERLAP_CANCEL_OLD; NULL = the engine's */
    const char *catch_up;     /* ticks missed while nothing ran start if they are at most this late;
                             NULL = of the missed ones only the latest starts, however late */
    int is_paused;            /* counts for a new schedule only */
    /* For its runs, as in abide_start_options. */
    const char *timeout, *retention;
    int priority;
    const char *const *tags;
    int tag_count;
} abide_schedule;

/*
** Makes a schedule, or replaces the one of that name: its counts and its pause stay, and so does
** its next tick unless the time itself changed. Names are up to 200 bytes.
** Errors: BAD_CRON, BAD_TIMEZONE, BAD_DURATION, BAD_SCHEDULE, WORKFLOW_NOT_FOUND, BAD_JSON …
*/
ABIDE_API int abide_schedule_set(abide_engine *engine, const char *name,
                                 const abide_schedule *schedule, abide_error *error);
/* Its runs stay. ABIDE_NOT_FOUND (SCHEDULE_NOT_FOUND), as for all that follow. */
ABIDE_API int abide_schedule_remove(abide_engine *engine, const char *name, abide_error *error);
/* Ticks pass by until it is resumed, and are not made up for. `ret_changed` may be NULL. */
ABIDE_API int abide_schedule_pause(abide_engine *engine, const char *name, int *ret_changed,
                                   abide_error *error);
ABIDE_API int abide_schedule_resume(abide_engine *engine, const char *name, int *ret_changed,
                                    abide_error *error);
/*
** Starts a run now, whatever the overlap policy, also while it is paused. `run_id` may be NULL;
** an id that exists starts nothing. `ret_id` (may be NULL) receives the run's id.
*/
ABIDE_API int abide_schedule_trigger(abide_engine *engine, const char *name, const char *run_id,
                                     char ret_id[ABIDE_RUN_ID_SIZE], abide_error *error);
/*
** Starts a run for every tick from `from_ms` to `to_ms` (both inclusive; nothing ahead of now) that
** has none. Doing it again starts nothing. *ret_started (may be NULL) is how many were started,
** also when it could not go on to the end.
*/
ABIDE_API int abide_schedule_backfill(abide_engine *engine, const char *name, int64_t from_ms,
                                      int64_t to_ms, int64_t *ret_started, abide_error *error);

typedef struct abide_schedule_info {
    char name[256];
    char workflow[256];
    char kind[16];     /* "cron", "interval", "once" */
    char spec[264];    /* the cron expression, the duration, or the time */
    char timezone[72]; /* "" = UTC */
    int overlap;       /* ABIDE_OVERLAP_… */
    int is_paused;
    int64_t next_at_ms;                  /* 0 = none */
    int64_t last_at_ms;                  /* the last tick, whatever became of it */
    int64_t queued_at_ms;                /* the tick that waits for the run before; 0 = none */
    char last_run_id[ABIDE_RUN_ID_SIZE]; /* "" = none yet */
    int64_t started_count, skipped_count, missed_count, failed_count; /* ticks */
    int64_t created_at_ms, updated_at_ms;
    char last_error[256]; /* why the last tick started nothing; "" = it went well */
    int64_t cursor;       /* of this entry, for abide_schedule_list */
} abide_schedule_info;

/* One schedule by its name. ABIDE_NOT_FOUND (SCHEDULE_NOT_FOUND). */
ABIDE_API int abide_schedule_get(abide_engine *engine, const char *name,
                                 abide_schedule_info *ret_info, abide_error *error);
/*
** Calls `visit` for each schedule past `cursor` (0 = from the newest), newest first, until it does
** not answer 0.
*/
ABIDE_API int abide_schedule_list(abide_engine *engine, int64_t cursor,
                                  int (*visit)(void *user, const abide_schedule_info *info),
                                  void *user, abide_error *error);
/*
** The ticks such a schedule has after `after_ms`: up to `count` of them in `ret_ticks`. Answers how
** many there are, or -1 and the error. Needs no engine.
*/
ABIDE_API int abide_schedule_preview(const abide_schedule *schedule, int64_t after_ms,
                                     int64_t *ret_ticks, int count, abide_error *error);

/* ---- Queues ------------------------------------------------------------------------------ */

/*
** Tasks wait in queues, which are there without being made. A queue that nobody set hands out as
** much as workers ask for, except that tasks with the same concurrency key run one at a time.
** docs/queues.md has the rules.
*/

typedef struct abide_queue_limits {
    int max_running; /* tasks executing at a time; 0 = no limit */
    int max_per_key; /* of these, tasks with the same concurrency key; 0 = 1, or ABIDE_UNLIMITED */
    int rate_count;  /* tasks handed out … */
    const char *rate_period; /* … per window of this length, which begins with the first of them;
                                both or neither */
    int is_paused;           /* 1 = nothing is handed out; what executes goes on */
} abide_queue_limits;

/*
** Replaces all limits of a queue. What executes already goes on, even if it is more than the new
** limit. Errors: BAD_NAME, BAD_QUEUE_LIMIT, BAD_DURATION.
*/
ABIDE_API int abide_queue_set(abide_engine *engine, const char *name,
                              const abide_queue_limits *limits, abide_error *error);
/* Forgets the limits (and a pause); its tasks stay. `ret_changed` may be NULL, as below. */
ABIDE_API int abide_queue_remove(abide_engine *engine, const char *name, int *ret_changed,
                                 abide_error *error);
ABIDE_API int abide_queue_pause(abide_engine *engine, const char *name, int *ret_changed,
                                abide_error *error);
ABIDE_API int abide_queue_resume(abide_engine *engine, const char *name, int *ret_changed,
                                 abide_error *error);

typedef struct abide_queue_info {
    char name[256];
    int is_set; /* 0 = nobody set it: it is there because it has tasks */
    int is_paused;
    int max_running; /* 0 = no limit */
    int max_per_key; /* ABIDE_UNLIMITED = no limit */
    int rate_count;  /* 0 = no limit */
    int64_t rate_period_ms;
    int64_t queued_count; /* tasks that wait, for whatever reason … */
    int64_t blocked_count; /* … and of these, those that wait for others of their concurrency key */
    int64_t running_count;
    int64_t oldest_at_ms; /* creation of the oldest task that a worker might take; 0 = none */
    int64_t open_at_ms;   /* when a rate that is used up lets more pass; 0 = it is not */
} abide_queue_info;

/* A queue that nobody set and that has no tasks answers ABIDE_OK and the limits it would have. */
ABIDE_API int abide_queue_get(abide_engine *engine, const char *name, abide_queue_info *ret_info,
                              abide_error *error);
/* Calls `visit` for each queue that is set or has tasks, by name, until it does not answer 0. */
ABIDE_API int abide_queue_list(abide_engine *engine,
                               int (*visit)(void *user, const abide_queue_info *info), void *user,
                               abide_error *error);

/* ---- Looking ----------------------------------------------------------------------------- */

enum {
    ABIDE_RUN_PENDING = 1,
    ABIDE_RUN_RUNNING,
    ABIDE_RUN_SUSPENDED,
    ABIDE_RUN_PAUSED,
    ABIDE_RUN_COMPLETED,
    ABIDE_RUN_FAILED,
    ABIDE_RUN_CANCELLED
};
/* "suspended" for ABIDE_RUN_SUSPENDED; never NULL. */
ABIDE_API const char *abide_state_name(int state);

typedef struct abide_run_info {
    char id[ABIDE_RUN_ID_SIZE];
    char workflow[256];
    int state;    /* ABIDE_RUN_… */
    int attempts; /* executions in a row that were lost: their process ended before they did */
    int priority;
    int is_cancel_requested;
    int64_t created_at_ms, updated_at_ms, started_at_ms, finished_at_ms; /* 0 = not yet */
    int64_t wakes_at_ms;               /* next timer or time-out; 0 = none */
    int64_t idle_since_ms;             /* 0 = not idle */
    int64_t step_count;                /* checkpoints so far; only from abide_status */
    char parent_id[ABIDE_RUN_ID_SIZE]; /* "" = none; only from abide_status */
    char waiting_on[256];              /* "signal:approval, timer"; "" = nothing */
    int is_released;                   /* it waits, and nothing of it is in this process's memory */
    char pause_reason[512]; /* ABIDE_RUN_PAUSED: "SNAPSHOT_CORRUPT: what was found"; "" otherwise */
    int attempt;            /* 1; +1 each time it failed and began again from its input */
} abide_run_info;

/* Where a run stands. ABIDE_NOT_FOUND (RUN_NOT_FOUND). */
ABIDE_API int abide_status(abide_engine *engine, const char *run_id, abide_run_info *ret_info,
                           abide_error *error);

/*
** The result of a run. Waits up to `wait` for it (NULL = do not wait). Answers
**   ABIDE_OK         *ret_json is the result (NULL when the workflow gave none)
**   ABIDE_FAILED     *ret_json is the error object {"type","message",…}
**   ABIDE_CANCELLED  *ret_json likewise; what a cleanup returned is not kept
**   ABIDE_PENDING    not ended within `wait`
** Free *ret_json with abide_free.
*/
ABIDE_API int abide_result(abide_engine *engine, const char *run_id, const char *wait,
                           char **ret_json, abide_error *error);
/* Frees text that a function of an engine handed out. NULL is fine. */
ABIDE_API void abide_free(void *memory);

/* What an expression found in one page of a list. */
typedef struct abide_where_counts {
    int64_t looked_at;     /* runs in which it was evaluated */
    int64_t errors;        /* runs in which it failed; they do not match */
    char first_error[464]; /* why it failed in the first of them; "" = in none */
} abide_where_counts;

typedef struct abide_list_options {
    const char *workflow;    /* one name, or several separated by newlines; NULL = any */
    const char *tag;         /* NULL = any */
    const char *parent_id;   /* NULL = any */
    const char *waiting_on;  /* topic, signal, task or child id in the wait set */
    const char *state_key;   /* with state_value: runs whose script has set this key … */
    const char *state_value; /* … to this JSON, as JSON.stringify writes it */
    unsigned states;         /* bit (1 << ABIDE_RUN_…); 0 = any */
    int64_t idle_before_ms;  /* 0 = any */
    int64_t created_before_ms, created_after_ms; /* 0 = any */
    int64_t cursor;                              /* 0 = from the newest */
    int limit;                                   /* 0 = 100, at most 1000 */
    const char *where; /* an expression of the language that is true in the innermost frame of where
                          a run of a script waits: "order.total > 100"; NULL = any */
    abide_where_counts *where_counts; /* filled when `where` is given; may be NULL */
} abide_list_options;

/*
** Calls `visit` for each run, newest first; stops when it does not answer 0. *ret_next (may be
** NULL) is the cursor of the next page, 0 at the end.
*/
ABIDE_API int abide_list(abide_engine *engine, const abide_list_options *options,
                         int (*visit)(void *user, const abide_run_info *run), void *user,
                         int64_t *ret_next, abide_error *error);

/*
** Values that a script has set with State.set, as of its last commit; also of ended runs.
** `abide_state_get` answers ABIDE_NOT_FOUND (STATE_NOT_FOUND) when the key was not set; free
** *ret_json with abide_free. `abide_state_list` calls `visit` for each, by key, until it does not
** answer 0. abide_list finds runs by such a value.
*/
ABIDE_API int abide_state_get(abide_engine *engine, const char *run_id, const char *key,
                              char **ret_json, abide_error *error);
ABIDE_API int abide_state_list(abide_engine *engine, const char *run_id,
                               int (*visit)(void *user, const char *key, const char *json),
                               void *user, abide_error *error);

/* One entry of a run's history. */
typedef struct abide_log_entry {
    int64_t seq, at_ms;
    const char *kind; /* "started", "step", "wait", "finished", … */
    const char *name; /* step name, topic, …; NULL = none */
    const char *data; /* JSON; NULL = none */
    int64_t position; /* place among the durable calls; -1 = not a checkpoint */
    int iteration, attempt;
    int outcome;        /* ABIDE_OK, ABIDE_FAILED, ABIDE_TIMEOUT, ABIDE_CANCELLED */
    const char *target; /* "wait": the id of the task or child that ended; NULL = none */
} abide_log_entry;

/* History after sequence number `after`, oldest first, at most `limit` (0 = 100). */
ABIDE_API int abide_history(abide_engine *engine, const char *run_id, int64_t after, int limit,
                            int (*visit)(void *user, const abide_log_entry *entry), void *user,
                            abide_error *error);

/*
** The result of one step of a run: of a C workflow's step, or of a task, a child or a wait for a
** signal or topic, by its name. `iteration` counts repeated names from 0; ABIDE_LAST_ITERATION is
** the last of them. ABIDE_OK, or as it went ABIDE_FAILED (then *ret_json is the error),
** ABIDE_TIMEOUT, ABIDE_CANCELLED; ABIDE_PENDING when it was begun and has not ended.
** ABIDE_NOT_FOUND: RUN_NOT_FOUND, STEP_NOT_FOUND. *ret_json is to be freed with abide_free; NULL =
** no value.
*/
ABIDE_API int abide_read_step(abide_engine *engine, const char *run_id, const char *name,
                              int iteration, char **ret_json, abide_error *error);

typedef struct abide_stats {
    int64_t runs[8]; /* by ABIDE_RUN_… */
    int64_t started_total, completed_total, failed_total, cancelled_total;
    int64_t pending_events, pending_signals, dead_letters;
    int64_t tasks_queued, tasks_leased;
    int64_t resident_runs; /* in memory, this process */
    int64_t active_runs;   /* executing or being committed, this process */
    int64_t commits, committed_operations, store_errors; /* this process */
    int64_t turns, steps, reloads, releases;             /* this process */
    int64_t resident_bytes;                              /* of runs in memory, about */
} abide_stats;

/* Counts of the store as a whole and of this process. */
ABIDE_API int abide_get_stats(abide_engine *engine, abide_stats *ret_stats, abide_error *error);

/* ---- Inside a workflow ------------------------------------------------------------------- */

/*
** Memory handed out by the functions below (results, payloads, ids) lives until the workflow
** function returns.
*/

typedef struct abide_retry {
    int attempts;                     /* in all; 0 = 3; 1 = no retry */
    const char *delay;                /* before the second attempt; NULL = "1s" */
    double factor;                    /* 0 = 2 */
    const char *max_delay;            /* NULL = "1h" */
    double jitter;                    /* 0 … 1, the share of the delay that is random; 0 = none */
    const char *const *non_retryable; /* error types that end it at once; NULL-terminated */
} abide_retry;

typedef struct abide_step_options {
    abide_retry retry;
    int in_transaction; /* the function runs inside the engine's store transaction: what it
                           writes through abide_call_sqlite or abide_call_postgres commits with
                           the checkpoint, so its effect is exactly-once. It must be short:
                           everybody waits for it */
} abide_step_options;

/*
** Runs `fn` once and keeps its result; a repeated name is a further iteration of that step. The
** result is durable before this function answers ABIDE_OK. `input` is handed to `fn` as it is and
** need not be JSON. `ret_result` may be NULL. When all attempts failed: ABIDE_FAILED, and
** abide_error_json(ctx) is the error object.
*/
ABIDE_API int abide_step(abide_ctx *ctx, const char *name, abide_call_fn fn, const char *input,
                         const char **ret_result);
ABIDE_API int abide_step_with(abide_ctx *ctx, const char *name, abide_call_fn fn, const char *input,
                              const abide_step_options *options, const char **ret_result);

/* Waits for a duration, or until a moment; at once when that is past. */
ABIDE_API int abide_sleep(abide_ctx *ctx, const char *duration);
ABIDE_API int abide_sleep_until(abide_ctx *ctx, int64_t at_ms);

typedef struct abide_wait {
    const char *timeout; /* NULL = for ever */
} abide_wait;

/*
** Waits for an event on a topic, or for a signal to this run, and takes it. `wait` and
** `ret_payload` may be NULL. Answers ABIDE_OK, ABIDE_TIMEOUT, ABIDE_CANCELLED.
*/
ABIDE_API int abide_await_event(abide_ctx *ctx, const char *topic, const abide_wait *wait,
                                const char **ret_payload);
ABIDE_API int abide_await_signal(abide_ctx *ctx, const char *name, const abide_wait *wait,
                                 const char **ret_payload);

/* A child run or task that was started; copy freely within the execution. */
typedef struct abide_handle {
    const char *id;
    int is_task;
} abide_handle;

enum { ABIDE_ANY_EVENT = 1, ABIDE_ANY_SIGNAL, ABIDE_ANY_TIMER, ABIDE_ANY_HANDLE };

typedef struct abide_any {
    int kind;            /* ABIDE_ANY_… */
    const char *name;    /* topic or signal name */
    const char *delay;   /* ABIDE_ANY_TIMER: fires after this; others: time-out; NULL = none */
    abide_handle handle; /* ABIDE_ANY_HANDLE */
} abide_any;

/*
** Waits for the first of several things, by the time they settled. *ret_index tells which; the
** answer is that item's (ABIDE_FAILED: a child or task that failed). The losers are left as if
** they had never been waited for. At most 10,000 items.
*/
ABIDE_API int abide_await_any(abide_ctx *ctx, const abide_any *items, int count, int *ret_index,
                              const char **ret_payload);

/*
** Starts a child run. Its id derives from this run, the workflow name and the iteration, so that
** a repeated execution starts no second one. Not awaited, it is independent, except for its
** close policy. abide_child_await answers ABIDE_OK or ABIDE_FAILED (a ChildWorkflowError).
*/
ABIDE_API int abide_child_start(abide_ctx *ctx, const char *workflow, const char *input,
                                const abide_start_options *options, abide_handle *ret_handle);
ABIDE_API int abide_child_await(abide_ctx *ctx, abide_handle child, const abide_wait *wait,
                                const char **ret_result);
/* Starts a child run and waits for it: abide_child_start and abide_child_await in one. */
ABIDE_API int abide_child(abide_ctx *ctx, const char *workflow, const char *input,
                          const char **ret_result);

typedef struct abide_task_options {
    const char *queue; /* NULL = "default" */
    int priority;
    const char *delay;
    abide_retry retry;
    const char *timeout;          /* start-to-close */
    const char *schedule_timeout; /* schedule-to-start */
    const char *heartbeat_timeout;
    const char *concurrency_key; /* NULL = none; see abide_queue_limits.max_per_key */
} abide_task_options;

/* Queues a task for a worker. Never awaited, it is fire-and-forget. */
ABIDE_API int abide_task_start(abide_ctx *ctx, const char *task, const char *input,
                               const abide_task_options *options, abide_handle *ret_handle);
ABIDE_API int abide_task_await(abide_ctx *ctx, abide_handle task, const abide_wait *wait,
                               const char **ret_result);

/* Publishes an event; it leaves with the commit of this turn, once. */
ABIDE_API int abide_publish(abide_ctx *ctx, const char *topic, const char *payload);
/* Appends to the run's stream for its readers; `type` may be NULL. */
ABIDE_API int abide_stream_write(abide_ctx *ctx, const char *type, const char *value);
/* The time and a random number, recorded so that they are the same when called again. */
ABIDE_API int abide_now(abide_ctx *ctx, int64_t *ret_ms);
ABIDE_API int abide_random(abide_ctx *ctx, uint64_t *ret_value);

/* 1 once the run has been asked to end. */
ABIDE_API int abide_is_cancelled(abide_ctx *ctx);

/* How a workflow function ends: `return abide_complete(ctx, json)`. NULL = no result. Returning
   ABIDE_OK without it completes the run with no result. */
ABIDE_API int abide_complete(abide_ctx *ctx, const char *result);
/* Fails the run, with an error of type "Error" or of one of your own. */
ABIDE_API int abide_fail(abide_ctx *ctx, const char *message);
ABIDE_API int abide_fail_with(abide_ctx *ctx, const char *type, const char *message);
/* Ends this incarnation and begins again with fresh state under the same id. */
ABIDE_API int abide_continue_as(abide_ctx *ctx, const char *input);

/* The error object of the last durable call that answered ABIDE_FAILED; NULL = none. */
ABIDE_API const char *abide_error_json(abide_ctx *ctx);

/* The id of this run. */
ABIDE_API const char *abide_run_id(abide_ctx *ctx);
/* The name of its workflow. */
ABIDE_API const char *abide_workflow_name(abide_ctx *ctx);
/* The run that started it as a child; NULL = none. */
ABIDE_API const char *abide_parent_id(abide_ctx *ctx);
/* When it began to execute. */
ABIDE_API int64_t abide_started_at(abide_ctx *ctx);
/* Executions of this run in a row that were lost: their process ended before they did. A run that
   commits anything begins to count anew. */
ABIDE_API int abide_attempt(abide_ctx *ctx);
/* Which attempt of the whole run this is: 1; see abide_workflow_options. */
ABIDE_API int abide_run_attempt(abide_ctx *ctx);
/* How often it was continued (abide_continue_as) or rewound so far. */
ABIDE_API int abide_incarnation(abide_ctx *ctx);
/* What the workflow was registered with. */
ABIDE_API void *abide_user_data(abide_ctx *ctx);
/* Text in the execution's memory, e.g. to build payloads. */
ABIDE_API const char *abide_printf(abide_ctx *ctx, const char *format, ...) ABIDE_PRINTF(2, 3);
/* `text` as a JSON string with quotes, in the execution's memory. */
ABIDE_API const char *abide_quote(abide_ctx *ctx, const char *text);

/* ---- Inside a step or task --------------------------------------------------------------- */

/* How a step ends: `return abide_return(call, json)`; NULL = no value. */
ABIDE_API int abide_return(abide_call *call, const char *result);
/* Fails this attempt; it is tried again according to its policy. */
ABIDE_API int abide_throw(abide_call *call, const char *type, const char *message);
/* Fails for good, whatever the policy. */
ABIDE_API int abide_throw_final(abide_call *call, const char *type, const char *message);
/*
** As the two above, with more to say: `details` (may be NULL) is a JSON object whose members become
** members of the error object, beside type and message.
*/
ABIDE_API int abide_throw_with(abide_call *call, const char *type, const char *message,
                               const char *details, int is_final);
/* 1, 2, 3 …: also those count that never answered, because their process ended. The retry policy
   counts answers only; what ends the process is limited by abide_options.max_crashes. */
ABIDE_API int abide_call_attempt(abide_call *call);
/* The run it belongs to; NULL for stand-alone tasks. */
ABIDE_API const char *abide_call_run_id(abide_call *call);
/* W3C Trace Context of a task's attempt, for services it calls; NULL = it belongs to no trace. */
ABIDE_API const char *abide_call_traceparent(abide_call *call);
/* The tracestate that came with the run's traceparent, to be handed on with it; NULL = none. */
ABIDE_API const char *abide_call_tracestate(abide_call *call);
/* The name of the step or task. */
ABIDE_API const char *abide_call_name(abide_call *call);
/* Stable for all attempts of this step: hand it to services that deduplicate. */
ABIDE_API const char *abide_call_key(abide_call *call);
/* What the task, or the workflow of the step, was registered with. */
ABIDE_API void *abide_call_user_data(abide_call *call);
/* 1 when its run or task has been asked to end. */
ABIDE_API int abide_call_is_cancelled(abide_call *call);
/* Steps in a transaction: the engine's sqlite3 * or PGconn *, in mid-transaction; NULL outside of
   one and on other stores. Do not commit, roll back or close it, and read every result to its end.
   A step that ends the transaction all the same fails with STEP_EXPELLED, and nothing of it is
   kept; one that answers success although a statement of it failed, with STEP_UNDONE. */
ABIDE_API void *abide_call_sqlite(abide_call *call);
ABIDE_API void *abide_call_postgres(abide_call *call);
/* Text in the memory of the call, which lives until the function returns. */
ABIDE_API const char *abide_call_printf(abide_call *call, const char *format, ...)
    ABIDE_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
