// Transfer: reading all rows of one store, writing them into another, and being sure of it.
//
// Both ends are RowStores, so that nothing here knows what they are kept in; the marks are a row of
// the table of counters, which every engine reads before its first batch and again whenever
// somebody else has written.
//
// Counters go over first: from them a store on a server knows where the sequence of keys ends.
//
// Invariants [transfer-1]-[transfer-5] are in transfer.h.
#include "store/transfer.h"
#include "base/assert.h"
#include "store/rowstore.h"
#include "store/store.h"
#include <sys/stat.h>

enum {
    CHUNK_ROWS = 128,         // read at a time
    BATCH_SIZE_MAX = 8 << 20, // bytes per commit
    NODES_MAX = 4096,
    ATTEMPTS_MAX = 8, // of a change, when others write the store in between
    PATH_SIZE_MAX = 4096,
};

typedef struct Side {
    Str url;
    RowStorePair pair; // NULLs = not open
    bool is_shared;
} Side;

typedef struct Content {
    int64_t row_counts[TABLE_COUNT];
    int64_t row_total;
    uint8_t digests[TABLE_COUNT][SHA256_SIZE];
} Content;

typedef struct Transfer {
    const TransferConfig *config;
    Diag *diag;
    Side from, to;
    Arena page;      // the rows of the present chunk
    Arena place;     // the last key of a walk
    Arena scratch;   // of a change
    Content content; // of the source
    int64_t copied_count;
    TransferProgress progress;
    // The batch that is being written.
    bool is_writing;
    int64_t batch_rows;
    size_t batch_size;
    bool has_marked_source; // by this call
} Transfer;

typedef Status (*Change)(Transfer *self, RowStore *rows);

const char *transfer_table_name(int table) { return tables[table].name; }

// ---- what both ends need ----

static Status stop_check(const Transfer *self) {
    const atomic_bool *stop = self->config->stop;
    if (stop == NULL || !atomic_load(stop)) return OK;
    return diag_set(self->diag, ERR_UNAVAILABLE, "TRANSFER_STOPPED",
                    "stopped by request; what was copied is kept");
}

static void tell(Transfer *self, TransferPhase phase, const char *table, int64_t row_count) {
    self->progress.phase = phase;
    self->progress.table = table;
    self->progress.row_count = row_count;
    if (self->config->progress != NULL) {
        self->config->progress(self->config->context, &self->progress);
    }
}

// One transaction. Others may write a shared store meanwhile: then it is done again.
static Status side_change(Transfer *self, const Side *side, Change change) {
    RowStore *rows = side->pair.writer;
    for (int attempt = 1;; attempt++) {
        Status status = rows->ops->begin(rows, self->diag);
        if (status == OK) {
            rows->diag = self->diag;
            arena_reset(&self->scratch);
            status = change(self, rows);
            if (status == OK) status = rows->ops->commit(rows, self->diag);
            else rows->ops->rollback(rows);
        }
        if (status == OK || !rows->wants_restart || attempt == ATTEMPTS_MAX) return status;
    }
}

static Status mark_get(Transfer *self, RowStore *rows, StoreMark *ret_mark) {
    CounterRow wanted = {.number = COUNTER_MARK}, row = {0};
    Status status = rows_get(rows, TABLE_COUNTERS, &wanted, &self->scratch, &row);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    *ret_mark = (StoreMark)row.value;
    return OK;
}

static Status mark_set(RowStore *rows, StoreMark mark) {
    CounterRow row = {.number = COUNTER_MARK, .value = mark};
    if (mark == MARK_NONE) return rows_remove(rows, TABLE_COUNTERS, &row);
    return rows_insert(rows, TABLE_COUNTERS, &row);
}

static bool is_mark(TableNumber table, const void *row) {
    return table == TABLE_COUNTERS && ((const CounterRow *)row)->number == COUNTER_MARK;
}

// The next rows of a table, beyond `after` (NULL = from the first one), in the page.
static Status chunk_read(Transfer *self, const Side *side, Scan scan, char **ret_rows,
                         size_t *ret_count) {
    RowStore *reader = side->pair.reader;
    TRY(stop_check(self));
    arena_reset(&self->page);
    TRY(reader->ops->read_begin(reader, self->diag));
    reader->diag = self->diag;
    Status status = rows_scan(reader, &scan, &self->page, ret_rows, ret_count);
    reader->ops->read_end(reader);
    return status;
}

// A row that has just the key of `row`, and outlives its page.
static const void *place_after(Transfer *self, const Table *table, const void *row) {
    arena_reset(&self->place);
    void *place = arena_zalloc(&self->place, table->row_size);
    for (uint8_t i = 0; i < table->key_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) row_set_i64(place, column, row_i64(row, column));
        else row_set_str(place, column, arena_str(&self->place, row_str(row, column)));
    }
    return place;
}

typedef Status (*RowVisit)(Transfer *self, const Table *table, const void *row, void *context);

typedef struct Walk {
    RowVisit visit;
    void *context;
    TransferPhase phase;
    int64_t *row_count; // counts what was visited
} Walk;

// All rows of a table beyond `after`, in order, without the mark.
static Status table_walk(Transfer *self, const Side *side, const Table *table, const void *after,
                         const Walk *walk) {
    for (;;) {
        char *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = (TableNumber)table->number,
                     .index = SCAN_PRIMARY,
                     .after_row = after,
                     .limit = CHUNK_ROWS};
        TRY(chunk_read(self, side, scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            const void *row = rows + i * table->row_size;
            if (is_mark(scan.table, row)) continue;
            TRY(walk->visit(self, table, row, walk->context));
            ++*walk->row_count;
        }
        tell(self, walk->phase, table->name, *walk->row_count);
        if (count < CHUNK_ROWS) return OK;
        after = place_after(self, table, rows + (count - 1) * table->row_size);
    }
}

// ---- what is in a store ----

static void digest_i64(Sha256 *sha, int64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
    sha256_update(sha, bytes, sizeof(bytes));
}

static Status row_digest(Transfer *self, const Table *table, const void *row, void *context) {
    (void)self;
    Sha256 *sha = context;
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) {
            digest_i64(sha, row_i64(row, column));
            continue;
        }
        Str value = row_str(row, column);
        digest_i64(sha, str_is_null(value) ? -1 : (int64_t)value.len); // null is not empty
        sha256_update(sha, value.data, value.len);
    }
    return OK;
}

static Status content_read(Transfer *self, const Side *side, TransferPhase phase,
                           Content *ret_content) {
    *ret_content = (Content){0};
    for (int number = 0; number < TABLE_COUNT; number++) {
        int64_t before = ret_content->row_total;
        Sha256 sha;
        sha256_init(&sha);
        Walk walk = {row_digest, &sha, phase, &ret_content->row_total};
        TRY(table_walk(self, side, &tables[number], NULL, &walk));
        sha256_final(&sha, ret_content->digests[number]);
        ret_content->row_counts[number] = ret_content->row_total - before;
    }
    return OK;
}

static Status content_compare(Transfer *self) { // [transfer-4]
    Content arrived;
    TRY(content_read(self, &self->to, TRANSFER_COMPARING, &arrived));
    for (int i = 0; i < TABLE_COUNT; i++) {
        if (memcmp(arrived.digests[i], self->content.digests[i], SHA256_SIZE) == 0) continue;
        return diag_set(self->diag, ERR_CONFLICT, "TRANSFER_DIFFERS",
                        "the table %s differs: %lld rows in the source, %lld in the target; was "
                        "the source another one, or changed, since the target was begun? Remove "
                        "the target and start afresh",
                        tables[i].name, (long long)self->content.row_counts[i],
                        (long long)arrived.row_counts[i]);
    }
    return OK;
}

static Status side_verify(Transfer *self, const Side *side, TransferPhase phase) {
    const StoreConfig config = {.is_read_only = true, .ignores_mark = true};
    Store *store = NULL;
    int64_t row_count = 0;
    tell(self, phase, NULL, 0);
    TRY(store_open(side->url, &config, &store, self->diag));
    Status status = store_verify(store, &row_count, self->diag);
    store_close(store);
    return status;
}

// ---- the source ----

static Str file_of(Str url) { // of a store that is one
    return str_starts_with(url, STR("sqlite:")) ? (Str){url.data + 7, url.len - 7} : url;
}

static bool is_same_file(const Side *a, const Side *b) {
    char paths[2][PATH_SIZE_MAX];
    struct stat info[2];
    const Side *const sides[] = {a, b};
    for (int i = 0; i < 2; i++) {
        Str path = file_of(sides[i]->url);
        if (sides[i]->is_shared || path.len >= PATH_SIZE_MAX) return false;
        memcpy(paths[i], path.data, path.len);
        paths[i][path.len] = '\0';
        if (stat(paths[i], &info[i]) != 0) return false;
    }
    return info[0].st_dev == info[1].st_dev && info[0].st_ino == info[1].st_ino;
}

static Status urls_check(const Transfer *self) {
    const Side *const sides[] = {&self->from, &self->to};
    for (int i = 0; i < 2; i++) {
        if (!str_starts_with(sides[i]->url, STR("memory:"))) continue;
        return diag_set(self->diag, ERR_INVALID, "STORE_URL",
                        "memory: ends with its process, there is nothing to move from or to");
    }
    bool is_same = str_equal(file_of(self->from.url), file_of(self->to.url)) ||
                   is_same_file(&self->from, &self->to);
    if (!is_same) return OK;
    return diag_set(self->diag, ERR_INVALID, "TRANSFER_SAME",
                    "source and target are the same store");
}

// Opening for writing would make a store that is not there; looking does not.
static Status source_look(const Transfer *self) {
    const StoreConfig config = {.is_read_only = true, .ignores_mark = true};
    Store *store = NULL;
    Status status = store_open(self->from.url, &config, &store, self->diag);
    if (status == OK) store_close(store);
    return status == ERR_OLDER && !self->config->is_dry_run ? OK : status; // [transfer-2]
}

static Status side_open(const Transfer *self, Side *side, const char *what) {
    static const StoreConfig config = {0};
    Diag detail;
    diag_clear(&detail);
    Status status = rows_open(side->url, &config, &side->pair, &detail);
    if (status == OK) return OK;
    side->pair = (RowStorePair){0};
    if (status != ERR_LOCKED) {
        if (self->diag != NULL) *self->diag = detail;
        return status;
    }
    int len = (int)strcspn(detail.message, ";"); // its own advice is for engines
    return diag_set(self->diag, ERR_LOCKED, "STORE_LOCKED",
                    "the %s is at work: %.*s; stop that server first", what, len, detail.message);
}

static void side_close(Side *side) {
    if (side->pair.writer != NULL) rows_close(side->pair);
    side->pair = (RowStorePair){0};
}

// What a node said last counts for more than its row, unless that says it was fenced off.
static int64_t lease_of(const NodeRow *node, const Heartbeat *look) {
    for (size_t i = 0; i < look->count && !node_is_fenced(node); i++) {
        if (look->heartbeats[i].node == node->key) return look->heartbeats[i].until_ms;
    }
    return node_is_fenced(node) ? 0 : node->lease_until_ms;
}

// A lease on a shared store that lasts means that somebody works on it. [transfer-1]
static Status nodes_check(Transfer *self, RowStore *rows) {
    NodeRow *nodes = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_NODES, .index = SCAN_PRIMARY, .limit = NODES_MAX};
    TRY(rows_scan(rows, &scan, &self->scratch, &nodes, &count));
    Heartbeat look = {0};
    if (rows->ops->heartbeat != NULL) TRY(rows->ops->heartbeat(rows, &look, &self->scratch));
    for (size_t i = 0; i < count; i++) {
        int64_t left_ms = lease_of(&nodes[i], &look) - self->config->now_ms;
        if (left_ms <= 0) continue;
        return diag_set(self->diag, ERR_CONFLICT, "STORE_IN_USE",
                        "node %.*s works on the source; stop it (or, if it is dead, wait %lld "
                        "seconds for the end of its lease)",
                        STR_ARG(nodes[i].name), (long long)(left_ms / 1000 + 1));
    }
    return OK;
}

static Status source_check(Transfer *self, RowStore *rows, StoreMark *ret_mark) {
    TRY(mark_get(self, rows, ret_mark));
    if (*ret_mark == MARK_FILLING) {
        return diag_set(self->diag, ERR_CONFLICT, "STORE_FILLING",
                        "the source is itself the half of a copy; finish that one first");
    }
    if (*ret_mark == MARK_MOVED && !self->config->is_resume) {
        return diag_set(self->diag, ERR_CONFLICT, "STORE_MOVED",
                        "the source was moved already, or a copy of it was interrupted");
    }
    return self->from.is_shared ? nodes_check(self, rows) : OK;
}

static Status source_mark(Transfer *self, RowStore *rows) {
    StoreMark mark;
    self->has_marked_source = false;
    TRY(source_check(self, rows, &mark));
    if (mark == MARK_MOVED) return OK;
    self->has_marked_source = true;
    return mark_set(rows, MARK_MOVED);
}

static Status source_unmark(Transfer *self, RowStore *rows) {
    StoreMark mark;
    TRY(mark_get(self, rows, &mark));
    return mark == MARK_NONE ? OK : mark_set(rows, MARK_NONE);
}

// ---- the target ----

static Status target_check(Transfer *self, RowStore *rows, StoreMark *ret_mark) {
    TRY(mark_get(self, rows, ret_mark));
    if (*ret_mark == MARK_FILLING) {
        if (self->config->is_resume) return OK;
        return diag_set(self->diag, ERR_CONFLICT, "STORE_FILLING",
                        "the target is the half of a copy that was interrupted; finish that, or "
                        "remove it and start afresh");
    }
    for (int number = 0; number < TABLE_COUNT; number++) {
        char *found = NULL;
        size_t count = 0;
        Scan scan = {.table = (TableNumber)number, .index = SCAN_PRIMARY, .limit = 1};
        TRY(rows_scan(rows, &scan, &self->scratch, &found, &count));
        if (count == 0) continue;
        return diag_set(self->diag, ERR_CONFLICT, "STORE_NOT_EMPTY",
                        "the target has content (table %s); name a new file or schema%s",
                        tables[number].name,
                        self->config->is_resume ? "; or is the migration complete already?" : "");
    }
    return OK;
}

static Status target_mark(Transfer *self, RowStore *rows) {
    StoreMark mark;
    TRY(target_check(self, rows, &mark));
    return mark == MARK_FILLING ? OK : mark_set(rows, MARK_FILLING);
}

// A look from outside, before anything takes long.
static Status side_check(Transfer *self, const Side *side,
                         Status (*check)(Transfer *self, RowStore *rows, StoreMark *ret_mark)) {
    RowStore *reader = side->pair.reader;
    StoreMark mark;
    TRY(reader->ops->read_begin(reader, self->diag));
    reader->diag = self->diag;
    arena_reset(&self->scratch);
    Status status = check(self, reader, &mark);
    reader->ops->read_end(reader);
    return status;
}

// Opens the target, and makes it unless that is only to be tried.
static Status target_open(Transfer *self) {
    if (!self->config->is_dry_run) return side_open(self, &self->to, "target");
    const StoreConfig config = {.is_read_only = true};
    Status status = rows_open(self->to.url, &config, &self->to.pair, self->diag);
    if (status != OK) self->to.pair = (RowStorePair){0};
    return status == ERR_NOT_FOUND ? OK : status;
}

// ---- copying ----

static Status batch_end(Transfer *self) {
    if (!self->is_writing) return OK;
    RowStore *rows = self->to.pair.writer;
    self->is_writing = false;
    self->batch_rows = 0;
    self->batch_size = 0;
    return rows->ops->commit(rows, self->diag);
}

static Status row_insert(Transfer *self, const Table *table, const void *row, void *context) {
    (void)context;
    RowStore *rows = self->to.pair.writer;
    if (!self->is_writing) {
        TRY(rows->ops->begin(rows, self->diag));
        rows->diag = self->diag;
        self->is_writing = true;
    }
    TRY(rows_insert(rows, (TableNumber)table->number, row));
    self->batch_rows++;
    self->batch_size += table->row_size;
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type != COLUMN_I64) self->batch_size += row_str(row, column).len;
    }
    int64_t rows_max =
        self->config->batch_rows > 0 ? self->config->batch_rows : TRANSFER_BATCH_ROWS;
    bool is_full = self->batch_rows >= rows_max || self->batch_size >= BATCH_SIZE_MAX;
    return is_full ? batch_end(self) : OK;
}

// [transfer-3] The last row that has arrived, besides the mark; NULL = none.
static Status last_arrived(Transfer *self, const Table *table, const void **ret_last) {
    char *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = (TableNumber)table->number,
                 .index = SCAN_PRIMARY,
                 .is_descending = true,
                 .limit = 2};
    TRY(chunk_read(self, &self->to, scan, &rows, &count));
    size_t at = count > 0 && is_mark(scan.table, rows) ? 1 : 0;
    *ret_last = at < count ? place_after(self, table, rows + at * table->row_size) : NULL;
    return OK;
}

static Status table_copy(Transfer *self, const Table *table) {
    const void *last = NULL;
    if (self->config->is_resume) TRY(last_arrived(self, table, &last));
    Walk walk = {row_insert, NULL, TRANSFER_COPYING, &self->copied_count};
    return table_walk(self, &self->from, table, last, &walk);
}

static Status rows_copy(Transfer *self) {
    RowStore *rows = self->to.pair.writer;
    rows->is_filling = true;
    Status status = table_copy(self, &tables[TABLE_COUNTERS]);
    for (int number = 0; number < TABLE_COUNT && status == OK; number++) {
        if (number != TABLE_COUNTERS) status = table_copy(self, &tables[number]);
    }
    if (status == OK) status = batch_end(self);
    else if (self->is_writing) rows->ops->rollback(rows);
    self->is_writing = false;
    rows->is_filling = false;
    return status;
}

// [transfer-1] From this commit on the target is the store. [transfer-5]
static Status target_finish(Transfer *self, RowStore *rows) {
    NodeRow *nodes = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_NODES, .index = SCAN_PRIMARY, .limit = NODES_MAX};
    TRY(rows_scan(rows, &scan, &self->scratch, &nodes, &count));
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].lease_until_ms <= self->config->now_ms) continue;
        NodeRow after = nodes[i];
        node_mark_fenced(&after, self->config->now_ms);
        TRY(rows_update(rows, TABLE_NODES, &after,
                        row_changes(&tables[TABLE_NODES], &nodes[i], &after)));
    }
    return mark_set(rows, MARK_NONE);
}

// ---- all of it ----

static Status both_mark(Transfer *self) { // [transfer-1]
    TRY(side_change(self, &self->from, source_mark));
    bool has_marked = self->has_marked_source;
    Status status = side_change(self, &self->to, target_mark);
    if (status == OK || !has_marked) return status;
    Diag *diag = self->diag, ignored;
    self->diag = &ignored; // the first trouble is the one to tell
    Status undone = side_change(self, &self->from, source_unmark);
    (void)undone; // --reopen does it too
    self->diag = diag;
    return status;
}

static Status move(Transfer *self) {
    TRY(source_look(self));
    TRY(side_open(self, &self->from, "source"));
    TRY(side_check(self, &self->from, source_check));
    TRY(target_open(self));
    if (self->to.pair.reader != NULL) TRY(side_check(self, &self->to, target_check));
    TRY(side_verify(self, &self->from, TRANSFER_CHECKING)); // nothing damaged goes over
    if (!self->config->is_dry_run) TRY(both_mark(self));
    TRY(content_read(self, &self->from, TRANSFER_COUNTING, &self->content));
    if (self->config->is_dry_run) return OK;
    self->progress.row_total = self->content.row_total;
    TRY(rows_copy(self));
    TRY(content_compare(self));
    TRY(side_verify(self, &self->to, TRANSFER_VERIFYING));
    TRY(stop_check(self));
    return side_change(self, &self->to, target_finish);
}

static void report_fill(const Transfer *self, TransferReport *ret_report) {
    const Content *content = &self->content;
    *ret_report =
        (TransferReport){.row_total = content->row_total, .copied_count = self->copied_count};
    memcpy(ret_report->row_counts, content->row_counts, sizeof(content->row_counts));
    Str all = {(const char *)content->digests, sizeof(content->digests)};
    sha256_hex(all, ret_report->digest);
}

static void transfer_begin(Transfer *self) {
    self->from.is_shared = store_url_is_shared(self->from.url);
    self->to.is_shared = store_url_is_shared(self->to.url);
    arena_init(&self->page);
    arena_init(&self->place);
    arena_init(&self->scratch);
}

static void transfer_end(Transfer *self) {
    side_close(&self->to);
    side_close(&self->from);
    arena_done(&self->scratch);
    arena_done(&self->place);
    arena_done(&self->page);
}

Status transfer_run(const TransferConfig *config, TransferReport *ret_report, Diag *diag) {
    Transfer self = {
        .config = config, .diag = diag, .from.url = config->from, .to.url = config->to};
    transfer_begin(&self);
    Status status = urls_check(&self);
    if (status == OK) status = move(&self);
    transfer_end(&self);
    if (status == OK) report_fill(&self, ret_report);
    return status;
}

static Status moved_unmark(Transfer *self, RowStore *rows) {
    StoreMark mark;
    TRY(mark_get(self, rows, &mark));
    if (mark == MARK_MOVED) return mark_set(rows, MARK_NONE);
    if (mark == MARK_FILLING) {
        return diag_set(self->diag, ERR_CONFLICT, "STORE_FILLING",
                        "this store is the half of a copy, there is nothing to reopen; finish "
                        "the copy, or remove it");
    }
    return diag_set(self->diag, ERR_CONFLICT, "STORE_NOT_MOVED",
                    "this store was not moved; servers can open it as it is");
}

Status transfer_reopen(Str url, Diag *diag) {
    const TransferConfig config = {.from = url};
    Transfer self = {.config = &config, .diag = diag, .from.url = url};
    transfer_begin(&self);
    Status status = source_look(&self);
    if (status == OK) status = side_open(&self, &self.from, "store");
    if (status == OK) status = side_change(&self, &self.from, moved_unmark);
    transfer_end(&self);
    return status;
}
