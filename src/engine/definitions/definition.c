// Definitions: see definition.h.
//
// Every workflow of a file has a row of its own with the whole source and the whole image: runs are
// pinned to rows, and a row must be enough to go on with.
//
// Not here: which version new runs start with (store/kernel/define.c), what an image is
// (flow/code/image.h).
#include "engine/definitions/definition.h"
#include "flow/code/image.h"

// Folders belong to the machine it was deployed from: they are of no use here.
static Str base_name(Str path) {
    size_t start = path.len;
    while (start > 0 && path.data[start - 1] != '/') start--;
    Str name = {path.data + start, path.len - start};
    return name.len > 0 ? name : STR_NULL;
}

// What its file is called in messages.
static Str definition_file(const DefinitionRow *row, Arena *arena) {
    if (!str_is_null(row->file)) return row->file;
    return arena_printf(arena, "%.*s.flow", STR_ARG(row->name)); // [definition-2]
}

Status definition_fill(const FlowModule *module, Arena *arena, Op *op, Diag *diag) {
    size_t count = flow_module_workflow_count(module);
    FlowWorkflowInfo info = flow_module_workflow(module, 0);
    Buf image;
    buf_init(&image, FLOW_IMAGE_SIZE_MAX);
    Status status = flow_image_write(module, &image, diag);
    op->in.define.name = info.name;
    op->in.define.version = flow_module_hash(module);
    op->in.define.config = info.config_json;
    op->in.define.source = flow_module_source(module);
    op->in.define.file = base_name(op->in.define.file);
    op->in.define.kind = RUN_FLOW;
    op->in.define.other_count = count - 1;
    op->in.define.others = ARENA_ARRAY(arena, DefinedWorkflow, count - 1);
    for (size_t i = 1; i < count; i++) {
        info = flow_module_workflow(module, (uint32_t)i);
        op->in.define.others[i - 1] =
            (DefinedWorkflow){.name = info.name, .config = info.config_json};
    }
    if (status == OK) op->in.define.code = arena_str(arena, buf_str(&image));
    buf_done(&image);
    return status;
}

Status definition_module(const DefinitionRow *row, Arena *arena, FlowModule **ret_module,
                         Diag *diag) {
    Str file_name = definition_file(row, arena);
    bool is_kept = !str_is_null(row->code);
    if (is_kept && flow_image_read(row->code, file_name, row->source, ret_module, diag) == OK)
        return OK;
    return flow_compile_stored(file_name, row->source, ret_module, diag); // [definition-1]
}
