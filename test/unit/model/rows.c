// Rows by their description: changes, copies, index membership, names; and the tables themselves.
#include "model/rows.h"
#include "base/array.h"
#include "unit/unit.h"

static void states_have_names(void **state) {
    (void)state;
    assert_string_equal(run_state_name(RUN_SUSPENDED), "suspended");
    assert_string_equal(task_state_name(TASK_LEASED), "leased");
}

static void numbers_without_a_name_are_unknown(void **state) {
    (void)state;
    assert_string_equal(run_state_name(0), "unknown");
    assert_string_equal(run_state_name(RUN_STATE_COUNT), "unknown");
    assert_string_equal(run_state_name(-1), "unknown");
    assert_string_equal(task_state_name(0), "unknown");
    assert_string_equal(task_state_name(INT64_MAX), "unknown");
}

static void deliveries_have_a_name_and_those_of_tasks_an_id(void **state) {
    (void)state;
    static const struct {
        const char *stored;
        int64_t attempt;
        const char *name, *target;
    } cases[] = {
        {"charge\ntask_1", 1, "charge", "task_1"},
        {"order\nmy-child", 0, "order", "my-child"},
        {"task:key", 2, "task:key", "task:key"}, // by an older version
        {"task_00112233445566778899aabbccddeeff", 0, "task_00112233445566778899aabbccddeeff",
         "task_00112233445566778899aabbccddeeff"},
        {"go", 0, "go", NULL},
        {"task_done", 0, "task_done", NULL}, // a signal of that name
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        LogRow entry = {
            .kind = LOG_WAIT, .name = str_from(cases[i].stored), .attempt = cases[i].attempt};
        assert_true(str_equal(log_entry_name(&entry), str_from(cases[i].name)));
        Str target = log_entry_target(&entry);
        assert_int_equal(str_is_null(target), cases[i].target == NULL);
        if (cases[i].target) assert_true(str_equal(target, str_from(cases[i].target)));
    }
}

static void higher_priorities_have_smaller_positive_ranks(void **state) {
    (void)state;
    assert_int_equal(claim_rank(PRIORITY_MAX), 1);
    assert_true(claim_rank(5) < claim_rank(4));
    assert_true(claim_rank(PRIORITY_MIN) > 0);
}

static void changes_tell_exactly_the_columns_that_differ(void **state) {
    (void)state;
    const Table *table = &tables[TABLE_RUNS];
    RunRow before = {.key = 1, .id = STR("a"), .epoch = 4};
    RunRow after = before;
    assert_int_equal(row_changes(table, &before, &after), 0);
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        after = before;
        if (column->type == COLUMN_I64) row_set_i64(&after, column, 99);
        else row_set_str(&after, column, STR("other"));
        assert_int_equal(row_changes(table, &before, &after), UINT64_C(1) << i);
    }
}

static void null_and_empty_are_a_change(void **state) {
    (void)state;
    RunRow before = {.key = 1, .queue = STR_NULL}, after = {.key = 1, .queue = STR("")};
    assert_int_not_equal(row_changes(&tables[TABLE_RUNS], &before, &after), 0);
}

static void a_copy_shares_nothing(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    char text[] = "payload";
    EventRow event = {.key = 1, .payload = str_from(text), .topic = STR("")}, copy;
    row_copy(&tables[TABLE_EVENTS], &arena, &event, &copy);
    memset(text, 'x', sizeof(text) - 1);
    assert_str_equal(copy.payload, "payload");
    assert_false(str_is_null(copy.topic));
    assert_true(str_is_null(copy.name));
    assert_int_equal(copy.key, 1);
    arena_done(&arena);
}

static void a_sparse_index_wants_its_column_set(void **state) {
    (void)state;
    const Table *events = &tables[TABLE_EVENTS];
    EventRow event = {.key = 1, .topic = STR("")};
    assert_true(index_has_row(events, &events->indexes[EVENTS_BY_TOPIC], &event));
    assert_false(index_has_row(events, &events->indexes[EVENTS_BY_RUN], &event));
    assert_false(index_has_row(events, &events->indexes[EVENTS_BY_DUE], &event));
    event = (EventRow){.key = 1, .run = 4, .due_at_ms = 1};
    assert_false(index_has_row(events, &events->indexes[EVENTS_BY_TOPIC], &event));
    assert_true(index_has_row(events, &events->indexes[EVENTS_BY_RUN], &event));
    assert_true(index_has_row(events, &events->indexes[EVENTS_BY_DUE], &event));
    RunRow run = {.key = 1};
    const Table *runs = &tables[TABLE_RUNS];
    assert_true(index_has_row(runs, &runs->indexes[RUNS_BY_PHASE], &run));
    assert_false(index_has_row(runs, &runs->indexes[RUNS_BY_OWNER], &run));
}

static void every_table_is_well_formed(void **state) {
    (void)state;
    for (int number = 0; number < TABLE_COUNT; number++) {
        const Table *table = &tables[number];
        assert_non_null(table->name);
        assert_int_equal(table->number, number);
        assert_in_range(table->key_count, 1, 3);
        assert_in_range(table->column_count, table->key_count, 56);
        assert_in_range(table->index_count, 0, TABLE_INDEXES_MAX);
        for (uint8_t i = 1; i < table->column_count; i++) {
            assert_true(table->columns[i].offset > table->columns[i - 1].offset);
        }
        for (uint8_t i = 0; i < table->index_count; i++) {
            const IndexSpec *index = &table->indexes[i];
            assert_non_null(index->name);
            assert_in_range(index->column_count, 1, INDEX_COLUMNS_MAX);
            for (uint8_t c = 0; c < index->column_count; c++) {
                assert_true(index->columns[c] < table->column_count);
            }
            if (index->sparse != COLUMN_NONE) assert_true(index->sparse < table->column_count);
            for (uint8_t other = 0; other < i; other++) {
                assert_string_not_equal(index->name, table->indexes[other].name);
            }
        }
    }
}

static void indexes_are_ordered_by_what_their_names_say(void **state) {
    (void)state;
    struct {
        TableNumber table;
        int index;
        const char *first;
        bool is_unique, is_sparse;
    } expected[] = {
        {TABLE_RUNS, RUNS_BY_ID, "id", true, false},
        {TABLE_RUNS, RUNS_BY_PHASE, "phase", false, false},
        {TABLE_RUNS, RUNS_BY_OWNER, "owner", false, true},
        {TABLE_RUNS, RUNS_BY_DUE, "due_at_ms", false, true},
        {TABLE_RUNS, RUNS_BY_PARENT, "parent", false, true},
        {TABLE_RUNS, RUNS_BY_IDLE, "idle_since_ms", false, true},
        {TABLE_WAITERS, WAITERS_BY_TOPIC, "topic", false, false},
        {TABLE_EVENTS, EVENTS_BY_TOPIC, "topic", false, true},
        {TABLE_EVENTS, EVENTS_BY_RUN, "run", false, true},
        {TABLE_EVENTS, EVENTS_BY_DUE, "due_at_ms", false, true},
        {TABLE_DEAD_LETTERS, DEAD_LETTERS_BY_DUE, "due_at_ms", false, true},
        {TABLE_TASKS, TASKS_BY_ID, "id", true, false},
        {TABLE_TASKS, TASKS_BY_QUEUE, "queue", false, true},
        {TABLE_TASKS, TASKS_BY_RUN, "run", false, true},
        {TABLE_TASKS, TASKS_BY_DUE, "due_at_ms", false, true},
        {TABLE_TASKS, TASKS_BY_PHASE, "phase", false, true},
        {TABLE_TASKS, TASKS_BY_KEY, "queue", false, true},
        {TABLE_TASKS, TASKS_BY_NAME, "queue", false, true},
        {TABLE_DEFINITIONS, DEFINITIONS_BY_NAME, "name", false, false},
        {TABLE_DEFINITIONS, DEFINITIONS_BY_VERSION, "name", true, false},
        {TABLE_DEDUPE, DEDUPE_BY_DUE, "due_at_ms", false, true},
        {TABLE_TAGS, TAGS_BY_RUN, "run", false, false},
        {TABLE_SCHEDULES, SCHEDULES_BY_NAME, "name", true, false},
        {TABLE_SCHEDULES, SCHEDULES_BY_DUE, "due_at_ms", false, true},
        {TABLE_SCHEDULES, SCHEDULES_BY_AWAITED, "awaited_run", false, true},
        {TABLE_QUEUES, QUEUES_BY_DUE, "due_at_ms", false, true},
        {TABLE_TASK_KEYS, TASK_KEYS_BY_NAME, "queue", true, false},
        {TABLE_TASK_KEYS, TASK_KEYS_BY_QUEUE, "queue", false, false},
        {TABLE_STATES, STATES_BY_VALUE, "name", false, false},
        {TABLE_TOKENS, TOKENS_BY_ID, "id", true, false},
        {TABLE_TOKENS, TOKENS_BY_HASH, "hash", true, false},
    };
    size_t total = 0;
    for (int number = 0; number < TABLE_COUNT; number++) total += tables[number].index_count;
    assert_int_equal(total, COUNT_OF(expected));
    for (size_t i = 0; i < total; i++) {
        const Table *table = &tables[expected[i].table];
        const IndexSpec *index = &table->indexes[expected[i].index];
        assert_string_equal(table->columns[index->columns[0]].name, expected[i].first);
        assert_int_equal(index->is_unique, expected[i].is_unique);
        assert_int_equal(index->sparse != COLUMN_NONE, expected[i].is_sparse);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_have_names),
        cmocka_unit_test(numbers_without_a_name_are_unknown),
        cmocka_unit_test(deliveries_have_a_name_and_those_of_tasks_an_id),
        cmocka_unit_test(higher_priorities_have_smaller_positive_ranks),
        cmocka_unit_test(changes_tell_exactly_the_columns_that_differ),
        cmocka_unit_test(null_and_empty_are_a_change),
        cmocka_unit_test(a_copy_shares_nothing),
        cmocka_unit_test(a_sparse_index_wants_its_column_set),
        cmocka_unit_test(every_table_is_well_formed),
        cmocka_unit_test(indexes_are_ordered_by_what_their_names_say),
    };
    return cmocka_run_group_tests_name("model rows", tests, NULL, NULL);
}
