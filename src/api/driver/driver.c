// Driver: feeds the coordinator, commits its batches, and moves work to and from the pool.
//
// The coordinator's thread:   take all messages -> prepare -> commit -> finish -> …  and sleeps
// until a message or the next deadline when there is nothing to commit. Messages that arrive
// during a commit form the next batch: that is the whole of group commit. A small batch is
// committed on the spot, because another thread would only add to its latency; a large one goes to
// the committer, and its answers are dealt out while the next one is being committed.
//
// Invariants [driver-1]-[driver-3] are in driver.h.
//
// Not here: what is committed (engine/), the functions of include/abide.h (engine.c, steer.c).
#include "api/driver/driver.h"
#include "api/driver/pool.h"
#include "api/driver/semaphore.h"
#include "base/assert.h"
#include "base/memory.h"
#include "base/thread.h"

// ---- the coordinator's thread ----

// The next one that still waits; NULL = none is left. [driver-6]
static Await *next_called_off(Driver *driver, Mail *mail) {
    Await *found = NULL;
    pthread_mutex_lock(&driver->mailbox.lock);
    for (List *node; found == NULL && (node = list_first(&mail->called_off)) != NULL;) {
        Await *await = container_of(node, Await, called_off);
        list_remove(node);
        if (!list_is_empty(&await->link)) found = await;
    }
    pthread_mutex_unlock(&driver->mailbox.lock);
    return found;
}

static void deliver_mail(Driver *driver, Mail *mail) {
    Coordinator *coordinator = driver->coordinator;
    LIST_EACH_SAFE (node, after, &mail->controls) {
        ControlCall *call = container_of(node, ControlCall, link);
        list_remove(node);
        call->function(coordinator, call->context);
        if (call->done != NULL) semaphore_post(call->done);
        else mem_free(call); // nobody waits
    }
    if (mail->is_store_changed) coordinator_hear(coordinator);
    if (mail->is_store_heard) coordinator_store_heard(coordinator);
    LIST_EACH_SAFE (node, after, &mail->executed) {
        list_remove(node);
        coordinator_executed(coordinator, container_of(node, Execution, link));
    }
    LIST_EACH_SAFE (node, after, &mail->requests) {
        list_remove(node);
        coordinator_submit(coordinator, container_of(node, Request, link));
    }
    LIST_EACH_SAFE (node, after, &mail->awaits) {
        list_remove(node);
        coordinator_await(coordinator, container_of(node, Await, link));
    }
    for (Await *await; mail->has_called_off && (await = next_called_off(driver, mail)) != NULL;)
        coordinator_call_off(coordinator, await);
}

// Tells those who wait for it that there is nothing to do, if that is so.
static void answer_settled(Driver *driver, bool is_ended) {
    int64_t next_ms = 0;
    pthread_mutex_lock(&driver->mailbox.lock);
    bool is_asked = !list_is_empty(&driver->mailbox.settles);
    pthread_mutex_unlock(&driver->mailbox.lock);
    if (!is_asked) return;
    if (!is_ended && !coordinator_is_idle(driver->coordinator, &next_ms)) return;
    pthread_mutex_lock(&driver->mailbox.lock);
    List settled;
    list_init(&settled);
    if (is_ended || !mailbox_has_mail(&driver->mailbox))
        mailbox_move_all(&driver->mailbox.settles, &settled);
    pthread_mutex_unlock(&driver->mailbox.lock);
    LIST_EACH_SAFE (node, after, &settled) {
        SettleCall *call = container_of(node, SettleCall, link);
        call->next_ms = next_ms;
        ASSERT(call->done != NULL);
        semaphore_post(call->done);
    }
}

static void end_thread(Driver *driver, bool is_late) {
    Diag diag;
    if (coordinator_leave(driver->coordinator, &diag) != OK) {
        // The next process finds the claims by itself.
    }
    pthread_mutex_lock(&driver->mailbox.lock);
    driver->mailbox.state = DRIVER_ENDED;
    driver->is_stop_late = is_late;
    pthread_mutex_unlock(&driver->mailbox.lock);
    Mail mail;
    mailbox_take(&driver->mailbox,
                 &mail);            // the last of it: callers are told that the engine is closed
    ASSERT(mail.committed == NULL); // what was being committed was waited for
    deliver_mail(driver, &mail);
    answer_settled(driver, true);
}

static bool is_stopping(Driver *driver, int64_t *ret_deadline_ms) {
    pthread_mutex_lock(&driver->mailbox.lock);
    bool answer = driver->mailbox.state == DRIVER_STOPS;
    *ret_deadline_ms = driver->mailbox.stop_deadline_ms;
    pthread_mutex_unlock(&driver->mailbox.lock);
    return answer;
}

enum { COMMIT_INLINE_MAX = 32 }; // operations; more go to the committer

static void *committer_main(void *context) {
    Driver *driver = context;
    pthread_mutex_lock(&driver->mailbox.lock);
    for (;;) {
        while (driver->to_commit == NULL && !driver->is_committer_closed)
            pthread_cond_wait(&driver->commit_wake, &driver->mailbox.lock);
        Commit *commit = driver->to_commit;
        if (commit == NULL) break;
        driver->to_commit = NULL;
        pthread_mutex_unlock(&driver->mailbox.lock);
        Diag diag;
        diag_clear(&diag);
        Status status = store_commit(driver->store, &commit->batch, &diag);
        pthread_mutex_lock(&driver->mailbox.lock);
        ASSERT(driver->mailbox.committed == NULL); // [driver-4]
        driver->mailbox.committed = commit;
        driver->mailbox.commit_status = status;
        driver->mailbox.commit_diag = diag;
        mailbox_wake(&driver->mailbox);
    }
    pthread_mutex_unlock(&driver->mailbox.lock);
    return NULL;
}

// Commits the next batch, if there is one: here, or by handing it over. True when it was here. With
// answers that were not dealt out yet it is handed over: commits are finished in their order.
static bool commit_next(Driver *driver, bool has_answers, bool *is_committing) {
    ASSERT(!*is_committing);
    Commit *commit = coordinator_prepare(driver->coordinator);
    pool_add_all(&driver->pool, &driver->outgoing); // runs beside the commit
    if (commit == NULL) return false;
    if (has_answers || commit->batch.count > COMMIT_INLINE_MAX) {
        pthread_mutex_lock(&driver->mailbox.lock);
        ASSERT(driver->to_commit == NULL); // one at a time
        driver->to_commit = commit;
        pthread_cond_signal(&driver->commit_wake);
        pthread_mutex_unlock(&driver->mailbox.lock);
        *is_committing = true;
        return false;
    }
    Diag diag;
    diag_clear(&diag);
    Status status = store_commit(driver->store, &commit->batch, &diag);
    coordinator_finish(driver->coordinator, commit, status, &diag);
    pool_add_all(&driver->pool, &driver->outgoing);
    return true;
}

static void publish_counts(Driver *driver) {
    const Coordinator *c = driver->coordinator;
    atomic_store_explicit(&driver->resident_count, coordinator_resident_count(c),
                          memory_order_relaxed);
    atomic_store_explicit(&driver->active_count, coordinator_active_count(c), memory_order_relaxed);
    atomic_store_explicit(&driver->resident_size, coordinator_resident_size(c),
                          memory_order_relaxed);
    atomic_store_explicit(&driver->is_store_away, coordinator_is_store_away(c),
                          memory_order_relaxed);
    atomic_store_explicit(&driver->is_store_full, coordinator_is_store_full(c),
                          memory_order_relaxed);
}

// True when the thread is to end.
static bool rest(Driver *driver, bool is_committing) {
    Coordinator *coordinator = driver->coordinator;
    int64_t until_ms = is_committing ? coordinator_next_await_ms(coordinator)
                                     : coordinator_next_wake_ms(coordinator);
    int64_t deadline_ms;
    bool is_resting = until_ms > env_now_ms(driver->env);
    if (is_resting && driver->is_virtual) until_ms = INT64_MAX;
    if (!is_committing) answer_settled(driver, false);
    bool knows_stop = is_committing; // then the answers to come are what matters
    if (!is_committing && is_stopping(driver, &deadline_ms)) {
        knows_stop = true;
        bool is_quiet = coordinator_is_quiet(coordinator) || coordinator_is_stranded(coordinator);
        if (is_quiet || env_now_ms(env_system()) >= deadline_ms) {
            end_thread(driver, !is_quiet);
            return true;
        }
        if (deadline_ms < until_ms) until_ms = deadline_ms;
    }
    if (is_resting) mailbox_sleep(&driver->mailbox, until_ms, knows_stop);
    return false;
}

static void *coordinator_main(void *context) {
    Driver *driver = context;
    bool is_committing = false;
    for (;;) {
        Mail mail;
        publish_counts(driver);
        mailbox_take(&driver->mailbox, &mail);
        deliver_mail(driver, &mail);
        coordinator_expire_awaits(driver->coordinator);
        bool has_answers = mail.committed != NULL;
        if (has_answers) is_committing = false;
        // [driver-4] What gathered during a good commit is on its way before its answers are dealt
        //      out.
        bool has_acted = false;
        if (!is_committing && (!has_answers || mail.commit_status == OK))
            has_acted = commit_next(driver, has_answers, &is_committing);
        if (has_answers) {
            coordinator_finish(driver->coordinator, mail.committed, mail.commit_status,
                               &mail.commit_diag);
            pool_add_all(&driver->pool, &driver->outgoing);
        } else if (!has_acted && rest(driver, is_committing)) {
            return NULL;
        }
    }
}

// ---- the pool ----

static void *pool_main(void *context) {
    Driver *driver = context;
    Execution *execution = NULL;
    while ((execution = pool_take(&driver->pool, execution != NULL)) != NULL) {
        execution_perform(execution, driver->env);
        if (mailbox_put(&driver->mailbox, &driver->mailbox.executed, &execution->link)) continue;
        pthread_mutex_lock(
            &driver->mailbox.lock); // too late to be committed; driver_free sees to it
        list_append(&driver->mailbox.executed, &execution->link);
        pthread_mutex_unlock(&driver->mailbox.lock);
    }
    if (pool_leave(&driver->pool)) driver->ended(driver->ended_context);
    return NULL;
}

static void world_execute(World *world, Execution *execution) {
    Driver *driver = (Driver *)world;
    if (execution->is_remote) turns_add(&driver->turns, execution);
    else list_append(&driver->outgoing, &execution->link);
}

static void world_notify(World *world, const EngineEvent *event) {
    Driver *driver = (Driver *)world;
    if (driver->on_event != NULL) driver->on_event(driver->on_event_context, event);
}

static bool world_has_reader(World *world, Str run_id) {
    Driver *driver = (Driver *)world;
    return driver->has_reader != NULL && driver->has_reader(driver->on_event_context, run_id);
}

static void world_parked(World *world, int64_t run, bool is_parked) {
    Driver *driver = (Driver *)world;
    pthread_mutex_lock(&driver->parked_lock);
    if (is_parked) map_put(&driver->parked, (uint64_t)run, driver);
    else map_remove(&driver->parked, (uint64_t)run);
    pthread_mutex_unlock(&driver->parked_lock);
}

bool driver_is_parked(Driver *driver, int64_t run) {
    pthread_mutex_lock(&driver->parked_lock);
    bool answer = map_get(&driver->parked, (uint64_t)run) != NULL;
    pthread_mutex_unlock(&driver->parked_lock);
    return answer;
}

static const WorldOps driver_world = {.execute = world_execute,
                                      .notify = world_notify,
                                      .has_reader = world_has_reader,
                                      .parked = world_parked};

// ---- life ----

static void close_committer(Driver *driver) {
    pthread_mutex_lock(&driver->mailbox.lock);
    driver->is_committer_closed = true;
    pthread_cond_signal(&driver->commit_wake);
    pthread_mutex_unlock(&driver->mailbox.lock);
    pthread_join(driver->committer, NULL);
}

// All or none; without them the node leaves again.
static Status start_threads(Driver *driver, int thread_count, Diag *diag) {
    Status status = pool_start(&driver->pool, &(PoolPlan){thread_count, pool_main, driver}, diag);
    bool has_committer = false;
    if (status == OK) status = thread_start(&driver->committer, committer_main, driver, diag);
    if (status == OK) {
        has_committer = true;
        status = thread_start(&driver->thread, coordinator_main, driver, diag);
    }
    if (status == OK) {
        driver->has_thread = true;
        return OK;
    }
    if (has_committer) close_committer(driver);
    List none;
    list_init(&none);
    pool_close(&driver->pool, &none);
    pool_join(&driver->pool);
    Diag ignored;
    if (coordinator_leave(driver->coordinator, &ignored) != OK) {
        // Its lease runs out.
    }
    return status;
}

Status driver_start(Driver *driver, const DriverConfig *config, Diag *diag) {
    *driver = (Driver){
        .world.ops = &driver_world,
        .env = config->env,
        .is_virtual = config->is_virtual,
        .store = config->store,
        .on_event = config->on_event,
        .on_event_context = config->on_event_context,
        .has_reader = config->has_reader,
    };
    pthread_mutex_init(&driver->parked_lock, NULL);
    map_init(&driver->parked);
    list_init(&driver->outgoing);
    CoordinatorSetup setup = {
        .env = config->env,
        .store = config->store,
        .world = &driver->world,
        .logger = config->logger,
        .config = config->coordinator,
    };
    Status status = coordinator_new(&setup, &driver->coordinator, diag);
    if (status != OK) {
        map_done(&driver->parked);
        pthread_mutex_destroy(&driver->parked_lock);
        return status;
    }
    mailbox_init(&driver->mailbox);
    turns_init(&driver->turns, &driver->mailbox);
    pthread_cond_init(&driver->commit_wake, NULL);
    status = start_threads(driver, config->thread_count, diag);
    if (status != OK) driver_free(driver);
    return status;
}

static void stop_coordinator(Coordinator *coordinator, void *context) {
    (void)context;
    coordinator_stop(coordinator);
}

// What was queued in the pool and not begun: given back as if it had never been handed out.
static void take_back(Driver *driver) {
    turns_close(&driver->turns);
    List left;
    list_init(&left);
    pool_close(&driver->pool, &left);
    LIST_EACH (node, &left) container_of(node, Execution, link)->is_undone = true;
    pthread_mutex_lock(&driver->mailbox.lock);
    mailbox_move_all(&left, &driver->mailbox.executed);
    mailbox_wake(&driver->mailbox);
    pthread_mutex_unlock(&driver->mailbox.lock);
}

Status driver_stop(Driver *driver, int64_t timeout_ms) {
    if (!driver->has_thread) return driver->is_stop_late ? ERR_LIMIT : OK;
    driver_control(driver, stop_coordinator, NULL);
    pthread_mutex_lock(&driver->mailbox.lock);
    driver->mailbox.state = DRIVER_STOPS;
    driver->mailbox.stop_deadline_ms = env_now_ms(env_system()) + timeout_ms;
    mailbox_wake(&driver->mailbox);
    pthread_mutex_unlock(&driver->mailbox.lock);
    take_back(driver);
    pthread_join(driver->thread, NULL);
    driver->has_thread = false;
    close_committer(driver);
    return driver->is_stop_late ? ERR_LIMIT : OK;
}

bool driver_end(Driver *driver, void (*ended)(void *context), void *context) {
    ASSERT(!driver->has_thread);
    driver->ended = ended;
    driver->ended_context = context;
    if (driver->is_stop_late && !pool_is_ending(&driver->pool)) return false;
    pool_join(&driver->pool);
    return true;
}

void driver_free(Driver *driver) {
    pool_done(&driver->pool);
    // Results that came too late: their runs are executed again by the next process.
    LIST_EACH_SAFE (node, after, &driver->mailbox.executed) {
        list_remove(node);
        coordinator_executed(driver->coordinator, container_of(node, Execution, link));
    }
    coordinator_free(driver->coordinator);
    turns_done(&driver->turns);
    map_done(&driver->parked);
    pthread_mutex_destroy(&driver->parked_lock);
    mailbox_done(&driver->mailbox);
    pthread_cond_destroy(&driver->commit_wake);
}

// ---- calls from other threads ----

static Status say_closed(Diag *diag) {
    return diag_set(diag, ERR_CLOSED, "CLOSED", "the engine has been shut down");
}

static Status say_away(Diag *diag) {
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_UNAVAILABLE",
                    "the store does not answer; nothing was done, try again later");
}

// [driver-5] True: it has been refused.
static bool refuse_while_away(Driver *driver, Request *requests, size_t count) {
    if (!atomic_load_explicit(&driver->is_store_away, memory_order_relaxed)) return false;
    for (size_t i = 0; i < count; i++) {
        requests[i].op.out.status = say_away(&requests[i].op.out.diag);
        request_finish(&requests[i]);
    }
    return true;
}

static void request_done(Request *request) { semaphore_post(request->context); }

void driver_submit(Driver *driver, Request *request) {
    list_init(&request->link);
    if (refuse_while_away(driver, request, 1)) return;
    if (mailbox_put(&driver->mailbox, &driver->mailbox.requests, &request->link)) return;
    request->op.out.status = say_closed(&request->op.out.diag);
    request_finish(request);
}

void driver_submit_all(Driver *driver, Request *requests, size_t count) {
    if (refuse_while_away(driver, requests, count)) return;
    pthread_mutex_lock(&driver->mailbox.lock);
    bool is_alive = driver->mailbox.state != DRIVER_ENDED;
    for (size_t i = 0; i < count; i++) {
        list_init(&requests[i].link);
        if (is_alive) list_append(&driver->mailbox.requests, &requests[i].link);
    }
    mailbox_wake(&driver->mailbox);
    pthread_mutex_unlock(&driver->mailbox.lock);
    // From here on those that were handed over belong to the coordinator.
    for (size_t i = 0; i < count && !is_alive; i++) {
        requests[i].op.out.status = say_closed(&requests[i].op.out.diag);
        request_finish(&requests[i]);
    }
}

Status driver_request(Driver *driver, Request *request) {
    Semaphore answered;
    semaphore_init(&answered);
    request->done = request_done;
    request->context = &answered;
    driver_submit(driver, request);
    semaphore_wait(&answered);
    return request->op.out.status;
}

void driver_submit_await(Driver *driver, Await *await) {
    list_init(&await->link);
    list_init(&await->called_off);
    if (mailbox_put(&driver->mailbox, &driver->mailbox.awaits, &await->link)) return;
    await->status = say_closed(&await->diag);
    await->done(await);
}

void driver_call_off(Driver *driver, Await *await) {
    // Without a coordinator's thread it has been answered.
    (void)mailbox_put(&driver->mailbox, &driver->mailbox.called_off, &await->called_off);
}

void driver_forget_call_off(Driver *driver, Await *await) {
    pthread_mutex_lock(&driver->mailbox.lock);
    list_remove(&await->called_off);
    pthread_mutex_unlock(&driver->mailbox.lock);
}

static void await_done(Await *await) { semaphore_post(await->context); }

void driver_await(Driver *driver, Await *await) {
    Semaphore semaphore;
    semaphore_init(&semaphore);
    await->done = await_done;
    await->context = &semaphore;
    driver_submit_await(driver, await);
    semaphore_wait(&semaphore);
}

int64_t driver_settle(Driver *driver) {
    Semaphore semaphore;
    semaphore_init(&semaphore);
    SettleCall call = {.done = &semaphore};
    list_init(&call.link);
    pthread_mutex_lock(&driver->mailbox.lock);
    bool is_alive = driver->mailbox.state != DRIVER_ENDED;
    if (is_alive) list_append(&driver->mailbox.settles, &call.link);
    driver->mailbox.is_settle_new = true;
    mailbox_wake(&driver->mailbox);
    pthread_mutex_unlock(&driver->mailbox.lock);
    if (!is_alive) semaphore_post(&semaphore);
    semaphore_wait(&semaphore);
    return call.next_ms;
}

void driver_store_changed(Driver *driver) {
    pthread_mutex_lock(&driver->mailbox.lock);
    driver->mailbox.is_store_changed = driver->mailbox.state != DRIVER_ENDED;
    mailbox_wake(&driver->mailbox);
    pthread_mutex_unlock(&driver->mailbox.lock);
}

Status driver_store_status(Driver *driver) {
    bool is_full = atomic_load_explicit(&driver->is_store_full, memory_order_relaxed);
    if (!is_full && !atomic_load_explicit(&driver->is_store_away, memory_order_relaxed)) return OK;
    pthread_mutex_lock(&driver->mailbox.lock);
    driver->mailbox.is_store_heard = driver->mailbox.state != DRIVER_ENDED;
    mailbox_wake(&driver->mailbox);
    pthread_mutex_unlock(&driver->mailbox.lock);
    return is_full ? ERR_FULL : ERR_UNAVAILABLE;
}

void driver_control_later(Driver *driver, void (*function)(Coordinator *, void *), void *context) {
    ControlCall *call = mem_zalloc(sizeof(ControlCall));
    call->function = function;
    call->context = context;
    list_init(&call->link);
    if (mailbox_put(&driver->mailbox, &driver->mailbox.controls, &call->link)) return;
    function(driver->coordinator, context); // its thread is gone: nobody else can touch it
    mem_free(call);
}

void driver_control(Driver *driver, void (*function)(Coordinator *, void *), void *context) {
    Semaphore semaphore;
    semaphore_init(&semaphore);
    ControlCall call = {.function = function, .context = context, .done = &semaphore};
    list_init(&call.link);
    if (!mailbox_put(&driver->mailbox, &driver->mailbox.controls, &call.link)) {
        function(driver->coordinator, context); // its thread is gone: nobody else can touch it
        semaphore_post(&semaphore);
    }
    semaphore_wait(&semaphore);
}
