// Definitions: see definition.h.
//
// Every workflow of a file has a row of its own with the whole source and the whole image: runs are
// pinned to rows, and a row must be enough to go on with.
//
// Not here: which version new runs start with (store/kernel_define.c), what an image is
// (flow/image.h).
#include "engine/definition.h"
#include "flow/image.h"

Status definition_fill(const FlowModule *module, uint32_t index, Arena *arena, Op *op,
                       Diag *diag) {
    FlowWorkflowInfo info = flow_module_workflow(module, index);
    Buf image;
    buf_init(&image, FLOW_IMAGE_SIZE_MAX);
    Status status = flow_image_write(module, &image, diag);
    op->define.name = info.name;
    op->define.version = flow_module_hash(module);
    op->define.config = info.config_json;
    op->define.source = flow_module_source(module);
    op->define.kind = RUN_FLOW;
    if (status == OK) op->define.code = arena_str(arena, buf_str(&image));
    buf_done(&image);
    return status;
}

Status definition_module(const DefinitionRow *row, Arena *arena, FlowModule **ret_module,
                         Diag *diag) {
    Str file_name = arena_printf(arena, "%.*s.flow", STR_ARG(row->name));
    bool is_kept = !str_is_null(row->code);
    if (is_kept && flow_image_read(row->code, file_name, row->source, ret_module, diag) == OK)
        return OK;
    return flow_compile(file_name, row->source, ret_module, NULL, diag); // [D1]
}
