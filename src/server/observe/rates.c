// Collecting rates: a thread that looks at the end of every step, while something happens.
//
// Counting costs nothing beyond what metrics.c does anyway: a point is the difference of two looks
// at it. So nothing is lost when a look comes late; it is found in the step that ended last.
//
// Invariants [observe-rates-1]-[observe-rates-3] are in rates.h.
#include "server/observe/rates.h"
#include "base/thread.h"
#include "server/server.h"
#include "store/reads.h"

// ---- totals ----

static int64_t sum_of_workflows(const Metrics *metrics, RunState state) {
    int64_t sum = 0;
    for (size_t i = 0; i <= METRICS_NAMES_MAX; i++)
        sum += atomic_load_explicit(&metrics->of_workflow[i].finished[state], memory_order_relaxed);
    return sum;
}

static int64_t sum_of_starts(const Metrics *metrics) {
    int64_t sum = 0;
    for (size_t i = 0; i <= METRICS_NAMES_MAX; i++)
        sum += atomic_load_explicit(&metrics->of_workflow[i].started, memory_order_relaxed);
    return sum;
}

static int64_t sum_of_tasks(const Metrics *metrics, AttemptOutcome outcome) {
    int64_t sum = 0;
    for (size_t i = 0; i <= METRICS_NAMES_MAX; i++)
        sum += atomic_load_explicit(&metrics->of_task[i].attempts[outcome], memory_order_relaxed);
    return sum;
}

static void totals_read(const Metrics *metrics, RateTotals *ret_totals) {
    int64_t *counts = ret_totals->counts;
    HistogramReading turns;
    histogram_read(&metrics->turn, &histogram_seconds, &turns);
    counts[RATE_STARTED] = sum_of_starts(metrics);
    counts[RATE_COMPLETED] = sum_of_workflows(metrics, RUN_COMPLETED);
    counts[RATE_FAILED] = sum_of_workflows(metrics, RUN_FAILED);
    counts[RATE_CANCELLED] = sum_of_workflows(metrics, RUN_CANCELLED);
    counts[RATE_TURNS] = turns.count;
    counts[RATE_TASKS_COMPLETED] = sum_of_tasks(metrics, ATTEMPT_COMPLETED);
    counts[RATE_TASKS_FAILED] = sum_of_tasks(metrics, ATTEMPT_FAILED);
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++)
        ret_totals->resumes[i] =
            atomic_load_explicit(&metrics->resume.buckets[i], memory_order_relaxed);
}

// In microseconds: the bound that so many of a hundred did not pass.
static int64_t quantile(const RateTotals *now, const RateTotals *before, int64_t percent) {
    const HistogramScale *scale = &histogram_seconds;
    int64_t total = 0, sum = 0;
    for (size_t i = 0; i <= scale->count; i++) total += now->resumes[i] - before->resumes[i];
    if (total == 0) return RATE_UNKNOWN;
    for (size_t i = 0; i < scale->count; i++) {
        sum += now->resumes[i] - before->resumes[i];
        if (sum * 100 >= total * percent) return scale->bounds[i] / 1000;
    }
    return scale->bounds[scale->count - 1] / 1000;
}

static void gauges_read(Server *server, int64_t *ret_gauges) {
    Arena arena;
    StoreStats stats;
    Diag diag;
    arena_init(&arena);
    bool is_read = store_stats(engine_store(server->engine), &arena, &stats, &diag) == OK;
    ret_gauges[RATE_QUEUED] =
        is_read ? stats.counters[COUNTER_TASKS_FIRST + TASK_QUEUED] : RATE_UNKNOWN;
    ret_gauges[RATE_SUSPENDED] =
        is_read ? stats.counters[COUNTER_RUNS_FIRST + RUN_SUSPENDED] : RATE_UNKNOWN;
    ret_gauges[RATE_RESIDENT] = (int64_t)engine_counts(server->engine).resident_count;
    arena_done(&arena);
}

// ---- points ----

static RatePoint point_of(const RateTotals *now, const RateTotals *before, const int64_t *gauges) {
    RatePoint point = {0};
    for (int i = 0; i < RATE_COUNTS; i++) point.values[i] = now->counts[i] - before->counts[i];
    for (int i = RATE_QUEUED; i <= RATE_RESIDENT; i++) point.values[i] = gauges[i];
    point.values[RATE_RESUME_P50] = quantile(now, before, 50);
    point.values[RATE_RESUME_P99] = quantile(now, before, 99);
    return point;
}

static bool has_counts(const RatePoint *point) {
    for (int i = 0; i < RATE_COUNTS; i++)
        if (point->values[i] != 0) return true;
    return false;
}

static bool has_new_gauges(const RatePoint *point, const int64_t *gauges) {
    for (int i = RATE_QUEUED; i <= RATE_RESIDENT; i++)
        if (point->values[i] != gauges[i]) return true;
    return false;
}

// The place of a step in the track's row; another row begins when it is none of this one.
static RatePoint *track_place(RateTrack *track, int64_t step) {
    int64_t from_ms = step / RATE_ROW_STEPS * rate_row_ms(track->step_ms);
    if (from_ms != track->from_ms) {
        track->row = (RatePoints){.up_ms = track->row.up_ms};
        track->from_ms = from_ms;
    }
    return &track->row.steps[step % RATE_ROW_STEPS];
}

// Ends the step that goes on: a point, if there is anything to say.
static void track_end_step(RateTrack *track, const RateTotals *now, const int64_t *gauges) {
    RatePoint point = point_of(now, &track->before, gauges);
    bool is_new = has_counts(&point) || has_new_gauges(&point, track->gauges);
    track->before = *now;
    memcpy(track->gauges, gauges, sizeof track->gauges);
    if (!is_new) return;
    point.is_there = true;
    *track_place(track, track->step) = point;
    track->is_dirty = true;
}

// ---- the store ----

static void source_find(Server *server) {
    Rates *rates = &server->rates;
    if (rates->source != 0) return;
    int64_t key = engine_node(server->engine).key;
    pthread_mutex_lock(&rates->lock);
    rates->source = key;
    pthread_mutex_unlock(&rates->lock);
}

// On the thread that collects, without the lock: nobody else changes rows. True when nothing is
// left to be stored. [observe-rates-2]
static bool store_rows(Server *server) {
    Rates *rates = &server->rates;
    if (!rates->tracks[0].is_dirty && !rates->tracks[1].is_dirty) return true;
    source_find(server);
    if (rates->source == 0) return false;
    Arena arena;
    arena_init(&arena);
    Request request = {.op.kind = OP_NOTE_RATES};
    for (int i = 0; i < RATE_RESOLUTION_COUNT; i++) {
        const RateTrack *track = &rates->tracks[i];
        Str text = track->is_dirty ? rates_write_row(&arena, &track->row) : STR_NULL;
        request.op.in.note_rates.rows[i] =
            (RateRow){track->step_ms, track->from_ms, rates->source, text};
    }
    bool is_stored = engine_request(server->engine, &request) == OK;
    for (int i = 0; i < RATE_RESOLUTION_COUNT && is_stored; i++) rates->tracks[i].is_dirty = false;
    arena_done(&arena);
    return is_stored;
}

// ---- the thread ----

// Ends the steps that are over, or all.
static void end_steps(Server *server, int64_t now_ms, bool is_all) {
    Rates *rates = &server->rates;
    int64_t gauges[RATE_SERIES_COUNT] = {0}, noticed = atomic_load(&rates->noticed);
    RateTotals now;
    if (noticed != rates->gauged || is_all) gauges_read(server, gauges);
    else memcpy(gauges, rates->tracks[0].gauges, sizeof gauges); // an idle server asks nothing
    rates->gauged = noticed;
    totals_read(&server->metrics, &now);
    pthread_mutex_lock(&rates->lock);
    for (int i = 0; i < RATE_RESOLUTION_COUNT; i++) {
        RateTrack *track = &rates->tracks[i];
        int64_t step = now_ms / track->step_ms;
        if (step <= track->step && !is_all) continue; // a clock that was set back is waited for
        track_end_step(track, &now, gauges);
        track->step = step;
    }
    pthread_mutex_unlock(&rates->lock);
}

// Until something happens; the steps that went by meanwhile had nothing in them. The lock is held.
static void sleep_until_awake(Rates *rates) {
    while (!rates->is_stopping && !atomic_load(&rates->is_awake))
        pthread_cond_wait(&rates->changed, &rates->lock);
    for (int i = 0; i < RATE_RESOLUTION_COUNT; i++) {
        int64_t step = server_clock_ms() / rates->tracks[i].step_ms;
        if (step > rates->tracks[i].step) rates->tracks[i].step = step;
    }
}

// Until the present short step is over. The lock is held.
static void wait_for_step(Rates *rates) {
    int64_t at_ms = (rates->tracks[0].step + 1) * RATE_FINE_MS;
    struct timespec at = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000};
    while (!rates->is_stopping && server_clock_ms() < at_ms)
        (void)pthread_cond_timedwait(&rates->changed, &rates->lock, &at);
}

// Who notices something counts it first and looks then whether we are awake; we say that we are not
// and look at the count then. So one of the two sees the other. [observe-rates-1]
static void fall_asleep(Rates *rates, int64_t noticed) {
    atomic_store(&rates->is_awake, false);
    if (atomic_load(&rates->noticed) != noticed) atomic_store(&rates->is_awake, true);
}

// After a step; *noticed is the count of events at the beginning of the minute.
static void look(Server *server, int64_t *noticed) {
    Rates *rates = &server->rates;
    int64_t minute = rates->tracks[1].step, count = atomic_load(&rates->noticed);
    end_steps(server, server_clock_ms(), false);
    if (rates->tracks[1].step == minute) return;
    bool is_stored = store_rows(server);
    if (is_stored && count == *noticed) fall_asleep(rates, count);
    *noticed = count;
}

static void *rates_main(void *context) {
    Server *server = context;
    Rates *rates = &server->rates;
    int64_t noticed = 0;
    pthread_mutex_lock(&rates->lock);
    while (!rates->is_stopping) {
        if (!atomic_load(&rates->is_awake)) sleep_until_awake(rates);
        wait_for_step(rates);
        if (rates->is_stopping) break;
        pthread_mutex_unlock(&rates->lock);
        look(server, &noticed);
        pthread_mutex_lock(&rates->lock);
    }
    pthread_mutex_unlock(&rates->lock);
    return NULL;
}

// ---- life ----

void rates_init(Rates *rates, int64_t now_ms) {
    *rates = (Rates){0};
    pthread_mutex_init(&rates->lock, NULL);
    pthread_cond_init(&rates->changed, NULL);
    for (int i = 0; i < RATE_RESOLUTION_COUNT; i++) {
        rates->tracks[i].step_ms = i == 0 ? RATE_FINE_MS : RATE_COARSE_MS;
        rates->tracks[i].row.up_ms = now_ms;
        rates->tracks[i].step = now_ms / rates->tracks[i].step_ms;
    }
}

void rates_done(Rates *rates) {
    pthread_cond_destroy(&rates->changed);
    pthread_mutex_destroy(&rates->lock);
}

void rates_notice(Rates *rates, const EngineEvent *event) {
    bool is_counted = event->kind == ENGINE_RUN_STARTED || event->kind == ENGINE_RUN_ENDED ||
                      event->kind == ENGINE_TURN || event->kind == ENGINE_TASK_CLAIMED ||
                      event->kind == ENGINE_TASK_ENDED || event->kind == ENGINE_TASKS_READY ||
                      event->kind == ENGINE_RUN_RELEASED || event->kind == ENGINE_RUN_RELOADED;
    if (!is_counted) return;
    atomic_fetch_add(&rates->noticed, 1);
    if (atomic_load(&rates->is_awake)) return;
    pthread_mutex_lock(&rates->lock);
    atomic_store(&rates->is_awake, true);
    pthread_cond_signal(&rates->changed);
    pthread_mutex_unlock(&rates->lock);
}

void rates_start(Server *server) {
    Diag diag;
    Rates *rates = &server->rates;
    Status status = thread_start(&rates->thread, rates_main, server, &diag);
    rates->is_running = status == OK;
    if (status != OK) LOG(server->config.logger, LOG_WARN, "rates are not kept: %s", diag.message);
}

void rates_stop(Server *server) {
    Rates *rates = &server->rates;
    pthread_mutex_lock(&rates->lock);
    bool was_running = rates->is_running;
    rates->is_stopping = true;
    rates->is_running = false;
    pthread_cond_signal(&rates->changed);
    pthread_mutex_unlock(&rates->lock);
    if (!was_running) return;
    pthread_join(rates->thread, NULL);
    if (!atomic_load(&rates->is_awake)) return;
    end_steps(server, server_clock_ms(), true);
    (void)store_rows(server); // [observe-rates-2]
}

// ---- reading ----

void rates_present(Server *server, int64_t step_ms, RateRow *ret_row, RatePoints *ret_points) {
    Rates *rates = &server->rates;
    int64_t gauges[RATE_SERIES_COUNT] = {0};
    RateTotals now;
    gauges_read(server, gauges);
    totals_read(&server->metrics, &now);
    pthread_mutex_lock(&rates->lock);
    RateTrack track = rates->tracks[step_ms == RATE_FINE_MS ? 0 : 1];
    int64_t source = rates->source;
    bool is_awake = atomic_load(&rates->is_awake);
    pthread_mutex_unlock(&rates->lock);
    if (!is_awake) track.step = server_clock_ms() / track.step_ms;
    RatePoint point = point_of(&now, &track.before, gauges);
    point.is_there = true;
    *track_place(&track, track.step) = point;
    *ret_row = (RateRow){.step_ms = step_ms, .from_ms = track.from_ms, .source = source};
    *ret_points = track.row;
}
