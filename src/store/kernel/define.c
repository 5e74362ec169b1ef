// Definitions: the versions of workflows, and which of them new runs start with.
//
//   [define-1] (name, version) is unique; a version never changes, it only becomes current or not.
//   [define-2] At most one version of a name is current. Defining an old one again makes it
//        current: that is a rollback.
//   [define-3] The code a version was first compiled to stays, because runs are parked in it; one
//        that has none gets it when it is defined again. The name of its file is the one said last:
//        it belongs to no version and changes nothing but messages.
//   [define-4] A name belongs to scripts or to C, not to both: otherwise it would depend on the
//        node that is asked what a start of that name begins. C workflows have one version,
//        VERSION_NATIVE.
//   [define-5] The workflows of a file become current together or not at all: they call each other.
#include "store/kernel/operations.h"

static Status version_find(Kernel *kernel, Str name, Str version, DefinitionRow *ret_row) {
    DefinitionRow wanted = {.name = name, .version = version}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_DEFINITIONS, DEFINITIONS_BY_VERSION, &wanted, 1);
    scan.match_count = 2;
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count == 0) return ERR_NOT_FOUND;
    *ret_row = rows[0];
    return OK;
}

static Status others_retire(Kernel *kernel, Str name, int64_t current) { // [define-2]
    uint64_t bit = column_bit(TABLE_DEFINITIONS, offsetof(DefinitionRow, is_current));
    DefinitionRow wanted = {.name = name}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_DEFINITIONS, DEFINITIONS_BY_NAME, &wanted, PAGE_ROWS);
    while (scan.limit > 0) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (!rows[i].is_current || rows[i].key == current) continue;
            rows[i].is_current = 0;
            TRY(kernel_update_columns(kernel, TABLE_DEFINITIONS, &rows[i], bit));
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

static const char *kind_about(int64_t kind) {
    switch ((RunKind)kind) {
    case RUN_NATIVE: return "a workflow written in C";
    case RUN_FLOW: return "a script that is deployed";
    case RUN_CODE: return "a workflow of another process";
    }
    return "something else";
}

static Status check_kind(Kernel *kernel, Str name, int64_t kind) { // [define-4]
    DefinitionRow wanted = {.name = name}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_DEFINITIONS, DEFINITIONS_BY_NAME, &wanted, 1);
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count == 0 || rows[0].kind == kind) return OK;
    return kernel_refuse(kernel, ERR_CONFLICT, "WORKFLOW_KIND",
                         "\"%.*s\" is %s; give the %s another name", STR_ARG(name),
                         kind_about(rows[0].kind), kind == RUN_FLOW ? "script" : "function");
}

static Status check_workflow(Kernel *kernel, const Op *op, Str name, Str config) {
    TRY(kernel_check_name(kernel, "the workflow name", name, LIMIT_NAME_SIZE));
    TRY(kernel_check_size(kernel, "the configuration", config, LIMIT_PAYLOAD_SIZE));
    return check_kind(kernel, name, op->in.define.kind);
}

static Status define(Kernel *kernel, const Op *op, const DefinedWorkflow *workflow,
                     DefinedReply *ret_reply) {
    DefinitionRow known;
    Status status = version_find(kernel, workflow->name, op->in.define.version, &known);
    if (status == OK) {
        DefinitionRow after = known;
        after.is_current = 1;
        if (str_is_null(known.code)) after.code = op->in.define.code; // [define-3]
        if (!str_is_null(op->in.define.file)) after.file = op->in.define.file;
        TRY(kernel_update(kernel, TABLE_DEFINITIONS, &known, &after));
        ret_reply->key = known.key;
        return others_retire(kernel, workflow->name, known.key);
    }
    if (status != ERR_NOT_FOUND) return status;
    DefinitionRow row = {.key = kernel_next_key(kernel),
                         .name = workflow->name,
                         .version = op->in.define.version,
                         .kind = op->in.define.kind,
                         .is_current = 1,
                         .created_at_ms = kernel_now(kernel),
                         .config = workflow->config,
                         .source = op->in.define.source,
                         .code = op->in.define.code,
                         .file = op->in.define.file};
    TRY(kernel_insert(kernel, TABLE_DEFINITIONS, &row));
    ret_reply->key = row.key;
    ret_reply->is_new = true;
    return others_retire(kernel, workflow->name, row.key);
}

// [define-5] Whatever may be refused is looked at before anything is written.
Status apply_define(Kernel *kernel, Op *op) {
    DefinedWorkflow first = {.name = op->in.define.name, .config = op->in.define.config};
    const DefinedWorkflow *others = op->in.define.others;
    TRY(kernel_check_name(kernel, "the version", op->in.define.version, LIMIT_KEY_SIZE));
    TRY(kernel_check_size(kernel, "the source", op->in.define.source, LIMIT_PAYLOAD_SIZE));
    TRY(kernel_check_size(kernel, "the compiled code", op->in.define.code, LIMIT_CODE_SIZE));
    if (!str_is_null(op->in.define.file))
        TRY(kernel_check_name(kernel, "the file name", op->in.define.file, LIMIT_NAME_SIZE));
    TRY(check_workflow(kernel, op, first.name, first.config));
    for (size_t i = 0; i < op->in.define.other_count; i++)
        TRY(check_workflow(kernel, op, others[i].name, others[i].config));
    DefinedReply reply = {0};
    TRY(define(kernel, op, &first, &reply));
    op->out.define.key = reply.key;
    op->out.define.is_new = reply.is_new;
    size_t count = op->in.define.other_count;
    if (count > 0) op->out.define.others = ARENA_ARRAY(kernel->batch->arena, DefinedReply, count);
    for (size_t i = 0; i < count; i++)
        TRY(define(kernel, op, &others[i], &op->out.define.others[i]));
    return OK;
}
