// Reads of definitions: the versions of workflows that were deployed.
//
// Without a version the current one is meant. There is at most one, and it need not be the newest:
// an older version can be deployed again.
//
// Not here: runs of a workflow (reads/runs.c), deploying one (kernel/define.c).
#include "store/reads/internal.h"

static bool definition_is_current(const void *row, void *context) {
    (void)context;
    return ((const DefinitionRow *)row)->is_current != 0;
}

static Status definition_walk(Reads *reads, const DefinitionFilter *filter, RowWanted wanted,
                              DefinitionPage *ret_page) {
    DefinitionRow match = {.name = filter->name};
    Walk walk = {
        .table = TABLE_DEFINITIONS, .is_descending = true, .page = filter->page, .wanted = wanted};
    if (str_is_null(filter->name)) {
        walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    } else {
        walk_add(&walk, DEFINITIONS_BY_NAME, &match, 1);
    }
    TRY(walk_run(reads, &walk));
    *ret_page = (DefinitionPage){(DefinitionRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

static Status definition_of_version(Reads *reads, const DefinitionRef *which,
                                    DefinitionPage *ret_found) {
    DefinitionRow wanted = {.name = which->name, .version = which->version};
    Scan scan = scan_of(TABLE_DEFINITIONS, DEFINITIONS_BY_VERSION, &wanted, 1);
    scan.match_count = 2;
    return rows_scan(reads->rows, &scan, reads->arena, &ret_found->rows, &ret_found->count);
}

static Status definition_missing(Reads *reads, Str name, bool is_version) {
    return diag_set(reads->diag, ERR_NOT_FOUND, "WORKFLOW_NOT_FOUND",
                    "there is no workflow \"%.*s\"%s", STR_ARG(name),
                    is_version ? " of that version" : "");
}

Status read_definition(Reads *reads, const DefinitionRef *which, DefinitionRow *ret_row) {
    const DefinitionFilter filter = {.name = which->name, .page.limit = 1};
    bool is_version = !str_is_null(which->version);
    DefinitionPage found = {0};
    if (is_version) TRY(definition_of_version(reads, which, &found));
    else TRY(definition_walk(reads, &filter, definition_is_current, &found));
    if (found.count == 0) return definition_missing(reads, which->name, is_version);
    *ret_row = found.rows[0];
    return OK;
}

Status read_definition_by_key(Reads *reads, int64_t key, DefinitionRow *ret_row) {
    DefinitionRow wanted = {.key = key};
    Status status = rows_get(reads->rows, TABLE_DEFINITIONS, &wanted, reads->arena, ret_row);
    return status == ERR_NOT_FOUND ? definition_missing(reads, STR_NULL, false) : status;
}

Status read_definitions(Reads *reads, const DefinitionFilter *filter, DefinitionPage *ret_page) {
    return definition_walk(reads, filter, NULL, ret_page);
}
