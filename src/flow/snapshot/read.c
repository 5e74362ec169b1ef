// Snapshot reader: from bytes to a VM that goes on where the other one stopped.
//
//   head, checksum, versions -> zstd -> sections in order -> checks over the whole -> VM
//
//   [snapshot-read-1] Any bytes are safe: the answer is a consistent VM or ERR_CORRUPT with what is
//        wrong.
//   [snapshot-read-2] A snapshot of other code is ERR_CONFLICT, whatever the rest holds: pcs and
//        registers mean nothing there.
//   [snapshot-read-3] Memory is bounded before it is taken: the payload by the limits, cells by the
//        heap's.
#include "base/containers/hash.h"
#include "base/memory.h"
#include "base/text/hex.h"
#include "flow/snapshot/internal.h"
#include <zstd.h>

static Status corrupt(Diag *diag, const char *what) {
    return diag_set(diag, ERR_CORRUPT, "SNAPSHOT_CORRUPT", "this is no snapshot of a run: %s",
                    what);
}

// --- the head

typedef struct SnapshotHead {
    uint8_t flags;
    char hash[SHA256_HEX_SIZE + 1];
    uint32_t code;
    uint32_t prelude;
    Str rest; // without the checksum
} SnapshotHead;

static Status read_head(Str bytes, SnapshotHead *ret, Diag *diag) {
    bool is_ours = bytes.len >= SNAPSHOT_HEAD_SIZE + SNAPSHOT_CRC_SIZE &&
                   memcmp(bytes.data, SNAPSHOT_MAGIC, SNAPSHOT_MAGIC_SIZE) == 0;
    if (!is_ours) return corrupt(diag, "it does not begin like one");
    ByteReader in = bytes_reader(bytes);
    in.end -= SNAPSHOT_CRC_SIZE;
    in.at += SNAPSHOT_MAGIC_SIZE;
    uint8_t version = bytes_get_u8(&in);
    if (version == 0 || version > SNAPSHOT_VERSION) {
        return diag_set(diag, ERR_UNSUPPORTED, "SNAPSHOT_VERSION",
                        "the snapshot has format version %u, this program reads up to %u", version,
                        SNAPSHOT_VERSION);
    }
    size_t size = bytes.len - SNAPSHOT_CRC_SIZE;
    ByteReader tail = {in.end, in.end + SNAPSHOT_CRC_SIZE, false};
    if (crc32c(0, bytes.data, size) != bytes_get_u32(&tail)) {
        return corrupt(diag, "its checksum is wrong");
    }
    ret->flags = bytes_get_u8(&in);
    if (ret->flags & ~SNAPSHOT_FLAGS) return corrupt(diag, "it has unknown flags");
    for (uint32_t i = 0; i < SNAPSHOT_HASH_SIZE; i++) {
        uint8_t byte = bytes_get_u8(&in);
        hex_write(ret->hash + i * 2, &byte, 1);
    }
    ret->hash[SHA256_HEX_SIZE] = '\0';
    ret->code = bytes_get_u32(&in);
    ret->prelude = ret->flags & SNAPSHOT_HAS_PRELUDE ? bytes_get_u32(&in) : 0;
    if (in.is_bad) return corrupt(diag, "it is cut off");
    ret->rest = (Str){(const char *)in.at, bytes_left(&in)};
    return OK;
}

Status flow_snapshot_module_hash(Str bytes, char ret_hash[65], Diag *diag) {
    SnapshotHead head;
    TRY(read_head(bytes, &head, diag));
    memcpy(ret_hash, head.hash, sizeof head.hash);
    return OK;
}

// [snapshot-read-2]
static Status check_versions(const SnapshotHead *head, const FlowModule *module, Diag *diag) {
    if (strcmp(head->hash, module->hash) != 0) {
        return diag_set(diag, ERR_CONFLICT, "SNAPSHOT_OTHER_CODE",
                        "the snapshot needs version %.12s of the workflow, not %.12s", head->hash,
                        module->hash);
    }
    if (head->code != module->code_checksum) {
        return diag_set(diag, ERR_CONFLICT, "SNAPSHOT_OTHER_COMPILER",
                        "the workflow was compiled differently when the snapshot was taken");
    }
    bool has_prelude = head->flags & SNAPSHOT_HAS_PRELUDE;
    if (has_prelude && head->prelude != flow_realm()->prelude->code_checksum) {
        return diag_set(diag, ERR_CONFLICT, "SNAPSHOT_OTHER_PRELUDE",
                        "the run was stopped inside a built-in function that has changed since");
    }
    return OK;
}

// --- the payload

static Status decompress(Str packed, size_t max, char **ret_bytes, Str *ret_payload, Diag *diag) {
    ByteReader in = bytes_reader(packed);
    uint64_t size = bytes_get_varint(&in);
    if (in.is_bad || size > max) { // [snapshot-read-3]
        return diag_set(diag, in.is_bad ? ERR_CORRUPT : ERR_LIMIT,
                        in.is_bad ? "SNAPSHOT_CORRUPT" : "SNAPSHOT_TOO_LARGE",
                        "the snapshot holds %llu bytes, the limit is %zu", (unsigned long long)size,
                        max);
    }
    char *bytes = mem_alloc(size + 1);
    size_t got = ZSTD_decompress(bytes, size, in.at, bytes_left(&in));
    if (ZSTD_isError(got) || got != size) {
        mem_free(bytes);
        return corrupt(diag, "it does not decompress");
    }
    *ret_bytes = bytes;
    *ret_payload = (Str){bytes, size};
    return OK;
}

static void read_scalars(SnapshotReader *r) {
    FlowVm *vm = r->vm;
    vm->state = (uint8_t)snapshot_get_number(r, VM_ENDED);
    vm->outcome = (uint8_t)snapshot_get_number(r, FLOW_CONTINUE_AS);
    uint64_t flags =
        snapshot_get_number(r, SCALAR_CANCELLED | SCALAR_CANCEL_PENDING | SCALAR_RANDOM);
    vm->is_cancelled = (flags & SCALAR_CANCELLED) != 0;
    vm->is_cancel_pending = (flags & SCALAR_CANCEL_PENDING) != 0;
    vm->workflow_index = (uint32_t)snapshot_get_number(r, UINT32_MAX);
    vm->next_awaitable_id = (uint32_t)snapshot_get_number(r, UINT32_MAX);
    vm->executed = snapshot_get_number(r, UINT64_MAX);
    if (flags & SCALAR_RANDOM) {
        vm->random_state[0] = bytes_get_u64(&r->in);
        vm->random_state[1] = bytes_get_u64(&r->in);
    }
    bool is_known = vm->workflow_index < vm->module->workflow_count;
    snapshot_require(r, is_known, "there is no such workflow");
    snapshot_require(r, vm->next_awaitable_id > 0, "awaitables count from 1");
    bool is_over = vm->outcome == FLOW_PARKED || vm->outcome == FLOW_PREEMPTED;
    snapshot_require(r, vm->state != VM_ENDED || !is_over, "an ended run waits");
}

static void read_payload(SnapshotReader *r) {
    read_scalars(r);
    if (!snapshot_is_bad(r)) snapshot_read_strings(r);
    if (!snapshot_is_bad(r)) snapshot_read_shapes(r);
    if (!snapshot_is_bad(r)) snapshot_read_directory(r);
    if (!snapshot_is_bad(r)) snapshot_build_shapes(r);
    if (!snapshot_is_bad(r)) snapshot_read_bodies(r);
    if (!snapshot_is_bad(r)) snapshot_read_roots(r);
    if (!snapshot_is_bad(r)) snapshot_read_weak(r);
    if (!snapshot_is_bad(r) && bytes_left(&r->in)) snapshot_fail(r, "something follows its end");
    snapshot_check(r);
}

static Status read_vm(Str payload, bool has_prelude, FlowVm *vm, Diag *diag) {
    SnapshotReader reader = {.in = bytes_reader(payload), .vm = vm, .has_prelude = has_prelude};
    read_payload(&reader);
    bool is_bad = snapshot_is_bad(&reader);
    bool is_over_budget = reader.is_over_budget;
    const char *fault = reader.fault ? reader.fault : "it is cut off";
    mem_free(reader.strings);
    mem_free(reader.shapes);
    mem_free(reader.nodes);
    vec_free(&reader.keys);
    vec_free(&reader.claims);
    if (is_over_budget) {
        return diag_set(diag, ERR_LIMIT, "SNAPSHOT_OVER_BUDGET", "the run cannot go on here: %s",
                        fault);
    }
    return is_bad ? corrupt(diag, fault) : OK;
}

Status flow_snapshot_read(Str bytes, const FlowVmOptions *options, FlowVm **ret_vm, Diag *diag) {
    SnapshotHead head;
    TRY(read_head(bytes, &head, diag));
    TRY(check_versions(&head, options->module, diag));
    char *unpacked = NULL;
    Str payload = head.rest;
    if (head.flags & SNAPSHOT_COMPRESSED) {
        size_t max = (size_t)options->limits.heap_bytes;
        TRY(decompress(head.rest, max, &unpacked, &payload, diag));
    }
    FlowVm *vm = flow_vm_new_empty(options);
    vm->checks_intrinsics = (head.flags & SNAPSHOT_HAS_PRELUDE) != 0;
    Status status = read_vm(payload, head.flags & SNAPSHOT_HAS_PRELUDE, vm, diag);
    mem_free(unpacked);
    if (status != OK) {
        flow_vm_free(vm);
        return status;
    }
    *ret_vm = vm;
    return OK;
}
