// How many waiting runs a filter looks into: an expression, evaluated in snapshot after snapshot.
//
// The program is the order of flow_snapshot.c, with another total in each snapshot. One expression
// only compares, the other one calls a method with a callback: what a person would ask next.
//
// Not here: reading the rows from a store.
#include "base/containers/buf.h"
#include "bench.h"
#include "flow/evaluate.h"
#include "flow_host.h"
#include <stdio.h>
#include <stdlib.h>

enum { SNAPSHOTS = 1000, ROUNDS = 200, SNAPSHOT_MAX = 1 << 20 };

static const char source[] =
    "const { orderId, items } = Inputs\n"
    "const total = items.reduce((sum, i) => sum + i.price * i.qty, 0)\n"
    "let attempts = 3\n"
    "const charge = await Task.run(\"charge\", { orderId, total })\n"
    "const approval = await Signal.when(\"approval\", { timeout: \"24h\" })\n"
    "return { status: \"done\", total, approval, charge, attempts }\n";

static Str parked(FlowModule *module, int number, Buf *bytes) {
    char input[256];
    Diag diag;
    FlowVm *vm;
    FlowRunResult result;
    snprintf(
        input, sizeof input,
        "{\"orderId\":\"o-%d\",\"items\":[{\"sku\":\"chair\",\"price\":%d,\"qty\":4},"
        "{\"sku\":\"table\",\"price\":18,\"qty\":1},{\"sku\":\"lamp\",\"price\":2,\"qty\":2}]}",
        number, number);
    FlowVmOptions options = {.module = module,
                             .input_json = str_from(input),
                             .host = &host,
                             .limits = FLOW_LIMITS_DEFAULT};
    require(flow_vm_new(&options, &vm, &diag), &diag);
    flow_vm_run(vm, &result);
    buf_init(bytes, SNAPSHOT_MAX);
    require(flow_snapshot_write(vm, bytes, &diag), &diag);
    flow_vm_free(vm);
    return buf_str(bytes);
}

static void measure(const char *name, const char *text, FlowModule *module, const Str *snapshots) {
    Diag diag;
    FlowExpression *expression;
    require(flow_expression_parse(str_from(text), &expression, &diag), &diag);
    FlowVmOptions options = {.module = module, .host = &host, .limits = FLOW_LIMITS_DEFAULT};
    options.limits.instructions_per_turn = 100000;
    int matched = 0;
    double start = bench_now();
    for (int i = 0; i < SNAPSHOTS * ROUNDS; i++) {
        bool is_true = false;
        require(flow_expression_test_snapshot(expression, snapshots[i % SNAPSHOTS], &options,
                                              &is_true, &diag),
                &diag);
        matched += is_true;
    }
    double seconds = bench_now() - start;
    if (matched == 0 || matched == SNAPSHOTS * ROUNDS) exit(1); // it must tell some from others
    bench_report(name, SNAPSHOTS * ROUNDS / seconds, "snapshots/s", 200000);
    flow_expression_free(expression);
}

int main(void) {
    static Buf bytes[SNAPSHOTS];
    static Str snapshots[SNAPSHOTS];
    Diag diag;
    FlowModule *module;
    require(flow_compile(STR("order.flow"), str_from(source), &module, NULL, &diag), &diag);
    for (int i = 0; i < SNAPSHOTS; i++) snapshots[i] = parked(module, i, &bytes[i]);
    measure("where.compare", "total > 1000 && attempts >= 3", module, snapshots);
    measure("where.callback", "items.some(i => i.price > 500)", module, snapshots);
    for (int i = 0; i < SNAPSHOTS; i++) buf_done(&bytes[i]);
    flow_module_release(module);
    return 0;
}
