// How fast Flow source becomes verified bytecode: flow_compile from text to module, in one piece
// as the server does it, hash of the source included; with the check of check.h and without.
//
// The source is generated: the kinds of functions workflows are made of, with comments, names and
// literals that differ, so that interning and scopes have the usual work. The fastest of several
// compilations counts, because other load can only make one slower.
//
// Not here: how fast the code runs (bench/flow.py).
#include "base/array.h"
#include "base/containers/buf.h"
#include "bench.h"
#include "flow/flow.h"
#include "flow/lexer/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TYPICAL_SIZE = 16 << 10, LARGE_SIZE = 2 << 20, ROUNDS = 25 };

// @ stands for the number of the function, so that each has names of its own.
static const char *const functions[] = {
    "// Prices one order: lines, discount and tax, rounded to cents.\n"
    "function priceOrder@(order, rates = { de: 0.19, fr: 0.2 }) {\n"
    "  const { items, country, coupon } = order;\n"
    "  const lines = items.map(({ sku, unit, count }) => ({ sku, amount: unit * count }));\n"
    "  const net = lines.reduce((sum, line) => sum + line.amount, 0);\n"
    "  const discount = coupon?.percent ? net * coupon.percent / 100 : 0;\n"
    "  const tax = (net - discount) * (rates[country] ?? 0);\n"
    "  return { ...order, lines, net, discount, tax, total@: Math.round((net + tax) * 100) };\n"
    "}\n\n",
    "async function chargeCustomer@(orderId, total, { attempts = 3, delay = \"1s\" } = {}) {\n"
    "  const retry = { attempts, delay, factor: 2, maxDelay: \"30s\" };\n"
    "  try {\n"
    "    const charge = await Task.run(\"charge-@\", { orderId, total }, { retry });\n"
    "    if (charge.status !== \"ok\") throw new Error(`charge ${charge.id} of ${orderId}`);\n"
    "    return charge.id;\n"
    "  } catch (error) {\n"
    "    console.error(\"charging failed\", error.message);\n"
    "    await Task.run(\"notify\", { orderId, reason: error.message });\n"
    "    throw error;\n"
    "  } finally {\n"
    "    State.set(\"charged\", orderId);\n"
    "  }\n"
    "}\n\n",
    "/* Counts what came in by state; unknown states are kept under `other`. */\n"
    "function countStates@(events) {\n"
    "  const counts = new Map();\n"
    "  let last = null;\n"
    "  for (let i = 0; i < events.length; i++) {\n"
    "    const event = events[i];\n"
    "    if (!event || event.at < 1700000000000) continue;\n"
    "    switch (event.state) {\n"
    "      case \"new\": case \"open\":\n"
    "        counts.set(event.state, (counts.get(event.state) ?? 0) + 1);\n"
    "        break;\n"
    "      case \"closed\":\n"
    "        last = event.id >= 0x1f && event.weight * 0.5 > 2.75 ? event : last;\n"
    "        break;\n"
    "      default:\n"
    "        counts.set(\"other\", (counts.get(\"other\") || 0) + 1);\n"
    "    }\n"
    "  }\n"
    "  while (last && last.parent) last = last.parent;\n"
    "  return { last@: last, counts: [...counts].sort((a, b) => b[1] - a[1]) };\n"
    "}\n\n",
    "class Account@ {\n"
    "  #balance = 0;\n"
    "  static opened = 0;\n"
    "  constructor(owner, limit) {\n"
    "    this.owner = owner;\n"
    "    this.limit = limit ?? 100;\n"
    "    Account@.opened++;\n"
    "  }\n"
    "  get balance() { return this.#balance; }\n"
    "  deposit(amount) {\n"
    "    if (typeof amount !== \"number\" || amount <= 0) {\n"
    "      throw new RangeError(`cannot deposit ${amount}`);\n"
    "    }\n"
    "    this.#balance += amount;\n"
    "    return this;\n"
    "  }\n"
    "}\n\n",
};

static void make_source(Buf *source, size_t size) {
    for (unsigned i = 0; source->len < size; i++) {
        const char *at = functions[i % COUNT_OF(functions)];
        for (; *at; at++) {
            if (*at == '@') buf_printf(source, "%u", i);
            else buf_append_char(source, *at);
        }
    }
    buf_append_cstr(source, "return countStates2(Inputs.events);\n");
}

// Processor time of this thread: what the machine does beside us does not count.
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// As at deployment, where a script is also held to what can work.
static Status compile_checked(Str text, FlowModule **ret_module, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    FlowSource source;
    Status status = flow_source_init(&source, STR("bench.flow"), text, &arena, diag);
    if (status == OK) {
        FlowReport *report = ARENA_NEW(&arena, FlowReport);
        flow_report_init(report, &source, &arena);
        status = flow_compile_checked(report, ret_module, diag);
    }
    arena_done(&arena);
    return status;
}

static Status compile_plain(Str text, FlowModule **ret_module, Diag *diag) {
    return flow_compile(STR("bench.flow"), text, ret_module, NULL, diag);
}

static void measure(const char *name, size_t size, bool is_checked) {
    Buf source;
    Diag diag;
    FlowModule *module = NULL;
    double best = 1e9;
    buf_init(&source, size * 2);
    make_source(&source, size);
    Str text = buf_str(&source);
    for (int i = 0; i < ROUNDS; i++) {
        double start = processor_seconds();
        Status status = is_checked ? compile_checked(text, &module, &diag)
                                   : compile_plain(text, &module, &diag);
        if (status != OK) {
            fprintf(stderr, "bench: %s\n", diag.message);
            exit(1);
        }
        double seconds = processor_seconds() - start;
        if (seconds < best) best = seconds;
        flow_module_release(module);
    }
    bench_report(name, (double)text.len / best / 1e6, "MB/s", 20);
    buf_done(&source);
}

int main(void) {
    measure("flow.compile", TYPICAL_SIZE, false);
    measure("flow.compile_checked", TYPICAL_SIZE, true);
    measure("flow.compile_large", LARGE_SIZE, false); // most of it is new memory being zeroed
    return 0;
}
