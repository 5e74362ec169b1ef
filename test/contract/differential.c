// The differential test: the same random traces on every backend, in lock step.
//
//   test_differential                      fixed seeds, scaled by ABIDE_TEST_SCALE
//   test_differential --seeds A..B         others
//   test_differential --batches N          longer or shorter traces
//   test_differential --show SEED          prints one trace and its answers
//
// After each batch the answers must be the same text; now and then, and at the end, so must the
// whole logical state, every store must verify, and runs that had ended must be as they were. One
// of the stores is opened again and again, so that what the kernel keeps in memory is compared
// with what it would have read.
//
// A trace runs in a process of its own, so that one that ends by an assertion is found out too.
// One that fails is made smaller, batch by batch and operation by operation, while it still
// fails, and is then printed with its seed.
//
// A new backend is one line in `backends`.
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/env.h"
#include "contract/dump.h"
#include "contract/trace.h"
#include "servers/postgres.h"
#include "servers/redis.h"
#include "servers/servers.h"
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Backend {
    const char *name;
    const char *scheme;
    bool has_file;
    bool is_reopened; // now and then, between batches
    bool is_shared;   // by two stores that take turns, as two nodes do
} Backend;

static const Backend backends[] = {
    {"memory", "memory:", false, false, false},
    {"sqlite", "sqlite:", true, false, false},
    {"sqlite, opened again and again", "sqlite:", true, true, false},
    {"postgres", "postgres:", false, false, false},
    {"postgres, two at once", "postgres:", false, false, true},
    {"redis", "redis:", false, false, false},
    {"redis, two at once", "redis:", false, false, true},
};

enum {
    BACKENDS = COUNT_OF(backends),
    SEEDS = 18,
    SEEDS_PER_POINT = 3,
    BATCHES = 260,
    STATE_EVERY = 65, // batches: it costs as much as thirty of them
    REOPEN_EVERY = 9,
    SHRINK_MAX = 500 // runs of smaller traces
};

typedef struct Tally { // shared between the processes
    int64_t batch_count;
    int64_t op_count;
    int64_t state_count;
    int64_t ok[OP_KIND_COUNT];
    int64_t refused[OP_KIND_COUNT];
} Tally;

typedef struct Side {
    Store *store;
    Store *other; // is_shared; they change places after most batches
    char url[160];
    Arena arena; // of the present batch
} Side;

typedef struct Contest {
    Side sides[BACKENDS];
    char directory[64];
    Knowledge knowledge;
    Map ended; // run key -> a sum over its row and log, when it was first seen ended
    Tally *tally;
    bool is_quiet; // while a trace is made smaller
    bool is_shown;
    Map heartbeats; // node key -> the number of its last batch that did nothing but renew a lease
} Contest;

static bool filter_contains(Str filter, Str payload) {
    return filter.len <= payload.len &&
           memmem(payload.data, payload.len, filter.data, filter.len) != NULL;
}

static Store *side_open(const Side *side) {
    StoreConfig config = {
        .filter_matches = filter_contains, .events_per_topic = 8, .event_retention_ms = 30000};
    Diag diag = {0};
    Store *store = NULL;
    Status status = store_open(str_from(side->url), &config, &store, &diag);
    if (status == OK) return store;
    fprintf(stderr, "%s: %s: %s\n", side->url, diag.code, diag.message);
    abort();
}

// Named by the process, so that its parent can clear away what one that died left behind.
static void directory_name(pid_t process, char *ret_name, size_t size) {
    snprintf(ret_name, size, "%s/abide-diff-%ld", test_folders(), (long)process);
}

static void server_url(Side *side, size_t place) {
    char name[32];
    snprintf(name, sizeof(name), "side_%zu", place);
    if (strcmp(backends[place].scheme, "postgres:") == 0) {
        test_postgres_clear(name);
        test_postgres_url(name, side->url, sizeof(side->url));
    } else if (strcmp(backends[place].scheme, "redis:") == 0) {
        test_redis_url(name, side->url, sizeof(side->url));
    } else {
        snprintf(side->url, sizeof(side->url), "%s", backends[place].scheme);
    }
}

static void contest_open(Contest *contest) {
    test_redis_clear();
    directory_name(getpid(), contest->directory, sizeof(contest->directory));
    if (mkdir(contest->directory, 0700) != 0) { // left by an older process of that number
        test_folder_remove(contest->directory);
        if (mkdir(contest->directory, 0700) != 0) abort();
    }
    for (size_t i = 0; i < BACKENDS; i++) {
        Side *side = &contest->sides[i];
        arena_init(&side->arena);
        if (backends[i].has_file) {
            snprintf(side->url, sizeof(side->url), "%s%s/%zu.db", backends[i].scheme,
                     contest->directory, i);
        } else {
            server_url(side, i);
        }
        side->store = side_open(side);
        if (backends[i].is_shared) side->other = side_open(side);
    }
    knowledge_init(&contest->knowledge);
    map_init(&contest->ended);
    map_init(&contest->heartbeats);
}

static void contest_close(Contest *contest) {
    for (size_t i = 0; i < BACKENDS; i++) {
        store_close(contest->sides[i].store);
        if (contest->sides[i].other != NULL) store_close(contest->sides[i].other);
        arena_done(&contest->sides[i].arena);
    }
    map_done(&contest->ended);
    map_done(&contest->heartbeats);
    test_folder_remove(contest->directory);
}

static bool differs(const Contest *contest, size_t place, Str expected, Str actual) {
    if (str_equal(expected, actual)) return false;
    if (!contest->is_quiet) {
        fprintf(stderr, "%s (-) and %s (+) differ:\n", backends[0].name, backends[place].name);
        dump_print_difference(expected, actual);
    }
    return true;
}

static bool verify_fails(const Contest *contest, size_t place) {
    Diag diag = {0};
    int64_t row_count = 0;
    Status status = store_verify(contest->sides[place].store, &row_count, &diag);
    if (status == OK) return false;
    if (!contest->is_quiet) {
        fprintf(stderr, "%s does not verify: %s: %s\n", backends[place].name, diag.code,
                diag.message);
    }
    return true;
}

static uint64_t sum_of_row(TableNumber number, const void *row, uint64_t sum) {
    const Table *table = &tables[number];
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        // A parent that is purged leaves its children without one.
        if (number == TABLE_RUNS && column->offset == offsetof(RunRow, parent)) continue;
        uint64_t value = column->type == COLUMN_I64
                             ? (uint64_t)row_i64(row, column)
                             : hash_bytes(row_str(row, column).data, row_str(row, column).len);
        sum = hash_u64(sum ^ value) + i;
    }
    return sum;
}

// [store-batch-6] Terminal is final: what has ended stays as it was, until it is purged.
static bool ended_changed(Contest *contest, Arena *arena) {
    Store *store = contest->sides[0].store;
    uint32_t states = 1u << RUN_COMPLETED | 1u << RUN_FAILED | 1u << RUN_CANCELLED;
    RunPage list;
    if (store_list_runs(store, arena, &(RunFilter){.states = states}, &list, NULL) != OK) abort();
    for (size_t i = 0; i < list.count; i++) {
        LogPage log;
        if (store_read_log(store, arena, &(LogFilter){.run = run_of_key(list.rows[i].key)}, &log,
                           NULL) != OK)
            abort();
        uint64_t sum = sum_of_row(TABLE_RUNS, &list.rows[i], 1);
        for (size_t j = 0; j < log.count; j++) sum = sum_of_row(TABLE_LOG, &log.rows[j], sum);
        void *now = (void *)(uintptr_t)(sum | 1);
        void *then = map_put(&contest->ended, (uint64_t)list.rows[i].key, now);
        if (then == NULL || then == now) continue;
        if (!contest->is_quiet) {
            fprintf(stderr, "the run %.*s was changed after it had ended\n",
                    STR_ARG(list.rows[i].id));
        }
        return true;
    }
    return false;
}

static int64_t last_batch(Store *store, int64_t node, Arena *arena) {
    NodeRow row;
    if (store_node_by_key(store, arena, node, &row, NULL) != OK) abort();
    return row.last_batch;
}

// The number of a node's last batch is the same everywhere. Where leases are kept beside the rows,
// a batch that only renews leaves no number: the one before it stands until another one writes.
static bool batch_numbers_differ(const Contest *contest, Arena *arena) {
    NodePage list;
    if (store_list_nodes(contest->sides[0].store, arena, &(PageSpec){0}, &list, NULL) != OK)
        abort();
    for (size_t i = 0; i < list.count; i++) {
        int64_t node = list.rows[i].row.key, expected = list.rows[i].row.last_batch;
        void *heartbeat = map_get(&contest->heartbeats, (uint64_t)node);
        bool is_heartbeat = heartbeat == (void *)(uintptr_t)expected;
        for (size_t side = 1; side < BACKENDS; side++) {
            int64_t actual = last_batch(contest->sides[side].store, node, arena);
            if (actual == expected || (is_heartbeat && actual < expected)) continue;
            if (!contest->is_quiet) {
                fprintf(stderr, "the last batch of node %lld is %lld in %s and %lld in %s\n",
                        (long long)node, (long long)expected, backends[0].name, (long long)actual,
                        backends[side].name);
            }
            return true;
        }
    }
    return false;
}

static bool states_differ(Contest *contest) {
    DumpOptions options = {.topics = trace_topics,
                           .topic_count = trace_topic_count,
                           .tags = trace_tags,
                           .tag_count = trace_tag_count,
                           .now_ms = contest->knowledge.now_ms};
    Arena arena;
    arena_init(&arena);
    bool is_bad = false;
    Str expected = STR_NULL;
    for (size_t i = 0; i < BACKENDS && !is_bad; i++) {
        options.page_limit = i == 0 ? 0 : (int64_t)(3 + i); // pages must not matter
        Str text = store_dump(contest->sides[i].store, &arena, &options);
        if (i == 0) expected = text;
        is_bad = differs(contest, i, expected, text) || verify_fails(contest, i);
    }
    is_bad = is_bad || ended_changed(contest, &arena) || batch_numbers_differ(contest, &arena);
    arena_done(&arena);
    contest->tally->state_count++;
    return is_bad;
}

static void count_ops(Tally *tally, const Batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        const Op *op = batch->ops[i];
        tally->op_count++;
        if (op->out.status == OK) tally->ok[op->kind]++;
        else tally->refused[op->kind]++;
    }
}

static bool batch_differs(Contest *contest, const TraceBatch *from) {
    Str expected = STR_NULL;
    Batch first = {0};
    bool is_bad = false;
    Status first_status = OK;
    trace_advance(&contest->knowledge, from);
    for (size_t i = 0; i < BACKENDS && !is_bad; i++) {
        Side *side = &contest->sides[i];
        Batch batch;
        Diag diag = {0};
        arena_reset(&side->arena);
        if (backends[i].is_reopened && from->reopens % REOPEN_EVERY == 0) {
            store_close(side->store);
            side->store = side_open(side);
        }
        trace_build(&contest->knowledge, from, &side->arena, &batch);
        if (i == 0 && contest->is_shown) {
            Str text = trace_describe(&side->arena, &batch);
            fprintf(stderr, "%.*s", STR_ARG(text));
        }
        Status status = store_commit(side->store, &batch, &diag);
        if (side->other != NULL && from->reopens % 3 != 0) {
            Store *next = side->other;
            side->other = side->store;
            side->store = next;
        }
        bool is_odd = status != OK && status != ERR_FENCED; // no other answer is due here
        if (is_odd && !contest->is_quiet) {
            fprintf(stderr, "%s: %s: %s\n", backends[i].name, diag.code, diag.message);
        }
        Str text = trace_answers(&side->arena, status, &diag, &batch);
        if (i == 0 && contest->is_shown) fprintf(stderr, "-> %.*s", STR_ARG(text));
        if (i == 0) {
            first = batch;
            first_status = status;
            expected = text;
        }
        is_bad = is_odd || differs(contest, i, expected, text);
    }
    if (is_bad) return true;
    if (first.count == 1 && first.ops[0]->kind == OP_RENEW) {
        void *number = (void *)(uintptr_t)first.number;
        map_put(&contest->heartbeats, (uint64_t)first.node, number);
    }
    contest->tally->batch_count++;
    if (first_status == OK) count_ops(contest->tally, &first);
    trace_learn(&contest->knowledge, &first, first_status, contest->sides[0].store);
    return false;
}

// Answers whether the stores disagree anywhere in the trace.
static bool trace_fails(const Trace *trace, Tally *tally, bool is_quiet, bool is_shown) {
    Contest contest = {.tally = tally, .is_quiet = is_quiet, .is_shown = is_shown};
    contest_open(&contest);
    bool is_bad = false;
    for (size_t i = 0; i < trace->count && !is_bad; i++) {
        is_bad = batch_differs(&contest, &trace->batches[i]);
        bool is_time = (i + 1) % STATE_EVERY == 0 || i + 1 == trace->count;
        if (!is_bad && is_time) is_bad = states_differ(&contest);
    }
    contest_close(&contest);
    return is_bad;
}

// In a process of its own.
static bool trace_fails_apart(const Trace *trace, Tally *tally, bool is_quiet, bool is_shown) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        if (is_quiet && freopen("/dev/null", "w", stderr) == NULL) _exit(2);
        bool is_bad = trace_fails(trace, tally, is_quiet, is_shown);
        _exit(is_bad);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {}
    if (WIFSIGNALED(status)) {
        char directory[64];
        directory_name(child, directory, sizeof(directory));
        test_folder_remove(directory);
        if (!is_quiet) fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
    }
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

// ---- making a failing trace smaller ----

static bool still_fails(const Trace *trace, int *tries) {
    if (++*tries > SHRINK_MAX) return false;
    Tally ignored = {0};
    return trace_fails_apart(trace, &ignored, true, false);
}

static void drop_batches(Arena *arena, Trace *trace, int *tries) {
    for (size_t size = (trace->count + 1) / 2; size >= 1; size /= 2) {
        for (size_t at = 0; at < trace->count && trace->count > 1;) {
            size_t cut = at + size < trace->count ? size : trace->count - at;
            Trace smaller = {ARENA_ARRAY(arena, TraceBatch, trace->count), trace->count - cut};
            memcpy(smaller.batches, trace->batches, at * sizeof(TraceBatch));
            memcpy(smaller.batches + at, trace->batches + at + cut,
                   (trace->count - at - cut) * sizeof(TraceBatch));
            // The clock goes on as it did.
            int64_t skipped = 0;
            for (size_t i = at; i < at + cut; i++) skipped += trace->batches[i].advance_ms;
            if (at < smaller.count) smaller.batches[at].advance_ms += skipped;
            if (smaller.count > 0 && still_fails(&smaller, tries)) *trace = smaller;
            else at += cut;
        }
    }
}

static void drop_ops(Trace *trace, int *tries) {
    for (size_t i = 0; i < trace->count; i++) {
        for (size_t j = 0; j < trace->batches[i].count;) {
            TraceBatch kept = trace->batches[i];
            TraceBatch *batch = &trace->batches[i];
            memmove(&batch->ops[j], &batch->ops[j + 1], (batch->count - j - 1) * sizeof(TraceOp));
            batch->count--;
            if (still_fails(trace, tries)) continue;
            *batch = kept;
            j++;
        }
    }
}

static void report(Arena *arena, uint64_t seed, Trace trace) {
    int tries = 0;
    Tally ignored = {0};
    drop_batches(arena, &trace, &tries);
    drop_ops(&trace, &tries);
    drop_batches(arena, &trace, &tries);
    fprintf(stderr, "---- seed %llu, made smaller to %zu batches by %d tries:\n",
            (unsigned long long)seed, trace.count, tries);
    trace_fails_apart(&trace, &ignored, false, true);
    fprintf(stderr, "---- end of seed %llu\n", (unsigned long long)seed);
}

// ---- the program ----

typedef struct Options {
    uint64_t first, last;
    size_t batch_count;
    bool has_seeds;
    bool is_show;
} Options;

static bool parse_seeds(const char *text, Options *options) {
    char *end = NULL;
    options->first = options->last = strtoull(text, &end, 10);
    options->has_seeds = true;
    if (strncmp(end, "..", 2) == 0) options->last = strtoull(end + 2, &end, 10);
    return end != text && *end == '\0' && options->last >= options->first;
}

static bool parse(int count, char **arguments, Options *options) {
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--seeds") == 0) {
            if (!parse_seeds(arguments[i + 1], options)) return false;
        } else if (strcmp(arguments[i], "--show") == 0) {
            if (!parse_seeds(arguments[i + 1], options)) return false;
            options->is_show = true;
        } else if (strcmp(arguments[i], "--batches") == 0) {
            options->batch_count = strtoull(arguments[i + 1], NULL, 10);
        } else {
            return false;
        }
    }
    return count % 2 == 1 && options->batch_count > 0;
}

static bool seed_fails(uint64_t seed, const Options *options, Tally *tally) {
    Arena arena;
    arena_init(&arena);
    Trace trace = trace_generate(&arena, seed, options->batch_count);
    static bool is_reported; // one is enough; making it smaller takes a while
    bool is_bad = trace_fails_apart(&trace, tally, false, options->is_show);
    if (is_bad) {
        fprintf(stderr, "seed %llu fails\n", (unsigned long long)seed);
        if (!options->is_show && !is_reported) report(&arena, seed, trace);
        is_reported = true;
    }
    arena_done(&arena);
    return is_bad;
}

static void print_tally(const Tally *tally) {
    printf("# %lld batches, %lld operations compared on %d stores, %lld whole states\n",
           (long long)tally->batch_count, (long long)tally->op_count, BACKENDS,
           (long long)tally->state_count);
    for (int i = 1; i < OP_KIND_COUNT; i++) {
        printf("# %-20s %7lld done %7lld refused\n", op_kind_name((OpKind)i),
               (long long)tally->ok[i], (long long)tally->refused[i]);
    }
}

int main(int count, char **arguments) {
    const char *scale = getenv("ABIDE_TEST_SCALE");
    uint64_t percent = scale ? strtoull(scale, NULL, 10) : 100;
    uint64_t seeds = SEEDS * (percent ? percent : 100) / 100;
    Options options = {.first = 1, .last = seeds > 0 ? seeds : 1, .batch_count = BATCHES};
    if (!parse(count, arguments, &options)) {
        fprintf(stderr, "use: %s [--seeds A..B] [--batches N] [--show SEED]\n", arguments[0]);
        return 2;
    }
    Tally *tally =
        mmap(NULL, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED) abort();
    uint64_t total = options.last - options.first + 1;
    int points = (int)((total + SEEDS_PER_POINT - 1) / SEEDS_PER_POINT), failed = 0;
    printf("1..%d\n", points);
    for (int i = 0; i < points; i++) {
        uint64_t first = options.first + (uint64_t)i * SEEDS_PER_POINT;
        uint64_t last = first + SEEDS_PER_POINT - 1;
        if (last > options.last) last = options.last;
        bool is_bad = false;
        for (uint64_t seed = first; seed <= last; seed++) {
            is_bad |= seed_fails(seed, &options, tally);
        }
        printf("%s %d - traces %llu to %llu are answered alike by every store\n",
               is_bad ? "not ok" : "ok", i + 1, (unsigned long long)first,
               (unsigned long long)last);
        fflush(stdout);
        failed += is_bad;
    }
    print_tally(tally);
    return failed != 0;
}
