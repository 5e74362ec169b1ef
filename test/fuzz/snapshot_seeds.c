// Makes seeds for fuzz_snapshot: payloads of the programs in snapshot_programs.h, taken at
// instructions all along their way.
//   snapshot-seeds DIRECTORY [EVERY]
#include "base/containers/buf.h"
#include "flow/flow.h"
#include "flow/snapshot/format.h"
#include "snapshot_programs.h"
#include <stdio.h>
#include <stdlib.h>

static Status host_start(FlowHost *host, const FlowStart *start, Str *ret_id, Diag *diag) {
    (void)host;
    (void)start;
    (void)ret_id;
    (void)diag;
    return OK;
}

static const FlowHostOps host_ops = {.start = host_start};
static FlowHost seed_host = {&host_ops};

static void keep(const char *directory, size_t program, uint64_t at, Str bytes) {
    char path[4200];
    snprintf(path, sizeof path, "%s/program%zu-%06llu", directory, program, (unsigned long long)at);
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    uint8_t flags = (uint8_t)bytes.data[SNAPSHOT_HASH_AT - 1];
    bool is_whole = flags & SNAPSHOT_COMPRESSED;
    bool has_prelude = flags & SNAPSHOT_HAS_PRELUDE;
    size_t skipped = is_whole ? 0 : SNAPSHOT_HEAD_SIZE + (has_prelude ? 4 : 0);
    size_t end = is_whole ? bytes.len : bytes.len - SNAPSHOT_CRC_SIZE;
    fputc((int)program | (is_whole ? 0x80 : 0) | (has_prelude ? 0x40 : 0), file);
    fwrite(bytes.data + skipped, 1, end - skipped, file);
    fclose(file);
}

static void make_seeds(const char *directory, size_t program, uint64_t every) {
    FlowModule *module = NULL;
    Diag diag = {0};
    if (flow_compile(STR("program.flow"), str_from(snapshot_programs[program]), &module, NULL,
                     &diag) != OK) {
        fprintf(stderr, "program %zu: %s\n", program, diag.message);
        exit(1);
    }
    FlowVmOptions options = {.module = module,
                             .input_json = STR("{\"n\":3,\"list\":[1,2.5,{\"a\":\"b\"}]}"),
                             .host = &seed_host,
                             .limits = FLOW_LIMITS_DEFAULT};
    options.limits.is_exact = 1;
    options.limits.instructions_per_turn = every;
    FlowVm *vm = NULL;
    if (flow_vm_new(&options, &vm, &diag) != OK) abort();
    for (uint64_t at = 0; at < 1000000; at += every) {
        FlowRunResult result;
        flow_vm_run(vm, &result);
        Buf bytes;
        buf_init(&bytes, 8 << 20);
        if (flow_snapshot_write(vm, &bytes, &diag) != OK) {
            fprintf(stderr, "program %zu: %s\n", program, diag.message);
            exit(1);
        }
        keep(directory, program, at, buf_str(&bytes));
        buf_done(&bytes);
        if (result.outcome == FLOW_PARKED) {
            if (result.wait_count == 0) break;
            uint32_t id = result.waits[0].id;
            FlowSettlement settlement = {.id = id, .json = STR("{\"id\":1,\"ok\":true}")};
            if (flow_vm_settle(vm, &settlement, &diag) != OK) abort();
        } else if (result.outcome != FLOW_PREEMPTED) {
            fprintf(stderr, "program %zu: %.*s%.*s\n", program, STR_ARG(result.result_json),
                    STR_ARG(result.failure.stack));
            break;
        }
    }
    flow_vm_free(vm);
    flow_module_release(module);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s DIRECTORY [EVERY]\n", argv[0]);
        return 2;
    }
    uint64_t every = argc > 2 ? strtoull(argv[2], NULL, 10) : 50;
    for (size_t i = 0; i < SNAPSHOT_PROGRAM_COUNT; i++) make_seeds(argv[1], i, every ? every : 50);
    return 0;
}
