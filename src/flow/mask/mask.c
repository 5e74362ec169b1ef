// Looking for what is hidden: every cell of the heap is taken once, as if a path began there, and
// then again with each way that has led to it. The ways are bits of one number, so a cell is taken
// a bounded number of times whatever refers to what in circles.
//
// Invariants [mask-1] and [mask-2] are in mask.h.
//
// Not here: putting something in the place of values (hide.c).
#include "flow/builtin/core.h"
#include "flow/mask/internal.h"
#include "flow/vm/unwound.h"
#include "flow/vm/vm.h"
#include "json/write.h"
#include <stdlib.h>

const Mask *flow_vm_mask(const FlowVm *vm) {
    const FlowModule *module = vm->module;
    bool has_one = module && vm->workflow_index < module->workflow_count;
    return has_one ? module->workflows[vm->workflow_index].mask : NULL;
}

// ---- names ----

static uint64_t bits_of_text(const FlowMasked *self, FlowString *name) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < self->mask->count; i++)
        if (flow_string_equal(self->vm, name, self->names[i])) bits |= UINT64_C(1) << i;
    return bits;
}

static uint64_t bits_of_private(const FlowMasked *self, FlowKey key) {
    FlowValue name = flow_as_symbol((FlowValue){key.bits})->description;
    if (!flow_is_string(name)) return 0;
    FlowString *text = flow_as_string(name); // "#name"
    uint32_t length = flow_string_length(text);
    return bits_of_text(self, text) |
           (length > 1 ? bits_of_text(self, flow_string_substring(self->vm, text, 1, length)) : 0);
}

static uint64_t bits_of_key(const FlowMasked *self, FlowKey key) {
    uint64_t bits = 0;
    if (flow_key_is_index(key)) return 0;
    if (flow_key_is_private(key)) return bits_of_private(self, key);
    for (uint32_t i = 0; i < self->mask->count; i++)
        if (self->keys[i].bits == key.bits) bits |= UINT64_C(1) << i;
    return bits;
}

static uint32_t path_of(const FlowMasked *self, MaskState state) {
    return (uint32_t)__builtin_ctzll(state & self->mask->ends);
}

// ---- what is hidden ----

static void note_text(FlowMasked *self, FlowString *text, uint32_t path) {
    if (flow_string_length(text) < MASK_TEXT_MIN || self->texts.count >= MASK_TEXTS_MAX) return;
    FlowString *flat = flow_string_flat(self->vm, text);
    for (size_t i = 0; i < self->texts.count; i++)
        if (flow_string_equal(self->vm, self->texts.data[i].text, flat)) return;
    vec_push(&self->texts, (FlowMaskText){flat, path});
}

static void note_value(FlowMasked *self, FlowValue value, uint32_t path) {
    if (flow_is_string(value)) {
        note_text(self, flow_as_string(value), path);
    } else if (flow_is_number(value)) {
        char text[FLOW_NUMBER_TEXT_MAX];
        size_t len = flow_number_text(value, text);
        note_text(self, flow_string_latin1(self->vm, (const uint8_t *)text, len), path);
    } else if (flow_is_heap(value) && !(flow_as_cell(value)->flags & CELL_SHARED)) {
        FlowCell *cell = flow_as_cell(value);
        if (map_get(&self->hidden, (uint64_t)(uintptr_t)cell)) return;
        map_put(&self->hidden, (uint64_t)(uintptr_t)cell, (void *)(uintptr_t)(1 + path));
        vec_push(&self->hidden_todo, cell);
    }
}

static void hide_slot(FlowMasked *self, FlowValue *slot, MaskState state) {
    bool is_nothing = flow_is_undefined(*slot) || flow_is_null(*slot) || flow_is_hole(*slot);
    if (is_nothing || flow_is_kind(*slot, KIND_SECRET)) return;
    uint32_t path = path_of(self, state);
    note_value(self, *slot, path);
    if (self->is_hiding) *slot = self->secrets[path];
}

// ---- ways ----

static void come_to(FlowMasked *self, FlowCell *cell, MaskState state) {
    uint64_t key = (uint64_t)(uintptr_t)cell;
    MaskState before = (MaskState)(uintptr_t)map_get(&self->states, key);
    if ((before | state) == before) return;
    map_put(&self->states, key, (void *)(uintptr_t)(before | state));
    vec_push(&self->todo, cell);
}

// A slot to which a way leads.
static void take_slot(FlowMasked *self, FlowValue *slot, MaskState state) {
    if (state == 0) return;
    if (flow_is_cell(*slot)) {
        if (flow_as_cell(*slot)->kind != KIND_BOX) return;
        slot = &flow_as_box(*slot)->value;
        if (flow_is_cell(*slot)) return;
    }
    if (state & self->mask->ends) hide_slot(self, slot, state);
    else if (flow_is_object(*slot)) come_to(self, flow_as_cell(*slot), state);
}

static void take_named(FlowMasked *self, FlowValue *slot, MaskState from, uint64_t is_name) {
    take_slot(self, slot, mask_step_bits(self->mask, from, is_name));
}

static void take_variables(FlowMasked *self, const MaskVariables *in) {
    for (uint32_t i = 0; i < in->routine->variable_count; i++) {
        const FlowLocalName *local = &in->routine->variables[i];
        bool is_alive = in->pc >= local->start && in->pc < local->end;
        if (is_alive && local->reg < in->count)
            take_named(self, &in->registers[local->reg], 0,
                       bits_of_text(self, flow_as_string(local->name)));
    }
}

static void take_table(FlowMasked *self, FlowTable *table, MaskState from) {
    for (uint32_t i = 0; i < table->count; i++) {
        FlowTableEntry *entry = &table->entries[i];
        if (flow_is_hole(entry->key)) continue;
        bool is_name = flow_is_string(entry->key);
        uint64_t bits = is_name ? bits_of_text(self, flow_as_string(entry->key)) : 0;
        if (is_name) take_named(self, &entry->value, from, bits);
        else take_slot(self, &entry->value, from);
        if (flow_is_object(entry->key)) take_slot(self, &entry->key, from); // of a Set
    }
}

static void take_object(FlowMasked *self, FlowObject *object, MaskState from) {
    FlowShape *shape = object->shape;
    ASSERT(shape != NULL);
    for (uint32_t i = 0; i < shape->count; i++) {
        FlowKey key = shape->keys->entries[i].key;
        if (key.bits) take_named(self, &object->slots[i], from, bits_of_key(self, key));
    }
    FlowTable *table = mask_table(object);
    if (table) take_table(self, table, from);
    if (from == 0 || !object->elements) return;
    MaskSlots elements = mask_elements(object);
    for (uint32_t i = 0; i < elements.count; i++) take_slot(self, mask_slot(&elements, i), from);
}

static void take_closure(FlowMasked *self, FlowClosure *closure) {
    for (uint32_t i = 0; i < closure->routine->upvalue_count; i++) {
        FlowValue name = closure->routine->upvalues[i].name;
        if (flow_is_string(name))
            take_named(self, &closure->upvalues[i], 0, bits_of_text(self, flow_as_string(name)));
    }
}

// As if all paths began here.
static void take_cell(FlowMasked *self, FlowCell *cell) {
    if (cell->kind < KIND_OBJECT) return;
    take_object(self, (FlowObject *)cell, 0);
    if (cell->kind == KIND_CLOSURE) take_closure(self, (FlowClosure *)cell);
    MaskVariables variables;
    if (mask_coroutine(cell, &variables)) take_variables(self, &variables);
}

static void take_frames(FlowMasked *self) {
    MaskVariables variables;
    for (uint32_t i = 0; mask_frame(self->vm, i, &variables); i++) take_variables(self, &variables);
}

// ---- what is behind what is hidden ----

static void note_slots(FlowMasked *self, const MaskSlots *slots, uint32_t path) {
    for (uint32_t i = 0; i < slots->count; i++) {
        FlowValue value = *mask_slot(slots, i);
        if (!flow_is_cell(value)) note_value(self, value, path);
    }
}

static void note_inside(FlowMasked *self, FlowCell *cell) {
    uint64_t at = (uint64_t)(uintptr_t)cell;
    uint32_t path = (uint32_t)(uintptr_t)map_get(&self->hidden, at) - 1;
    if (cell->kind < KIND_OBJECT || cell->kind == KIND_CLOSURE) return;
    FlowObject *object = (FlowObject *)cell;
    note_slots(self, &(MaskSlots){object->slots, object->shape->count, sizeof(FlowValue)}, path);
    MaskSlots elements = mask_elements(object);
    note_slots(self, &elements, path);
    FlowTable *table = mask_table(object);
    for (uint32_t i = 0; table && i < table->count; i++) {
        if (flow_is_hole(table->entries[i].key)) continue;
        note_value(self, table->entries[i].key, path);
        note_value(self, table->entries[i].value, path);
    }
}

// ---- all of it ----

static void gather_cell(void *context, FlowCell *cell) {
    FlowMasked *self = context;
    bool has_values = cell->kind == KIND_BOX || cell->kind >= KIND_OBJECT;
    if (has_values) vec_push(&self->cells, cell);
}

static void name_paths(FlowMasked *self) {
    for (uint32_t i = 0; i < self->mask->count; i++) {
        self->names[i] =
            flow_string_flat(self->vm, flow_string_utf8(self->vm, self->mask->names[i]));
        self->keys[i] = flow_key_string(self->vm, self->names[i]);
    }
}

// The longest first: one may begin with another.
static int compare_texts(const void *a, const void *b) {
    uint32_t x = flow_string_length(((const FlowMaskText *)a)->text);
    uint32_t y = flow_string_length(((const FlowMaskText *)b)->text);
    return x > y ? -1 : x < y;
}

void mask_find(FlowMasked *self) {
    flow_heap_each(&self->vm->heap, gather_cell, self);
    name_paths(self);
    for (size_t i = 0; i < self->cells.count; i++) take_cell(self, self->cells.data[i]);
    take_frames(self);
    take_named(self, &self->vm->inputs, 0,
               bits_of_text(self, flow_string_cstr(self->vm, "Inputs")));
    while (self->todo.count > 0) {
        FlowCell *cell = vec_pop(&self->todo);
        MaskState state = (MaskState)(uintptr_t)map_get(&self->states, (uint64_t)(uintptr_t)cell);
        take_object(self, (FlowObject *)cell, state);
    }
    while (self->hidden_todo.count > 0) note_inside(self, vec_pop(&self->hidden_todo));
    if (self->texts.count > 1)
        qsort(self->texts.data, self->texts.count, sizeof *self->texts.data, compare_texts);
}

void mask_begin(FlowMasked *self, FlowVm *vm) {
    *self = (FlowMasked){.vm = vm, .mask = flow_vm_mask(vm)};
    ASSERT(self->mask != NULL);
    map_init(&self->states);
    map_init(&self->hidden);
}

void flow_masked_init(FlowMasked *self, FlowVm *vm) {
    mask_begin(self, vm);
    mask_find(self);
}

void flow_masked_done(FlowMasked *self) {
    vec_free(&self->cells);
    vec_free(&self->todo);
    vec_free(&self->hidden_todo);
    vec_free(&self->texts);
    map_done(&self->states);
    map_done(&self->hidden);
}

// ---- what others ask ----

Str flow_masked_property(const FlowMasked *self, const FlowObject *object, FlowKey key) {
    MaskState from = (MaskState)(uintptr_t)map_get(&self->states, (uint64_t)(uintptr_t)object);
    return mask_path(self->mask, mask_step_bits(self->mask, from, bits_of_key(self, key)));
}

Str flow_masked_object(const FlowMasked *self, const FlowObject *object) {
    size_t found = (size_t)(uintptr_t)map_get(&self->hidden, (uint64_t)(uintptr_t)object);
    return found > 0 ? self->mask->paths[found - 1] : STR_NULL;
}

typedef struct Needle {
    Str text;
    Str path;
    bool is_cut; // nobody knows where it ends: what it stands in is hidden as a whole
} Needle;

static void append_mask(Buf *out, Str path) { buf_printf(out, "[secret %.*s]", STR_ARG(path)); }

// Replaces it wherever it stands in the text.
static void replace(Buf *text, const Needle *needle) {
    Buf out;
    size_t from = 0;
    buf_init(&out, text->max_size);
    while (from < text->len && needle->text.len > 0) {
        const char *at =
            memmem(text->data + from, text->len - from, needle->text.data, needle->text.len);
        if (at == NULL) break;
        size_t start = (size_t)(at - text->data);
        if (!needle->is_cut) buf_append(&out, text->data + from, start - from);
        append_mask(&out, needle->path);
        from = needle->is_cut ? text->len : start + needle->text.len;
    }
    if (from > 0) {
        buf_append(&out, text->data + from, text->len - from);
        buf_clear(text);
        buf_append_str(text, buf_str(&out));
    }
    buf_done(&out);
}

// As it stands in JSON, without the quotes around it.
static void escape(Str text, Buf *out) {
    Buf quoted;
    JsonWriter json;
    buf_init(&quoted, MASK_TEXT_MAX * 8);
    json_writer_init(&json, &quoted, STR_NULL);
    json_write_string(&json, text);
    buf_append(out, quoted.data + 1, quoted.len - 2);
    buf_done(&quoted);
}

// Likewise, with quotes as they are: so console shows the texts in an object.
static void escape_but_quotes(Str text, Buf *out) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"') buf_append_char(out, '"');
        else escape((Str){text.data + i, 1}, out);
    }
}

static void replace_forms(Buf *text, const Needle *needle) {
    Needle form = *needle;
    Buf out;
    replace(text, needle);
    buf_init(&out, MASK_TEXT_MAX * 8);
    escape(needle->text, &out);
    form.text = buf_str(&out);
    if (!str_equal(form.text, needle->text)) {
        replace(text, &form);
        buf_clear(&out);
        escape_but_quotes(needle->text, &out);
        form.text = buf_str(&out);
        replace(text, &form);
    }
    buf_done(&out);
}

void flow_masked_text(const FlowMasked *self, Str text, Buf *out) {
    enum { UNITS_MAX = MASK_TEXT_MAX / 4 };
    Buf changed, wanted;
    buf_init(&changed, out->max_size);
    buf_init(&wanted, MASK_TEXT_MAX);
    buf_append_str(&changed, text);
    for (size_t i = 0; i < self->texts.count; i++) {
        FlowString *hidden = self->texts.data[i].text;
        Needle needle = {.path = self->mask->paths[self->texts.data[i].path]};
        needle.is_cut = flow_string_length(hidden) > UNITS_MAX;
        if (needle.is_cut) hidden = flow_string_substring(self->vm, hidden, 0, UNITS_MAX);
        buf_clear(&wanted);
        flow_string_to_utf8(self->vm, hidden, &wanted);
        needle.text = buf_str(&wanted);
        replace_forms(&changed, &needle);
    }
    buf_append_str(out, buf_str(&changed));
    buf_done(&changed);
    buf_done(&wanted);
}

void flow_mask_text(FlowVm *vm, Str text, Buf *out) {
    if (flow_vm_mask(vm) == NULL) {
        buf_append_str(out, text);
        return;
    }
    FlowMasked masked;
    flow_masked_init(&masked, vm);
    flow_masked_text(&masked, text, out);
    flow_masked_done(&masked);
}
