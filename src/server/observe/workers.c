// Workers: the memory of who asked.
//
// Invariants [workers-1]-[workers-3] are in workers.h.
//
// Not here: what follows from it (workers_view.c), looking for tasks in vain (workers_watch.c).
#include "server/observe/workers.h"
#include "base/env.h"
#include "base/memory.h"
#include "base/text/utf.h"

static Str own(Str s) { return (Str){mem_copy(s.data, s.len), s.len}; }

static void disown(Str s) { mem_free((void *)(uintptr_t)s.data); }

static void ask_free(const WorkerAsk *ask) {
    disown(ask->queues);
    disown(ask->names);
}

static void worker_free(Worker *worker) {
    for (size_t i = 0; i < worker->ask_count; i++) ask_free(&worker->asks[i]);
    disown(worker->id);
    disown(worker->library);
    mem_free(worker);
}

void workers_init(Workers *workers) {
    *workers = (Workers){0};
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->changed, NULL);
    strmap_init(&workers->by_id);
}

static void others_clear(Workers *workers) {
    for (size_t i = 0; i < workers->others.count; i++) {
        disown(workers->others.data[i].name);
        disown(workers->others.data[i].json);
    }
    vec_clear(&workers->others);
}

static void unserved_clear(Workers *workers) {
    for (size_t i = 0; i < workers->unserved.count; i++) {
        disown(workers->unserved.data[i].queue);
        disown(workers->unserved.data[i].name);
        disown(workers->unserved.data[i].task_id);
    }
    vec_clear(&workers->unserved);
}

void workers_done(Workers *workers) {
    Str id;
    void *worker;
    for (size_t at = 0; strmap_next(&workers->by_id, &at, &id, &worker);) worker_free(worker);
    strmap_done(&workers->by_id);
    others_clear(workers);
    unserved_clear(workers);
    vec_free(&workers->others);
    vec_free(&workers->unserved);
    pthread_cond_destroy(&workers->changed);
    pthread_mutex_destroy(&workers->lock);
}

// ---- what the watch has found ----

void workers_set_others(Workers *workers, const OtherNode *others, size_t count) {
    pthread_mutex_lock(&workers->lock);
    others_clear(workers);
    for (size_t i = 0; i < count; i++)
        vec_push(&workers->others, (OtherNode){own(others[i].name), own(others[i].json)});
    pthread_mutex_unlock(&workers->lock);
}

void workers_set_unserved(Workers *workers, const Unserved *found, size_t count) {
    pthread_mutex_lock(&workers->lock);
    unserved_clear(workers);
    for (size_t i = 0; i < count; i++) {
        Unserved kept = {.queue = own(found[i].queue),
                         .name = own(found[i].name),
                         .task_id = own(found[i].task_id),
                         .since_ms = found[i].since_ms};
        vec_push(&workers->unserved, kept);
    }
    pthread_mutex_unlock(&workers->lock);
}

size_t workers_get_unserved(Workers *workers, Arena *arena, Unserved **ret_unserved) {
    pthread_mutex_lock(&workers->lock);
    size_t count = workers->unserved.count;
    *ret_unserved = ARENA_ARRAY(arena, Unserved, count + 1);
    for (size_t i = 0; i < count; i++) {
        Unserved *copy = &(*ret_unserved)[i];
        *copy = workers->unserved.data[i];
        copy->queue = arena_str(arena, copy->queue);
        copy->name = arena_str(arena, copy->name);
        copy->task_id = arena_str(arena, copy->task_id);
    }
    pthread_mutex_unlock(&workers->lock);
    return count;
}

// ---- when to look ----

static void want_look(Workers *workers, int64_t delay_ms) { // the lock is held
    int64_t at_ms = env_now_ms(env_system()) + delay_ms;
    if (workers->look_at_ms != 0 && workers->look_at_ms <= at_ms) return;
    workers->look_at_ms = at_ms;
    pthread_cond_signal(&workers->changed);
}

void workers_want_look(Workers *workers, int64_t delay_ms) {
    pthread_mutex_lock(&workers->lock);
    want_look(workers, delay_ms);
    pthread_mutex_unlock(&workers->lock);
}

// ---- claims ----

static void make_room(Workers *workers) { // [workers-1]
    Worker *oldest = NULL;
    Str id;
    void *value;
    if (workers->by_id.count < WORKERS_MAX) return;
    for (size_t at = 0; strmap_next(&workers->by_id, &at, &id, &value);) {
        Worker *worker = value;
        if (oldest == NULL || worker->last_claim_ms < oldest->last_claim_ms) oldest = worker;
    }
    strmap_remove(&workers->by_id, oldest->id);
    worker_free(oldest);
}

static Worker *worker_get(Workers *workers, Str id, int64_t now_ms) {
    Worker *worker = strmap_get(&workers->by_id, id);
    if (worker != NULL) return worker;
    make_room(workers);
    worker = mem_zalloc(sizeof *worker);
    worker->id = own(id);
    worker->first_claim_ms = now_ms;
    strmap_put(&workers->by_id, worker->id, worker);
    return worker;
}

static bool ask_equal(const WorkerAsk *a, const WorkerAsk *b) {
    return str_equal(a->queues, b->queues) && str_equal(a->names, b->names);
}

// Moves the ask to the front; the one behind all others goes if there is no room. Answers whether
// it is new.
static bool worker_set_ask(Worker *worker, WorkerAsk ask) {
    size_t place = 0;
    while (place < worker->ask_count && !ask_equal(&worker->asks[place], &ask)) place++;
    WorkerAsk kept;
    bool is_new = place == worker->ask_count;
    if (!is_new) {
        kept = worker->asks[place];
    } else {
        kept = (WorkerAsk){own(ask.queues), own(ask.names)};
        if (worker->ask_count == WORKER_ASKS_MAX) ask_free(&worker->asks[--place]);
        else worker->ask_count++;
    }
    memmove(&worker->asks[1], &worker->asks[0], place * sizeof kept);
    worker->asks[0] = kept;
    return is_new;
}

static void worker_set_library(Worker *worker, Str library) {
    if (library.len > WORKER_LIBRARY_MAX) library.len = WORKER_LIBRARY_MAX;
    if (str_is_null(library) || str_equal(library, worker->library) || !utf8_is_valid(library))
        return;
    disown(worker->library);
    worker->library = own(library);
}

void workers_asked(Workers *workers, Str id, WorkerAsk ask, Str library, int64_t now_ms) {
    pthread_mutex_lock(&workers->lock);
    Worker *worker = worker_get(workers, id, now_ms);
    bool was_absent = worker->has_left || now_ms - worker->last_claim_ms >= WORKER_PRESENT_MS;
    worker->last_claim_ms = now_ms;
    worker->has_left = false;
    worker_set_library(worker, library);
    if (worker_set_ask(worker, ask) || was_absent) want_look(workers, LOOK_SOON_MS);
    pthread_mutex_unlock(&workers->lock);
}

void workers_left(Workers *workers, Str id) {
    pthread_mutex_lock(&workers->lock);
    Worker *worker = strmap_get(&workers->by_id, id);
    if (worker != NULL && !worker->has_left) {
        worker->has_left = true;
        want_look(workers, LOOK_SOON_MS);
    }
    pthread_mutex_unlock(&workers->lock);
}

void workers_waiting(Workers *workers, Str id, int change, int64_t now_ms) {
    pthread_mutex_lock(&workers->lock);
    Worker *worker = strmap_get(&workers->by_id, id); // it may have made room for another
    if (worker != NULL) {
        worker->waiting += change;
        if (worker->waiting < 0) worker->waiting = 0;
        worker->last_claim_ms = now_ms;
        if (worker->waiting == 0)
            want_look(workers, WORKER_PRESENT_MS + LOOK_SOON_MS); // [workers-2]
    }
    pthread_mutex_unlock(&workers->lock);
}

// ---- tasks ----

static WorkerMinute *worker_minute(Worker *worker, int64_t now_ms) {
    int64_t minute = now_ms / 60000;
    WorkerMinute *recent = &worker->recent[minute % WORKER_RECENT_MINUTES];
    if (recent->minute != minute) *recent = (WorkerMinute){.minute = minute};
    return recent;
}

static void worker_count(Worker *worker, const EngineEvent *event) {
    int64_t now_ms = env_now_ms(env_system());
    WorkerMinute *recent = worker_minute(worker, now_ms);
    if (event->kind == ENGINE_TASK_CLAIMED) {
        worker->handed_out++;
        recent->claimed++;
        return;
    }
    worker->last_report_ms = now_ms;
    bool is_completed = event->measure->state == TASK_COMPLETED;
    ++*(is_completed ? &worker->completed : &worker->failed);
    ++*(is_completed ? &recent->completed : &recent->failed);
}

void workers_notice(Workers *workers, const EngineEvent *event) {
    if (event->kind == ENGINE_TASKS_READY) workers_want_look(workers, UNSERVED_MS + LOOK_SOON_MS);
    if (event->kind != ENGINE_TASK_CLAIMED && event->kind != ENGINE_TASK_ENDED) return;
    pthread_mutex_lock(&workers->lock);
    Worker *worker = strmap_get(&workers->by_id, event->measure->worker);
    if (worker != NULL) worker_count(worker, event);
    pthread_mutex_unlock(&workers->lock);
}
