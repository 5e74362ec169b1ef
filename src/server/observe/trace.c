// Gathering spans and sending them.
//
// Invariants [observe-trace-1]-[observe-trace-3] are in trace.h. A task's span needs the trace of
// its run, which the engine does not know at that moment, and a turn's span what its run's log
// says: they are read from the store here, beside the engine.
//
// Not here: ids of spans (model/trace.c), links (trace_links.c), what is sent (trace_json.c),
// settings (trace_config.c).
#include "server/observe/trace.h"
#include "base/memory.h"
#include "base/thread.h"
#include "store/reads.h"
#include "tasks/curl.h"

enum { POST_SIZE_MAX = 8 << 20, POST_ATTEMPTS = 4, RETRY_MS = 500 };

// ---- taking spans, on the coordinator's thread ----

static Str own(Str text) { return (Str){mem_copy(text.data, text.len), text.len}; }

static void enqueue(Tracer *tracer, const Span *span, Str name, Str id) {
    pthread_mutex_lock(&tracer->lock);
    bool has_room = tracer->queue.count < TRACE_QUEUE_MAX;
    if (has_room) {
        Span copy = *span;
        copy.name = own(name);
        copy.id = own(id);
        vec_push(&tracer->queue, copy);
        bool is_news = tracer->queue.count == 1 || tracer->queue.count == TRACE_BATCH_MAX;
        if (is_news) pthread_cond_signal(&tracer->wake);
    }
    pthread_mutex_unlock(&tracer->lock);
    if (!has_room) atomic_fetch_add(&tracer->dropped, 1); // [observe-trace-1]
}

static void set_parent(Span *span, const TraceParent *parent) {
    memcpy(span->parent_id, parent->span_id, SPAN_ID_SIZE);
    span->has_parent = true;
}

static Span span_of(SpanKind kind, const EngineMeasure *measure) {
    int64_t began_ns = measure->began_at_ms * 1000000;
    int64_t ended_ns = began_ns + measure->took_ns;
    if (kind == SPAN_RUN) ended_ns = measure->ended_at_ms * 1000000;
    return (Span){
        .kind = kind,
        .run = measure->run,
        .before_seq = measure->before_seq,
        .start_seq = measure->start_seq,
        .turn_seq = measure->turn_seq,
        .began_ns = began_ns,
        .ended_ns = ended_ns < began_ns ? began_ns : ended_ns,
        .state = measure->state,
        .number = measure->number,
    };
}

static void notice_run(Tracer *tracer, const EngineEvent *event) {
    TraceParent above;
    Span span = span_of(SPAN_RUN, event->measure);
    if (trace_of_run(event->run_id, event->measure->tags, &span.self, &above))
        set_parent(&span, &above);
    if (span.self.is_sampled)
        enqueue(tracer, &span, event->workflow, event->run_id); // [observe-trace-3]
}

static void notice_turn(Tracer *tracer, const EngineEvent *event) {
    TraceParent run;
    Span span = span_of(SPAN_TURN, event->measure);
    (void)trace_of_run(event->run_id, event->measure->tags, &run, NULL);
    span.self = trace_of_turn(&run, event->run_id, span.turn_seq);
    set_parent(&span, &run);
    if (run.is_sampled) enqueue(tracer, &span, event->workflow, event->run_id);
}

void tracer_notice(Tracer *tracer, const EngineEvent *event) {
    if (event->kind == ENGINE_RUN_ENDED) notice_run(tracer, event);
    else if (event->kind == ENGINE_TURN) notice_turn(tracer, event);
    else if (event->kind == ENGINE_TASK_ENDED) {
        Span span = span_of(SPAN_TASK, event->measure);
        enqueue(tracer, &span, event->name, event->detail);
    }
}

// ---- sending, on the tracer's thread ----

// The trace of a task's run; one that stands alone, or whose run is gone, has its own.
static void complete_task_span(Tracer *tracer, Arena *arena, Span *span) {
    RunRow run;
    Diag diag;
    TraceParent above = trace_of_lone_task(span->id);
    if (span->run != 0 &&
        store_run_by_key(engine_store(tracer->engine), arena, span->run, &run, &diag) == OK) {
        (void)trace_of_run(run.id, run.tags, &above, NULL);
        set_parent(span, &above);
    }
    span->self = trace_of_attempt(&above, span->id, span->number);
}

static void complete_turn_span(Tracer *tracer, Arena *arena, Span *span) {
    TraceParent run = span->self;
    memcpy(run.span_id, span->parent_id, SPAN_ID_SIZE);
    trace_link_turn(tracer, arena, &run, span);
}

// Drops what is not sampled [observe-trace-3] and finds the rest's traces.
static void complete_spans(Tracer *tracer, Spans *spans) {
    Arena arena;
    arena_init(&arena);
    size_t kept = 0;
    for (size_t i = 0; i < spans->count; i++) {
        Span *span = &spans->data[i];
        if (span->kind == SPAN_TASK) complete_task_span(tracer, &arena, span);
        if (span->kind == SPAN_TURN) complete_turn_span(tracer, &arena, span);
        arena_reset(&arena);
        if (span->self.is_sampled) spans->data[kept++] = *span;
        else span_free(span);
    }
    spans->count = kept;
    arena_done(&arena);
}

static size_t ignore_answer(const char *data, size_t size, size_t count, void *context) {
    (void)data;
    (void)context;
    return size * count;
}

// The HTTP status; 0 = there was no answer.
static long post(const Tracer *tracer, Str text) {
    const Curl *curl = curl_get(NULL);
    CURL *handle = curl != NULL ? curl->easy_init() : NULL;
    if (handle == NULL) return 0;
    struct curl_slist *headers = curl->slist_append(NULL, "Content-Type: application/json");
    for (size_t i = 0; i < tracer->config.header_count; i++)
        headers = curl->slist_append(headers, tracer->config.headers[i].data);
    curl->easy_setopt(handle, CURLOPT_URL, tracer->config.url.data);
    curl->easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl->easy_setopt(handle, CURLOPT_POSTFIELDS, text.data);
    curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)text.len);
    curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)tracer->config.timeout_ms);
    curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, ignore_answer);
    long status = 0;
    if (curl->easy_perform(handle) == CURLE_OK)
        curl->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    curl->easy_cleanup(handle);
    curl->slist_free_all(headers);
    return status;
}

// The standard's list of what is worth another attempt; no answer at all is, too.
static bool is_worth_another(long status) {
    return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

// Sleeps, but not when there is no time left. With the tracer locked.
static void pause_ms(Tracer *tracer, int64_t ms) {
    int64_t until_ms = env_now_ms(env_system()) + ms;
    struct timespec at = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    if (!tracer->is_stopping) pthread_cond_timedwait(&tracer->wake, &tracer->lock, &at);
}

static bool is_stopping(Tracer *tracer) {
    pthread_mutex_lock(&tracer->lock);
    bool answer = tracer->is_stopping;
    pthread_mutex_unlock(&tracer->lock);
    return answer;
}

static bool send_text(Tracer *tracer, Str text) { // [observe-trace-2]
    for (int attempt = 1;; attempt++) {
        long status = post(tracer, text);
        if (status >= 200 && status < 300) return true;
        bool is_last = attempt == POST_ATTEMPTS || !is_worth_another(status) || is_stopping(tracer);
        if (is_last) {
            LOG(tracer->logger, LOG_WARN, "spans were dropped: %.*s answered %ld",
                STR_ARG(tracer->config.url), status);
            return false;
        }
        pthread_mutex_lock(&tracer->lock);
        pause_ms(tracer, RETRY_MS << attempt);
        pthread_mutex_unlock(&tracer->lock);
    }
}

static bool send_spans(Tracer *tracer, Spans *spans) {
    bool is_sent = true;
    complete_spans(tracer, spans);
    if (spans->count > 0) {
        Buf text;
        buf_init(&text, POST_SIZE_MAX);
        trace_write(&text, spans->data, spans->count, tracer->config.service_name);
        is_sent = !text.is_overflown && send_text(tracer, buf_str(&text));
        atomic_fetch_add(is_sent ? &tracer->exported : &tracer->dropped, (int64_t)spans->count);
        buf_done(&text);
    }
    for (size_t i = 0; i < spans->count; i++) span_free(&spans->data[i]);
    vec_clear(spans);
    return is_sent;
}

// With the tracer locked.
static void drop_queue(Tracer *tracer) {
    atomic_fetch_add(&tracer->dropped, (int64_t)tracer->queue.count);
    for (size_t i = 0; i < tracer->queue.count; i++) span_free(&tracer->queue.data[i]);
    vec_clear(&tracer->queue);
}

// The oldest spans, at most a batch. With the tracer locked.
static void take_batch(Tracer *tracer, Spans *ret_batch) {
    size_t count = tracer->queue.count < TRACE_BATCH_MAX ? tracer->queue.count : TRACE_BATCH_MAX;
    for (size_t i = 0; i < count; i++) vec_push(ret_batch, tracer->queue.data[i]);
    tracer->queue.count -= count;
    if (tracer->queue.count > 0)
        memmove(tracer->queue.data, tracer->queue.data + count, tracer->queue.count * sizeof(Span));
}

static void *tracer_main(void *context) {
    Tracer *tracer = context;
    Spans batch = {0};
    pthread_mutex_lock(&tracer->lock);
    while (!tracer->is_stopping || tracer->queue.count > 0) {
        while (tracer->queue.count == 0 && !tracer->is_stopping)
            pthread_cond_wait(&tracer->wake, &tracer->lock); // nothing ticks while nothing happens
        if (tracer->queue.count < TRACE_BATCH_MAX) pause_ms(tracer, tracer->config.delay_ms);
        take_batch(tracer, &batch);
        pthread_mutex_unlock(&tracer->lock);
        bool is_sent = batch.count == 0 || send_spans(tracer, &batch);
        pthread_mutex_lock(&tracer->lock);
        if (tracer->is_stopping && !is_sent) drop_queue(tracer);
    }
    pthread_mutex_unlock(&tracer->lock);
    vec_free(&batch);
    return NULL;
}

// ---- life ----

static void tracer_free(Tracer *tracer) {
    vec_free(&tracer->queue);
    pthread_mutex_destroy(&tracer->lock);
    pthread_cond_destroy(&tracer->wake);
    arena_done(&tracer->arena);
    mem_free(tracer);
}

Status tracer_start(abide_engine *engine, Logger *logger, Tracer **ret_tracer, Diag *diag) {
    *ret_tracer = NULL;
    Tracer *tracer = mem_zalloc(sizeof(Tracer));
    arena_init(&tracer->arena);
    Status status = trace_config_read(&tracer->arena, &tracer->config, diag);
    bool is_wanted = status == OK && !str_is_null(tracer->config.url);
    if (is_wanted && curl_get(diag) == NULL) status = ERR_UNAVAILABLE;
    if (!is_wanted || status != OK) {
        arena_done(&tracer->arena);
        mem_free(tracer);
        return status;
    }
    tracer->engine = engine;
    tracer->logger = logger;
    pthread_mutex_init(&tracer->lock, NULL);
    pthread_cond_init(&tracer->wake, NULL);
    engine_trace_children(engine);
    status = thread_start(&tracer->thread, tracer_main, tracer, diag);
    if (status != OK) {
        tracer_free(tracer);
        return status;
    }
    LOG(logger, LOG_INFO, "sending traces to %.*s", STR_ARG(tracer->config.url));
    *ret_tracer = tracer;
    return OK;
}

void tracer_stop(Tracer *tracer) {
    if (tracer == NULL) return;
    pthread_mutex_lock(&tracer->lock);
    tracer->is_stopping = true;
    pthread_cond_signal(&tracer->wake);
    pthread_mutex_unlock(&tracer->lock);
    pthread_join(tracer->thread, NULL);
    tracer_free(tracer);
}
