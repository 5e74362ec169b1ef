// What a waiting flow costs: its snapshot, the time to write and to restore it, and its memory.
//
// The program is the example of the language's description, an order of three articles that has
// asked for its first task and waits. Times are medians of many, because a restored run is one of
// many and the machine does other things too; memory is measured twice, as what the VMs say they
// took and as what the process grew by, since an allocator can waste what a counter does not see.
//
// Not here: how fast scripts run (bench/flow.py) and how fast they compile (flow_compile.c).
#include "base/containers/buf.h"
#include "bench.h"
#include "flow/flow.h"
#include "flow_host.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { VM_COUNT = 10000, ROUNDS = 5000, SNAPSHOT_MAX = 1 << 20 };

static const char source[] =
    "export const config = { timeout: \"30d\", retry: { attempts: 5 }, idleTimeout: \"5m\" }\n"
    "const { orderId, items } = Inputs\n"
    "const total = items.reduce((sum, i) => sum + i.price * i.qty, 0)\n"
    "const charge = await Task.run(\"charge\", { orderId, total },\n"
    "  { retry: { attempts: 3, delay: \"1s\" }, timeout: \"20s\" })\n"
    "const approval = await Signal.when(\"approval\", { timeout: \"24h\" }).catch(e => null)\n"
    "if (!approval?.ok) {\n"
    "  await Task.run(\"refund\", { id: charge.id })\n"
    "  return { status: \"rejected\" }\n"
    "}\n"
    "await Promise.all(items.map(async i => {\n"
    "  await Task.run(\"reserve\", i)\n"
    "  await Timer.delay(\"2s\")\n"
    "}))\n"
    "return { status: \"done\", total }\n";
static const char input[] = "{\"orderId\":\"o-2024-000117\",\"items\":["
                            "{\"sku\":\"chair\",\"price\":49.9,\"qty\":4},"
                            "{\"sku\":\"table\",\"price\":180,\"qty\":1},"
                            "{\"sku\":\"lamp\",\"price\":24.5,\"qty\":2}]}";

static void turn(FlowVm *vm, FlowOutcome wanted) {
    FlowRunResult result;
    flow_vm_run(vm, &result);
    if (result.outcome == wanted) return;
    fprintf(stderr, "bench: outcome %d\n", (int)result.outcome);
    exit(1);
}

static FlowVm *parked_vm(const FlowVmOptions *options) {
    Diag diag;
    FlowVm *vm = NULL;
    require(flow_vm_new(options, &vm, &diag), &diag);
    turn(vm, FLOW_PARKED);
    return vm;
}

// A restored VM must be able to go on: it answers its task and waits for the signal.
static void check_goes_on(FlowVm *vm) {
    Diag diag;
    FlowSettlement settlement = {.id = 1, .json = STR("{\"id\":\"c-1\"}")};
    require(flow_vm_settle(vm, &settlement, &diag), &diag);
    turn(vm, FLOW_PARKED);
}

static void report_median(const char *name, double *seconds, double limit) {
    bench_report(name, bench_quantile(seconds, ROUNDS, 0.5) * 1e6, "us", limit);
}

static void measure_times(const FlowVmOptions *options) {
    static double begin[ROUNDS];
    static double write[ROUNDS];
    static double read[ROUNDS];
    Diag diag;
    Buf bytes;
    FlowVm *vm = NULL;
    buf_init(&bytes, SNAPSHOT_MAX);
    for (int i = 0; i < ROUNDS; i++) {
        double start = bench_now();
        vm = parked_vm(options);
        double is_parked = bench_now();
        buf_clear(&bytes);
        require(flow_snapshot_write(vm, &bytes, &diag), &diag);
        double is_written = bench_now();
        flow_vm_free(vm);
        double is_free = bench_now();
        require(flow_snapshot_read(buf_str(&bytes), options, &vm, &diag), &diag);
        read[i] = bench_now() - is_free;
        write[i] = is_written - is_parked;
        begin[i] = is_parked - start;
        if (i == 0) check_goes_on(vm);
        flow_vm_free(vm);
    }
    bench_report("flow_snapshot.bytes", (double)bytes.len, "bytes", 1024);
    report_median("flow_snapshot.write", write, 20);
    report_median("flow_snapshot.restore", read, 20);
    report_median("flow_snapshot.first_turn", begin, 0); // a new VM up to its first await
    buf_done(&bytes);
}

static int64_t rss_after_trim(void) {
    malloc_trim(0);
    return bench_rss();
}

static void measure_memory(const FlowVmOptions *options) {
    static FlowVm *vms[VM_COUNT];
    Diag diag;
    Buf bytes;
    double told = 0;
    double written = 0;
    buf_init(&bytes, SNAPSHOT_MAX);
    flow_vm_free(parked_vm(options)); // what is made once is not counted
    int64_t before = rss_after_trim();
    for (int i = 0; i < VM_COUNT; i++) {
        vms[i] = parked_vm(options);
        flow_vm_park(vms[i]);
    }
    int64_t resident = bench_rss() - before;
    for (int i = 0; i < VM_COUNT; i++) {
        FlowVmStats stats;
        flow_vm_stats(vms[i], &stats);
        told += (double)stats.total_bytes;
        buf_clear(&bytes);
        require(flow_snapshot_write(vms[i], &bytes, &diag), &diag);
        written += (double)bytes.len;
    }
    for (int i = 0; i < VM_COUNT; i++) flow_vm_free(vms[i]);
    bench_report("flow_snapshot.parked_vms", VM_COUNT, "VMs", 0);
    bench_report("flow_snapshot.parked_heap", told / VM_COUNT, "bytes", 16384);
    bench_report("flow_snapshot.parked_rss", (double)resident / VM_COUNT, "bytes", 16384);
    bench_report("flow_snapshot.parked_bytes", written / VM_COUNT, "bytes", 1024);
    buf_done(&bytes);
}

int main(void) {
    FlowModule *module = NULL;
    Diag diag;
    require(flow_compile(STR("order.flow"), str_from(source), &module, NULL, &diag), &diag);
    FlowVmOptions options = {
        .module = module,
        .input_json = str_from(input),
        .host = &host,
        .limits = FLOW_LIMITS_DEFAULT,
    };
    measure_memory(&options);
    measure_times(&options);
    flow_module_release(module);
    return 0;
}
