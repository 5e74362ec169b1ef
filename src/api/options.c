// Options of an engine: texts and numbers that a caller gives, checked, with defaults filled in.
//
// Durations arrive as text, counts as numbers of which 0 means the default; what comes out has no
// such meanings left, so that nobody below asks twice. An option that is not understood refuses the
// engine, whatever the others say.
//
// Not here: what the settings do (engine/, store/), options of single calls (check.c).
#include "api/options.h"
#include "api/api.h"
#include "base/limits.h"
#include "engine/runners/flow_options.h"
#include "flow/limits.h"

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

Status options_read(const abide_options *options, bool is_exclusive, EngineSettings *settings,
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

Status options_set_idle_timeouts(Coordinator *coordinator, Str list, Diag *diag) {
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
