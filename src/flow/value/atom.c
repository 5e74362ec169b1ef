// Atoms: interned strings, found in the realm, the module or the VM (string.h).
//
//   [atom-1] A string is interned in exactly one of the three tables a VM can see; the first that
//        has it answers, in that order.
//   [atom-2] A VM's table is weak: the collector drops atoms that nothing else refers to. The other
//        two tables are immutable once published.
#include "base/memory.h"
#include "flow/vm/vm.h"

static bool same_units(const FlowString *a, const FlowString *b) {
    if (a->cell.aux != b->cell.aux) return false;
    if (flow_string_is_wide(a) != flow_string_is_wide(b)) return false;
    size_t size = flow_string_is_wide(a) ? (size_t)a->cell.aux * 2 : a->cell.aux;
    return memcmp(a->latin1, b->latin1, size) == 0;
}

FlowString *flow_atoms_find(const FlowAtoms *atoms, const FlowString *flat, uint32_t hash) {
    if (!atoms || atoms->capacity == 0) return NULL;
    uint32_t mask = atoms->capacity - 1;
    for (uint32_t i = hash & mask; atoms->slots[i]; i = (i + 1) & mask) {
        FlowString *atom = atoms->slots[i];
        if (atom->hash == hash && same_units(atom, flat)) return atom;
    }
    return NULL;
}

static void atoms_insert(FlowAtoms *atoms, FlowString *flat) {
    uint32_t mask = atoms->capacity - 1;
    uint32_t i = flat->hash & mask;
    while (atoms->slots[i]) i = (i + 1) & mask;
    atoms->slots[i] = flat;
}

static void atoms_rebuild(FlowAtoms *atoms, uint32_t capacity, bool marked_only) {
    FlowAtoms old = *atoms;
    atoms->slots = capacity ? mem_zalloc(capacity * sizeof *atoms->slots) : NULL;
    atoms->capacity = capacity;
    for (uint32_t i = 0; i < old.capacity; i++) {
        FlowString *s = old.slots[i];
        if (s && (!marked_only || s->cell.flags & CELL_MARKED)) atoms_insert(atoms, s);
    }
    mem_free(old.slots);
}

void flow_atoms_add(FlowAtoms *atoms, FlowString *flat) {
    flow_string_hash(flat);
    if ((atoms->count + 1) * 4 > atoms->capacity * 3) {
        atoms_rebuild(atoms, atoms->capacity ? atoms->capacity * 2 : 8, false);
    }
    uint32_t index;
    flat->cell.flags |= STRING_ATOM;
    if (flow_string_to_index(flat, &index)) flat->cell.flags |= STRING_IS_INDEX;
    atoms_insert(atoms, flat);
    atoms->count++;
}

void flow_atoms_done(FlowAtoms *atoms) {
    mem_free(atoms->slots);
    *atoms = (FlowAtoms){0};
}

void flow_atoms_sweep(FlowAtoms *atoms) { // [atom-2]
    uint32_t alive = 0;
    for (uint32_t i = 0; i < atoms->capacity; i++) {
        if (atoms->slots[i] && atoms->slots[i]->cell.flags & CELL_MARKED) alive++;
    }
    if (alive == atoms->count) return;
    uint32_t capacity = alive ? 8 : 0;
    while (alive * 4 > capacity * 3) capacity *= 2;
    atoms_rebuild(atoms, capacity, true);
    atoms->count = alive;
}

FlowString *flow_atom(FlowVm *vm, FlowString *s) {
    if (flow_string_is_atom(s)) return s;
    FlowString *flat = flow_string_flat(vm, s);
    if (flow_string_is_atom(flat)) return flat;
    vm->fuel -= flow_string_length(flat) / 32; // for its hash, and for comparing it
    uint32_t hash = flow_string_hash(flat);
    FlowString *atom = flow_atoms_find(&vm->realm->atoms, flat, hash);
    if (!atom && vm->module) atom = flow_atoms_find(vm->module->atoms, flat, hash);
    if (!atom) atom = flow_atoms_find(&vm->atoms, flat, hash);
    if (atom) return atom;
    // The bootstrap VM that builds the realm interns into the realm's own table.
    FlowAtoms *atoms = vm->building ? &vm->building->atoms : &vm->atoms;
    flow_atoms_add(atoms, flat);
    return flat;
}

FlowString *flow_atom_cstr(FlowVm *vm, const char *ascii) {
    return flow_atom(vm, flow_string_cstr(vm, ascii));
}
