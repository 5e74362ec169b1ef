// Definitions: the versions of workflows, and which of them new runs start with.
//
//   [D1] (name, version) is unique; a version never changes, it only becomes current or not.
//   [D2] At most one version of a name is current. Defining an old one again makes it current:
//        that is a rollback.
//   [D3] The code a version was first compiled to stays, because runs are parked in it; one that
//        has none gets it when it is defined again.
#include "store/kernel_internal.h"

static Status version_find(Kernel *kernel, Str name, Str version, DefinitionRow *ret_row) {
    DefinitionRow wanted = {.name = name, .version = version}, *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_DEFINITIONS, .index = DEFINITIONS_BY_VERSION, .match = &wanted,
                 .match_count = 2, .limit = 1};
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count == 0) return ERR_NOT_FOUND;
    *ret_row = rows[0];
    return OK;
}

static Status others_retire(Kernel *kernel, Str name, int64_t current) { // [D2]
    uint64_t bit = column_bit(TABLE_DEFINITIONS, offsetof(DefinitionRow, is_current));
    int64_t after = 0;
    for (;;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        DefinitionRow wanted = {.name = name}, *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = TABLE_DEFINITIONS, .index = DEFINITIONS_BY_NAME, .match = &wanted,
                     .match_count = 1, .after_key = after, .limit = PAGE_ROWS};
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].key;
            if (!rows[i].is_current || rows[i].key == current) continue;
            rows[i].is_current = 0;
            TRY(kernel_update_columns(kernel, TABLE_DEFINITIONS, &rows[i], bit));
        }
        arena_rewind(&kernel->scratch, mark);
        if (count < PAGE_ROWS) return OK;
    }
}

Status apply_define(Kernel *kernel, Op *op) {
    TRY(kernel_check_name(kernel, "the workflow name", op->define.name, LIMIT_NAME_SIZE));
    TRY(kernel_check_name(kernel, "the version", op->define.version, LIMIT_KEY_SIZE));
    TRY(kernel_check_size(kernel, "the source", op->define.source, LIMIT_PAYLOAD_SIZE));
    TRY(kernel_check_size(kernel, "the configuration", op->define.config, LIMIT_PAYLOAD_SIZE));
    TRY(kernel_check_size(kernel, "the compiled code", op->define.code, LIMIT_CODE_SIZE));
    DefinitionRow known;
    Status status = version_find(kernel, op->define.name, op->define.version, &known);
    if (status == OK) {
        DefinitionRow after = known;
        after.is_current = 1;
        if (str_is_null(known.code)) after.code = op->define.code; // [D3]
        TRY(kernel_update(kernel, TABLE_DEFINITIONS, &known, &after));
        op->define.key = known.key;
        return others_retire(kernel, op->define.name, known.key);
    }
    if (status != ERR_NOT_FOUND) return status;
    DefinitionRow row = {.key = kernel_next_key(kernel),
                         .name = op->define.name,
                         .version = op->define.version,
                         .kind = op->define.kind,
                         .is_current = 1,
                         .created_at_ms = kernel_now(kernel),
                         .config = op->define.config,
                         .source = op->define.source,
                         .code = op->define.code};
    TRY(kernel_insert(kernel, TABLE_DEFINITIONS, &row));
    op->define.key = row.key;
    op->define.is_new = true;
    return others_retire(kernel, op->define.name, row.key);
}
