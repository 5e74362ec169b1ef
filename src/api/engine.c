// The engine object: opening, registering, recovering, shutting down.
//
// An engine is a store, a coordinator and the driver's threads. Options arrive as text and are
// checked here, so that everything below works with numbers.
//
// Not here: starting and steering runs (steer.c), looking (look.c), the calls a workflow makes
// (context.c).
#include "api/api.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/time/duration.h"
#include "base/version.h"
#include "engine/coordinator/start.h"
#include "engine/runners/filter.h"
#include "engine/runners/flow_options.h"
#include "flow/limits.h"
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

// ---- options ----

typedef struct Settings {
    CoordinatorConfig coordinator;
    StoreConfig store;
    int thread_count;
    int64_t run_retention_ms;
    int64_t cancel_grace_ms;
} Settings;

static Status set_count(int given, int fallback, const char *what, int64_t *ret_value, Diag *diag) {
    if (given < 0) return diag_set(diag, ERR_INVALID, "BAD_OPTION", "%s is negative", what);
    *ret_value = given == 0 ? fallback : given;
    return OK;
}

static Status read_script_options(const abide_options *options, CoordinatorConfig *c, Diag *diag) {
    if (options->max_script_memory < 0 || options->max_turn_steps < 0)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                        "max_script_memory and max_turn_steps must not be negative");
    if (options->virtual_time_ms < 0)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "virtual_time_ms is negative");
    // A clock that stands still never comes to the end of a pause: the store is asked at once.
    if (options->virtual_time_ms != 0) c->store_retry_ms = c->store_retry_max_ms = 0;
    int64_t slice = (int64_t)FLOW_LIMITS_DEFAULT.instructions_per_turn;
    int64_t steps = options->max_turn_steps > 0 ? options->max_turn_steps : 100 * slice;
    c->script_memory = options->max_script_memory;
    c->slice_instructions = steps < slice ? steps : slice;
    c->max_turn_slices = steps / c->slice_instructions;
    return OK;
}

enum {
    RESIDENT_MEMORY_DEFAULT = 256 << 20,
    IDLE_RELEASE_DEFAULT_MS = 60000,
    MAX_CRASHES_DEFAULT = 10,
};

static Status read_memory_options(const abide_options *options, CoordinatorConfig *c, Diag *diag) {
    if (options->max_resident_memory < ABIDE_UNLIMITED)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "max_resident_memory is negative");
    c->max_resident_size = options->max_resident_memory;
    if (c->max_resident_size == 0) c->max_resident_size = RESIDENT_MEMORY_DEFAULT;
    if (c->max_resident_size == ABIDE_UNLIMITED) c->max_resident_size = 0;
    if (options->max_crashes < ABIDE_UNLIMITED)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "max_crashes is negative");
    c->max_crashes = options->max_crashes == 0 ? MAX_CRASHES_DEFAULT : options->max_crashes;
    if (c->max_crashes == ABIDE_UNLIMITED) c->max_crashes = 0;
    c->idle_release_ms = IDLE_RELEASE_DEFAULT_MS;
    if (options->idle_release_timeout == NULL) return OK;
    TRY(idle_timeout_parse(str_from(options->idle_release_timeout), &c->idle_release_ms, diag));
    if (c->idle_release_ms < 0) c->idle_release_ms = 0; // "off"
    return OK;
}

static Status read_event_options(const abide_options *options, StoreConfig *store, Diag *diag) {
    TRY(set_count(options->max_pending_events_per_topic, 0, "max_pending_events_per_topic",
                  &store->events_per_topic, diag));
    if (options->default_consume < CONSUME_ONE || options->default_consume > CONSUME_ALL)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                        "default_consume is %d; it is an "
                        "ABIDE_CONSUME_ value",
                        options->default_consume);
    store->default_consume = options->default_consume;
    return api_check_duration(options->event_retention, 0, &store->event_retention_ms, diag);
}

enum { TIMER_RESOLUTION_MAX_MS = 60000 };

// How long the engine itself waits: for a store that does not answer, and for timers to gather.
static Status read_pauses(const abide_options *options, CoordinatorConfig *c, Diag *diag) {
    TRY(api_check_duration(options->store_retry_delay, 50, &c->store_retry_ms, diag));
    int64_t most_ms = c->store_retry_ms > 5000 ? c->store_retry_ms : 5000;
    TRY(api_check_duration(options->store_retry_max_delay, most_ms, &c->store_retry_max_ms, diag));
    if (c->store_retry_max_ms < c->store_retry_ms)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                        "store_retry_max_delay is shorter than store_retry_delay");
    TRY(api_check_duration(options->timer_resolution, 1, &c->timer_resolution_ms, diag));
    if (c->timer_resolution_ms < 1 || c->timer_resolution_ms > TIMER_RESOLUTION_MAX_MS)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "timer_resolution is between 1ms and 1m");
    return OK;
}

static Status read_options(const abide_options *options, bool is_exclusive, Settings *settings,
                           Diag *diag) {
    CoordinatorConfig *c = &settings->coordinator;
    int64_t threads = 0;
    TRY(set_count(options->threads, 4, "threads", &threads, diag));
    if (threads > 1024) return diag_set(diag, ERR_INVALID, "BAD_OPTION", "threads is over 1024");
    settings->thread_count = (int)threads;
    TRY(set_count(options->max_resident_runs, 10000, "max_resident_runs", &c->max_parked_runs,
                  diag));
    TRY(set_count(options->max_active_runs, 4096, "max_active_runs", &c->max_active_runs, diag));
    TRY(set_count(options->store_retry_attempts, 10, "store_retry_attempts",
                  &c->store_retry_attempts, diag));
    TRY(read_event_options(options, &settings->store, diag));
    TRY(read_pauses(options, c, diag));
    TRY(api_check_duration(options->cancel_grace, 10000, &settings->cancel_grace_ms, diag));
    TRY(api_check_duration(options->lease, 10000, &c->lease_ms, diag));
    if (options->run_retention != NULL && strcmp(options->run_retention, "forever") == 0)
        settings->run_retention_ms = -1;
    else
        TRY(api_check_duration(options->run_retention, 30LL * 24 * 3600 * 1000,
                               &settings->run_retention_ms, diag));
    // The owner of a file needs no lease: its lock says that nobody else can be alive.
    c->is_exclusive = is_exclusive;
    if (is_exclusive) c->lease_ms = 100LL * 365 * 24 * 3600 * 1000;
    c->first_tasks = 4 * threads;
    c->max_tasks = 256 * threads > LIMIT_BATCH_OPS ? 256 * threads : LIMIT_BATCH_OPS;
    c->task_lease_ms = 30000;
    c->sweep_ms = 60000;
    c->run_retention_ms = settings->run_retention_ms;
    c->is_child_failure_isolated = options->isolate_child_failures != 0;
    c->keep_snapshots = options->keep_snapshots;
    if (options->keep_snapshots == 0) c->keep_snapshots = SNAPSHOTS_KEPT_DEFAULT;
    if (options->keep_snapshots == ABIDE_SNAPSHOTS_OFF) c->keep_snapshots = 0;
    if (c->keep_snapshots < 0 || c->keep_snapshots > SNAPSHOTS_KEPT_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_OPTION", "keep_snapshots is %d; at most %d",
                        options->keep_snapshots, SNAPSHOTS_KEPT_MAX);
    TRY(read_memory_options(options, c, diag));
    return read_script_options(options, c, diag);
}

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

// "chat=10m, order=off"; before the driver has threads, or on the coordinator's.
static Status set_idle_timeouts(Coordinator *coordinator, Str list, Diag *diag) {
    size_t from = 0;
    for (size_t i = 0; i <= list.len && list.len > 0; i++) {
        if (i < list.len && list.data[i] != ',') continue;
        Str item = str_trim((Str){list.data + from, i - from});
        size_t equals = 0;
        while (equals < item.len && item.data[equals] != '=') equals++;
        Str name = str_trim((Str){item.data, equals});
        if (equals == item.len || name.len == 0)
            return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                            "idle_timeouts: \"%.*s\" is not WORKFLOW=DURATION", STR_ARG(item));
        int64_t timeout_ms;
        Str text = str_trim((Str){item.data + equals + 1, item.len - equals - 1});
        TRY(idle_timeout_parse(text, &timeout_ms, diag));
        if (coordinator != NULL) coordinator_set_idle_timeout(coordinator, name, timeout_ms);
        from = i + 1;
    }
    return OK;
}

static void set_idle_timeouts_here(Coordinator *coordinator, void *context) {
    Diag diag; // it was checked before
    (void)set_idle_timeouts(coordinator, str_from(context), &diag);
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
    Settings settings = {0};
    bool is_shared = engine->is_shared = store_url_is_shared(str_from(url));
    name_node(engine, is_shared);
    TRY(read_options(&engine->options, !is_shared, &settings, diag));
    settings.coordinator.node_name = engine_node_name(engine);
    Str idle_timeouts = str_from(engine->options.idle_timeouts);
    TRY(set_idle_timeouts(NULL, idle_timeouts, diag));
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

int abide_open(const char *url, const abide_options *options, abide_engine **ret_engine,
               abide_error *error) {
    if (url == NULL || ret_engine == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "url and ret_engine are required");
    *ret_engine = NULL;
    abide_engine *engine = mem_zalloc(sizeof(abide_engine));
    if (options != NULL) engine->options = *options;
    strmap_init(&engine->registered);
    id_source_init(&engine->ids, env_system());
    Diag diag;
    diag_clear(&diag);
    Status status = open_engine(engine, url, &diag);
    if (status != OK) {
        mem_free(engine);
        return api_answer(error, status, &diag);
    }
    pthread_mutex_init(&engine->lock, NULL);
    *ret_engine = engine;
    return api_answer(error, OK, &diag);
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

static void registered_free(Registered *entry) {
    arena_done(&entry->arena);
    mem_free((void *)(uintptr_t)entry->name.data);
    mem_free(entry);
}

// All of it but the store.
static void engine_free(void *context) {
    abide_engine *engine = context;
    driver_free(&engine->driver);
    Str name;
    void *entry;
    for (size_t at = 0; strmap_next(&engine->registered, &at, &name, &entry);)
        registered_free(entry);
    strmap_done(&engine->registered);
    while (engine->closers.count > 0) {
        Closer closer = vec_pop(&engine->closers);
        closer.function(closer.user);
    }
    vec_free(&engine->closers);
    for (size_t i = 0; i < engine->task_names.count; i++)
        mem_free((void *)(uintptr_t)engine->task_names.data[i].data);
    vec_free(&engine->task_names);
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

Str engine_new_id(abide_engine *engine, const char *prefix, IdText *text) {
    pthread_mutex_lock(&engine->lock);
    *text = id_next(&engine->ids, prefix);
    pthread_mutex_unlock(&engine->lock);
    return id_str(text);
}

// ---- registering ----

typedef struct Registration {
    Str name;
    Runner *runner;
    abide_call_fn task;
    void *user;
    bool is_replacing;
    Status status;
} Registration;

static void register_here(Coordinator *coordinator, void *context) {
    Registration *r = context;
    if (r->is_replacing) {
        coordinator_replace_task(coordinator, r->name, r->task, r->user);
        return;
    }
    r->status = r->runner != NULL ? coordinator_add_runner(coordinator, r->name, r->runner)
                                  : coordinator_add_task(coordinator, r->name, r->task, r->user);
}

static int register_function(abide_engine *engine, Registration *registration, abide_error *error) {
    driver_control(&engine->driver, register_here, registration);
    if (registration->status != OK)
        return api_refuse(error, ABIDE_CONFLICT, "ALREADY_REGISTERED",
                          "\"%.*s\" is registered already", STR_ARG(registration->name));
    return api_answer(error, OK, NULL);
}

// The store knows the workflows in C by name, so that they can be listed, started and scheduled
// where they are not registered. Written when they appear for the first time.
static Status define_native(abide_engine *engine, Str name, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    Query query = {.kind = QUERY_DEFINITION, .name = name, .version = VERSION_NATIVE};
    Status status = store_read(engine->store, &arena, &query, diag);
    arena_done(&arena);
    if (status != ERR_NOT_FOUND) return status;
    Request request = {.op.kind = OP_DEFINE};
    request.op.define.name = name;
    request.op.define.version = VERSION_NATIVE;
    request.op.define.kind = RUN_NATIVE;
    status = driver_request(&engine->driver, &request, NULL);
    if (status != OK) *diag = request.op.diag;
    return status;
}

static Status registered_new(const abide_engine *engine, const abide_workflow_options *options,
                             Registered **ret_entry, Diag *diag) {
    Registered *entry = mem_zalloc(sizeof(Registered));
    arena_init(&entry->arena);
    native_runner_init(&entry->runner, options->fn, options->user);
    entry->runner.is_child_failure_isolated = engine->is_child_failure_isolated;
    entry->runner.child_keep_ms = engine->run_retention_ms;
    Status status = OK;
    if (options->retry != NULL)
        status = api_check_retry(options->retry, &entry->arena, &entry->runner.retry, diag);
    if (status == OK) *ret_entry = entry;
    else registered_free(entry);
    return status;
}

// Takes the entry over.
static int register_entry(abide_engine *engine, Str name, Registered *entry, abide_error *error) {
    Registration registration = {.name = name, .runner = &entry->runner.base};
    int code = register_function(engine, &registration, error);
    if (code != ABIDE_OK) {
        registered_free(entry);
        return code;
    }
    entry->name = (Str){mem_copy(name.data, name.len), name.len};
    pthread_mutex_lock(&engine->lock);
    strmap_put(&engine->registered, entry->name, entry);
    pthread_mutex_unlock(&engine->lock);
    return ABIDE_OK;
}

static int register_workflow(abide_engine *engine, const char *name,
                             const abide_workflow_options *options, bool is_defined,
                             abide_error *error) {
    if (engine == NULL || options == NULL || options->fn == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and fn are required");
    Diag diag;
    Str checked;
    Registered *entry = NULL;
    Status status = api_check_name(name, "the workflow name", &checked, &diag);
    if (status == OK) status = registered_new(engine, options, &entry, &diag);
    if (status == OK && is_defined) status = define_native(engine, checked, &diag);
    if (status == OK) return register_entry(engine, checked, entry, error);
    if (entry != NULL) registered_free(entry);
    return api_answer(error, status, &diag);
}

int abide_register_workflow(abide_engine *engine, const char *name, abide_workflow_fn fn,
                            void *user, abide_error *error) {
    abide_workflow_options options = {.fn = fn, .user = user};
    return register_workflow(engine, name, &options, true, error);
}

int abide_register_workflow_with(abide_engine *engine, const char *name,
                                 const abide_workflow_options *options, abide_error *error) {
    return register_workflow(engine, name, options, true, error);
}

int abide_mock_workflow(abide_engine *engine, const char *name, abide_workflow_fn fn, void *user,
                        abide_error *error) {
    abide_workflow_options options = {.fn = fn, .user = user};
    return register_workflow(engine, name, &options, false, error);
}

bool engine_has_released(abide_engine *engine, const RunRow *run) {
    return run->state == RUN_SUSPENDED && !driver_is_parked(&engine->driver, run->key);
}

bool engine_knows(abide_engine *engine, Str workflow) {
    pthread_mutex_lock(&engine->lock);
    bool answer = strmap_get(&engine->registered, workflow) != NULL;
    pthread_mutex_unlock(&engine->lock);
    return answer;
}

static void note_task(abide_engine *engine, Str name) {
    pthread_mutex_lock(&engine->lock);
    size_t place = 0;
    while (place < engine->task_names.count && !str_equal(engine->task_names.data[place], name))
        place++;
    if (place == engine->task_names.count)
        vec_push(&engine->task_names, (Str){mem_copy(name.data, name.len), name.len});
    pthread_mutex_unlock(&engine->lock);
}

size_t engine_task_names(abide_engine *engine, Arena *arena, Str **ret_names) {
    pthread_mutex_lock(&engine->lock);
    size_t count = engine->task_names.count;
    *ret_names = ARENA_ARRAY(arena, Str, count + 1);
    for (size_t i = 0; i < count; i++)
        (*ret_names)[i] = arena_str(arena, engine->task_names.data[i]);
    pthread_mutex_unlock(&engine->lock);
    return count;
}

static int register_task(abide_engine *engine, const char *name, Registration *registration,
                         abide_error *error) {
    if (engine == NULL || registration->task == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and fn are required");
    Diag diag;
    Status status = api_check_name(name, "the task name", &registration->name, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    int code = register_function(engine, registration, error);
    if (code == ABIDE_OK) note_task(engine, registration->name);
    return code;
}

int abide_register_task(abide_engine *engine, const char *name, abide_call_fn fn, void *user,
                        abide_error *error) {
    Registration registration = {.task = fn, .user = user};
    return register_task(engine, name, &registration, error);
}

int abide_replace_task(abide_engine *engine, const char *name, abide_call_fn fn, void *user,
                       abide_error *error) {
    Registration registration = {.task = fn, .user = user, .is_replacing = true};
    return register_task(engine, name, &registration, error);
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

int abide_recover(abide_engine *engine, abide_recovery *report, abide_error *error) {
    if (engine == NULL) return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
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
    if (report != NULL) *report = engine->recovery;
    pthread_mutex_unlock(&engine->lock);
    return api_answer(error, recovery.status, &recovery.diag);
}
