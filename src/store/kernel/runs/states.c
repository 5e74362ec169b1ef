// What runs say of themselves: State.set, readable from outside while a run waits.
//
// The script has its values in its snapshot; these rows are a copy for others, written with the
// turn that set them.
//   [states-1] A value is there exactly from the commit of the turn that set it, and until it is
//        set again, the run continues as a new one, or is purged. An ended run keeps its values.
//   [states-2] Going back brings back the values of that moment: they are kept with the snapshot.
//   [states-3] The index holds a digest that is part of the file format: the first 8 bytes of
//        SHA-256.
//
// Not here: looking for runs by value (reads/runs.c).
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"

// The runner keeps to LIMIT_STATES_PER_RUN; these are for what comes another way.
enum {
    STATES_MAX = 10 * LIMIT_STATES_PER_RUN_MAX,
    STATES_SIZE_MAX = 2 * STATES_MAX * LIMIT_STATE_SIZE_MAX
};

int64_t state_digest(Str value) { // [states-3]
    uint8_t digest[SHA256_SIZE];
    Sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, value.data, value.len);
    sha256_final(&sha, digest);
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number = number << 8 | digest[i];
    return (int64_t)number;
}

Status state_set(Kernel *kernel, Run *run, const StateSpec *spec) {
    StateRow row = {.run = run->row.key, .name = spec->name, .value = spec->value}, before;
    ArenaMark mark = arena_mark(&kernel->scratch);
    bool may_be_there = (run->facts.may_have & MAY_HAVE_STATES) != 0;
    Status status = may_be_there ? kernel_get(kernel, TABLE_STATES, &row, &before) : ERR_NOT_FOUND;
    bool is_there = status == OK;
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (str_is_null(spec->value)) {
        if (is_there) TRY(kernel_remove(kernel, TABLE_STATES, &row));
        return OK;
    }
    row.digest = state_digest(spec->value);
    if (is_there) {
        TRY(kernel_update(kernel, TABLE_STATES, &before, &row));
    } else {
        TRY(kernel_insert(kernel, TABLE_STATES, &row));
    }
    arena_rewind(&kernel->scratch, mark);
    if (may_be_there) return OK;
    run->facts.may_have |= MAY_HAVE_STATES;
    run_keep_facts(kernel, run);
    return OK;
}

static Status states_scan(Kernel *kernel, const Run *run, StateRow **ret_rows, size_t *ret_count) {
    StateRow wanted = {.run = run->row.key};
    Scan scan = scan_of(TABLE_STATES, SCAN_PRIMARY, &wanted, STATES_MAX);
    *ret_count = 0;
    if (!(run->facts.may_have & MAY_HAVE_STATES)) return OK;
    return kernel_scan(kernel, &scan, ret_rows, ret_count);
}

Status states_clear(Kernel *kernel, Run *run) {
    for (size_t count = STATES_MAX; count == STATES_MAX;) {
        StateRow *rows = NULL;
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(states_scan(kernel, run, &rows, &count));
        for (size_t i = 0; i < count; i++) TRY(kernel_remove(kernel, TABLE_STATES, &rows[i]));
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

Status states_encode(Kernel *kernel, const Run *run, Str *ret_bytes) { // [states-2]
    StateRow *rows = NULL;
    size_t count;
    *ret_bytes = STR_NULL;
    TRY(states_scan(kernel, run, &rows, &count));
    if (count == 0) return OK;
    Buf bytes;
    buf_init(&bytes, STATES_SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        bytes_put_str(&bytes, rows[i].name);
        bytes_put_str(&bytes, rows[i].value);
    }
    if (!bytes.is_overflown) *ret_bytes = arena_str(&kernel->scratch, buf_str(&bytes));
    buf_done(&bytes);
    return OK;
}

Status states_restore(Kernel *kernel, Run *run, Str bytes) {
    if (str_is_null(bytes)) return OK;
    ByteReader reader = bytes_reader(bytes);
    while (bytes_left(&reader) > 0) {
        Str name = bytes_get_str(&reader), value = bytes_get_str(&reader);
        if (reader.is_bad || str_is_null(name) || str_is_null(value))
            return kernel_corrupt(kernel, "the values kept with a snapshot cannot be read");
        StateSpec spec = {name, value};
        TRY(state_set(kernel, run, &spec));
    }
    return OK;
}
