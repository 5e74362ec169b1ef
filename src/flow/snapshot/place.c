// Places: the number of where a script stands, made while its snapshot is written, and read back.
//
// The writer meets every function in flight anyway, so the number costs nothing beside it. Branches
// that stand at the same await count once: a thousand of them and one of them is one place.
//
// Not here: what can go on from a place (flow/move), how many runs stand there (store).
#include "flow/snapshot/place.h"
#include "flow/value/string.h"
#include "flow/vm/vm.h"

enum { FUNCTION_BITS = 16, PC_BITS = 21, DIGEST_BITS = 25, NUMBERS_RESERVED = 2 };

static uint64_t mix(uint64_t x) { // splitmix64's finisher
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

void flow_place_add(FlowPlaceSet *set, uint32_t routine, uint32_t pc, bool is_waiting) {
    uint64_t one = (uint64_t)routine << 32 | pc;
    if (is_waiting && !set->has_first) {
        set->first = one;
        set->has_first = true;
    }
    for (uint32_t i = 0; i < set->count; i++)
        if (set->seen[i] == one) return;
    if (set->count < FLOW_PLACE_FUNCTIONS_MAX) set->seen[set->count++] = one;
}

static uint64_t clipped(uint64_t number, int bits) {
    uint64_t max = (UINT64_C(1) << bits) - 1;
    return number < max ? number : max;
}

int64_t flow_place_number(const FlowPlaceSet *set) {
    const uint64_t digests = (UINT64_C(1) << DIGEST_BITS) - NUMBERS_RESERVED;
    uint64_t sum = 0; // whatever the order
    for (uint32_t i = 0; i < set->count; i++) sum += mix(set->seen[i] + 1);
    uint64_t routine = clipped(set->first >> 32, FUNCTION_BITS);
    uint64_t pc = clipped(set->first & UINT32_MAX, PC_BITS);
    uint64_t digest = NUMBERS_RESERVED + mix(sum) % digests;
    return (int64_t)((routine << PC_BITS | pc) << DIGEST_BITS | digest);
}

int64_t flow_vm_place(const FlowVm *vm) { return vm->place; }

static Str source_line(const FlowModule *module, uint32_t line) {
    Str left = flow_module_source(module), one = STR("");
    for (uint32_t i = 0; i < line; i++)
        if (!str_split(&left, '\n', &one)) return STR("");
    return str_trim(one);
}

static Str name_of(const FlowRoutine *routine, Arena *arena) {
    if (routine->flags & ROUTINE_MODULE || !flow_is_string(routine->name)) return STR("");
    FlowString *name = flow_as_string(routine->name); // a constant: flat, so no VM is needed
    Buf text;
    buf_init(&text, 4 * (size_t)flow_string_length(name) + 4);
    flow_string_to_utf8(NULL, name, &text);
    Str copy = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

bool flow_module_place(const FlowModule *module, int64_t place, Arena *arena,
                       FlowPlace *ret_place) {
    uint64_t number = (uint64_t)place >> DIGEST_BITS;
    uint32_t routine = (uint32_t)(number >> PC_BITS);
    uint32_t pc = (uint32_t)(number & ((1u << PC_BITS) - 1));
    if (place < NUMBERS_RESERVED || routine >= module->routine_count) return false;
    const FlowRoutine *code = &module->routines[routine];
    const FlowLine *line = pc < code->code_count ? flow_routine_position(code, pc) : NULL;
    if (line == NULL) return false;
    *ret_place = (FlowPlace){.line = line->line,
                             .column = line->column,
                             .function = name_of(code, arena),
                             .source = source_line(module, line->line)};
    return true;
}
