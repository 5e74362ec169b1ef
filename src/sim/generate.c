// Random scripts whose result is known when they are written.
//
// A script is an expression, drawn from the seed, in which everything durable may occur: tasks that
// fail and are tried again or not at all, races that only one can win, timers, children, loops,
// cleanup in `finally`, State, Stream, work that is preempted. Each kind of expression knows its
// value, so the value of the whole is known as well; whatever nodes and store did meanwhile, the
// run must answer it. Some scripts also wait for signals and events of which clients send exactly
// as many as are wanted: a lost one leaves the run stuck [sim-6], a doubled one spoils the sum.
//
//     const { round, sum } = Inputs ?? { round: 0, sum: 0 }
//     …signals and events of this round are added to `sum`…
//     const value = await <expression>
//     if (round < ROUNDS) Workflow.continueAs({ round: round + 1, sum: total })
//     return [value, total]
//
// Not here: who starts them and sends what they wait for (clients.c), scripts written by hand and
// the checks at the end (flows.c).
#include "sim/generate.h"
#include "base/array.h"
#include "base/containers/buf.h"

enum { DEPTH_MAX = 3, TEXT_MAX = 200000 };

// An expression is written twice at once: as a script, and as the JSON of its value.
typedef struct Writer {
    Sim *sim;
    Buf source;
    Buf value;
    int variable_count; // of names that must differ within the script
} Writer;

static void expression(Writer *w, int depth);

#define SOURCE(...) buf_printf(&w->source, __VA_ARGS__)
#define VALUE(...)  buf_printf(&w->value, __VA_ARGS__)

static int draw(Writer *w, int below) { return (int)sim_random(w->sim, (uint64_t)below); }

// ---- leaves: one durable thing each ----

static void one_task(Writer *w) {
    int n = draw(w, 100);
    SOURCE("Task.run('%s', %d, R)", draw(w, 2) == 0 ? "away" : "double", n);
    VALUE("%d", 2 * n);
}

static void all_tasks(Writer *w) {
    int n = draw(w, 50), m = draw(w, 50);
    SOURCE("Task.all([Task.run('double', %d, R), Timer.delay(%d), Task.run('double', %d, R)])", n,
           1 + draw(w, 5), m);
    VALUE("[%d,null,%d]", 2 * n, 2 * m);
}

static void wide_fan(Writer *w) {
    int n = 3 + draw(w, 6);
    SOURCE("Task.all(Array.from({length: %d}, (_, i) => Task.run('double', i, R)))"
           ".then(all => all.reduce((a, b) => a + b))",
           n);
    VALUE("%d", n * (n - 1));
}

static void all_fails(Writer *w) {
    SOURCE("Task.all([Task.run('double', 1, R), Task.run('refuse')]).catch(e => e.name)");
    VALUE("\"TaskError\"");
}

static void any_succeeds(Writer *w) {
    int n = draw(w, 100);
    SOURCE("Task.any([Task.run('refuse'), Task.run('double', %d, R)]).then(f => f.result)", n);
    VALUE("%d", 2 * n);
}

static void any_fails(Writer *w) {
    SOURCE("Task.any([Task.run('refuse'), Task.run('refuse')]).catch(e => "
           "[e.name, e.errors.length])");
    VALUE("[\"AggregateError\",2]");
}

static void race_fails(Writer *w) {
    SOURCE("Task.race([Timer.delay('90d'), Task.run('refuse')])"
           ".then(r => [r.status, r.error.name])");
    VALUE("[\"failed\",\"TaskError\"]");
}

// However late the node is: what was due first has settled first.
static void race_of_timers(Writer *w) {
    int first = 1 + draw(w, 20), second = first + 1 + draw(w, 20);
    SOURCE("Promise.race([Timer.delay(%d).then(() => 'late'), "
           "Timer.delay(%d).then(() => 'early')])",
           second, first);
    VALUE("\"early\"");
}

static void race_with_task(Writer *w) {
    int n = draw(w, 100);
    SOURCE("Promise.race([Signal.next('never'), Task.run('double', %d, R), "
           "Event.wait('never'), Timer.delay('90d')])",
           n);
    VALUE("%d", 2 * n);
}

static void settled(Writer *w) {
    int n = draw(w, 100);
    SOURCE("Promise.allSettled([Task.run('refuse'), Task.run('double', %d, R), "
           "Workflow.run('gen_bad')]).then(all => all.map(s => s.value ?? s.reason.name))",
           n);
    VALUE("[\"TaskError\",%d,\"ChildWorkflowError\"]", 2 * n);
}

static void timer(Writer *w) { // [sim-4] clocks of nodes differ by at most two seconds
    int seconds = 3 + draw(w, 30);
    SOURCE("(async () => { const t = Date.now(); await Timer.delay(%d); "
           "return Date.now() - t >= %d })()",
           seconds, (seconds - 2) * 1000);
    VALUE("true");
}

static void timeout(Writer *w) {
    SOURCE("Signal.when('never', {timeout: %d}).catch(e => e.name)", 1 + draw(w, 9));
    VALUE("\"TimeoutError\"");
}

static void event_timeout(Writer *w) {
    SOURCE("Event.wait('never', {timeout: %d, filter: 'a > 1'}).catch(e => e.name)",
           1 + draw(w, 9));
    VALUE("\"TimeoutError\"");
}

static void child(Writer *w) {
    int n = draw(w, 100);
    SOURCE("Workflow.run('gen_leaf', %d)", n);
    VALUE("%d", 2 * n + 1);
}

static void child_race(Writer *w) {
    int n = draw(w, 100);
    SOURCE("Promise.race([Workflow.run('gen_leaf', %d), Timer.delay('90d')])", n);
    VALUE("%d", 2 * n + 1);
}

static void independent(Writer *w) {
    SOURCE("typeof Workflow.start('gen_leaf', %d)", draw(w, 100));
    VALUE("\"string\"");
}

static void state(Writer *w) {
    int n = draw(w, 1000), number = w->variable_count++;
    SOURCE("(async () => { State.set('k%d', {n: %d}); await Timer.delay(1); "
           "return State.get('k%d').n })()",
           number, n, number);
    VALUE("%d", n);
}

static void stream(Writer *w) {
    int n = draw(w, 1000);
    SOURCE("(Stream.write({n: %d}), Event.emit('gen_out', %d), %d)", n, n, n);
    VALUE("%d", n);
}

static void long_loop(Writer *w) { // longer than a slice of instructions
    int n = 2000 + draw(w, 6000);
    SOURCE("(() => { let x = 0; for (let i = 0; i < %d; i++) x += i %% 2; return x })()", n);
    VALUE("%d", n / 2);
}

static void forgotten(Writer *w) {
    int n = draw(w, 100);
    SOURCE("(Task.run('double', %d, R), Timer.delay('2s'), %d)", n, n);
    VALUE("%d", n);
}

// ---- forms: expressions made of others ----

static void sequence(Writer *w, int depth) {
    SOURCE("(async () => [await (");
    VALUE("[");
    expression(w, depth);
    SOURCE("), await (");
    VALUE(",");
    expression(w, depth);
    SOURCE(")])()");
    VALUE("]");
}

static void parallel(Writer *w, int depth) {
    int count = 2 + draw(w, 2);
    SOURCE("Promise.all([");
    VALUE("[");
    for (int i = 0; i < count; i++) {
        SOURCE("%s(async () => ", i > 0 ? ", " : "");
        if (i > 0) VALUE(",");
        expression(w, depth);
        SOURCE(")()");
    }
    SOURCE("])");
    VALUE("]");
}

static void with_cleanup(Writer *w, int depth) {
    SOURCE("(async () => { try { return await (");
    expression(w, depth);
    SOURCE(") } finally { await Task.run('double', 1, R) } })()");
}

static void after_failure(Writer *w, int depth) {
    SOURCE("(async () => { try { await Task.run('refuse') } catch (e) { return [e.task, await (");
    VALUE("[\"refuse\",");
    expression(w, depth);
    SOURCE(")] } })()");
    VALUE("]");
}

static void loop(Writer *w, int depth) {
    SOURCE("(async () => { const all = []; for (const i of [1, 2, 3]) "
           "all.push(i, await Task.run('double', i, R)); all.push(await (");
    VALUE("[1,2,2,4,3,6,");
    expression(w, depth);
    SOURCE(")); return all })()");
    VALUE("]");
}

static void against_never(Writer *w, int depth) {
    SOURCE("Promise.race([Signal.next('never'), (async () => ");
    expression(w, depth);
    SOURCE(")()])");
}

static void expression(Writer *w, int depth) {
    static void (*const leaves[])(Writer *) = {
        one_task,   all_tasks,      wide_fan,  all_fails, any_succeeds, any_fails,
        race_fails, race_of_timers, settled,   timer,     timeout,      child,
        child_race, independent,    state,     stream,    one_task,     event_timeout,
        long_loop,  race_with_task, forgotten,
    };
    static void (*const forms[])(Writer *, int) = {sequence,      parallel, with_cleanup,
                                                   after_failure, loop,     against_never};
    enum { LEAF_COUNT = COUNT_OF(leaves) };
    enum { FORM_COUNT = COUNT_OF(forms) };
    bool is_leaf = depth >= DEPTH_MAX || draw(w, 3) == 0;
    if (is_leaf) leaves[draw(w, LEAF_COUNT)](w);
    else forms[draw(w, FORM_COUNT)](w, depth + 1);
}

// ---- whole scripts ----

// Ways to wait for a signal that will come: the last one loses a race now and then, and must
// not take a signal with it.
static const char *const signal_waits[] = {
    "while (left-- > 0) total += await Signal.next('sure')\n",
    "const got = []\nwhile (left-- > 0) got.push(Signal.next('sure'))\n"
    "for (const n of await Promise.all(got)) total += n\n",
    "while (left > 0) {\n"
    "  const n = await Promise.race([Signal.next('sure'), Timer.delay(4)])\n"
    "  if (n !== undefined) { total += n; left-- }\n}\n",
    "while (left > 0) {\n"
    "  const n = await Signal.when('sure', {timeout: 3}).catch(() => null)\n"
    "  if (n !== null) { total += n; left-- }\n}\n",
};
static const char *const event_waits[] = {
    "for (let i = 0; i < EVENTS; i++) {\n"
    "  total += (await Event.wait('mine', {filter: {run: Context.runId}})).n\n}\n",
    "for (let i = 0; i < EVENTS;) {\n"
    "  const mine = await Promise.race([Timer.delay(5),\n"
    "    Event.wait('mine', {filter: \"run == '\" + Context.runId + \"'\"})])\n"
    "  if (mine) { total += mine.n; i++ }\n}\n",
};

static void write_script(Writer *w, GeneratedFlow *flow) {
    int rounds = draw(w, 3) == 0 ? 1 + draw(w, 2) : 0;
    flow->signal_count = draw(w, 2) == 0 ? draw(w, 4) : 0;
    flow->event_count = draw(w, 3) == 0 ? 1 + draw(w, 2) : 0;
    SOURCE("const R = {retry: {attempts: 60, delay: '1s', maxDelay: '3s'}}\n"
           "const EVENTS = %d\n"
           "const { round, sum } = Inputs ?? { round: 0, sum: 0 }\n"
           "let total = sum, left = %d\n",
           flow->event_count, flow->signal_count);
    if (flow->signal_count > 0)
        SOURCE("if (round === %d) {\n%s}\n", draw(w, rounds + 1), signal_waits[draw(w, 4)]);
    if (flow->event_count > 0)
        SOURCE("if (round === %d) {\n%s}\n", draw(w, rounds + 1), event_waits[draw(w, 2)]);
    SOURCE("const value = await (");
    VALUE("[");
    expression(w, 0);
    SOURCE(")\nif (round < %d) Workflow.continueAs({ round: round + 1, sum: total })\n", rounds);
    SOURCE("return [value, total]\n");
    int sum = 0;
    for (int i = 1; i <= flow->signal_count; i++) sum += i;
    for (int i = 1; i <= flow->event_count; i++) sum += i;
    VALUE(",%d]", sum);
}

void generate_flow(Sim *sim, Arena *arena, GeneratedFlow *ret_flow) {
    Writer writer = {.sim = sim};
    buf_init(&writer.source, TEXT_MAX);
    buf_init(&writer.value, TEXT_MAX);
    write_script(&writer, ret_flow);
    ASSERT(!writer.source.is_overflown && !writer.value.is_overflown);
    ret_flow->source = arena_str(arena, buf_str(&writer.source));
    ret_flow->result = arena_str(arena, buf_str(&writer.value));
    buf_done(&writer.source);
    buf_done(&writer.value);
}
