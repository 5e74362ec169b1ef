// Dump: see dump.h. One section per kind of thing, one line per row, every column by name.
#include "contract/dump.h"
#include "base/containers/buf.h"
#include "base/limits.h"
#include <stdio.h>
#include <stdlib.h>

enum { DUMP_SIZE_MAX = 256 << 20, DUMP_TEXT_MAX = 200 };

typedef struct Dump {
    Store *store;
    Arena arena; // of the present query
    Buf text;
    const DumpOptions *options;
} Dump;

static void query_run(Dump *dump, Query *query, QueryKind kind) {
    Diag diag = {0};
    query->kind = kind;
    query->now_ms = dump->options->now_ms;
    arena_reset(&dump->arena);
    Status status = store_read(dump->store, &dump->arena, query, &diag);
    if (status == OK) return;
    fprintf(stderr, "%s: query %d answers %s: %s: %s\n", dump->store->ops->name, (int)kind,
            status_name(status), diag.code, diag.message);
    abort();
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
    for (int64_t after = 0;;) {
        Query query = {.run = run, .after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_LOG);
        for (size_t i = 0; i < query.count; i++) row_add(dump, TABLE_LOG, &query.log[i]);
        if (query.next == 0) return;
        after = query.next;
    }
}

// In one page: pages of steps end at a position, which entries may share in nonsensical histories.
static void steps_add(Dump *dump, int64_t run) {
    Query query = {.run = run};
    query_run(dump, &query, QUERY_LIST_STEPS);
    buf_append_cstr(&dump->text, "  steps");
    for (size_t i = 0; i < query.count; i++) {
        buf_printf(&dump->text, " %lld:%lld", (long long)query.log[i].position,
                   (long long)query.log[i].seq);
    }
    buf_append_char(&dump->text, '\n');
}

static void load_add(Dump *dump, int64_t run) {
    Query query = {.run = run};
    query_run(dump, &query, QUERY_RUN_LOAD);
    buf_append_cstr(&dump->text, "  load");
    for (size_t i = 0; i < query.log_count; i++) {
        buf_printf(&dump->text, " %lld", (long long)query.log[i].seq);
    }
    buf_append_char(&dump->text, '\n');
}

static void children_add(Dump *dump, int64_t run) {
    buf_append_cstr(&dump->text, "  children");
    for (int64_t after = 0;;) {
        Query query = {.run = run, .after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_CHILDREN);
        for (size_t i = 0; i < query.count; i++) {
            buf_printf(&dump->text, " %lld", (long long)query.runs[i].key);
        }
        if (query.next == 0) break;
        after = query.next;
    }
    buf_append_char(&dump->text, '\n');
}

static void events_add(Dump *dump, int64_t run, Str topic) {
    for (int64_t after = 0;;) {
        Query query = {
            .run = run, .name = topic, .after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_EVENTS);
        for (size_t i = 0; i < query.count; i++) row_add(dump, TABLE_EVENTS, &query.events[i]);
        if (query.next == 0) return;
        after = query.next;
    }
}

static void run_add(Dump *dump, int64_t key) {
    Query query = {.run = key};
    query_run(dump, &query, QUERY_RUN);
    row_add(dump, TABLE_RUNS, query.runs);
    bool has_result = query.runs->result_seq != 0;
    query = (Query){.run = key};
    query_run(dump, &query, QUERY_INPUT);
    text_line(dump, "input", query.text);
    if (has_result) {
        query = (Query){.run = key};
        query_run(dump, &query, QUERY_RESULT);
        text_line(dump, "result", query.text);
    }
    log_add(dump, key);
    steps_add(dump, key);
    load_add(dump, key);
    children_add(dump, key);
    events_add(dump, key, STR_NULL);
    query = (Query){.run = key};
    query_run(dump, &query, QUERY_LIST_STATES);
    for (size_t i = 0; i < query.count; i++) row_add(dump, TABLE_STATES, &query.values[i]);
}

// ---- listings ----

static void runs_add(Dump *dump) {
    for (int64_t cursor = 0;;) {
        Query query = {.filter = {.cursor = cursor, .limit = dump->options->page_limit}};
        query_run(dump, &query, QUERY_LIST_RUNS);
        size_t count = query.count;
        int64_t keys[LIMIT_LIST_PAGE_MAX];
        for (size_t i = 0; i < count; i++) keys[i] = query.runs[i].key;
        cursor = query.next;
        for (size_t i = 0; i < count; i++) run_add(dump, keys[i]);
        if (cursor == 0) return;
    }
}

static void keys_add(Dump *dump, const char *what, Str name, RunFilter filter) {
    buf_printf(&dump->text, "%s %.*s:", what, STR_ARG(name));
    for (;;) {
        Query query = {.filter = filter};
        query.filter.limit = dump->options->page_limit;
        query_run(dump, &query, QUERY_LIST_RUNS);
        for (size_t i = 0; i < query.count; i++) {
            buf_printf(&dump->text, " %lld", (long long)query.runs[i].key);
        }
        filter.cursor = query.next;
        if (query.next == 0) break;
    }
    buf_append_char(&dump->text, '\n');
}

static void waiters_add(Dump *dump, Str topic) {
    buf_printf(&dump->text, "waiters %.*s:", STR_ARG(topic));
    int64_t last = 0;
    for (int64_t after = 0;;) {
        Query query = {.name = topic, .after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_WAITERS);
        for (size_t i = 0; i < query.count; i++) {
            // A run that waits twice and stands at the border of two pages comes in both.
            if (query.runs[i].key == last) continue;
            last = query.runs[i].key;
            buf_printf(&dump->text, " %lld", (long long)last);
        }
        if (query.next == 0) break;
        after = query.next;
    }
    buf_append_char(&dump->text, '\n');
}

static void topics_add(Dump *dump) {
    Arena names;
    arena_init(&names);
    for (Str after = STR_NULL;;) {
        Query query = {.name = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_LIST_TOPICS);
        for (size_t i = 0; i < query.count; i++) row_add(dump, TABLE_TOPICS, &query.topics[i]);
        if (query.next == 0) break;
        after = arena_str(&names, query.topics[query.count - 1].name);
    }
    for (size_t i = 0; i < dump->options->topic_count; i++) {
        Str topic = str_from(dump->options->topics[i]);
        waiters_add(dump, topic);
        events_add(dump, 0, topic);
        keys_add(dump, "waiting_on", topic, (RunFilter){.waiting_on = topic});
    }
    arena_done(&names);
}

static void tasks_add(Dump *dump) {
    for (int64_t after = 0;;) {
        Query query = {.after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_LIST_TASKS);
        for (size_t i = 0; i < query.count; i++) row_add(dump, TABLE_TASKS, &query.tasks[i]);
        if (query.next == 0) return;
        after = query.next;
    }
}

static void queues_add(Dump *dump) {
    Arena names;
    arena_init(&names);
    for (Str after = STR_NULL;;) {
        Query query = {.name = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_LIST_QUEUES);
        for (size_t i = 0; i < query.count; i++) {
            row_add(dump, TABLE_QUEUES, &query.queues[i].row);
            buf_printf(&dump->text, "oldest %lld\n", (long long)query.queues[i].oldest_at_ms);
        }
        if (query.next == 0) break;
        after = arena_str(&names, query.queues[query.count - 1].row.name);
    }
    arena_done(&names);
}

static void letters_add(Dump *dump) {
    for (int64_t after = 0;;) {
        Query query = {.after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_DEAD_LETTERS);
        for (size_t i = 0; i < query.count; i++) {
            row_add(dump, TABLE_DEAD_LETTERS, &query.dead_letters[i]);
        }
        if (query.next == 0) return;
        after = query.next;
    }
}

static void definitions_add(Dump *dump) {
    for (int64_t after = 0;;) {
        Query query = {.after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_LIST_DEFINITIONS);
        for (size_t i = 0; i < query.count; i++) {
            row_add(dump, TABLE_DEFINITIONS, &query.definitions[i]);
        }
        if (query.next == 0) return;
        after = query.next;
    }
}

static void schedules_add(Dump *dump) {
    for (int64_t after = 0;;) {
        Query query = {.after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_LIST_SCHEDULES);
        for (size_t i = 0; i < query.count; i++) {
            row_add(dump, TABLE_SCHEDULES, &query.schedules[i]);
        }
        if (query.next == 0) return;
        after = query.next;
    }
}

static void owned_add(Dump *dump, int64_t node) {
    buf_printf(&dump->text, "owned by %lld:", (long long)node);
    for (int64_t after = 0;;) {
        Query query = {.run = node, .after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_OWNED);
        for (size_t i = 0; i < query.count; i++) {
            buf_printf(&dump->text, " %lld", (long long)query.runs[i].key);
        }
        if (query.next == 0) break;
        after = query.next;
    }
    buf_append_char(&dump->text, '\n');
}

static void nodes_add(Dump *dump) {
    int64_t keys[LIMIT_LIST_PAGE_MAX];
    size_t count = 0;
    for (int64_t after = 0;;) {
        Query query = {.after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_LIST_NODES);
        for (size_t i = 0; i < query.count; i++) {
            if (!dump->options->has_batch_numbers) query.nodes[i].last_batch = 0;
            row_add(dump, TABLE_NODES, &query.nodes[i]);
            if (count < LIMIT_LIST_PAGE) keys[count++] = query.nodes[i].key;
        }
        if (query.next == 0) break;
        after = query.next;
    }
    owned_add(dump, 0);
    for (size_t i = 0; i < count; i++) owned_add(dump, keys[i]);
}

static void due_add(Dump *dump) {
    Query query = {0};
    query_run(dump, &query, QUERY_DUE);
    buf_printf(&dump->text, "due at %lld; runs", (long long)query.number);
    query = (Query){0};
    query_run(dump, &query, QUERY_DUE_RUNS);
    for (size_t i = 0; i < query.count; i++) {
        buf_printf(&dump->text, " %lld", (long long)query.runs[i].key);
    }
    buf_append_char(&dump->text, '\n');
}

static void stats_add(Dump *dump) {
    Query query = {0};
    query_run(dump, &query, QUERY_STATS);
    buf_append_cstr(&dump->text, "counters");
    for (int i = 0; i < COUNTER_COUNT; i++) {
        if (query.stats.counters[i] == 0) continue;
        buf_printf(&dump->text, " %d=%lld", i, (long long)query.stats.counters[i]);
    }
    buf_append_char(&dump->text, '\n');
}

static void tokens_add(Dump *dump) {
    for (int64_t after = 0;;) {
        Query query = {.after = after, .limit = dump->options->page_limit};
        query_run(dump, &query, QUERY_LIST_TOKENS);
        for (size_t i = 0; i < query.count; i++) row_add(dump, TABLE_TOKENS, &query.tokens[i]);
        if (query.next == 0) return;
        after = query.next;
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
