// Hiding in a copy: first by place, while the paths are followed; then wherever one of the hidden
// objects is, or a text in which one of their texts stands. Values are replaced where they are, so
// it is no matter who holds them or whether they are frozen.
//
// Not here: what is hidden (mask.c).
#include "flow/mask/hide.h"
#include "flow/builtin/core.h"
#include "flow/mask/internal.h"
#include "flow/vm/promise.h"
#include "flow/vm/unwound.h"
#include "flow/vm/vm.h"

// ---- where values are ----

FlowTable *mask_table(const FlowObject *object) {
    bool is_table = object->cell.kind == KIND_MAP || object->cell.kind == KIND_SET;
    if (!is_table) return NULL;
    FlowValue table = ((const FlowSlotObject *)object)->internal[0];
    return flow_is_cell(table) ? flow_as_pointer(table) : NULL;
}

MaskSlots mask_elements(const FlowObject *object) {
    if (object->elements && object->elements->kind == KIND_ELEMENTS) {
        FlowStorage *dense = (FlowStorage *)object->elements;
        return (MaskSlots){dense->values, dense->count, sizeof(FlowValue)};
    }
    if (object->elements && object->elements->kind == KIND_SPARSE) {
        FlowSparse *sparse = (FlowSparse *)object->elements;
        return (MaskSlots){&sparse->entries[0].value, sparse->count, sizeof sparse->entries[0]};
    }
    return (MaskSlots){0};
}

bool mask_coroutine(FlowCell *cell, MaskVariables *ret) {
    if (cell->kind != KIND_COROUTINE) return false;
    FlowCoroutine *coroutine = (FlowCoroutine *)cell;
    bool is_suspended =
        coroutine->state == COROUTINE_START || coroutine->state == COROUTINE_SUSPENDED;
    if (!is_suspended || !coroutine->registers) return false;
    const FlowClosure *closure = flow_as_pointer(coroutine->function);
    *ret = (MaskVariables){closure->routine, coroutine->registers->values,
                           coroutine->registers->count, coroutine->pc};
    return true;
}

bool mask_frame(FlowVm *vm, uint32_t index, MaskVariables *ret) {
    if (index < vm->frame_count) {
        const FlowFrame *frame = &vm->frames[index];
        *ret = (MaskVariables){.routine = &vm->module->routines[0]};
        if (frame->kind != FRAME_SCRIPT) return true;
        const FlowRoutine *routine = frame->closure->routine;
        *ret = (MaskVariables){routine, vm->stack + frame->base, routine->register_count,
                               frame->pc ? frame->pc - 1 : 0};
        return true;
    }
    index -= vm->frame_count;
    if (!vm->unwound || index >= vm->unwound->frame_count) return false;
    const FlowUnwoundFrame *frame = &vm->unwound->frames[index];
    *ret = (MaskVariables){frame->routine, vm->unwound->values + frame->first, frame->count,
                           frame->pc};
    return true;
}

// ---- texts and objects wherever they are ----

static FlowValue masked_text(const FlowMasked *self, FlowString *text) {
    Buf plain, masked;
    buf_init(&plain, SIZE_MAX / 2);
    buf_init(&masked, SIZE_MAX / 2);
    flow_string_to_utf8(self->vm, text, &plain);
    flow_masked_text(self, buf_str(&plain), &masked);
    FlowValue value = flow_from_string(flow_string_utf8(self->vm, buf_str(&masked)));
    buf_done(&plain);
    buf_done(&masked);
    return value;
}

static FlowValue without_texts(const FlowMasked *self, FlowString *text) {
    FlowString *flat = flow_string_flat(self->vm, text);
    for (size_t i = 0; i < self->texts.count; i++) {
        FlowString *hidden = self->texts.data[i].text;
        bool fits = flow_string_length(hidden) <= flow_string_length(flat);
        if (fits && flow_string_find(flat, hidden, 0) >= 0) return masked_text(self, flat);
    }
    return flow_from_string(text);
}

static void hide_value(FlowMasked *self, FlowValue *slot) {
    if (flow_is_string(*slot)) {
        if (flow_string_length(flow_as_string(*slot)) >= MASK_TEXT_MIN)
            *slot = without_texts(self, flow_as_string(*slot));
    } else if (flow_is_object(*slot)) {
        uint64_t key = (uint64_t)(uintptr_t)flow_as_cell(*slot);
        size_t found = (size_t)(uintptr_t)map_get(&self->hidden, key);
        if (found > 0) *slot = self->secrets[found - 1];
    }
}

static void hide_slots(FlowMasked *self, const MaskSlots *slots) {
    for (uint32_t i = 0; i < slots->count; i++) hide_value(self, mask_slot(slots, i));
}

static void hide_registers(FlowMasked *self, const MaskVariables *in) {
    hide_slots(self, &(MaskSlots){in->registers, in->count, sizeof(FlowValue)});
}

static void hide_in_table(FlowMasked *self, FlowTable *table) {
    for (uint32_t i = 0; i < table->count; i++) {
        if (flow_is_hole(table->entries[i].key)) continue;
        hide_value(self, &table->entries[i].key);
        hide_value(self, &table->entries[i].value);
    }
}

static void hide_in_cell(FlowMasked *self, FlowCell *cell) {
    if (cell->kind == KIND_BOX) hide_value(self, &((FlowBox *)cell)->value);
    if (cell->kind < KIND_OBJECT || cell->kind == KIND_SECRET) return;
    FlowObject *object = (FlowObject *)cell;
    hide_slots(self, &(MaskSlots){object->slots, object->shape->count, sizeof(FlowValue)});
    MaskSlots elements = mask_elements(object);
    hide_slots(self, &elements);
    FlowTable *table = mask_table(object);
    if (table) hide_in_table(self, table);
    if (cell->kind == KIND_ERROR) hide_value(self, &((FlowErrorObject *)cell)->frames);
    if (cell->kind == KIND_CLOSURE) {
        FlowClosure *closure = (FlowClosure *)cell;
        hide_slots(self, &(MaskSlots){closure->upvalues, closure->routine->upvalue_count,
                                      sizeof(FlowValue)});
    }
    MaskVariables variables;
    if (mask_coroutine(cell, &variables)) hide_registers(self, &variables);
}

// What was thrown stays the same value as that of the frames which it has left.
static void hide_result(FlowMasked *self) {
    FlowVm *vm = self->vm;
    bool is_thrown = vm->unwound && vm->unwound->error.bits == vm->result.bits;
    hide_value(self, &vm->result);
    if (is_thrown) vm->unwound->error = vm->result;
}

static void make_masks(FlowMasked *self) {
    for (uint32_t i = 0; i < self->mask->count; i++) {
        FlowString *path = flow_string_utf8(self->vm, self->mask->paths[i]);
        self->secrets[i] = flow_secret_new(self->vm, path);
    }
}

void flow_mask_hide(FlowVm *vm) {
    if (flow_vm_mask(vm) == NULL) return;
    FlowMasked masked;
    mask_begin(&masked, vm);
    masked.is_hiding = true;
    make_masks(&masked);
    mask_find(&masked);
    for (size_t i = 0; i < masked.cells.count; i++) hide_in_cell(&masked, masked.cells.data[i]);
    MaskVariables variables;
    for (uint32_t i = 0; mask_frame(vm, i, &variables); i++) hide_registers(&masked, &variables);
    hide_value(&masked, &vm->inputs);
    hide_result(&masked);
    flow_masked_done(&masked);
}

Status flow_mask_copy(FlowVm *vm, FlowVm **ret_copy, Diag *diag) {
    Buf bytes;
    FlowVmOptions options = {.module = vm->module, .host = vm->host, .limits = vm->limits};
    buf_init(&bytes, SIZE_MAX / 2);
    Status status = flow_snapshot_write(vm, &bytes, diag);
    if (status == OK) status = flow_snapshot_read(buf_str(&bytes), &options, ret_copy, diag);
    buf_done(&bytes);
    if (status == OK) flow_mask_hide(*ret_copy);
    return status;
}
