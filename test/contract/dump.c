// Dump: see dump.h. One section per kind of thing, one line per row, every column by name.
#include "contract/dump.h"
#include "base/containers/buf.h"
#include "base/limits.h"
#include <stdio.h>
#include <stdlib.h>

enum { DUMP_SIZE_MAX = 256 << 20, DUMP_TEXT_MAX = 200, VERSIONS_OF_TRACES = 3 };

typedef struct Dump {
    Store *store;
    Arena arena; // of the present query
    Buf text;
    const DumpOptions *options;
} Dump;

// Before each question; what an earlier one answered is gone.
static Arena *fresh(Dump *dump) {
    arena_reset(&dump->arena);
    return &dump->arena;
}

static void must(Dump *dump, Status status, const Diag *diag) {
    if (status == OK) return;
    fprintf(stderr, "%s: a question is answered %s: %s: %s\n", dump->store->ops->name,
            status_name(status), diag->code, diag->message);
    abort();
}

// Whether a page follows; then `after` is where it begins.
static bool has_next(int64_t next, int64_t *after) {
    *after = next;
    return next != 0;
}

static void text_add(Buf *text, Str s) {
    if (str_is_null(s)) {
        buf_append_cstr(text, "-");
        return;
    }
    buf_append_char(text, '"');
    size_t shown = s.len < DUMP_TEXT_MAX ? s.len : DUMP_TEXT_MAX;
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') buf_append_char(text, (char)c);
        else buf_printf(text, "\\%02x", c);
    }
    buf_append_char(text, '"');
    if (shown == s.len) return;
    uint64_t sum = 14695981039346656037u; // the rest is told apart by its length and sum
    for (size_t i = shown; i < s.len; i++) sum = (sum ^ (unsigned char)s.data[i]) * 1099511628211u;
    buf_printf(text, "+%zu:%llx", s.len - shown, (unsigned long long)sum);
}

static void row_add(Dump *dump, TableNumber number, const void *row) {
    const Table *table = &tables[number];
    Buf *text = &dump->text;
    buf_printf(text, "%s", table->name);
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        buf_printf(text, " %s=", column->name);
        if (column->type == COLUMN_I64) {
            buf_printf(text, "%lld", (long long)row_i64(row, column));
        } else {
            text_add(text, row_str(row, column));
        }
    }
    buf_append_char(text, '\n');
}

static void text_line(Dump *dump, const char *what, Str s) {
    buf_printf(&dump->text, "  %s ", what);
    text_add(&dump->text, s);
    buf_append_char(&dump->text, '\n');
}

// ---- one run ----

static void log_add(Dump *dump, int64_t run) {
    LogFilter filter = {run_of_key(run), {.limit = dump->options->page_limit}};
    LogPage page;
    do {
        Diag diag = {0};
        must(dump, store_read_log(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_LOG, &page.rows[i]);
    } while (has_next(page.next, &filter.page.after));
}

// What a step is called and where it stands, in order of position.
static void steps_add(Dump *dump, int64_t run) {
    const StepFilter filter = {.run = run_of_key(run)};
    LogPage page;
    Diag diag = {0};
    must(dump, store_list_steps(dump->store, fresh(dump), &filter, &page, &diag), &diag);
    buf_append_cstr(&dump->text, "  steps");
    for (size_t i = 0; i < page.count; i++) {
        buf_printf(&dump->text, " %lld:%lld", (long long)page.rows[i].position,
                   (long long)page.rows[i].seq);
    }
    buf_append_char(&dump->text, '\n');
}

static void load_add(Dump *dump, int64_t run) {
    RunLoad load;
    Diag diag = {0};
    must(dump, store_load_run(dump->store, fresh(dump), run, &load, &diag), &diag);
    text_line(dump, "input", load.input);
    buf_append_cstr(&dump->text, "  load");
    for (size_t i = 0; i < load.log_count; i++) {
        buf_printf(&dump->text, " %lld", (long long)load.log[i].seq);
    }
    buf_append_char(&dump->text, '\n');
}

static void keys_add(Dump *dump, const char *what, Str name, RunFilter filter);

static void signals_add(Dump *dump, int64_t run) {
    SignalFilter filter = {run_of_key(run), {.limit = dump->options->page_limit}};
    EventPage page;
    do {
        Diag diag = {0};
        must(dump, store_list_signals(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_EVENTS, &page.rows[i]);
    } while (has_next(page.next, &filter.page.after));
}

static void events_add(Dump *dump, Str topic) {
    EventFilter filter = {topic, {.limit = dump->options->page_limit}};
    EventPage page;
    do {
        Diag diag = {0};
        must(dump, store_list_events(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_EVENTS, &page.rows[i]);
    } while (has_next(page.next, &filter.page.after));
}

static void result_add(Dump *dump, int64_t run) {
    RunResult result;
    Diag diag = {0};
    must(dump, store_find_result(dump->store, fresh(dump), run_of_key(run), &result, &diag), &diag);
    text_line(dump, "result", result.json);
}

static void states_add(Dump *dump, int64_t run) {
    StateList list;
    Diag diag = {0};
    must(dump, store_list_states(dump->store, fresh(dump), run_of_key(run), &list, &diag), &diag);
    for (size_t i = 0; i < list.count; i++) row_add(dump, TABLE_STATES, &list.rows[i]);
}

static void run_add(Dump *dump, int64_t key) {
    RunRow run;
    Diag diag = {0};
    Arena names;
    arena_init(&names);
    must(dump, store_run_by_key(dump->store, fresh(dump), key, &run, &diag), &diag);
    row_add(dump, TABLE_RUNS, &run);
    Str id = arena_str(&names, run.id);
    load_add(dump, key);
    if (run.result_seq != 0) result_add(dump, key);
    log_add(dump, key);
    steps_add(dump, key);
    keys_add(dump, "children", id, (RunFilter){.parent_id = id});
    signals_add(dump, key);
    states_add(dump, key);
    arena_done(&names);
}

// ---- listings ----

static void runs_add(Dump *dump) {
    RunFilter filter = {.limit = dump->options->page_limit};
    do {
        RunPage page;
        Diag diag = {0};
        must(dump, store_list_runs(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        filter.cursor = page.next;
        size_t count = page.count;
        int64_t keys[LIMIT_LIST_PAGE_MAX];
        for (size_t i = 0; i < count; i++) keys[i] = page.rows[i].key;
        for (size_t i = 0; i < count; i++) run_add(dump, keys[i]);
    } while (filter.cursor != 0);
}

static void keys_add(Dump *dump, const char *what, Str name, RunFilter filter) {
    RunPage page;
    filter.limit = dump->options->page_limit;
    buf_printf(&dump->text, "%s %.*s:", what, STR_ARG(name));
    do {
        Diag diag = {0};
        must(dump, store_list_runs(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) {
            buf_printf(&dump->text, " %lld", (long long)page.rows[i].key);
        }
    } while (has_next(page.next, &filter.cursor));
    buf_append_char(&dump->text, '\n');
}

static void waiters_add(Dump *dump, Str topic) {
    WaiterFilter filter = {topic, {.limit = dump->options->page_limit}};
    RunPage page;
    int64_t last = 0;
    buf_printf(&dump->text, "waiters %.*s:", STR_ARG(topic));
    do {
        Diag diag = {0};
        must(dump, store_list_waiters(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) {
            // A run that waits twice and stands at the border of two pages comes in both.
            if (page.rows[i].key == last) continue;
            last = page.rows[i].key;
            buf_printf(&dump->text, " %lld", (long long)last);
        }
    } while (has_next(page.next, &filter.page.after));
    buf_append_char(&dump->text, '\n');
}

static void topics_add(Dump *dump) {
    NamePageSpec spec = {.limit = dump->options->page_limit};
    TopicPage page;
    Arena names;
    arena_init(&names);
    do {
        Diag diag = {0};
        must(dump, store_list_topics(dump->store, fresh(dump), &spec, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_TOPICS, &page.rows[i].row);
        if (page.has_more) spec.after = arena_str(&names, page.rows[page.count - 1].row.name);
    } while (page.has_more);
    for (size_t i = 0; i < dump->options->topic_count; i++) {
        Str topic = str_from(dump->options->topics[i]);
        waiters_add(dump, topic);
        events_add(dump, topic);
        keys_add(dump, "waiting_on", topic, (RunFilter){.waiting_on = topic});
    }
    arena_done(&names);
}

static void tasks_add(Dump *dump) {
    TaskFilter filter = {.page.limit = dump->options->page_limit};
    TaskPage page;
    do {
        Diag diag = {0};
        must(dump, store_list_tasks(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_TASKS, &page.rows[i]);
    } while (has_next(page.next, &filter.page.after));
}

static void queues_add(Dump *dump) {
    NamePageSpec spec = {.limit = dump->options->page_limit};
    QueuePage page;
    Arena names;
    arena_init(&names);
    do {
        Diag diag = {0};
        must(dump, store_list_queues(dump->store, fresh(dump), &spec, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) {
            row_add(dump, TABLE_QUEUES, &page.rows[i].row);
            buf_printf(&dump->text, "oldest %lld\n", (long long)page.rows[i].oldest_at_ms);
        }
        if (page.has_more) spec.after = arena_str(&names, page.rows[page.count - 1].row.name);
    } while (page.has_more);
    arena_done(&names);
}

static void letters_add(Dump *dump) {
    PageSpec spec = {.limit = dump->options->page_limit};
    DeadLetterPage page;
    do {
        Diag diag = {0};
        must(dump, store_list_dead_letters(dump->store, fresh(dump), &spec, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_DEAD_LETTERS, &page.rows[i]);
    } while (has_next(page.next, &spec.after));
}

static void places_add(Dump *dump, int64_t definition) {
    PlaceList list;
    Diag diag = {0};
    must(dump, store_list_places(dump->store, fresh(dump), definition, &list, &diag), &diag);
    for (size_t i = 0; i < list.count; i++) row_add(dump, TABLE_PLACES, &list.rows[i]);
}

static void definitions_add(Dump *dump) {
    DefinitionFilter filter = {.page.limit = dump->options->page_limit};
    DefinitionPage page;
    do {
        Diag diag = {0};
        must(dump, store_list_definitions(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_DEFINITIONS, &page.rows[i]);
    } while (has_next(page.next, &filter.page.after));
}

static void schedules_add(Dump *dump) {
    PageSpec spec = {.limit = dump->options->page_limit};
    SchedulePage page;
    do {
        Diag diag = {0};
        must(dump, store_list_schedules(dump->store, fresh(dump), &spec, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_SCHEDULES, &page.rows[i]);
    } while (has_next(page.next, &spec.after));
}

static void owned_add(Dump *dump, int64_t node) {
    OwnedFilter filter = {node, {.limit = dump->options->page_limit}};
    RunPage page;
    buf_printf(&dump->text, "owned by %lld:", (long long)node);
    do {
        Diag diag = {0};
        must(dump, store_list_owned(dump->store, fresh(dump), &filter, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) {
            buf_printf(&dump->text, " %lld", (long long)page.rows[i].key);
        }
    } while (has_next(page.next, &filter.page.after));
    buf_append_char(&dump->text, '\n');
}

static void nodes_add(Dump *dump) {
    PageSpec spec = {.limit = dump->options->page_limit};
    NodePage page;
    int64_t keys[LIMIT_LIST_PAGE_MAX];
    size_t count = 0;
    do {
        Diag diag = {0};
        must(dump, store_list_nodes(dump->store, fresh(dump), &spec, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) {
            NodeRow *node = &page.rows[i].row;
            if (!dump->options->has_batch_numbers) node->last_batch = 0;
            row_add(dump, TABLE_NODES, node);
            if (count < LIMIT_LIST_PAGE) keys[count++] = node->key;
        }
    } while (has_next(page.next, &spec.after));
    owned_add(dump, 0);
    for (size_t i = 0; i < count; i++) owned_add(dump, keys[i]);
}

static void due_add(Dump *dump) {
    int64_t due_at_ms;
    Diag diag = {0};
    must(dump, store_next_due(dump->store, fresh(dump), &due_at_ms, &diag), &diag);
    buf_printf(&dump->text, "due at %lld\n", (long long)due_at_ms);
}

static void stats_add(Dump *dump) {
    StoreStats stats;
    Diag diag = {0};
    must(dump, store_stats(dump->store, fresh(dump), &stats, &diag), &diag);
    buf_append_cstr(&dump->text, "counters");
    for (int i = 0; i < COUNTER_COUNT; i++) {
        if (stats.counters[i] == 0) continue;
        buf_printf(&dump->text, " %d=%lld", i, (long long)stats.counters[i]);
    }
    buf_append_char(&dump->text, '\n');
}

static void tokens_add(Dump *dump) {
    PageSpec spec = {.limit = dump->options->page_limit};
    TokenPage page;
    do {
        Diag diag = {0};
        must(dump, store_list_tokens(dump->store, fresh(dump), &spec, &page, &diag), &diag);
        for (size_t i = 0; i < page.count; i++) row_add(dump, TABLE_TOKENS, &page.rows[i]);
    } while (has_next(page.next, &spec.after));
}

static void rates_add(Dump *dump) {
    for (int64_t step_ms = RATE_FINE_MS; step_ms <= RATE_COARSE_MS;
         step_ms += RATE_COARSE_MS - RATE_FINE_MS) {
        RateList list;
        Diag diag = {0};
        must(dump,
             store_list_rates(dump->store, fresh(dump), &(RateFilter){.step_ms = step_ms}, &list,
                              &diag),
             &diag);
        for (size_t i = 0; i < list.count; i++) row_add(dump, TABLE_RATES, &list.rows[i]);
    }
}

Str store_dump(Store *store, Arena *arena, const DumpOptions *options) {
    Dump dump = {.store = store, .options = options};
    arena_init(&dump.arena);
    buf_init(&dump.text, DUMP_SIZE_MAX);
    stats_add(&dump);
    due_add(&dump);
    nodes_add(&dump);
    definitions_add(&dump);
    for (int64_t i = 0; i < VERSIONS_OF_TRACES; i++) places_add(&dump, i);
    schedules_add(&dump);
    runs_add(&dump);
    for (int state = RUN_PENDING; state < RUN_STATE_COUNT; state++) {
        keys_add(&dump, "state", str_from(run_state_name(state)),
                 (RunFilter){.states = 1u << state});
    }
    for (size_t i = 0; i < options->tag_count; i++) {
        Str tag = str_from(options->tags[i]);
        keys_add(&dump, "tag", tag, (RunFilter){.tag = tag});
    }
    keys_add(&dump, "state", STR("key0"),
             (RunFilter){.state_key = STR("key0"), .state_value = STR("null")});
    keys_add(&dump, "idle", STR_NULL, (RunFilter){.idle_before_ms = options->now_ms + 1});
    topics_add(&dump);
    tasks_add(&dump);
    queues_add(&dump);
    letters_add(&dump);
    tokens_add(&dump);
    rates_add(&dump);
    Str text = arena_str(arena, buf_str(&dump.text));
    buf_done(&dump.text);
    arena_done(&dump.arena);
    return text;
}

static Str next_line(Str *rest) {
    const char *end = rest->len > 0 ? memchr(rest->data, '\n', rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->data) : rest->len;
    Str line = {rest->data, len};
    size_t step = end ? len + 1 : len;
    *rest = (Str){rest->data + step, rest->len - step};
    return line;
}

void dump_print_difference(Str expected, Str actual) {
    enum { DIFFERENCES_MAX = 6 };
    int count = 0;
    while ((expected.len > 0 || actual.len > 0) && count < DIFFERENCES_MAX) {
        Str left = next_line(&expected), right = next_line(&actual);
        if (str_equal(left, right)) continue;
        fprintf(stderr, "- %.*s\n+ %.*s\n", STR_ARG(left), STR_ARG(right));
        count++;
    }
}
