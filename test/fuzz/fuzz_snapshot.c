// Fuzz target: the snapshot reader, and the VM that comes out of it.
//
// Input: a byte that names a program (snapshot_programs.h; bit 6: the payload refers to prelude
// code, bit 7: the rest is a whole snapshot, head and all) and a payload. The head and the
// checksum are made here, so that what is fuzzed is the decoder behind them.
//
// Properties, for any bytes:
//   [fuzz-snapshot-1] Reading answers OK or an error with a code; nothing crashes, hangs or leaks.
//   [fuzz-snapshot-2] What was accepted can be run, settled, cancelled, inspected and written.
//   [fuzz-snapshot-3] A snapshot of what was accepted is read or refused, like any other. (Made-up
//        registers may leak HOLE or a box into a value; then it is refused.)
#include "base/assert.h"
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "flow/code/code.h"
#include "flow/flow.h"
#include "flow/realm/realm.h"
#include "flow/snapshot/format.h"
#include "fuzz.h"
#include "snapshot_programs.h"
#include <stdio.h>

enum { TURNS = 6, INSTRUCTIONS = 3000, HEAP_BYTES = 4 << 20, SNAPSHOT_BYTES = 1 << 20 };

static FlowModule *modules[SNAPSHOT_PROGRAM_COUNT];

static Status host_start(FlowHost *host, const FlowStart *start, Str *ret_id, Diag *diag) {
    (void)host;
    (void)start;
    (void)ret_id;
    (void)diag;
    return OK;
}

static Status host_effect(FlowHost *host, const FlowEffect *effect, Diag *diag) {
    (void)host;
    (void)effect;
    (void)diag;
    return OK;
}

static int64_t host_now(FlowHost *host) {
    (void)host;
    return 1700000000000;
}

static const FlowHostOps host_ops = {
    .start = host_start, .effect = host_effect, .now_ms = host_now};
static FlowHost fuzz_host = {&host_ops};

static FlowModule *module_at(size_t index) {
    if (!modules[index]) {
        Diag diag = {0};
        Status status = flow_compile(STR("program.flow"), str_from(snapshot_programs[index]),
                                     &modules[index], NULL, &diag);
        if (status != OK) fprintf(stderr, "program %zu: %s\n", index, diag.message);
        ASSERT(status == OK);
    }
    return modules[index];
}

static void put_head(const FlowModule *module, bool has_prelude, Buf *out) {
    buf_append(out, SNAPSHOT_MAGIC, SNAPSHOT_MAGIC_SIZE);
    bytes_put_u8(out, SNAPSHOT_VERSION);
    bytes_put_u8(out, has_prelude ? SNAPSHOT_HAS_PRELUDE : 0);
    Sha256 sha;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&sha);
    sha256_update(&sha, module->source.data, module->source.len);
    sha256_final(&sha, digest);
    buf_append(out, digest, sizeof digest);
    bytes_put_u32(out, module->code_checksum);
    if (has_prelude) bytes_put_u32(out, flow_realm()->prelude->code_checksum);
}

static void settle_some(FlowVm *vm, const FlowRunResult *result, int turn) {
    uint32_t ids[4];
    uint32_t count = result->wait_count < 4 ? result->wait_count : 4;
    for (uint32_t i = 0; i < count; i++) ids[i] = result->waits[i].id;
    for (uint32_t i = 0; i < count; i++) {
        FlowSettlement settlement = {.id = ids[i], .json = STR("{\"id\":1,\"ok\":true}")};
        if ((i + (uint32_t)turn) % 3 == 2) {
            settlement = (FlowSettlement){.id = ids[i],
                                          .is_rejected = true,
                                          .error_class = "TaskError",
                                          .message = STR("no"),
                                          .cause_json = STR("{\"message\":\"m\"}")};
        }
        ASSERT(flow_vm_settle(vm, &settlement, NULL) == OK);
    }
}

static void use_vm(FlowVm *vm, const FlowVmOptions *options) { // [fuzz-snapshot-2]
    Buf json;
    buf_init(&json, 8 << 20);
    flow_vm_inspect(vm, 3, &json);
    buf_done(&json);
    for (int turn = 0; turn < TURNS; turn++) {
        FlowRunResult result;
        flow_vm_run(vm, &result);
        if (result.outcome == FLOW_PARKED) {
            if (turn == TURNS - 2) flow_vm_cancel(vm, STR("enough"));
            settle_some(vm, &result, turn);
        } else if (result.outcome != FLOW_PREEMPTED) {
            break;
        }
        if (turn == 2) flow_vm_park(vm);
    }
    Buf bytes;
    Diag diag = {0};
    buf_init(&bytes, SNAPSHOT_BYTES * 2);
    Status status = flow_snapshot_write(vm, &bytes, &diag);
    if (status == OK) {
        FlowVm *again = NULL;
        status = flow_snapshot_read(buf_str(&bytes), options, &again, &diag);
        ASSERT(status == OK || diag.code[0]); // [fuzz-snapshot-3]
        flow_vm_free(again);
    }
    buf_done(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    FlowModule *module = module_at((data[0] & 0x3F) % SNAPSHOT_PROGRAM_COUNT);
    FlowVmOptions options = {.module = module, .host = &fuzz_host, .limits = FLOW_LIMITS_DEFAULT};
    options.limits.heap_bytes = HEAP_BYTES;
    options.limits.instructions_per_turn = INSTRUCTIONS;
    options.limits.snapshot_bytes = SNAPSHOT_BYTES;
    options.limits.call_depth = 200;
    options.limits.regexp_steps = 20000;
    Buf bytes;
    buf_init(&bytes, size + 256);
    if (data[0] & 0x80) {
        buf_append(&bytes, data + 1, size - 1);
    } else {
        put_head(module, data[0] & 0x40, &bytes);
        buf_append(&bytes, data + 1, size - 1);
        bytes_put_u32(&bytes, crc32c(0, bytes.data, bytes.len));
    }
    FlowVm *vm = NULL;
    Diag diag = {0};
    Status status = flow_snapshot_read(buf_str(&bytes), &options, &vm, &diag);
    if (status == OK) use_vm(vm, &options);
    else ASSERT(diag.code[0] && diag.message[0]); // [fuzz-snapshot-1]
    flow_vm_free(vm);
    buf_done(&bytes);
    return 0;
}
