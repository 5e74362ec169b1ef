// DueClock: when the engine has something to do by itself.
#include "engine/work/due_clock.h"
#include "unit/unit.h"

typedef struct Fixture {
    Env env;
    CoordinatorSetup setup;
    DueClock clock;
} Fixture;

static int64_t test_now(Env *env) {
    (void)env;
    return 1000;
}
static const EnvOps env_ops = {.now_ms = test_now};

static int clock_new(void **state) {
    static Fixture fixture;
    fixture.env.ops = &env_ops;
    fixture.setup = (CoordinatorSetup){.env = &fixture.env};
    fixture.setup.config =
        (CoordinatorConfig){.lease_ms = 9000, .sweep_ms = 500, .timer_resolution_ms = 100};
    Diag diag;
    assert_ok(store_open(STR("memory:"), NULL, &fixture.setup.store, &diag));
    due_clock_init(&fixture.clock, &fixture.setup);
    *state = &fixture;
    return 0;
}

static int clock_free(void **state) {
    Fixture *fixture = *state;
    due_clock_done(&fixture->clock);
    store_close(fixture->setup.store);
    return 0;
}

static void timers_fire_at_the_next_multiple_of_the_resolution(void **state) {
    DueClock *clock = &((Fixture *)*state)->clock;
    assert_int_equal(due_clock_fires_at_ms(clock), NEVER_MS);
    due_clock_note(clock, 2001);
    assert_int_equal(due_clock_fires_at_ms(clock), 2100);
    due_clock_note(clock, 2000);
    assert_int_equal(due_clock_fires_at_ms(clock), 2000);
    due_clock_note(clock, 5000); // later than what is known
    due_clock_note(clock, 0);    // nothing was written
    assert_int_equal(due_clock_fires_at_ms(clock), 2000);
}

static void firing_that_was_cut_short_is_due_at_once(void **state) {
    DueClock *clock = &((Fixture *)*state)->clock;
    int64_t late_ms;
    assert_false(due_clock_late_ms(clock, 3000, &late_ms)); // nothing was waited for
    due_clock_note(clock, 2000);
    due_clock_fire(clock);
    due_clock_fired(clock, true);
    assert_int_equal(due_clock_fires_at_ms(clock), 0);
    due_clock_note(clock, 9000);
    assert_int_equal(due_clock_fires_at_ms(clock), 0);
    assert_true(due_clock_late_ms(clock, 2300, &late_ms));
    assert_int_equal(late_ms, 300);
    assert_true(due_clock_late_ms(clock, 1900, &late_ms)); // the clock was set back
    assert_int_equal(late_ms, 0);
}

static void store_is_asked_when_a_firing_is_through(void **state) {
    DueClock *clock = &((Fixture *)*state)->clock;
    assert_true(due_clock_wants_refresh(clock));
    assert_true(due_clock_refresh(clock));
    assert_false(due_clock_wants_refresh(clock));
    due_clock_note(clock, 2000);
    due_clock_fire(clock);
    clock->is_stale = true;
    assert_false(due_clock_wants_refresh(clock)); // the firing says more
    due_clock_fired(clock, false);
    assert_true(due_clock_wants_refresh(clock));
    assert_true(due_clock_refresh(clock));
    assert_int_equal(due_clock_fires_at_ms(clock), NEVER_MS); // the store is empty
}

static void what_is_heard_of_during_a_claim_wants_another(void **state) {
    DueClock *clock = &((Fixture *)*state)->clock;
    clock->has_unclaimed = true;
    assert_int_equal(due_clock_claims_at_ms(clock), 0);
    due_clock_claim(clock);
    assert_int_equal(due_clock_claims_at_ms(clock), NEVER_MS);
    clock->has_unclaimed = true;
    assert_int_equal(due_clock_claims_at_ms(clock), NEVER_MS);
    due_clock_claimed(clock, false);
    assert_int_equal(due_clock_claims_at_ms(clock), 0);
}

static void runs_left_to_others_are_claimed_when_nobody_took_them(void **state) {
    DueClock *clock = &((Fixture *)*state)->clock;
    assert_int_equal(clock->claim_again_ms, NEVER_MS);
    due_clock_left(clock, 2000);
    due_clock_left(clock, 2500); // more of them, for longer: those before are looked at first
    assert_int_equal(clock->claim_again_ms, 2000);
    due_clock_look_at_left(clock, 1999);
    assert_false(clock->has_unclaimed);
    due_clock_look_at_left(clock, 2000);
    assert_true(clock->has_unclaimed);
    assert_int_equal(clock->claim_again_ms, 2500);
    due_clock_look_at_left(clock, 2500);
    assert_int_equal(clock->claim_again_ms, NEVER_MS);
}

static void lease_is_renewed_in_a_third_of_it_or_when_another_ends(void **state) {
    DueClock *clock = &((Fixture *)*state)->clock;
    due_clock_renewed(clock, 1000);
    assert_int_equal(clock->renew_at_ms, 4000);
    due_clock_renew_by(clock, 0); // nobody's lease is known
    due_clock_renew_by(clock, 6000);
    assert_int_equal(clock->renew_at_ms, 4000);
    due_clock_renew_by(clock, 2000);
    assert_int_equal(clock->renew_at_ms, 2000);
}

#define CLOCK_TEST(name) cmocka_unit_test_setup_teardown(name, clock_new, clock_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLOCK_TEST(timers_fire_at_the_next_multiple_of_the_resolution),
        CLOCK_TEST(firing_that_was_cut_short_is_due_at_once),
        CLOCK_TEST(store_is_asked_when_a_firing_is_through),
        CLOCK_TEST(what_is_heard_of_during_a_claim_wants_another),
        CLOCK_TEST(runs_left_to_others_are_claimed_when_nobody_took_them),
        CLOCK_TEST(lease_is_renewed_in_a_third_of_it_or_when_another_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
