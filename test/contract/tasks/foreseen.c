// Turns that were foreseen: committed right behind the completion that wakes their run, and only if
// that came about as the turn took for granted.
#include "contract/contract.h"

typedef struct Parked { // the run "r1", which waits for the task "t1" that is leased
    Claimed next;       // the claim that the completion will make
    int64_t token;
    int64_t seq; // of the entry that it will write
} Parked;

static Parked park_on_task(World *world) {
    Claimed run = create(world, "r1");
    TaskSpec spec = task_of("t1");
    Op *op = turn(world, run, NEXT_SUSPEND);
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_task("t1")}, 1);
    op_run(world, op, OK);
    TaskRow task = lease_one(world, "default");
    return (Parked){
        .next = {run.run, run.epoch + 1}, .token = task.token, .seq = op->out.turn.last_seq + 1};
}

static Op *add_completion(World *world, int64_t token) {
    Op *op = op_add(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = STR("t1");
    op->in.complete_task.token = token;
    op->in.complete_task.result = STR("7");
    return op;
}

// It waits for "t2", which it queues.
static Op *add_foreseen(World *world, const Parked *parked) {
    TaskSpec spec = task_of("t2");
    Op *op = add_turn(world, parked->next, NEXT_SUSPEND);
    op->in.turn.foreseen_seq = parked->seq;
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_task("t2")}, 1);
    return op;
}

static void check_no_turn(World *world, const Op *op) {
    assert_refused(op, ERR_FENCED, "RUN_FENCED");
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_QUEUED), 0);
}

static void completion_and_the_turn_it_enables_are_one_batch(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    batch_new(world);
    Op *completion = add_completion(world, parked.token);
    Op *op = add_foreseen(world, &parked);
    batch_run(world);
    assert_ok(completion->out.status);
    assert_ok(op->out.status);
    assert_int_equal(world->batch.out.ready_count, 0);
    RunRow run = get_run(world, "r1");
    assert_int_equal(run.state, RUN_SUSPENDED);
    assert_int_equal(run.epoch, parked.next.epoch);
    assert_int_equal(run.owner, 0);
    assert_int_equal(run.claim_rank, 0);
    LogRow woken = last_entry(world, "r1", LOG_WAIT);
    assert_int_equal(woken.seq, parked.seq);
    assert_text(woken.data, "7");
    world_reopen(world); // what is stored is what was answered
    assert_int_equal(get_run(world, "r1").generation, run.generation);
    TaskRow task = lease_one(world, "default");
    assert_text(task.id, "t2");
    complete_task(world, "t2", task.token, "8");
    assert_state(world, "r1", RUN_RUNNING);
}

static void foreseen_turn_ends_the_run(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    batch_new(world);
    (void)add_completion(world, parked.token);
    Op *op = add_turn(world, parked.next, NEXT_COMPLETE);
    op->in.turn.foreseen_seq = parked.seq;
    op->in.turn.result = STR("9");
    batch_run(world);
    assert_ok(op->out.status);
    assert_int_equal(world->batch.out.ended_count, 1);
    assert_state(world, "r1", RUN_COMPLETED);
    assert_text(get_result(world, "r1"), "9");
}

static void foreseen_turn_of_a_refused_completion_changes_nothing(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    Str before = world_dump(world);
    batch_new(world);
    Op *completion = add_completion(world, parked.token + 1);
    Op *op = add_foreseen(world, &parked);
    batch_run(world);
    assert_refused(completion, ERR_FENCED, "TASK_FENCED");
    check_no_turn(world, op);
    assert_unchanged(world, before);
}

static void foreseen_turn_without_its_completion_is_refused(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    complete_task(world, "t1", parked.token, "7"); // now the claim itself is good
    batch_new(world);
    Op *op = add_foreseen(world, &parked);
    batch_run(world);
    check_no_turn(world, op);
    assert_state(world, "r1", RUN_RUNNING);
}

static void completion_stands_although_its_turn_is_refused(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    parked.seq++; // there was an entry that the turn has not seen
    batch_new(world);
    Op *completion = add_completion(world, parked.token);
    Op *op = add_foreseen(world, &parked);
    batch_run(world);
    assert_ok(completion->out.status);
    check_no_turn(world, op);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(world->batch.out.ready[0].resolved_count, 1);
    world_reopen(world);
    RunRow run = get_run(world, "r1");
    assert_int_equal(run.state, RUN_RUNNING);
    assert_int_equal(run.epoch, parked.next.epoch);
    assert_int_equal(run.owner, world->node);
    assert_true(run.claim_rank > 0);
}

static void run_that_something_else_has_woken_refuses_what_was_foreseen(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    cancel_run(world, "r1", MINUTE_MS); // it has the epoch and the entry that were foreseen
    assert_int_equal(get_run(world, "r1").epoch, parked.next.epoch);
    batch_new(world);
    Op *completion = add_completion(world, parked.token);
    Op *op = add_foreseen(world, &parked);
    batch_run(world);
    assert_ok(completion->out.status);
    check_no_turn(world, op);
    assert_int_equal(last_entry(world, "r1", LOG_WAIT).outcome, OUTCOME_CANCELLED);
}

static void foreseen_turn_needs_no_room_for_its_run(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    world->claim_max = 0;
    batch_new(world);
    Op *completion = add_completion(world, parked.token);
    Op *op = add_foreseen(world, &parked);
    batch_run(world);
    assert_ok(completion->out.status);
    assert_ok(op->out.status);
    assert_state(world, "r1", RUN_SUSPENDED);
}

static void run_of_another_node_refuses_what_was_foreseen(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    signal_run(world, "r1", "nobody waits for it", "1"); // an entry that the turn has not seen
    complete_task(world, "t1", parked.token, "7");
    int64_t first = world->node;
    world->node = join(world, "other", MINUTE_MS);
    batch_new(world);
    Op *completion = add_completion(world, parked.token); // said again
    Op *op = add_foreseen(world, &parked);
    batch_run(world);
    assert_ok(completion->out.status);
    check_no_turn(world, op);
    assert_int_equal(get_run(world, "r1").owner, first);
    world->node = first;
}

static void paused_run_refuses_what_was_foreseen(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    pause_run(world, "r1");
    batch_new(world);
    Op *completion = add_completion(world, parked.token);
    Op *op = add_foreseen(world, &parked);
    batch_run(world);
    assert_ok(completion->out.status);
    check_no_turn(world, op);
    assert_state(world, "r1", RUN_PAUSED);
}

static void limit_of_a_foreseen_turn_leaves_the_run_woken(void **state) {
    World *world = *state;
    Parked parked = park_on_task(world);
    batch_new(world);
    Op *completion = add_completion(world, parked.token);
    Op *op = add_foreseen(world, &parked);
    op->in.turn.waits.count = 0; // a wait set must not be empty
    batch_run(world);
    assert_ok(completion->out.status);
    assert_refused(op, ERR_INVALID, "BAD_WAIT");
    world_reopen(world);
    assert_int_equal(get_run(world, "r1").owner, world->node);
    finish(world, parked.next, NEXT_FAIL, "{\"type\":\"Refused\"}"); // as the engine does
    assert_state(world, "r1", RUN_FAILED);
}

int contract_foreseen(void) {
    const struct CMUnitTest tests[] = {
        CASE(completion_and_the_turn_it_enables_are_one_batch),
        CASE(foreseen_turn_ends_the_run),
        CASE(foreseen_turn_of_a_refused_completion_changes_nothing),
        CASE(foreseen_turn_without_its_completion_is_refused),
        CASE(completion_stands_although_its_turn_is_refused),
        CASE(run_that_something_else_has_woken_refuses_what_was_foreseen),
        CASE(foreseen_turn_needs_no_room_for_its_run),
        CASE(run_of_another_node_refuses_what_was_foreseen),
        CASE(paused_run_refuses_what_was_foreseen),
        CASE(limit_of_a_foreseen_turn_leaves_the_run_woken),
    };
    return run_group("foreseen", tests);
}
