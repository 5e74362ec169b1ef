// Modules and routines: lifetime, string constants, tables by pc. See code.h.
//
// String constants live in the module's arena, marked as shared, so that a VM can hold them like
// its own strings and its collector leaves them alone.
//
// Not here: what fills a module (compile_*.c), what its snapshots call it by (code_index.c).
#include "flow/code/code.h"
#include "base/containers/hash.h"
#include "base/memory.h"
#include "flow/check/config.h"
#include "flow/vm/vm.h"

FlowModule *flow_module_new(Str file_name, Str source, bool is_prelude) {
    FlowModule *module = mem_zalloc(sizeof *module);
    atomic_init(&module->reference_count, 1);
    arena_init(&module->arena);
    module->file_name = arena_str(&module->arena, file_name);
    module->source = arena_str(&module->arena, source);
    sha256_hex(source, module->hash);
    module->is_prelude = is_prelude;
    module->atoms = mem_zalloc(sizeof *module->atoms);
    return module;
}

FlowModule *flow_module_retain(FlowModule *module) {
    atomic_fetch_add_explicit(&module->reference_count, 1, memory_order_relaxed);
    return module;
}

void flow_module_release(FlowModule *module) {
    if (!module) return;
    if (atomic_fetch_sub_explicit(&module->reference_count, 1, memory_order_acq_rel) > 1) return;
    flow_atoms_done(module->atoms);
    mem_free(module->atoms);
    arena_done(&module->arena);
    mem_free(module);
}

void flow_module_seal(FlowModule *module) {
    ASSERT(!module->is_sealed);
    uint32_t sites = 0;
    for (uint32_t i = 0; i < module->routine_count; i++) {
        FlowRoutine *routine = &module->routines[i];
        routine->module = module;
        routine->index = i;
        routine->site_base = sites;
        sites += routine->site_count;
    }
    module->site_count = sites;
    for (uint32_t i = 0; i < module->workflow_count; i++)
        module->workflows[i].mask =
            flow_config_mask(&module->arena, module->workflows[i].config_json);
    flow_module_index(module);
    module->is_sealed = true;
}

// The table that atoms of this module come from besides its own.
static FlowAtoms *module_parent_atoms(FlowModule *module) {
    if (module->is_prelude) { // only the thread that builds the realm compiles one
        FlowRealm *building = flow_realm_building();
        ASSERT(building);
        return &building->atoms;
    }
    return (FlowAtoms *)(uintptr_t)&flow_realm()->atoms;
}

// `before` is where the arena stood without the candidate: it goes back when the atom exists.
static FlowValue module_intern(FlowModule *module, FlowString *candidate, ArenaMark before) {
    uint32_t hash = flow_string_hash(candidate);
    FlowAtoms *parent = module_parent_atoms(module);
    FlowString *atom = flow_atoms_find(parent, candidate, hash);
    if (!atom) atom = flow_atoms_find(module->atoms, candidate, hash);
    if (atom) {
        arena_rewind(&module->arena, before);
        return flow_from_string(atom);
    }
    // The prelude's constants are the realm's: a VM looks for atoms there.
    flow_atoms_add(module->is_prelude ? parent : module->atoms, candidate);
    return flow_from_string(candidate);
}

static FlowString *module_string_alloc(FlowModule *module, size_t length, bool is_wide) {
    size_t size = offsetof(FlowString, latin1) + (is_wide ? length * 2 : length);
    if (size < sizeof(FlowString)) size = sizeof(FlowString);
    FlowString *s = arena_zalloc(&module->arena, size);
    s->cell.kind = KIND_STRING;
    s->cell.flags = CELL_SHARED;
    s->cell.aux = (uint32_t)length;
    if (is_wide) s->cell.flags |= STRING_WIDE;
    return s;
}

FlowValue flow_module_string_utf16(FlowModule *module, const uint16_t *units, size_t count) {
    uint16_t all = 0;
    for (size_t i = 0; i < count; i++) all |= units[i];
    ArenaMark before = arena_mark(&module->arena);
    FlowString *s = module_string_alloc(module, count, all > 255);
    for (size_t i = 0; i < count; i++) {
        if (all > 255) s->wide[i] = units[i];
        else s->latin1[i] = (uint8_t)units[i];
    }
    return module_intern(module, s, before);
}

FlowValue flow_module_string(FlowModule *module, Str utf8) {
    size_t ascii = 0;
    while (ascii < utf8.len && (uint8_t)utf8.data[ascii] < 0x80) ascii++;
    if (ascii == utf8.len) {
        ArenaMark before = arena_mark(&module->arena);
        FlowString *s = module_string_alloc(module, utf8.len, false);
        if (utf8.len) memcpy(s->latin1, utf8.data, utf8.len);
        return module_intern(module, s, before);
    }
    uint16_t *units = mem_alloc(utf8.len * sizeof *units);
    size_t count = flow_wtf8_to_utf16(utf8, units);
    FlowValue value = flow_module_string_utf16(module, units, count);
    mem_free(units);
    return value;
}

FlowValue flow_module_bigint(FlowModule *module, const uint32_t *digits, size_t count) {
    FlowBigInt *bigint =
        arena_zalloc(&module->arena, sizeof *bigint + count * sizeof *bigint->digits);
    bigint->cell.kind = KIND_BIGINT;
    bigint->cell.flags = CELL_SHARED;
    bigint->cell.aux = (uint32_t)count;
    if (count) memcpy(bigint->digits, digits, count * sizeof *digits);
    return flow_from_bigint(bigint);
}

const FlowLine *flow_routine_position(const FlowRoutine *routine, uint32_t pc) {
    uint32_t low = 0;
    uint32_t high = routine->position_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (routine->positions[middle].pc <= pc) low = middle + 1;
        else high = middle;
    }
    return low ? &routine->positions[low - 1] : NULL;
}

FlowValue flow_routine_description(const FlowRoutine *routine, uint32_t pc) {
    uint32_t low = 0;
    uint32_t high = routine->description_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (routine->descriptions[middle].pc < pc) low = middle + 1;
        else high = middle;
    }
    bool is_found = low < routine->description_count && routine->descriptions[low].pc == pc;
    return is_found ? routine->descriptions[low].text : FLOW_HOLE;
}

const FlowHandler *flow_routine_handler(const FlowRoutine *routine, uint32_t pc) {
    for (uint32_t i = 0; i < routine->handler_count; i++) {
        const FlowHandler *handler = &routine->handlers[i];
        if (pc >= handler->start && pc < handler->end) return handler;
    }
    return NULL;
}

static bool name_is(const FlowString *name, Str text) {
    return !flow_string_is_wide(name) && flow_string_length(name) == text.len &&
           memcmp(name->latin1, text.data, text.len) == 0;
}

uint32_t flow_module_find_routine(const FlowModule *module, Str name) {
    for (uint32_t i = 0; i < module->routine_count; i++) {
        if (name_is(flow_as_string(module->routines[i].name), name)) return i;
    }
    return UINT32_MAX;
}

// --- the module as flow.h shows it

uint32_t flow_module_workflow_count(const FlowModule *module) { return module->workflow_count; }

FlowWorkflowInfo flow_module_workflow(const FlowModule *module, uint32_t index) {
    ASSERT(index < module->workflow_count);
    const FlowWorkflow *workflow = &module->workflows[index];
    return (FlowWorkflowInfo){.name = workflow->name,
                              .config_json = workflow->config_json,
                              .mask = workflow->mask,
                              .line = workflow->line};
}

Status flow_module_find_workflow(const FlowModule *module, Str name, uint32_t *ret_index) {
    for (uint32_t i = 0; i < module->workflow_count; i++) {
        if (str_equal(module->workflows[i].name, name)) {
            *ret_index = i;
            return OK;
        }
    }
    return ERR_NOT_FOUND;
}

Str flow_module_hash(const FlowModule *module) { return (Str){module->hash, SHA256_HEX_SIZE}; }
Str flow_module_file_name(const FlowModule *module) { return module->file_name; }
Str flow_module_source(const FlowModule *module) { return module->source; }
