// Code index: what snapshots need to know about a module beside its code.
//
// The strings a module mentions get numbers in the order of their first use, so that a snapshot
// can name them instead of copying them. The checksum says whether a pc, a register number or such
// a string number still means what it meant: it covers the instructions and tables, with opcodes
// and intrinsics by name, so that adding one to the list changes nothing.
//
//   [code-index-1] Numbers and checksum depend on the compiler's output only: not on which strings
//        the realm happens to have, nor on the numbering of opcodes.
//   [code-index-2] Positions and descriptions do not count: they are for people.
#include "base/containers/hash.h"
#include "flow/code/code.h"
#include "flow/code/opcodes.h"
#include "flow/realm/realm.h"

// --- strings

static bool same_text(const FlowString *a, const FlowString *b) {
    if (a == b) return true;
    if (a->hash != b->hash || a->cell.aux != b->cell.aux) return false;
    if (flow_string_is_wide(a) != flow_string_is_wide(b)) return false;
    size_t size = (size_t)a->cell.aux << flow_string_is_wide(a);
    return memcmp(a->latin1, b->latin1, size) == 0;
}

static uint32_t string_slot(const FlowModule *module, FlowString *flat) {
    uint32_t mask = module->string_capacity - 1;
    uint32_t i = flow_string_hash(flat) & mask;
    while (module->string_slots[i] &&
           !same_text(module->strings[module->string_slots[i] - 1], flat)) {
        i = (i + 1) & mask;
    }
    return i;
}

uint32_t flow_module_string_number(const FlowModule *module, FlowString *flat) {
    if (module->string_capacity == 0) return UINT32_MAX;
    uint32_t found = module->string_slots[string_slot(module, flat)];
    return found ? found - 1 : UINT32_MAX;
}

static void add_string(FlowModule *module, FlowValue value) {
    if (!flow_is_string(value)) return;
    uint32_t slot = string_slot(module, flow_as_string(value));
    if (module->string_slots[slot]) return;
    module->strings[module->string_count++] = flow_as_string(value);
    module->string_slots[slot] = module->string_count;
}

static void add_routine_strings(FlowModule *module, const FlowRoutine *routine) {
    add_string(module, routine->name);
    for (uint32_t i = 0; i < routine->site_count; i++) add_string(module, routine->sites[i].key);
    for (uint32_t i = 0; i < routine->constant_count; i++) {
        add_string(module, routine->constants[i]);
    }
    for (uint32_t i = 0; i < routine->template_count; i++) {
        const FlowTemplate *site = &routine->templates[i];
        for (uint32_t k = 0; k < site->count; k++) add_string(module, site->cooked[k]);
        for (uint32_t k = 0; k < site->count; k++) add_string(module, site->raw[k]);
    }
}

static size_t count_strings(const FlowRoutine *routine) { // at most
    size_t count = 1 + (size_t)routine->site_count + routine->constant_count;
    for (uint32_t i = 0; i < routine->template_count; i++) {
        count += 2 * (size_t)routine->templates[i].count;
    }
    return count;
}

static void index_strings(FlowModule *module) {
    size_t most = 0;
    for (uint32_t i = 0; i < module->routine_count; i++) {
        most += count_strings(&module->routines[i]);
    }
    uint32_t capacity = 8;
    while (capacity < most * 2) capacity *= 2;
    module->strings = ARENA_ARRAY(&module->arena, FlowString *, most);
    module->string_slots = ARENA_ARRAY(&module->arena, uint32_t, capacity);
    module->string_capacity = capacity;
    for (uint32_t i = 0; i < module->routine_count; i++) {
        add_routine_strings(module, &module->routines[i]);
    }
}

// --- checksum

static uint64_t sum_u64(uint64_t sum, uint64_t value) {
    sum = (sum ^ value) * 0x9E3779B97F4A7C15ull;
    return sum ^ sum >> 29;
}

static uint64_t sum_bytes(uint64_t sum, const void *data, size_t size) {
    return sum_u64(sum_u64(sum, size), crc32c(0, data, size));
}

static uint64_t sum_text(uint64_t sum, const char *text) {
    return sum_bytes(sum, text, strlen(text));
}

static uint64_t sum_value(uint64_t sum, const FlowModule *module, FlowValue value) {
    if (flow_is_string(value)) {
        return sum_u64(sum, flow_module_string_number(module, flow_as_string(value)));
    }
    if (flow_is_bigint(value)) {
        const FlowBigInt *bigint = flow_as_bigint(value);
        return sum_bytes(sum, bigint->digits, bigint->cell.aux * sizeof *bigint->digits);
    }
    return sum_u64(sum, value.bits);
}

static uint64_t sum_instruction(uint64_t sum, const uint64_t *names, FlowInstruction in) {
    sum = sum_u64(sum, names[in.op < OP_COUNT ? in.op : OP_NOP] ^ in.a); // [code-index-1]
    if (in.op == OP_INTRINSIC) {
        const FlowNativeEntry *entry = flow_intrinsic(in.c);
        return sum_text(sum_u64(sum, in.b), entry ? entry->name : "");
    }
    return sum_u64(sum, (uint32_t)in.wide);
}

static uint64_t sum_tables(uint64_t sum, const FlowRoutine *routine) {
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        const FlowUpvalue *upvalue = &routine->upvalues[i];
        sum = sum_u64(sum, (uint64_t)upvalue->index << 2 | (uint64_t)upvalue->is_local << 1 |
                               upvalue->is_box);
    }
    for (uint32_t i = 0; i < routine->handler_count; i++) {
        const FlowHandler *handler = &routine->handlers[i];
        sum = sum_u64(sum, (uint64_t)handler->start << 32 | handler->end);
        sum = sum_u64(sum, (uint64_t)handler->target << 32 | handler->reg);
    }
    for (uint32_t i = 0; i < routine->constant_count; i++) {
        sum = sum_value(sum, routine->module, routine->constants[i]);
    }
    for (uint32_t i = 0; i < routine->site_count; i++) {
        sum = sum_value(sum, routine->module, routine->sites[i].key);
    }
    return sum_u64(sum, routine->template_count);
}

static uint64_t sum_routine(uint64_t sum, const uint64_t *names, const FlowRoutine *routine) {
    sum = sum_u64(sum, routine->flags);
    sum = sum_u64(sum, (uint64_t)routine->register_count << 16 | routine->parameter_count);
    sum = sum_u64(sum, routine->code_count);
    for (uint32_t i = 0; i < routine->code_count; i++) {
        sum = sum_instruction(sum, names, routine->code[i]);
    }
    return sum_tables(sum, routine);
}

void flow_module_index(FlowModule *module) {
    index_strings(module);
    uint64_t names[OP_COUNT];
    for (uint32_t i = 0; i < OP_COUNT; i++) names[i] = sum_text(0, flow_op_info[i].name);
    uint64_t sum = sum_u64(1, module->routine_count);
    for (uint32_t i = 0; i < module->string_count; i++) {
        const FlowString *s = module->strings[i];
        sum = sum_bytes(sum, s->latin1, (size_t)s->cell.aux << flow_string_is_wide(s));
    }
    for (uint32_t i = 0; i < module->routine_count; i++) {
        sum = sum_routine(sum, names, &module->routines[i]);
    }
    module->code_checksum = (uint32_t)(sum >> 32);
}
