// [store-9] Threads: commits come one at a time from any thread, reads from any number beside them
//      and
// always see whole batches.
#include "contract/contract.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, RUNS = 60 };

typedef struct Shared {
    World *world;
    pthread_mutex_t mutex; // one commit at a time: the caller's part of the contract
    atomic_bool is_over;
    atomic_int bad_count; // things that must not have been seen
} Shared;

typedef struct Worker {
    Shared *shared;
    pthread_t thread;
    int64_t node;
    int64_t batch_number;
    int64_t runs[RUNS];
    int run_count;
    int64_t read_count;
} Worker;

static Status commit(Shared *shared, Batch *batch) {
    pthread_mutex_lock(&shared->mutex);
    Status status = store_commit(shared->world->store, batch, NULL);
    pthread_mutex_unlock(&shared->mutex);
    return status;
}

static void *claim_until_empty(void *context) {
    Worker *worker = context;
    Arena arena;
    arena_init(&arena);
    for (int empty = 0; empty < 3 && worker->run_count < RUNS;) {
        Batch batch;
        arena_reset(&arena);
        batch_init(&batch, &arena, START_MS);
        batch.node = worker->node;
        batch.number = ++worker->batch_number;
        Op *op = batch_add(&batch, OP_CLAIM);
        op->in.claim.max = 1;
        if (commit(worker->shared, &batch) != OK || op->out.status != OK) {
            atomic_fetch_add(&worker->shared->bad_count, 1);
            break;
        }
        if (batch.out.ready_count == 0) empty++;
        else worker->runs[worker->run_count++] = batch.out.ready[0].run;
    }
    arena_done(&arena);
    return NULL;
}

static void threads_racing_for_claims_get_each_run_once(void **state) {
    World *world = *state;
    world->claim_max = 0;
    for (int i = 0; i < RUNS; i++) {
        RunSpec spec = spec_of(arena_printf(&world->arena, "r%d", i).data);
        create_op(world, &spec);
    }
    Shared shared = {.world = world};
    pthread_mutex_init(&shared.mutex, NULL);
    Worker workers[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        workers[i].shared = &shared;
        workers[i].node = join(world, "worker", HOUR_MS);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, claim_until_empty, &workers[i]),
                         0);
    }
    int total = 0;
    bool is_seen[100000] = {0};
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        for (int j = 0; j < workers[i].run_count; j++) {
            int64_t run = workers[i].runs[j];
            assert_in_range(run, 1, 99999);
            assert_false(is_seen[run]);
            is_seen[run] = true;
            total++;
        }
    }
    assert_int_equal(total, RUNS);
    assert_int_equal(atomic_load(&shared.bad_count), 0);
    pthread_mutex_destroy(&shared.mutex);
}

// Each batch of the writer makes two runs and ends two, so any view that shows an odd number of
// either has seen half a batch.
static void *read_pairs(void *context) {
    Worker *worker = context;
    Shared *shared = worker->shared;
    Arena arena;
    arena_init(&arena);
    int64_t last_total = 0;
    do {
        StoreStats found;
        arena_reset(&arena);
        if (store_stats(shared->world->store, &arena, &found, NULL) != OK) {
            atomic_fetch_add(&shared->bad_count, 1);
        }
        int64_t total = found.counters[COUNTER_STARTED_TOTAL];
        bool is_half = total % 2 != 0 || found.counters[COUNTER_COMPLETED_TOTAL] % 2 != 0;
        if (is_half || total < last_total) atomic_fetch_add(&shared->bad_count, 1);
        last_total = total;
        RunPage page;
        if (store_list_runs(shared->world->store, &arena,
                            &(RunFilter){.states = 1u << RUN_COMPLETED, .limit = 1000}, &page,
                            NULL) != OK ||
            page.count % 2 != 0) {
            atomic_fetch_add(&shared->bad_count, 1);
        }
        worker->read_count++;
    } while (!atomic_load(&shared->is_over));
    arena_done(&arena);
    return NULL;
}

static void readers_beside_a_writer_see_whole_batches(void **state) {
    World *world = *state;
    Shared shared = {.world = world};
    pthread_mutex_init(&shared.mutex, NULL);
    Worker readers[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        readers[i].shared = &shared;
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_pairs, &readers[i]), 0);
    }
    int rounds = (int)scaled(150);
    for (int i = 0; i < rounds; i++) {
        RunSpec first = spec_of(arena_printf(&world->arena, "a%d", i).data);
        RunSpec second = spec_of(arena_printf(&world->arena, "b%d", i).data);
        batch_new(world);
        add_create(world, &first);
        add_create(world, &second);
        batch_run(world);
        Claimed a = ready_at(world, 0), b = ready_at(world, 1);
        batch_new(world);
        add_turn(world, a, NEXT_COMPLETE);
        add_turn(world, b, NEXT_COMPLETE);
        batch_run(world);
    }
    atomic_store(&shared.is_over, true);
    int64_t read_count = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(readers[i].thread, NULL);
        read_count += readers[i].read_count;
    }
    assert_int_equal(atomic_load(&shared.bad_count), 0);
    assert_true(read_count > 0);
    pthread_mutex_destroy(&shared.mutex);
}

// Writers on several threads, each with runs of its own, taking turns.
static void *write_chain(void *context) {
    Worker *worker = context;
    Arena arena;
    arena_init(&arena);
    for (int i = 0; i < 20; i++) {
        Batch batch;
        arena_reset(&arena);
        batch_init(&batch, &arena, START_MS);
        batch.node = worker->node;
        batch.number = ++worker->batch_number;
        batch.claim_max = 1;
        RunSpec spec = spec_of(arena_printf(&arena, "%lld-%d", (long long)worker->node, i).data);
        batch_add(&batch, OP_CREATE_RUN)->in.create_run.spec = spec;
        bool is_good = commit(worker->shared, &batch) == OK && batch.out.ready_count == 1;
        int64_t run = is_good ? batch.out.ready[0].run : 0;
        int64_t epoch = is_good ? batch.out.ready[0].claim.epoch : 0;
        batch_init(&batch, &arena, START_MS);
        batch.node = worker->node;
        batch.number = ++worker->batch_number;
        Op *op = batch_add(&batch, OP_COMMIT_TURN);
        op->in.turn.run = run;
        op->in.turn.epoch = epoch;
        op->in.turn.next = NEXT_COMPLETE;
        is_good = is_good && commit(worker->shared, &batch) == OK && op->out.status == OK;
        if (!is_good) atomic_fetch_add(&worker->shared->bad_count, 1);
    }
    arena_done(&arena);
    return NULL;
}

static void commits_may_come_from_different_threads(void **state) {
    World *world = *state;
    Shared shared = {.world = world};
    pthread_mutex_init(&shared.mutex, NULL);
    Worker workers[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        workers[i].shared = &shared;
        workers[i].node = join(world, "worker", HOUR_MS);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, write_chain, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    assert_int_equal(atomic_load(&shared.bad_count), 0);
    assert_int_equal(get_counter(world, COUNTER_COMPLETED_TOTAL), THREADS * 20);
    pthread_mutex_destroy(&shared.mutex);
}

int contract_threads(void) {
    const struct CMUnitTest tests[] = {
        CASE(threads_racing_for_claims_get_each_run_once),
        CASE(readers_beside_a_writer_see_whole_batches),
        CASE(commits_may_come_from_different_threads),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL); // all, with every sanitizer
}
