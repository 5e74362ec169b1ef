// The engine object: opening, recovering, shutting down, and the verbs of engine.h.
//
// An engine is a store, a coordinator and the driver's threads.
//
// Not here: its options (options.c), registering (register.c), starting and steering runs
// (steer.c), looking (look.c), the calls a workflow makes (context.c).
#include "api/api.h"
#include "api/options.h"
#include "base/memory.h"
#include "base/version.h"
#include "engine/definitions/start.h"
#include "engine/runners/filter.h"
#include "store/decorators/metrics.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *abide_version(void) { return program_version; }

const char *abide_code_name(int code) {
    switch (code) {
    case ABIDE_OK: return "ABIDE_OK";
    case ABIDE_SUSPENDED: return "ABIDE_SUSPENDED";
    case ABIDE_TIMEOUT: return "ABIDE_TIMEOUT";
    case ABIDE_CANCELLED: return "ABIDE_CANCELLED";
    case ABIDE_FAILED: return "ABIDE_FAILED";
    case ABIDE_PENDING: return "ABIDE_PENDING";
    case ABIDE_NOT_FOUND: return "ABIDE_NOT_FOUND";
    case ABIDE_TERMINAL: return "ABIDE_TERMINAL";
    case ABIDE_CONFLICT: return "ABIDE_CONFLICT";
    case ABIDE_INVALID: return "ABIDE_INVALID";
    case ABIDE_LIMIT: return "ABIDE_LIMIT";
    case ABIDE_UNSUPPORTED: return "ABIDE_UNSUPPORTED";
    case ABIDE_UNAVAILABLE: return "ABIDE_UNAVAILABLE";
    case ABIDE_CORRUPT: return "ABIDE_CORRUPT";
    case ABIDE_FENCED: return "ABIDE_FENCED";
    case ABIDE_CLOSED: return "ABIDE_CLOSED";
    default: return "ABIDE_UNKNOWN";
    }
}

void abide_free(void *memory) { mem_free(memory); }

static void write_log(void *context, LogLevel level, const char *line) {
    abide_engine *engine = context;
    engine->options.on_log(engine->options.user, (int)level, line);
}

static void pass_event(void *context, const EngineEvent *event) {
    abide_engine *engine = context;
    const EngineWatcher *watcher = atomic_load(&engine->watcher);
    if (watcher != NULL) watcher->notice(watcher->context, event);
    if (engine->options.on_event == NULL || event->kind >= ENGINE_LOG_GREW) return;
    if (event->kind == ENGINE_STEP && engine->options.discard_step_events) return;
    abide_event outside = {
        .kind = (int)event->kind,
        .run_id = event->run_id.data,
        .workflow = event->workflow.data,
        .name = event->name.data,
        .detail = event->detail.data,
        .at_ms = env_now_ms(engine->driver.env),
    };
    engine->options.on_event(engine->options.user, &outside);
}

static void store_changed(void *context) { driver_store_changed(context); }

static bool has_reader(void *context, Str run_id) {
    abide_engine *engine = context;
    const EngineWatcher *watcher = atomic_load(&engine->watcher);
    return watcher != NULL && watcher->has_reader != NULL &&
           watcher->has_reader(watcher->context, run_id);
}

static void set_idle_timeouts_here(Coordinator *coordinator, void *context) {
    Diag diag;
    Status status = options_set_idle_timeouts(coordinator, str_from(context), &diag);
    ASSERT(status == OK); // it was checked before
}

// ---- life ----

// Nodes beside each other should be told apart without anybody having named them.
static void name_node(abide_engine *engine, bool is_shared) {
    char host[64] = "node";
    if (is_shared && gethostname(host, sizeof(host)) == 0) {
        host[sizeof(host) - 1] = '\0';
        snprintf(engine->node_name, sizeof(engine->node_name), "%s-%ld", host, (long)getpid());
    } else {
        snprintf(engine->node_name, sizeof(engine->node_name), "node");
    }
}

Str engine_node_name(const abide_engine *engine) {
    const char *name = engine->options.node_name;
    return str_from(name != NULL ? name : engine->node_name);
}

static Status open_engine(abide_engine *engine, const char *url, Diag *diag) {
    EngineSettings settings = {0};
    bool is_shared = engine->is_shared = store_url_is_shared(str_from(url));
    name_node(engine, is_shared);
    TRY(options_read(&engine->options, !is_shared, &settings, diag));
    settings.coordinator.node_name = engine_node_name(engine);
    Str idle_timeouts = str_from(engine->options.idle_timeouts);
    TRY(options_set_idle_timeouts(NULL, idle_timeouts, diag));
    if (engine->options.on_log != NULL)
        engine->logger = (Logger){.least = LOG_DEBUG, .write = write_log, .context = engine};
    engine->run_retention_ms = settings.run_retention_ms;
    engine->cancel_grace_ms = settings.cancel_grace_ms;
    engine->is_child_failure_isolated = engine->options.isolate_child_failures != 0;
    settings.store.logger = &engine->logger;
    settings.store.filter_matches = filter_matches;
    settings.store.run_prepare = start_prepare;
    Store *store;
    TRY(store_open(str_from(url), &settings.store, &store, diag));
    engine->store = metrics_store_new(store, env_system());
    DriverConfig config = {
        .env = env_system(),
        .is_virtual = engine->options.virtual_time_ms != 0,
        .store = engine->store,
        .logger = &engine->logger,
        .thread_count = settings.thread_count,
        .coordinator = settings.coordinator,
        .on_event = pass_event,
        .has_reader = has_reader,
        .on_event_context = engine,
    };
    if (config.is_virtual) {
        virtual_env_init(&engine->virtual_env, engine->options.virtual_time_ms);
        config.env = &engine->virtual_env.base;
    }
    Status status = driver_start(&engine->driver, &config, diag);
    if (status != OK) {
        store_close(engine->store);
        return status;
    }
    StoreListener listener = {store_changed, &engine->driver};
    store_listen(engine->store, &listener);
    if (idle_timeouts.len > 0)
        driver_control(&engine->driver, set_idle_timeouts_here,
                       (void *)(uintptr_t)idle_timeouts.data);
    return OK;
}

Status engine_open(const char *url, const abide_options *options, abide_engine **ret_engine,
                   Diag *diag) {
    abide_engine *engine = mem_zalloc(sizeof(abide_engine));
    if (options != NULL) engine->options = *options;
    api_registered_init(engine);
    map_init(&engine->masks);
    arena_init(&engine->mask_arena);
    id_source_init(&engine->ids, env_system());
    Status status = open_engine(engine, url, diag);
    if (status != OK) {
        mem_free(engine);
        return status;
    }
    pthread_mutex_init(&engine->lock, NULL);
    *ret_engine = engine;
    return OK;
}

int abide_open(const char *url, const abide_options *options, abide_engine **ret_engine,
               abide_error *error) {
    if (url == NULL || ret_engine == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "url and ret_engine are required");
    *ret_engine = NULL;
    Diag diag;
    diag_clear(&diag);
    Status status = engine_open(url, options, ret_engine, &diag);
    return api_answer(error, status, &diag);
}

int abide_shutdown(abide_engine *engine, const char *timeout, abide_error *error) {
    Diag diag;
    int64_t timeout_ms;
    if (engine == NULL) return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
    Status status = api_check_duration(timeout, 30000, &timeout_ms, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    if (driver_stop(&engine->driver, timeout_ms) != OK)
        return api_refuse(error, ABIDE_TIMEOUT, "SHUTDOWN_TIMEOUT",
                          "functions were still running; their runs are taken up again by the "
                          "next process");
    return api_answer(error, OK, &diag);
}

// All of it but the store.
static void engine_free(void *context) {
    abide_engine *engine = context;
    driver_free(&engine->driver);
    api_registered_done(engine);
    map_done(&engine->masks);
    arena_done(&engine->mask_arena);
    while (engine->closers.count > 0) {
        Closer closer = vec_pop(&engine->closers);
        closer.function(closer.user);
    }
    vec_free(&engine->closers);
    pthread_mutex_destroy(&engine->lock);
    mem_free(engine);
}

void abide_close(abide_engine *engine) {
    if (engine == NULL) return;
    (void)abide_shutdown(engine, NULL, NULL);
    Store *store = engine->store;
    store_listen(store, NULL); // before the driver goes
    // A function that does not end keeps its memory until it does; the store it does not keep.
    bool is_ended = driver_end(&engine->driver, engine_free, engine);
    store_close(store);
    if (is_ended) engine_free(engine);
}

int abide_on_close(abide_engine *engine, void (*fn)(void *user), void *user, abide_error *error) {
    if (engine == NULL || fn == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and fn are required");
    Closer closer = {fn, user};
    pthread_mutex_lock(&engine->lock);
    vec_push(&engine->closers, closer);
    pthread_mutex_unlock(&engine->lock);
    return api_answer(error, OK, NULL);
}

// ---- verbs of engine.h ----

Env *engine_env(const abide_engine *engine) { return engine->driver.env; }
int64_t engine_now_ms(const abide_engine *engine) { return env_now_ms(engine->driver.env); }
bool engine_is_time_virtual(const abide_engine *engine) { return engine->driver.is_virtual; }
uint64_t engine_monotonic_ns(const abide_engine *engine) {
    return env_monotonic_ns(engine->driver.env);
}

Str engine_new_id(abide_engine *engine, const char *prefix, IdText *text) {
    pthread_mutex_lock(&engine->lock);
    *text = id_next(&engine->ids, prefix);
    pthread_mutex_unlock(&engine->lock);
    return id_str(text);
}

Store *engine_store(const abide_engine *engine) { return engine->store; }
TurnBoard *engine_turns(abide_engine *engine) { return &engine->driver.turns; }

typedef struct RestLook {
    TurnBoard *board;
    bool is_resting;
    int64_t next_ms;
} RestLook;

// Turns are put up on this thread only: those that wait now are among what is out. Those that
// somebody will take are looked at first: what is taken meanwhile is out, and does not wait.
static void look_for_rest(Coordinator *coordinator, void *context) {
    RestLook *look = context;
    bool is_wanted = turns_are_wanted(look->board);
    size_t waiting = turns_waiting(look->board);
    bool is_idle = coordinator_is_idle_beside(coordinator, waiting, &look->next_ms);
    look->is_resting = is_idle && !is_wanted;
}

bool engine_is_resting(abide_engine *engine, int64_t *ret_next_ms) {
    RestLook look = {.board = &engine->driver.turns};
    driver_control(&engine->driver, look_for_rest, &look);
    *ret_next_ms = look.next_ms;
    return look.is_resting;
}

static void serve_here(Coordinator *coordinator, void *context) {
    coordinator_serve(coordinator, *(const int64_t *)context, true);
}

void engine_serve_code(abide_engine *engine, int64_t definition) {
    driver_control(&engine->driver, serve_here, &definition);
}

static void unserve_here(Coordinator *coordinator, void *context) {
    coordinator_serve(coordinator, *(const int64_t *)context, false);
    mem_free(context);
}

void engine_unserve_code(abide_engine *engine, int64_t definition) {
    int64_t *own = mem_alloc(sizeof definition);
    *own = definition;
    driver_control_later(&engine->driver, unserve_here, own);
}

Status engine_store_status(abide_engine *engine) { return driver_store_status(&engine->driver); }

Status engine_request(abide_engine *engine, Request *request) {
    return driver_request(&engine->driver, request);
}

void engine_submit(abide_engine *engine, Request *request) {
    driver_submit(&engine->driver, request);
}

void engine_submit_all(abide_engine *engine, Request *requests, size_t count) {
    driver_submit_all(&engine->driver, requests, count);
}

void engine_submit_await(abide_engine *engine, Await *await) {
    driver_submit_await(&engine->driver, await);
}

void engine_call_off(abide_engine *engine, Await *await) {
    driver_call_off(&engine->driver, await);
}

void engine_forget_call_off(abide_engine *engine, Await *await) {
    driver_forget_call_off(&engine->driver, await);
}

void engine_watch(abide_engine *engine, EngineWatcher *watcher) {
    atomic_store(&engine->watcher, watcher);
}

static void do_nothing(Coordinator *coordinator, void *context) {
    (void)coordinator;
    (void)context;
}

void engine_wait_for_round(abide_engine *engine) {
    driver_control(&engine->driver, do_nothing, NULL);
}

static void trace_children(Coordinator *coordinator, void *context) {
    (void)context;
    coordinator_trace_children(coordinator);
}

void engine_trace_children(abide_engine *engine) {
    driver_control(&engine->driver, trace_children, NULL);
}

EngineCounts engine_counts(abide_engine *engine) {
    return (EngineCounts){
        .resident_count = atomic_load(&engine->driver.resident_count),
        .active_count = atomic_load(&engine->driver.active_count),
    };
}

bool engine_has_released(abide_engine *engine, const RunRow *run) {
    return run->state == RUN_SUSPENDED && !driver_is_parked(&engine->driver, run->key);
}

bool engine_is_shared(const abide_engine *engine) { return engine->is_shared; }
int64_t engine_run_retention_ms(const abide_engine *engine) { return engine->run_retention_ms; }
int64_t engine_cancel_grace_ms(const abide_engine *engine) { return engine->cancel_grace_ms; }
bool engine_isolates_children(const abide_engine *engine) {
    return engine->is_child_failure_isolated;
}
int64_t engine_default_consume(const abide_engine *engine) {
    return engine->options.default_consume;
}

// ---- recovery ----

typedef struct Recovery {
    RecoveryReport report;
    Status status;
    Diag diag;
} Recovery;

static void recover_here(Coordinator *coordinator, void *context) {
    Recovery *recovery = context;
    recovery->status = coordinator_recover(coordinator, &recovery->report, &recovery->diag);
}

Status engine_recover(abide_engine *engine, abide_recovery *ret_report, Diag *diag) {
    Recovery recovery = {0};
    pthread_mutex_lock(&engine->lock);
    if (!engine->is_recovered) {
        driver_control(&engine->driver, recover_here, &recovery);
        engine->is_recovered = recovery.status == OK;
        engine->recovery = (abide_recovery){
            .resumed_running = recovery.report.resumed_running,
            .timers_due = recovery.report.timers_due,
            .starts_due = recovery.report.starts_due,
            .taken_over = recovery.report.taken_over,
            .suspended = recovery.report.suspended,
        };
    }
    *ret_report = engine->recovery;
    pthread_mutex_unlock(&engine->lock);
    if (recovery.status != OK) *diag = recovery.diag;
    return recovery.status;
}

int abide_recover(abide_engine *engine, abide_recovery *report, abide_error *error) {
    if (engine == NULL) return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
    abide_recovery found;
    Diag diag;
    diag_clear(&diag);
    Status status = engine_recover(engine, &found, &diag);
    if (report != NULL) *report = found;
    return api_answer(error, status, &diag);
}
