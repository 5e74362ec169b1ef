// What the tests of the stores on servers share: two nodes on one store, and a look past it.
#pragma once
#include "store/reads.h"
#include "unit/unit.h"
#include <sys/wait.h>
#include <unistd.h>

enum { NOW_MS = 1000000 };

typedef struct Node {
    Store *store;
    int64_t node, batch_number;
} Node;

typedef struct World {
    Node one, two;
    Arena arena;
    Batch batch;
    Diag diag;
    char url[200];
    void *side; // a connection of the test's own, of the server's kind: a look past the store
} World;

static inline Store *open_store(World *world) {
    Store *store = NULL;
    Status status = store_open(str_from(world->url), NULL, &store, &world->diag);
    if (status != OK) print_error("%s: %s\n", world->diag.code, world->diag.message);
    assert_ok(status);
    return store;
}

// Each of some processes opens the store, all at the same time.
static inline void open_in_processes(const World *world, int count) {
    enum { COUNT_MAX = 8 };
    pid_t children[COUNT_MAX];
    assert_true(count <= COUNT_MAX);
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        Store *store = NULL;
        _exit(store_open(str_from(world->url), NULL, &store, NULL) == OK ? 0 : 1);
    }
    for (int i = 0; i < count; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
}

static inline Op *begin(World *world, Node *node, OpKind kind) {
    batch_init(&world->batch, &world->arena, NOW_MS);
    world->batch.node = node->node;
    world->batch.number = ++node->batch_number;
    world->batch.claim_max = 10;
    return batch_add(&world->batch, kind);
}

static inline Status submit(World *world, Node *node) {
    diag_clear(&world->diag);
    return store_commit(node->store, &world->batch, &world->diag);
}

static inline void join(World *world, Node *node) {
    node->store = open_store(world);
    Op *op = begin(world, node, OP_JOIN);
    op->in.join.name = STR("n");
    op->in.join.lease_ms = 3600000;
    assert_ok(submit(world, node));
    node->node = op->out.join.node;
}

static inline Op *begin_run(World *world, Node *node, const char *id) {
    Op *op = begin(world, node, OP_CREATE_RUN);
    op->in.create_run.spec =
        (RunSpec){.id = str_from(id), .workflow = STR("w"), .kind = RUN_NATIVE, .keep_ms = -1};
    return op;
}

static inline int64_t create(World *world, Node *node, const char *id) {
    Op *op = begin_run(world, node, id);
    assert_ok(submit(world, node));
    assert_ok(op->out.status);
    return op->out.create_run.key;
}

static inline bool has_run(World *world, Node *node, const char *id) {
    RunRow run;
    Status status = store_run_by_id(node->store, &world->arena, str_from(id), &run, &world->diag);
    if (status != ERR_NOT_FOUND) assert_ok(status);
    return status == OK;
}

// The test says where and brings its connection; then two nodes join.
static inline World *world_new(void) {
    World *world = calloc(1, sizeof(World));
    arena_init(&world->arena);
    return world;
}

static inline int world_begin(World *world, void **state) {
    join(world, &world->one);
    join(world, &world->two);
    *state = world;
    return 0;
}

// What is stored must be whole. The connection is the test's to close.
static inline int world_end(World *world) {
    int64_t row_count = 0;
    Status status = store_verify(world->one.store, &row_count, &world->diag);
    if (status != OK) print_error("%s: %s\n", world->diag.code, world->diag.message);
    store_close(world->one.store);
    store_close(world->two.store);
    arena_done(&world->arena);
    free(world);
    return status == OK ? 0 : -1;
}

// Two nodes in turn, each with a limit of its own, of a queue and of a topic: neither undoes the
// other's, whose row its cache has not seen yet.
static inline void check_nodes_keep_what_others_set(World *world) {
    const uint64_t running = column_bit(TABLE_QUEUES, offsetof(QueueRow, max_running));
    const uint64_t per_key = column_bit(TABLE_QUEUES, offsetof(QueueRow, max_per_key));
    const uint64_t expire = column_bit(TABLE_TOPICS, offsetof(TopicRow, expire_ms));
    const uint64_t cap = column_bit(TABLE_TOPICS, offsetof(TopicRow, cap));
    for (int64_t i = 1; i <= 20; i++) {
        bool is_first = i % 2 == 1;
        Node *node = is_first ? &world->one : &world->two;
        Op *queue = begin(world, node, OP_SET_QUEUE);
        queue->in.set_queue.row = (QueueRow){.name = STR("q"), .max_running = i, .max_per_key = i};
        queue->in.set_queue.kept = is_first ? per_key : running;
        Op *topic = batch_add(&world->batch, OP_SET_TOPIC);
        topic->in.set_topic.row = (TopicRow){.name = STR("t"), .expire_ms = i, .cap = i};
        topic->in.set_topic.kept = is_first ? cap : expire;
        assert_ok(submit(world, node));
    }
    QueueStat queue;
    TopicStat topic;
    assert_ok(store_find_queue(world->one.store, &world->arena, STR("q"), &queue, &world->diag));
    assert_ok(store_find_topic(world->one.store, &world->arena, STR("t"), &topic, &world->diag));
    assert_int_equal(queue.row.max_running, 19);
    assert_int_equal(queue.row.max_per_key, 20);
    assert_int_equal(topic.row.expire_ms, 19);
    assert_int_equal(topic.row.cap, 20);
}

static inline void check_nodes_see_each_other(World *world) {
    int64_t first = create(world, &world->one, "a");
    int64_t second = create(world, &world->two, "b");
    assert_true(second > first);
    Op *op = begin_run(world, &world->one, "b"); // its cache knows nothing of b
    assert_ok(submit(world, &world->one));
    assert_false(op->out.create_run.is_new);
    assert_int_equal(op->out.create_run.key, second);
    assert_true(has_run(world, &world->one, "b"));
}
