// The row verbs as the kernel uses them, and the small words all operations share.
//
// Every read and write of the kernel passes through here, so that one place tells answers from
// failures and counts writes.
//   [kernel-rows-4] A failure is noted once and ends the batch; an answer is just returned.
//   [kernel-rows-2] write_count lets the commit loop prove that a refused operation wrote nothing.
//
// Not here: transactions and counters' storage (kernel/store.c), runs (runs/runs.c).
#include "base/assert.h"
#include "store/kernel/internal.h"
#include <stdio.h>

static Status note_failure(Kernel *kernel, Status status) {
    if (kernel->failure == OK) kernel->failure = status;
    return status;
}

Status kernel_corrupt(Kernel *kernel, const char *message) {
    if (kernel->failure == OK)
        (void)diag_set(&kernel->rows_diag, ERR_CORRUPT, "STORE_CORRUPT", "%s", message);
    return note_failure(kernel, ERR_CORRUPT);
}

Status kernel_refuse(Kernel *kernel, Status status, const char *code, const char *format, ...) {
    char message[DIAG_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return diag_set(&kernel->op->out.diag, status, code, "%s", message);
}

Status kernel_write_held(Kernel *kernel) {
    uint64_t changes = kernel->held.changes;
    if (changes == 0) return OK;
    kernel->held.changes = 0;
    return kernel_update_columns(kernel, TABLE_RUNS, &kernel->held.row, changes);
}

Status kernel_get(Kernel *kernel, TableNumber table, const void *key_row, void *ret_row) {
    if (table == TABLE_RUNS) TRY(kernel_write_held(kernel));
    Status status = rows_get(kernel->writer, table, key_row, &kernel->scratch, ret_row);
    return status == OK || status == ERR_NOT_FOUND ? status : note_failure(kernel, status);
}

Status kernel_find(Kernel *kernel, const RowKey *key, const void **ret_row) {
    Status status = rows_find(kernel->writer, key, &kernel->scratch, ret_row);
    return status == OK || status == ERR_NOT_FOUND ? status : note_failure(kernel, status);
}

Status kernel_insert_new(Kernel *kernel, TableNumber table, const void *row) {
    ASSERT(kernel->batch != NULL); // [rowstore-1]
    Status status = rows_insert(kernel->writer, table, row);
    if (status == OK) kernel->write_count++;
    return status == OK || status == ERR_CONFLICT ? status : note_failure(kernel, status);
}

Status kernel_insert(Kernel *kernel, TableNumber table, const void *row) {
    Status status = kernel_insert_new(kernel, table, row);
    if (status != ERR_CONFLICT) return status;
    char message[128];
    snprintf(message, sizeof(message), "a key of table %s that must be free is taken",
             tables[table].name);
    return kernel_corrupt(kernel, message);
}

static Status missing_row(Kernel *kernel, TableNumber table) {
    char message[128];
    snprintf(message, sizeof(message), "a row of table %s that must exist is missing",
             tables[table].name);
    return kernel_corrupt(kernel, message);
}

Status kernel_update_columns(Kernel *kernel, TableNumber table, const void *row, uint64_t changes) {
    if (changes == 0) return OK;
    ASSERT(kernel->batch != NULL && changes >> tables[table].column_count == 0); // [rowstore-6]
    Status status = rows_update(kernel->writer, table, row, changes);
    if (status == ERR_NOT_FOUND) return missing_row(kernel, table);
    if (status != OK) return note_failure(kernel, status);
    kernel->write_count++;
    return OK;
}

Status kernel_update(Kernel *kernel, TableNumber table, const void *before, const void *after) {
    return kernel_update_columns(kernel, table, after, row_changes(&tables[table], before, after));
}

Status kernel_remove(Kernel *kernel, TableNumber table, const void *key_row) {
    ASSERT(kernel->batch != NULL); // [rowstore-1]
    Status status = rows_remove(kernel->writer, table, key_row);
    if (status == ERR_NOT_FOUND) return missing_row(kernel, table);
    if (status != OK) return note_failure(kernel, status);
    kernel->write_count++;
    return OK;
}

Status kernel_scan(Kernel *kernel, const Scan *scan, void *ret_rows, size_t *ret_count) {
    ASSERT(scan->limit > 0);
    if (scan->table == TABLE_RUNS) TRY(kernel_write_held(kernel));
    Status status = rows_scan(kernel->writer, scan, &kernel->scratch, ret_rows, ret_count);
    return status == OK ? OK : note_failure(kernel, status);
}

Status kernel_scan_on(Kernel *kernel, Scan *scan, void *ret_rows, size_t *ret_count) {
    const Table *table = &tables[scan->table];
    ASSERT(table->key_count == 1 && table->columns[0].type == COLUMN_I64);
    TRY(kernel_scan(kernel, scan, ret_rows, ret_count));
    const char *rows = *(char *const *)ret_rows;
    if ((int64_t)*ret_count < scan->limit) scan->limit = 0;
    else scan->after_key = row_i64(rows + (*ret_count - 1) * table->row_size, &table->columns[0]);
    return OK;
}

int64_t kernel_next_key(Kernel *kernel) { return ++kernel->counters[COUNTER_NEXT_KEY]; }

void kernel_count(Kernel *kernel, int64_t counter, int64_t delta) {
    ASSERT(counter > COUNTER_NEXT_KEY && counter < COUNTER_COUNT);
    kernel->counters[counter] += delta;
}

void kernel_note_due(Kernel *kernel, int64_t due_at_ms) {
    kernel->batch->out.earliest_due_ms = earliest_of(kernel->batch->out.earliest_due_ms, due_at_ms);
}

Str kernel_answer(Kernel *kernel, Str s) { return arena_str(kernel->batch->arena, s); }

Status kernel_check_size(Kernel *kernel, const char *what, Str text, size_t max) {
    if (text.len <= max) return OK;
    return kernel_refuse(kernel, ERR_LIMIT, "TOO_LARGE",
                         "%s has %zu bytes; at most %zu are allowed", what, text.len, max);
}

Status kernel_check_name(Kernel *kernel, const char *what, Str text, size_t max) {
    if (text.len == 0) {
        return kernel_refuse(kernel, ERR_INVALID, "NAME_EMPTY", "%s is empty", what);
    }
    return kernel_check_size(kernel, what, text, max);
}
