// FlowMachine: life, table of awaitables, and the snapshot that holds both.
//
// The form of a snapshot:  version  count {kind id deadline since name target filter}
//                          count {key json}  VM bytes
// All numbers are varints; the VM's part has its own version and checksum.
//
// Invariants [flow-machine-1], [flow-machine-2] are in flow_machine.h.
//
// Not here: what a turn does with it (runners/flow.c).
#include "engine/runners/flow_machine.h"
#include "base/containers/bytes.h"
#include "base/limits.h"
#include "base/memory.h"

enum { MACHINE_VERSION = 1 };

static Str own(Str s) { return str_is_null(s) ? STR_NULL : (Str){mem_copy(s.data, s.len), s.len}; }

static void disown(Str s) { mem_free((void *)(uintptr_t)s.data); }

static void free_pending(FlowPending *pending) {
    disown(pending->name);
    disown(pending->target_id);
    disown(pending->filter);
}

void flow_machine_free(FlowMachine *machine) {
    if (machine == NULL) return;
    flow_vm_free(machine->vm);
    for (size_t i = 0; i < machine->pending.count; i++) free_pending(&machine->pending.data[i]);
    for (size_t i = 0; i < machine->state.count; i++) {
        disown(machine->state.data[i].key);
        disown(machine->state.data[i].json);
    }
    vec_free(&machine->pending);
    vec_free(&machine->state);
    mem_free(machine);
}

FlowPending *flow_machine_find(FlowMachine *machine, int64_t id) {
    // Ascending by id, because they are added as the VM numbers them.
    size_t low = 0, high = machine->pending.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (machine->pending.data[middle].id < id) low = middle + 1;
        else high = middle;
    }
    if (low == machine->pending.count) return NULL;
    FlowPending *found = &machine->pending.data[low];
    return found->id == id && !found->is_settled ? found : NULL;
}

void flow_machine_add(FlowMachine *machine, const FlowPending *pending) {
    ASSERT(machine->pending.count == 0 || vec_last(&machine->pending).id < pending->id);
    FlowPending copy = *pending;
    copy.name = own(pending->name);
    copy.target_id = own(pending->target_id);
    copy.filter = own(pending->filter);
    vec_push(&machine->pending, copy);
}

static void close_places(FlowMachine *machine) {
    size_t kept = 0;
    for (size_t i = 0; i < machine->pending.count; i++) {
        if (machine->pending.data[i].is_settled) continue;
        machine->pending.data[kept++] = machine->pending.data[i];
    }
    machine->pending.count = kept;
    machine->settled_count = 0;
}

void flow_machine_remove(FlowMachine *machine, int64_t id) { // [flow-machine-2]
    FlowPending *found = flow_machine_find(machine, id);
    if (found == NULL) return;
    free_pending(found);
    *found = (FlowPending){.is_settled = true, .id = id};
    machine->settled_count++;
    if (machine->settled_count * 2 >= machine->pending.count) close_places(machine);
}

static FlowStateEntry *find_state(const FlowMachine *machine, Str key) {
    for (size_t i = 0; i < machine->state.count; i++)
        if (str_equal(machine->state.data[i].key, key)) return &machine->state.data[i];
    return NULL;
}

void flow_machine_set_state(FlowMachine *machine, Str key, Str json) {
    FlowStateEntry *entry = find_state(machine, key);
    if (entry != NULL) {
        disown(entry->json);
        entry->json = own(json);
        return;
    }
    FlowStateEntry added = {.key = own(key), .json = own(json)};
    vec_push(&machine->state, added);
}

Str flow_machine_get_state(const FlowMachine *machine, Str key) {
    const FlowStateEntry *entry = find_state(machine, key);
    return entry != NULL ? entry->json : STR_NULL;
}

Status flow_machine_start(const FlowVmOptions *options, FlowMachine **ret_machine, Diag *diag) {
    FlowVm *vm;
    TRY(flow_vm_new(options, &vm, diag));
    FlowMachine *machine = mem_zalloc(sizeof(FlowMachine));
    machine->vm = vm;
    *ret_machine = machine;
    return OK;
}

// ---- snapshots ----

static void write_pending(Buf *buf, const FlowPending *pending) {
    bytes_put_varint(buf, (uint64_t)pending->kind);
    bytes_put_varint(buf, (uint64_t)pending->id);
    bytes_put_varint(buf, (uint64_t)pending->deadline_at_ms);
    bytes_put_varint(buf, (uint64_t)pending->since_ms);
    bytes_put_str(buf, pending->name);
    bytes_put_str(buf, pending->target_id);
    bytes_put_str(buf, pending->filter);
}

Status flow_machine_snapshot(FlowMachine *machine, Buf *ret_bytes, Diag *diag) {
    close_places(machine);
    bytes_put_u8(ret_bytes, MACHINE_VERSION);
    bytes_put_varint(ret_bytes, machine->pending.count);
    for (size_t i = 0; i < machine->pending.count; i++)
        write_pending(ret_bytes, &machine->pending.data[i]);
    bytes_put_varint(ret_bytes, machine->state.count);
    for (size_t i = 0; i < machine->state.count; i++) {
        bytes_put_str(ret_bytes, machine->state.data[i].key);
        bytes_put_str(ret_bytes, machine->state.data[i].json);
    }
    TRY(flow_snapshot_write(machine->vm, ret_bytes, diag));
    if (ret_bytes->is_overflown)
        return diag_set(diag, ERR_LIMIT, "SNAPSHOT_TOO_LARGE",
                        "the script's state is larger than %zu bytes", ret_bytes->max_size);
    return OK;
}

static bool read_pending(ByteReader *reader, FlowMachine *machine) {
    FlowPending pending = {
        .kind = (WaitKind)bytes_get_varint(reader),
        .id = (int64_t)bytes_get_varint(reader),
        .deadline_at_ms = (int64_t)bytes_get_varint(reader),
        .since_ms = (int64_t)bytes_get_varint(reader),
        .name = bytes_get_str(reader),
        .target_id = bytes_get_str(reader),
        .filter = bytes_get_str(reader),
    };
    bool is_first = machine->pending.count == 0;
    bool is_ascending = is_first || vec_last(&machine->pending).id < pending.id;
    if (reader->is_bad || !is_ascending || pending.kind >= WAIT_KIND_COUNT || pending.kind < 1)
        return false;
    flow_machine_add(machine, &pending);
    return true;
}

static bool read_tables(ByteReader *reader, FlowMachine *machine) {
    if (bytes_get_u8(reader) != MACHINE_VERSION) return false;
    uint64_t count = bytes_get_varint(reader);
    for (uint64_t i = 0; i < count; i++)
        if (!read_pending(reader, machine)) return false;
    count = bytes_get_varint(reader);
    for (uint64_t i = 0; i < count; i++) {
        Str key = bytes_get_str(reader), json = bytes_get_str(reader);
        if (reader->is_bad || str_is_null(key)) return false;
        flow_machine_set_state(machine, key, json);
    }
    return !reader->is_bad;
}

// The engine's part of a snapshot; *ret_rest is the VM's.
static Status read_own(Str bytes, FlowMachine *machine, Str *ret_rest, Diag *diag) {
    ByteReader reader = bytes_reader(bytes);
    if (!read_tables(&reader, machine))
        return diag_set(diag, ERR_CORRUPT, "SNAPSHOT_CORRUPT",
                        "the run's snapshot cannot be read; it was left as it is");
    *ret_rest = (Str){(const char *)reader.at, bytes_left(&reader)};
    return OK;
}

Status flow_machine_vm_bytes(Str bytes, Str *ret_bytes, Diag *diag) {
    ByteReader reader = bytes_reader(bytes);
    bool is_ours = bytes_get_u8(&reader) == MACHINE_VERSION;
    uint64_t count = bytes_get_varint(&reader);
    for (uint64_t i = 0; i < count && !reader.is_bad; i++) {
        for (int k = 0; k < 4; k++) (void)bytes_get_varint(&reader); // kind, id, two times
        for (int k = 0; k < 3; k++) (void)bytes_get_str(&reader);    // name, target, filter
    }
    count = bytes_get_varint(&reader);
    for (uint64_t i = 0; i < count && !reader.is_bad; i++) {
        for (int k = 0; k < 2; k++) (void)bytes_get_str(&reader); // key, value
    }
    if (!is_ours || reader.is_bad)
        return diag_set(diag, ERR_CORRUPT, "SNAPSHOT_CORRUPT",
                        "the run's snapshot cannot be read; it was left as it is");
    *ret_bytes = (Str){(const char *)reader.at, bytes_left(&reader)};
    return OK;
}

Status flow_machine_check(Str bytes, Diag *diag) {
    FlowMachine *machine = mem_zalloc(sizeof(FlowMachine));
    Str rest;
    char hash[65];
    Status status = read_own(bytes, machine, &rest, diag);
    if (status == OK) status = flow_snapshot_module_hash(rest, hash, diag);
    flow_machine_free(machine);
    return status;
}

Status flow_machine_restore(Str bytes, const FlowVmOptions *options, FlowMachine **ret_machine,
                            Diag *diag) {
    FlowMachine *machine = mem_zalloc(sizeof(FlowMachine));
    Str rest;
    Status status = read_own(bytes, machine, &rest, diag);
    if (status == OK) status = flow_snapshot_read(rest, options, &machine->vm, diag);
    if (status != OK) {
        flow_machine_free(machine);
        return status;
    }
    *ret_machine = machine;
    return OK;
}
