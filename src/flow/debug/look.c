// Looking: frames and variables of a VM that stands, and the lines that have code.
//
// Values are shown as `console` shows them, shortened. Nothing of the script is called: accessors
// are named, not read. Members of arrays, maps and sets come in pages.
//
//   [debug-look-1] A FlowDebugRef is the value itself. The collector runs only with the VM, so it
//        stays valid while the VM stands.
#include "flow/builtin/console_format.h"
#include "flow/debug/debug.h"
#include "flow/evaluate/internal.h"
#include "flow/value/object_layout.h"
#include "flow/value/table.h"

enum { TEXT_MAX = 1 << 16, SHOWN_MAX = 400 };

// ---- lines ----

uint32_t flow_debug_code_line(const FlowModule *module, uint32_t line) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < module->routine_count; i++) {
        const FlowRoutine *routine = &module->routines[i];
        for (uint32_t j = 0; j < routine->statement_count; j++) {
            uint32_t at = routine->statements[j].line;
            if (at >= line && (best == 0 || at < best)) best = at;
        }
    }
    return best;
}

static const FlowLine *statement_before(const FlowRoutine *routine, uint32_t pc) {
    const FlowLine *found = NULL;
    for (uint32_t i = 0; i < routine->statement_count && routine->statements[i].pc <= pc; i++)
        found = &routine->statements[i];
    return found;
}

// ---- frames ----

static Str text_of(FlowVm *vm, FlowValue string, Arena *arena) {
    Buf text;
    buf_init(&text, TEXT_MAX);
    flow_string_to_utf8(vm, flow_as_string(string), &text);
    Str copy = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

// Where the place is. The innermost frame of a stopped VM stands before its next instruction.
static bool find_place(FlowVm *vm, uint32_t number, ExpressionPlace *ret) {
    if (!expression_place(vm, number, ret)) return false;
    const FlowFrame *top = vm->frame_count > 0 ? &vm->frames[vm->frame_count - 1] : NULL;
    bool is_top = top && ret->registers == vm->stack + top->base && flow_is_hole(vm->exception);
    if (is_top) ret->pc = top->pc;
    return true;
}

bool flow_debug_frame(FlowVm *vm, uint32_t number, Arena *arena, FlowDebugFrame *ret_frame) {
    ExpressionPlace place;
    if (!find_place(vm, number, &place)) return false;
    const FlowRoutine *routine = place.closure->routine;
    const FlowLine *statement = statement_before(routine, place.pc);
    const FlowLine *line = flow_routine_position(routine, place.pc);
    // A call stands where it is written; whatever has no place of its own, at its statement.
    if (!line || (statement && statement->pc >= line->pc)) line = statement;
    *ret_frame = (FlowDebugFrame){.line = line ? line->line : 0, .column = line ? line->column : 0};
    if (routine->flags & ROUTINE_MODULE)
        ret_frame->function = vm->module->workflows[vm->workflow_index].name;
    else ret_frame->function = text_of(vm, routine->name, arena);
    if (ret_frame->function.len == 0) ret_frame->function = STR("(anonymous)");
    return true;
}

// ---- values ----

static Str shown(FlowVm *vm, FlowValue value, Arena *arena) {
    Buf text;
    if (flow_is_hole(value)) return STR("not initialised");
    buf_init(&text, TEXT_MAX);
    flow_console_inspect(vm, &text, value);
    Str whole = buf_str(&text);
    Str copy;
    if (whole.len > SHOWN_MAX) {
        size_t len = SHOWN_MAX;
        while (len > 0 && ((unsigned char)whole.data[len] & 0xC0) == 0x80) len--;
        copy = arena_printf(arena, "%.*s…", (int)len, whole.data);
    } else {
        copy = arena_str(arena, whole);
    }
    buf_done(&text);
    return copy;
}

static const char *type_of(FlowValue value) {
    if (flow_is_hole(value) || flow_is_undefined(value)) return "undefined";
    if (flow_is_boolean(value)) return "boolean";
    if (flow_is_number(value)) return "number";
    if (flow_is_string(value)) return "string";
    if (!flow_is_object(value)) return "value";
    if (flow_is_callable(value)) return "function";
    return flow_is_array(value) ? "array" : "object";
}

static const FlowTable *table_of(FlowValue value) {
    if (!flow_is_kind(value, KIND_MAP) && !flow_is_kind(value, KIND_SET)) return NULL;
    return flow_as_pointer(((FlowSlotObject *)(void *)flow_as_object(value))->internal[0]);
}

static uint32_t member_count(FlowVm *vm, FlowValue value) {
    if (flow_is_array(value)) return ((FlowArray *)(void *)flow_as_object(value))->length;
    if (table_of(value)) return table_of(value)->live_count;
    return flow_object_keys(vm, flow_as_object(value), KEYS_STRINGS)->length;
}

static void list_value(const FlowDebugList *list, Str name, FlowValue value) {
    FlowDebugValue item = {.name = name, .text = shown(list->vm, value, list->arena)};
    item.type = type_of(value);
    if (flow_is_object(value) && !flow_is_callable(value)) {
        item.member_count = member_count(list->vm, value);
        item.is_indexed = flow_is_array(value) || table_of(value);
        if (item.member_count > 0) item.ref = value.bits; // [debug-look-1]
    }
    list->visit(list->context, &item);
}

// ---- variables ----

static FlowValue unboxed(FlowValue value) {
    if (!flow_is_cell(value)) return value;
    return flow_as_cell(value)->kind == KIND_BOX ? flow_as_box(value)->value : FLOW_HOLE;
}

static bool is_alive(const ExpressionPlace *place, const FlowLocalName *local) {
    return place->pc >= local->start && place->pc < local->end &&
           local->reg < place->register_count;
}

static void list_kind(const FlowDebugList *list, FlowValue name, FlowValue value, bool functions) {
    value = unboxed(value);
    bool is_function = flow_is_object(value) && flow_is_callable(value);
    if (is_function == functions) list_value(list, text_of(list->vm, name, list->arena), value);
}

void flow_debug_variables(const FlowDebugList *list, uint32_t frame, FlowDebugScope scope) {
    ExpressionPlace place;
    if (!find_place(list->vm, frame, &place)) return;
    const FlowRoutine *routine = place.closure->routine;
    for (int functions = 0; functions < 2; functions++) {
        for (uint32_t i = 0; scope == DEBUG_SCOPE_LOCAL && i < routine->variable_count; i++) {
            const FlowLocalName *local = &routine->variables[i];
            if (is_alive(&place, local))
                list_kind(list, local->name, place.registers[local->reg], functions);
        }
        for (uint32_t i = 0; scope == DEBUG_SCOPE_CAPTURED && i < routine->upvalue_count; i++)
            list_kind(list, routine->upvalues[i].name, place.closure->upvalues[i], functions);
    }
}

void flow_debug_inputs(const FlowDebugList *list) {
    list_value(list, STR("Inputs"), list->vm->inputs);
}

// ---- members ----

static void list_items(const FlowDebugList *list, FlowObject *array) {
    uint32_t length = ((FlowArray *)(void *)array)->length;
    for (uint32_t i = 0; i < list->count && list->start + i < length; i++) {
        FlowProperty property;
        uint32_t index = list->start + i;
        bool is_there = flow_object_get_own(list->vm, array, flow_key_index(index), &property);
        list_value(list, arena_printf(list->arena, "%u", index),
                   is_there ? property.value : FLOW_UNDEFINED);
    }
}

static void list_entries(const FlowDebugList *list, const FlowTable *table, bool is_map) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const FlowTableEntry *entry = &table->entries[i];
        if (flow_is_hole(entry->key)) continue;
        if (number >= list->start && number < list->start + list->count)
            list_value(list,
                       is_map ? shown(list->vm, entry->key, list->arena)
                              : arena_printf(list->arena, "%u", number),
                       is_map ? entry->value : entry->key);
        number++;
    }
}

static void list_properties(const FlowDebugList *list, FlowObject *object) {
    const FlowArray *keys = flow_object_keys(list->vm, object, KEYS_STRINGS);
    const FlowStorage *dense = flow_dense(&keys->object);
    for (uint32_t i = list->start; dense && i < dense->count && i - list->start < list->count;
         i++) {
        FlowProperty property;
        FlowKey key;
        if (!flow_is_string(dense->values[i]) ||
            !flow_key_from_value(list->vm, dense->values[i], &key) ||
            !flow_object_get_own(list->vm, object, key, &property))
            continue;
        Str name = text_of(list->vm, dense->values[i], list->arena);
        if (property.attributes & PROPERTY_ACCESSOR) {
            FlowDebugValue item = {.name = name, .text = STR("[Getter]"), .type = "accessor"};
            list->visit(list->context, &item);
        } else {
            list_value(list, name, property.value);
        }
    }
}

void flow_debug_members(const FlowDebugList *list, FlowDebugRef ref) {
    FlowValue value = {ref};
    if (flow_is_array(value)) list_items(list, flow_as_object(value));
    else if (table_of(value)) list_entries(list, table_of(value), flow_is_kind(value, KIND_MAP));
    else list_properties(list, flow_as_object(value));
}

Str flow_debug_exception(FlowVm *vm, Arena *arena) {
    if (flow_is_hole(vm->exception)) return STR_NULL;
    return shown(vm, vm->exception, arena);
}

// ---- changing ----

Status flow_debug_set(FlowVm *vm, uint32_t frame, Str name, Str json, Diag *diag) {
    ExpressionPlace place;
    FlowValue value;
    Arena arena;
    const FlowLocalName *best = NULL;
    if (!find_place(vm, frame, &place))
        return diag_set(diag, ERR_NOT_FOUND, "BAD_FIELD", "there is no frame %u", frame);
    const FlowRoutine *routine = place.closure->routine;
    arena_init(&arena);
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *local = &routine->variables[i];
        bool is_it = is_alive(&place, local) && (!best || local->start >= best->start) &&
                     str_equal(name, text_of(vm, local->name, &arena));
        if (is_it) best = local;
    }
    arena_done(&arena);
    if (!best || flow_is_hole(unboxed(place.registers[best->reg])))
        return diag_set(diag, ERR_NOT_FOUND, "BAD_FIELD",
                        "the frame has no variable %.*s that has a value", STR_ARG(name));
    TRY(flow_json_to_value(vm, json, &value, diag));
    // The place is read-only for everybody else; the VM stands and is ours.
    FlowValue *target = (FlowValue *)(uintptr_t)&place.registers[best->reg];
    if (flow_is_cell(*target)) flow_as_box(*target)->value = value;
    else *target = value;
    return OK;
}
