// Looking for tasks that wait in vain.
//
// A thread of its own looks at the head of each queue, where what nobody takes collects, and then
// at what the other nodes say in their rows. What it finds is kept for /metrics and /v1/workers,
// and logged when it begins and when it ends, once per queue and name.
//
//   [workers-watch-1] Nothing is asked for and nothing written on a fixed tick (P5): it looks after
//        tasks became ready, after workers came or went, and every other second only while tasks
//        are queued. On a store of its own it writes nothing; on a shared one it says in its row
//        who asks it, when that has changed.
//   [workers-watch-2] A store that does not answer is no finding: what was known stays until it
//        does.
//
// Invariants [workers-1]-[workers-3] are in workers.h.
#include "base/limits.h"
#include "base/memory.h"
#include "base/thread.h"
#include "server/server.h"
#include "store/reads.h"

enum {
    LOOK_MS = 2000,        // between two looks while tasks are queued
    HEAD_COUNT = 100,      // tasks that are looked at per queue
    LEASED_COUNT = 1000,   // of those that are being done, to see who is busy
    REFRESH_MS = 30 * 1000 // how old times and counts that the others see may be
};

// ---- is it unserved? ----

// Busy workers ask for nothing: whoever has a task of that name, or does such tasks too.
// [workers-2]
static bool is_somebody_busy(const TaskPage *leased, const WorkersView *view,
                             const Unserved *unserved) {
    for (size_t i = 0; i < leased->count; i++) {
        const TaskRow *task = &leased->rows[i];
        bool is_same =
            str_equal(task->name, unserved->name) && str_equal(task->queue, unserved->queue);
        if (is_same || workers_does(view, task->worker, unserved->queue, unserved->name))
            return true;
    }
    return false;
}

Status workers_read_leased(Server *server, Arena *arena, TaskPage *ret_leased, Diag *diag) {
    const TaskFilter leased = {.states = 1u << TASK_LEASED, .page.limit = LEASED_COUNT};
    return store_list_tasks(engine_store(server->engine), arena, &leased, ret_leased, diag);
}

static bool has_waited(const Server *server, const TaskRow *task, int64_t *ret_since_ms) {
    // A server that has just come up has not been asked yet.
    int64_t since_ms = task->created_at_ms;
    if (since_ms < server->started_at_ms) since_ms = server->started_at_ms;
    *ret_since_ms = task->created_at_ms;
    return engine_now_ms(server->engine) - since_ms >= UNSERVED_MS;
}

static bool is_paused(Server *server, Arena *arena, Str queue) {
    QueueStat stat;
    Diag diag;
    bool is_read = store_find_queue(engine_store(server->engine), arena, queue, &stat, &diag) == OK;
    return !is_read || stat.row.is_paused != 0;
}

bool workers_is_unserved(Server *server, Arena *arena, const TaskRow *task,
                         Unserved *ret_unserved) {
    Unserved found = {.queue = task->queue, .name = task->name, .task_id = task->id};
    bool is_claimable = task->state == TASK_QUEUED && task->claim_rank > 0;
    if (!is_claimable || !has_waited(server, task, &found.since_ms)) return false;
    workers_read_others(server, arena);
    WorkersView view = workers_view(server, arena);
    TaskPage leased;
    Diag diag;
    if (workers_serve(&view, task->queue, task->name) || is_paused(server, arena, task->queue) ||
        workers_read_leased(server, arena, &leased, &diag) != OK || // [workers-watch-2]
        is_somebody_busy(&leased, &view, &found))
        return false;
    workers_explain(&view, arena, &found);
    *ret_unserved = found;
    return true;
}

// ---- a look ----

typedef struct Look {
    Server *server;
    Arena *arena;
    bool has_queued;  // there are tasks that somebody could take
    WorkersView view; // made when there are
    bool has_leased;  // it is read when it is needed first
    TaskPage leased;
    Unserved *found;
    size_t count;
} Look;

static bool same_pair(const Unserved *a, const Unserved *b) {
    return str_equal(a->queue, b->queue) && str_equal(a->name, b->name);
}

static const Unserved *find_pair(const Unserved *list, size_t count, const Unserved *wanted) {
    for (size_t i = 0; i < count; i++)
        if (same_pair(&list[i], wanted)) return &list[i];
    return NULL;
}

static Status look_at_task(Look *look, const TaskRow *task, Diag *diag) {
    Unserved one = {.queue = task->queue, .name = task->name, .task_id = task->id};
    if (look->count == UNSERVED_MAX || !has_waited(look->server, task, &one.since_ms) ||
        find_pair(look->found, look->count, &one) != NULL ||
        workers_serve(&look->view, task->queue, task->name))
        return OK;
    if (!look->has_leased) TRY(workers_read_leased(look->server, look->arena, &look->leased, diag));
    look->has_leased = true;
    if (is_somebody_busy(&look->leased, &look->view, &one)) return OK;
    workers_explain(&look->view, look->arena, &one);
    look->found[look->count++] = one;
    return OK;
}

static Status look_at_nodes(Server *server, Arena *arena, Diag *diag);

static Status look_at_queues(Look *look, Diag *diag) {
    Store *store = engine_store(look->server->engine);
    const NamePageSpec all = {.limit = LIMIT_LIST_PAGE};
    QueuePage queues;
    TRY(store_list_queues(store, look->arena, &all, &queues, diag));
    for (size_t i = 0; i < queues.count; i++) {
        const QueueRow *queue = &queues.rows[i].row;
        if (queue->queued_count == 0 || queue->is_paused) continue;
        if (!look->has_queued) {
            TRY(look_at_nodes(look->server, look->arena, diag));
            look->view = workers_view(look->server, look->arena);
            look->has_queued = true;
        }
        const ClaimableFilter filter = {.queue = queue->name, .limit = HEAD_COUNT};
        TaskPage head;
        TRY(store_list_claimable(store, look->arena, &filter, &head, diag));
        for (size_t j = 0; j < head.count; j++) TRY(look_at_task(look, &head.rows[j], diag));
    }
    return OK;
}

// ---- the other nodes ----

static void take_others(Server *server, Arena *arena, const NodePage *nodes, int64_t own_key) {
    int64_t now_ms = engine_now_ms(server->engine);
    OtherNode *others = ARENA_ARRAY(arena, OtherNode, nodes->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        const NodeRow *node = &nodes->rows[i].row;
        bool is_alive = node->lease_until_ms > now_ms;
        if (node->key != own_key && is_alive && !str_is_null(node->workers))
            others[count++] = (OtherNode){node->name, node->workers};
    }
    workers_set_others(&server->workers, others, count);
}

static Status look_at_nodes(Server *server, Arena *arena, Diag *diag) {
    if (!engine_is_shared(server->engine)) return OK;
    const PageSpec all = {.limit = LIMIT_LIST_PAGE};
    NodePage nodes;
    TRY(store_list_nodes(engine_store(server->engine), arena, &all, &nodes, diag));
    take_others(server, arena, &nodes, engine_node(server->engine).key);
    return OK;
}

void workers_read_others(Server *server, Arena *arena) {
    Diag diag;
    (void)look_at_nodes(server, arena, &diag); // [workers-watch-2]
}

typedef struct Told { // what the others were told last
    int64_t node;     // our key then
    int64_t at_ms;
    char *brief; // owned; NULL: nothing
} Told;

static void tell_others(Server *server, Arena *arena, Told *told) { // [workers-watch-1]
    int64_t now_ms = engine_now_ms(server->engine), node = engine_node(server->engine).key;
    if (!engine_is_shared(server->engine) || node == 0) return;
    Str brief = workers_describe(server, arena, true);
    bool is_same =
        told->node == node && told->brief != NULL && str_equal(str_from(told->brief), brief);
    bool is_new_count = server->workers.by_id.count > 0 && now_ms - told->at_ms >= REFRESH_MS;
    if (is_same && !is_new_count) return;
    Str text = workers_describe(server, arena, false);
    if (text.len > (size_t)LIMIT_ERROR_SIZE) text = brief;
    if (text.len > (size_t)LIMIT_ERROR_SIZE) return; // thousands of names: they go untold
    Request request = {.op.kind = OP_DESCRIBE_NODE, .op.in.describe_node.workers = text};
    if (engine_request(server->engine, &request) != OK) return;
    mem_free(told->brief);
    *told = (Told){node, now_ms, mem_copy(brief.data, brief.len)};
}

// ---- saying it ----

static Str join_shown(Arena *arena, Str joined) { // "a, b, c"
    Buf text;
    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < joined.len; i++) {
        if (joined.data[i] == '\n') buf_append_cstr(&text, ", ");
        else buf_append_char(&text, joined.data[i]);
    }
    Str shown = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return shown;
}

static void say_unserved(const Look *look, const Unserved *one) {
    Arena *arena = look->arena;
    Str hint = one->did_you_mean != NULL
                   ? arena_printf(arena, "; did you mean \"%s\"?", one->did_you_mean)
                   : STR("");
    Str who = one->asked.len > 0 ? arena_printf(arena, "workers of this queue ask for %.*s",
                                                STR_ARG(join_shown(arena, one->asked)))
                                 : STR("no worker asks this queue for named tasks");
    if (one->other_queues.len > 0)
        who = arena_printf(arena, "it is asked for in the queue %.*s",
                           STR_ARG(join_shown(arena, one->other_queues)));
    LOG(look->server->config.logger, LOG_WARN,
        "nobody asks for the task \"%.*s\" of the queue \"%.*s\", such as %.*s: %.*s%.*s",
        STR_ARG(one->name), STR_ARG(one->queue), STR_ARG(one->task_id), STR_ARG(who),
        STR_ARG(hint));
}

static void say_changes(const Look *look, const Workers *workers) {
    for (size_t i = 0; i < look->count; i++) {
        const Unserved *one = &look->found[i];
        if (find_pair(workers->unserved.data, workers->unserved.count, one) == NULL)
            say_unserved(look, one);
    }
    for (size_t i = 0; i < workers->unserved.count; i++) {
        const Unserved *one = &workers->unserved.data[i];
        if (find_pair(look->found, look->count, one) != NULL) continue;
        if (!workers_serve(&look->view, one->queue, one->name)) continue; // none waits any more
        LOG(look->server->config.logger, LOG_INFO,
            "the task \"%.*s\" of the queue \"%.*s\" is asked for now", STR_ARG(one->name),
            STR_ARG(one->queue));
    }
}

// ---- the thread ----

static void look_around(Server *server, Told *told) {
    Arena arena;
    arena_init(&arena);
    Diag diag;
    tell_others(server, &arena, told);
    Look look = {
        .server = server, .arena = &arena, .found = ARENA_ARRAY(&arena, Unserved, UNSERVED_MAX)};
    Status status = look_at_queues(&look, &diag);
    if (status == OK) {
        if (!look.has_queued) look.view = workers_view(server, &arena);
        say_changes(&look, &server->workers);
        workers_set_unserved(&server->workers, look.found, look.count);
    }
    if (status != OK || look.has_queued) workers_want_look(&server->workers, LOOK_MS);
    arena_done(&arena);
}

// Until it is time to look; false: it is to stop.
static bool wait_for_look(Workers *workers) {
    pthread_mutex_lock(&workers->lock);
    while (!workers->is_stopping) {
        int64_t at_ms = workers->look_at_ms;
        if (at_ms == 0) {
            pthread_cond_wait(&workers->changed, &workers->lock);
        } else if (at_ms <= env_now_ms(env_system())) {
            workers->look_at_ms = 0;
            break;
        } else {
            struct timespec at = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000};
            pthread_cond_timedwait(&workers->changed, &workers->lock, &at);
        }
    }
    bool goes_on = !workers->is_stopping;
    pthread_mutex_unlock(&workers->lock);
    return goes_on;
}

static void *watch_main(void *context) {
    Server *server = context;
    Told told = {0};
    while (wait_for_look(&server->workers)) look_around(server, &told);
    mem_free(told.brief);
    return NULL;
}

void workers_watch_start(Server *server) {
    Diag diag;
    Workers *workers = &server->workers;
    workers_want_look(workers, LOOK_MS); // tasks may have been left by those before us
    Status status = thread_start(&workers->thread, watch_main, server, &diag);
    workers->is_running = status == OK;
    if (status != OK)
        LOG(server->config.logger, LOG_WARN, "tasks that nobody asks for go unnoticed: %s",
            diag.message);
}

void workers_watch_stop(Server *server) {
    Workers *workers = &server->workers;
    pthread_mutex_lock(&workers->lock);
    bool was_running = workers->is_running;
    workers->is_stopping = true;
    workers->is_running = false;
    pthread_cond_signal(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
    if (was_running) pthread_join(workers->thread, NULL);
}
