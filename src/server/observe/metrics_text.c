// The text of /metrics: Prometheus' exposition format 0.0.4.
//
// Base units (seconds, bytes), counters end in _total, every family has HELP and TYPE once and its
// samples together. docs/metrics.md lists the families; a test holds the two against each other.
//
// Not here: counting (metrics.c, store/decorators/metrics.c).
#include "base/text/number.h"
#include "server/observe/metrics.h"
#include "server/server.h"
#include "store/decorators/metrics.h"
#include "store/reads.h"

typedef struct Label {
    const char *name;
    Str value;
} Label;

enum { LABELS_MAX = 3 };

typedef struct Sample {
    const char *suffix;           // "_bucket" …; NULL = none
    Label labels[LABELS_MAX + 1]; // ended by a NULL name
} Sample;

// ---- lines ----

static void write_head(Buf *text, const char *name, const char *type, const char *help) {
    buf_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_label(Buf *text, const Label *label) {
    buf_printf(text, "%s=\"", label->name);
    for (size_t i = 0; i < label->value.len; i++) {
        char c = label->value.data[i];
        if (c == '\\' || c == '"') buf_append_char(text, '\\');
        if (c == '\n') buf_append_cstr(text, "\\n");
        else buf_append_char(text, c);
    }
    buf_append_char(text, '"');
}

static void write_sample(Buf *text, const char *name, const Sample *sample, double value) {
    buf_append_cstr(text, name);
    if (sample != NULL && sample->suffix != NULL) buf_append_cstr(text, sample->suffix);
    bool has_labels = sample != NULL && sample->labels[0].name != NULL;
    for (size_t i = 0; has_labels && sample->labels[i].name != NULL; i++) {
        buf_append_char(text, i == 0 ? '{' : ',');
        write_label(text, &sample->labels[i]);
    }
    if (has_labels) buf_append_char(text, '}');
    char number[NUMBER_TEXT_MAX];
    (void)number_format(value, number);
    buf_printf(text, " %s\n", number);
}

static void write_gauge(Buf *text, const char *name, const char *help, double value) {
    if (value < 0) return; // unknown
    write_head(text, name, "gauge", help);
    write_sample(text, name, NULL, value);
}

static void write_counter(Buf *text, const char *name, const char *help, double value) {
    if (value < 0) return;
    write_head(text, name, "counter", help);
    write_sample(text, name, NULL, value);
}

static double load(const _Atomic int64_t *counter) {
    return (double)atomic_load_explicit(counter, memory_order_relaxed);
}

// One histogram of a family; `labels` is ended by a NULL name and has room for one more.
static void write_histogram(Buf *text, const char *name, const Label *labels,
                            const Histogram *histogram, const HistogramScale *scale) {
    HistogramReading reading;
    histogram_read(histogram, scale, &reading);
    Sample sample = {.suffix = "_bucket"};
    size_t count = 0;
    while (labels[count].name != NULL) {
        sample.labels[count] = labels[count];
        count++;
    }
    for (size_t i = 0; i <= scale->count; i++) {
        char bound[NUMBER_TEXT_MAX] = "+Inf";
        bool is_last = i == scale->count;
        if (!is_last) (void)number_format((double)scale->bounds[i] * scale->unit, bound);
        sample.labels[count] = (Label){"le", str_from(bound)};
        write_sample(text, name, &sample, (double)(is_last ? reading.count : reading.up_to[i]));
    }
    sample.labels[count] = (Label){NULL, STR_NULL};
    sample.suffix = "_sum";
    write_sample(text, name, &sample, reading.sum);
    sample.suffix = "_count";
    write_sample(text, name, &sample, (double)reading.count);
}

static void write_plain_histogram(Buf *text, const char *name, const char *help,
                                  const Histogram *histogram, const HistogramScale *scale) {
    static const Label none[] = {{NULL, {NULL, 0}}};
    write_head(text, name, "histogram", help);
    write_histogram(text, name, none, histogram, scale);
}

// ---- runs ----

static void write_workflows(Buf *text, const Metrics *metrics) {
    size_t count = atomic_load_explicit(&metrics->workflows.count, memory_order_acquire);
    write_head(text, "abide_runs_started_total", "counter", "Runs created here, by workflow.");
    for (size_t i = 0; i < count; i++) {
        double started = load(&metrics->of_workflow[i].started);
        Sample sample = {.labels = {{"workflow", metrics->workflows.names[i]}}};
        if (started > 0) write_sample(text, "abide_runs_started_total", &sample, started);
    }
    write_head(text, "abide_runs_finished_total", "counter",
               "Runs that ended here, by workflow and how.");
    for (size_t i = 0; i < count; i++) {
        for (int64_t state = RUN_COMPLETED; state < RUN_STATE_COUNT; state++) {
            double finished = load(&metrics->of_workflow[i].finished[state]);
            Sample sample = {.labels = {{"workflow", metrics->workflows.names[i]},
                                        {"state", str_from(run_state_name(state))}}};
            if (finished > 0) write_sample(text, "abide_runs_finished_total", &sample, finished);
        }
    }
}

static void write_runs(Buf *text, const Server *server) {
    const Metrics *metrics = &server->metrics;
    EngineCounts counts = engine_counts(server->engine);
    write_workflows(text, metrics);
    write_gauge(text, "abide_runs_resident", "Runs of which something is in memory.",
                (double)counts.resident_count);
    write_gauge(text, "abide_runs_active", "Runs this node executes or is about to.",
                (double)counts.active_count);
    write_counter(text, "abide_run_releases_total", "Parked runs dropped from memory.",
                  load(&metrics->releases));
    write_counter(text, "abide_run_reloads_total", "Runs read back from the store.",
                  load(&metrics->reloads));
    write_counter(text, "abide_steps_total", "Checkpoints of steps.", load(&metrics->steps));
    write_plain_histogram(text, "abide_resume_latency_seconds",
                          "From the commit that wakes a run to its execution.", &metrics->resume,
                          &histogram_seconds);
    write_plain_histogram(text, "abide_turn_duration_seconds",
                          "Execution of a run between two waits.", &metrics->turn,
                          &histogram_seconds);
    write_plain_histogram(text, "abide_snapshot_size_bytes", "Snapshots of parked scripts.",
                          &metrics->snapshot, &histogram_bytes);
    write_counter(text, "abide_timers_fired_total", "Timers, time-outs and leases that came due.",
                  load(&metrics->timers));
    write_plain_histogram(text, "abide_timer_lag_seconds",
                          "How late the first timer of each firing was committed.",
                          &metrics->timer_lag, &histogram_seconds);
}

// ---- tasks ----

typedef const Histogram *(*TaskHistogram)(const TaskMetrics *task);
static const Histogram *waited_of(const TaskMetrics *task) { return &task->waited; }
static const Histogram *took_of(const TaskMetrics *task) { return &task->took; }

static bool is_empty(const Histogram *histogram) {
    HistogramReading reading;
    histogram_read(histogram, &histogram_seconds, &reading);
    return reading.count == 0;
}

static void write_task_histograms(Buf *text, const Metrics *metrics, const char *name,
                                  TaskHistogram histogram_of) {
    size_t count = atomic_load_explicit(&metrics->tasks.count, memory_order_acquire);
    for (size_t i = 0; i < count; i++) {
        const Histogram *histogram = histogram_of(&metrics->of_task[i]);
        Label labels[] = {{"task", metrics->tasks.names[i]}, {NULL, STR_NULL}};
        if (!is_empty(histogram))
            write_histogram(text, name, labels, histogram, &histogram_seconds);
    }
}

static void write_attempts(Buf *text, const Metrics *metrics) {
    static const char *const outcomes[] = {"completed", "retried", "failed"};
    size_t count = atomic_load_explicit(&metrics->tasks.count, memory_order_acquire);
    write_head(text, "abide_task_attempts_total", "counter",
               "Attempts of tasks that ended, by task and outcome.");
    for (size_t i = 0; i < count; i++) {
        for (int j = 0; j < ATTEMPT_OUTCOME_COUNT; j++) {
            double attempts = load(&metrics->of_task[i].attempts[j]);
            Sample sample = {
                .labels = {{"task", metrics->tasks.names[i]}, {"outcome", str_from(outcomes[j])}}};
            if (attempts > 0) write_sample(text, "abide_task_attempts_total", &sample, attempts);
        }
    }
}

static void write_tasks(Buf *text, const Metrics *metrics) {
    write_attempts(text, metrics);
    write_head(text, "abide_task_schedule_to_start_seconds", "histogram",
               "From being queued to the first attempt, by task.");
    write_task_histograms(text, metrics, "abide_task_schedule_to_start_seconds", waited_of);
    write_head(text, "abide_task_duration_seconds", "histogram", "Attempts of tasks, by task.");
    write_task_histograms(text, metrics, "abide_task_duration_seconds", took_of);
}

// ---- what is in the store ----

static void write_states(Buf *text, const StoreStats *stats) {
    write_head(text, "abide_runs", "gauge", "Runs in the store, by state.");
    for (int64_t state = RUN_PENDING; state < RUN_STATE_COUNT; state++) {
        Sample sample = {.labels = {{"state", str_from(run_state_name(state))}}};
        write_sample(text, "abide_runs", &sample,
                     (double)stats->counters[COUNTER_RUNS_FIRST + state]);
    }
    write_head(text, "abide_tasks", "gauge", "Tasks in the store, by state.");
    for (int64_t state = TASK_QUEUED; state < TASK_STATE_COUNT; state++) {
        Sample sample = {.labels = {{"state", str_from(task_state_name(state))}}};
        write_sample(text, "abide_tasks", &sample,
                     (double)stats->counters[COUNTER_TASKS_FIRST + state]);
    }
    write_gauge(text, "abide_events_pending", "Topic events nobody has consumed.",
                (double)stats->counters[COUNTER_EVENTS]);
    write_gauge(text, "abide_signals_pending", "Signals no run has taken.",
                (double)stats->counters[COUNTER_SIGNALS]);
    write_gauge(text, "abide_dead_letters", "Dead letters.",
                (double)stats->counters[COUNTER_DEAD_LETTERS]);
    write_gauge(text, "abide_schedules", "Schedules.", (double)stats->counters[COUNTER_SCHEDULES]);
}

typedef struct QueueFigures {
    Str name;
    double queued, running, oldest_seconds;
} QueueFigures;

// [observe-metrics-2] The first ones by name, and all others together behind them.
static size_t sum_queues(const QueuePage *page, int64_t now_ms, QueueFigures *figures) {
    size_t count = 0;
    QueueFigures others = {0};
    for (size_t i = 0; i < page->count; i++) {
        const QueueStat *stat = &page->rows[i];
        bool is_other = count == METRICS_NAMES_MAX || !metrics_is_label(stat->row.name);
        QueueFigures *to = is_other ? &others : &figures[count++];
        int64_t age_ms = stat->oldest_at_ms != 0 ? now_ms - stat->oldest_at_ms : 0;
        to->name = is_other ? STR("other") : stat->row.name;
        to->queued += (double)stat->row.queued_count;
        to->running += (double)stat->row.running_count;
        if ((double)age_ms / 1000 > to->oldest_seconds) to->oldest_seconds = (double)age_ms / 1000;
    }
    if (!str_is_null(others.name)) figures[count++] = others;
    return count;
}

static void write_queues(Buf *text, const QueuePage *page, int64_t now_ms) {
    QueueFigures figures[METRICS_NAMES_MAX + 1] = {0};
    size_t count = sum_queues(page, now_ms, figures);
    static const char *const names[] = {"abide_queue_depth", "abide_queue_running",
                                        "abide_queue_oldest_age_seconds"};
    static const char *const helps[] = {"Tasks that wait in a queue.", "Tasks that are being done.",
                                        "Age of the oldest task that could be claimed."};
    for (int family = 0; family < 3; family++) {
        write_head(text, names[family], "gauge", helps[family]);
        for (size_t i = 0; i < count; i++) {
            Sample sample = {.labels = {{"queue", figures[i].name}}};
            const double values[] = {figures[i].queued, figures[i].running,
                                     figures[i].oldest_seconds};
            write_sample(text, names[family], &sample, values[family]);
        }
    }
}

// What the store does not answer is left out; abide_store_up says why.
static void write_rows(Server *server, Arena *arena, Buf *text) {
    Store *store = engine_store(server->engine);
    int64_t now_ms = engine_now_ms(server->engine);
    Diag diag;
    const NamePageSpec all = {.limit = LIMIT_LIST_PAGE};
    StoreStats stats;
    QueuePage queues;
    if (store_stats(store, arena, &stats, &diag) == OK) write_states(text, &stats);
    if (store_list_queues(store, arena, &all, &queues, &diag) == OK)
        write_queues(text, &queues, now_ms);
}

static void write_operations(Buf *text, const StoreMetrics *figures) {
    write_head(text, "abide_store_operations_total", "counter",
               "Operations committed, by kind and whether the store took them.");
    for (int kind = OP_JOIN; kind < OP_KIND_COUNT; kind++) {
        int64_t refused = figures->op_refused_counts[kind];
        int64_t taken = figures->op_counts[kind] - refused;
        Str name = str_from(op_kind_name((OpKind)kind));
        Sample sample = {.labels = {{"operation", name}, {"result", STR("ok")}}};
        if (taken > 0) write_sample(text, "abide_store_operations_total", &sample, (double)taken);
        sample.labels[1].value = STR("refused");
        if (refused > 0)
            write_sample(text, "abide_store_operations_total", &sample, (double)refused);
    }
}

static void write_store(Buf *text, const Server *server) {
    const Store *store = engine_store(server->engine);
    StoreMetrics figures;
    metrics_store_get(store, &figures);
    const StoreHistograms *histograms = metrics_store_histograms(store);
    write_gauge(text, "abide_store_up", "Whether the last commit was answered.",
                atomic_load(&server->metrics.is_store_down) ? 0 : 1);
    write_plain_histogram(text, "abide_commit_duration_seconds", "Commits of batches.",
                          &histograms->commit_ns, &histogram_seconds);
    write_plain_histogram(text, "abide_commit_batch_operations", "Operations per commit.",
                          &histograms->batch_sizes, &histogram_sizes);
    write_operations(text, &figures);
    write_head(text, "abide_store_errors_total", "counter",
               "Calls of the store that were not answered, by kind.");
    Sample commits = {.labels = {{"kind", STR("commit")}}};
    Sample reads = {.labels = {{"kind", STR("read")}}};
    write_sample(text, "abide_store_errors_total", &commits, (double)figures.commit_failed_count);
    write_sample(text, "abide_store_errors_total", &reads, (double)figures.read_failed_count);
    write_counter(text, "abide_store_reads_total", "Reads of the store.",
                  (double)figures.read_count);
    write_counter(text, "abide_store_read_seconds_total", "Time spent in reads of the store.",
                  (double)figures.read_ns * 1e-9);
}

// ---- the server and its process ----

static Sample route_sample(const Route *route) {
    return (Sample){.labels = {{"method", str_from(route != NULL ? route->method : "other")},
                               {"route", str_from(route != NULL ? route->pattern : "other")}}};
}

static void write_requests(Buf *text, const Metrics *metrics) {
    static const char *const total = "abide_http_requests_total";
    static const char *const took = "abide_http_request_duration_seconds";
    write_head(text, total, "counter", "Requests answered, by route and status.");
    for (size_t i = 0; i <= METRICS_ROUTES_MAX; i++) {
        for (size_t j = 0; j < METRICS_STATUSES_MAX; j++) {
            double answers = load(&metrics->of_route[i].answers[j]);
            if (answers == 0) continue;
            char status[NUMBER_TEXT_MAX] = "other";
            if (metrics_status(j) != 0) (void)number_format_i64(metrics_status(j), status);
            Sample sample = route_sample(route_at(i));
            sample.labels[2] = (Label){"status", str_from(status)};
            write_sample(text, total, &sample, answers);
        }
    }
    write_head(text, took, "histogram",
               "From a request's first byte to its answer, waiting included.");
    for (size_t i = 0; i <= METRICS_ROUTES_MAX; i++) {
        const Histogram *histogram = &metrics->of_route[i].took;
        Sample sample = route_sample(route_at(i));
        if (!is_empty(histogram))
            write_histogram(text, took, sample.labels, histogram, &histogram_seconds);
    }
}

static void write_server(Buf *text, Server *server) {
    const ServerCounters *counters = &server->counters;
    int64_t now_ms = engine_now_ms(server->engine);
    write_requests(text, &server->metrics);
    write_counter(text, "abide_http_request_body_bytes_total", "Bodies of requests.",
                  load(&counters->bytes_in));
    write_counter(text, "abide_http_response_body_bytes_total",
                  "Bodies of answers, streams not included.", load(&counters->bytes_out));
    write_gauge(text, "abide_http_connections", "Open connections.", load(&counters->connections));
    write_counter(text, "abide_http_connections_cut_total",
                  "Connections cut off because the client took too long.",
                  load(&counters->cut_connections));
    write_gauge(text, "abide_sse_connections", "Open streams of runs.", load(&counters->streams));
    write_gauge(text, "abide_claims_waiting", "Workers that wait for tasks.",
                load(&server->hub.counts[HUB_CLAIMERS]));
    const Tracer *tracer = server->tracer;
    write_counter(text, "abide_trace_spans_exported_total", "Spans a collector has taken.",
                  tracer != NULL ? load(&tracer->exported) : 0);
    write_counter(text, "abide_trace_spans_dropped_total", "Spans that could not be sent.",
                  tracer != NULL ? load(&tracer->dropped) : 0);
    write_gauge(text, "abide_workers", "Workers that asked for tasks in the last two minutes.",
                (double)metrics_worker_count(&server->metrics, now_ms));
}

// What nobody asks for, as the last look found it (workers_watch.c).
static void write_unserved(Buf *text, Server *server, Arena *arena) {
    static const char name[] = "abide_task_unserved_seconds";
    Unserved *found;
    size_t count = workers_get_unserved(&server->workers, arena, &found);
    int64_t now_ms = engine_now_ms(server->engine);
    write_head(text, name, "gauge", "How long the first task that nobody asks for has waited.");
    for (size_t i = 0; i < count; i++) {
        Str task = metrics_is_label(found[i].name) ? found[i].name : STR("other");
        Str queue = metrics_is_label(found[i].queue) ? found[i].queue : STR("other");
        Sample sample = {.labels = {{"queue", queue}, {"task", task}}};
        write_sample(text, name, &sample, (double)(now_ms - found[i].since_ms) / 1000);
    }
}

static void write_process(Buf *text) {
    ProcessFigures figures;
    process_figures(&figures);
    write_counter(text, "process_cpu_seconds_total", "User and system time.", figures.cpu_seconds);
    write_gauge(text, "process_resident_memory_bytes", "Memory in use.",
                (double)figures.resident_bytes);
    write_gauge(text, "process_virtual_memory_bytes", "Address space in use.",
                (double)figures.virtual_bytes);
    write_gauge(text, "process_open_fds", "Open file descriptors.", (double)figures.open_fds);
    write_gauge(text, "process_max_fds", "Most file descriptors allowed.", (double)figures.max_fds);
    write_gauge(text, "process_threads", "Threads.", (double)figures.threads);
    write_gauge(text, "process_start_time_seconds", "When the process began, since 1970.",
                figures.start_time_seconds);
}

void metrics_write(Server *server, Arena *arena, Buf *text) {
    Sample build = {.labels = {{"version", str_from(abide_version())},
                               {"store", str_from(engine_store(server->engine)->ops->name)}}};
    write_head(text, "abide_build_info", "gauge", "1; the labels say what runs here.");
    write_sample(text, "abide_build_info", &build, 1);
    write_runs(text, server);
    write_tasks(text, &server->metrics);
    write_rows(server, arena, text);
    write_store(text, server);
    write_server(text, server);
    write_unserved(text, server, arena);
    write_process(text);
}
