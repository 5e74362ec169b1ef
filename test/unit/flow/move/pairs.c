// Moves at random: pairs of a script and the same script after an everyday edit, parked at every
// await. What is called movable is moved and finished, and must end as the new script does when it
// is run from the start with the same answers, where both agree up to that await.
//
//   [move-pairs-1] Answers depend on what was asked only: the name of a task and its input.
//   [move-pairs-2] Both agree when the same things were started, every variable that both versions
//        have at the await holds the same value, and it is the same await: one that is like
//        another one may be skipped in the new version.
//   [move-pairs-3] Compared are the result or error, and everything started and logged after.
#include "flow/move/move.h"
#include "json/value.h"
#include "unit/flow/vm.h"

enum { PAIRS = 2500, BYTES_MAX = 1 << 20, NODES_MAX = 400, PARKS_MAX = 40, WAITS_MAX = 64 };

// --- random numbers

static uint64_t seed;

static uint32_t pick(uint32_t count) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % count);
}

// --- scripts: statements in a tree, functions in a list

typedef enum StatementKind {
    S_LET,
    S_CONST,
    S_ADD,     // v += expression
    S_HELPER,  // v = helper(v, n)
    S_TASK,    // const r = await Task.run(…)
    S_OPERAND, // v += (await Task.run(…)).amount
    S_ASYNC,   // v += await async helper
    S_ALL,     // Promise.all over async arrows
    S_TIMER,
    S_IF,
    S_FOR_OF,
    S_FOR,
    S_TRY,
    S_LOG,
    S_COMMENT,
    S_CLOSURE, // const f = (x) => …; v += f(1)
    S_DECLARE, // const d = …, for a S_USE at the end
    S_USE,
    S_KINDS
} StatementKind;

typedef struct Statement {
    StatementKind kind;
    uint32_t id;     // of the variable it declares, or of the task
    uint32_t target; // the variable it changes
    uint32_t number;
    uint32_t helper; // 1 + index of the one it calls; 0: by its id
    uint32_t first;  // children: 1 + index of the first; a chain through `next`
    uint32_t next;
} Statement;

typedef struct Helper {
    uint32_t name;
    uint32_t number;
    bool is_async;
    bool uses_top; // reads a variable of the top level
} Helper;

typedef struct Script {
    Statement nodes[NODES_MAX];
    uint32_t count;
    uint32_t first;
    Helper helpers[8];
    uint32_t helper_count;
    uint32_t first_count; // of them before any edit
    uint32_t next_id;
    uint32_t shift; // functions begin with this one
    bool is_block;  // a `workflow` block, or the file itself
} Script;

static uint32_t node_new(Script *s, StatementKind kind) {
    if (s->count + 1 >= NODES_MAX) return 0;
    uint32_t index = ++s->count;
    s->nodes[index] =
        (Statement){.kind = kind, .id = s->next_id++, .target = pick(2), .number = 1 + pick(9)};
    return index;
}

static uint32_t make_list(Script *s, uint32_t depth);

static uint32_t make_statement(Script *s, uint32_t depth) {
    static const StatementKind leaves[] = {S_LET,   S_CONST, S_ADD,     S_ADD,   S_HELPER,
                                           S_TASK,  S_TASK,  S_OPERAND, S_ASYNC, S_ALL,
                                           S_TIMER, S_LOG,   S_CLOSURE};
    static const StatementKind nested[] = {S_IF, S_FOR_OF, S_FOR, S_TRY};
    bool is_nested = depth < 2 && pick(4) == 0;
    uint32_t index = node_new(s, is_nested ? nested[pick(4)] : leaves[pick(13)]);
    if (index && is_nested) {
        uint32_t body = make_list(s, depth + 1);
        s->nodes[index].first = body;
    }
    return index;
}

static uint32_t make_list(Script *s, uint32_t depth) {
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t count = depth ? 1 + pick(3) : 3 + pick(5);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = make_statement(s, depth);
        if (!index) break;
        if (last) s->nodes[last].next = index;
        else first = index;
        last = index;
    }
    return first;
}

static void make_script(Script *s) {
    memset(s, 0, sizeof *s);
    s->is_block = pick(2) == 0;
    s->helper_count = 2 + pick(3);
    for (uint32_t i = 0; i < s->helper_count; i++) {
        s->helpers[i] = (Helper){.name = i,
                                 .number = 1 + pick(9),
                                 .is_async = i == 0 || (i > 1 && pick(3) == 0),
                                 .uses_top = pick(3) == 0};
    }
    s->first_count = s->helper_count;
    s->first = make_list(s, 0);
}

// --- text

static const Helper *helper_of(const Script *s, const Statement *n, bool is_async) {
    if (n->helper) return &s->helpers[n->helper - 1];
    for (uint32_t i = 0; i < s->first_count; i++) {
        const Helper *helper = &s->helpers[(i + n->id) % s->first_count];
        if (helper->is_async == is_async) return helper;
    }
    return &s->helpers[is_async ? 0 : 1];
}

static void print_list(const Script *s, uint32_t first, uint32_t depth, Buf *out);

static void print_leaf(const Script *s, const Statement *n, Buf *out) {
    switch (n->kind) {
    case S_LET: buf_printf(out, "let x%u = v0 + %u; v1 += x%u;", n->id, n->number, n->id); break;
    case S_CONST: buf_printf(out, "const k%u = %u; v0 += k%u;", n->id, n->number, n->id); break;
    case S_ADD: buf_printf(out, "v%u += %u;", n->target, n->number); break;
    case S_HELPER:
        buf_printf(out, "v%u = h%u(v%u, %u);", n->target, helper_of(s, n, false)->name, n->target,
                   n->number);
        break;
    case S_TASK:
        buf_printf(out, "const r%u = await Task.run('t%u', { a: v0, n: %u });\nv%u += r%u.amount;",
                   n->id, n->id, n->number, n->target, n->id);
        break;
    case S_OPERAND:
        buf_printf(out, "v%u = v1 * 2 + (await Task.run('o%u', { n: %u })).amount;", n->target,
                   n->id, n->number);
        break;
    case S_ASYNC:
        buf_printf(out, "v%u += await h%u(v0, %u);", n->target, helper_of(s, n, true)->name,
                   n->number);
        break;
    case S_ALL: // what has ended is seen in a variable [move-pairs-2]
        buf_printf(out, "let s%u = '';\nconst a%u = await Promise.all(", n->id, n->id);
        buf_printf(out, "input.items.map(async (i) => {\nconst y = await Task.run('p%u', { i });\n",
                   n->id);
        buf_printf(out, "s%u += ' ' + (y.amount + i + %u);\nreturn y.amount + i + %u;\n}));\n",
                   n->id, n->number, n->number);
        buf_printf(out, "v%u += a%u[0];", n->target, n->id);
        break;
    case S_TIMER: buf_printf(out, "await Timer.delay(%u);", n->number * 1000); break;
    case S_LOG: buf_printf(out, "console.log('l%u', v%u);", n->id, n->target); break;
    case S_COMMENT: buf_printf(out, "// comment %u", n->number); break;
    case S_CLOSURE:
        buf_printf(out, "const f%u = (q) => { v%u += q; return v1; };\nf%u(%u);", n->id, n->target,
                   n->id, n->number);
        break;
    case S_DECLARE:
        buf_printf(out, n->target ? "const d%u = %u;" : "const d%u = v0 + %u;", n->id, n->number);
        break;
    case S_USE: buf_printf(out, "v1 += d%u;", n->id); break;
    default: break;
    }
}

static void print_statement(const Script *s, const Statement *n, uint32_t depth, Buf *out) {
    switch (n->kind) {
    case S_IF: buf_printf(out, "if ((v%u + %u) %% 3 !== 0) {\n", n->target, n->number); break;
    case S_FOR_OF:
        buf_printf(out, "for (const e%u of input.items) {\nv0 += e%u;\n", n->id, n->id);
        break;
    case S_FOR:
        buf_printf(out, "for (let j%u = 0; j%u < 2; j%u++) {\n", n->id, n->id, n->id);
        break;
    case S_TRY: buf_printf(out, "try {\n"); break;
    default:
        print_leaf(s, n, out);
        buf_printf(out, "\n");
        return;
    }
    print_list(s, n->first, depth + 1, out);
    if (n->kind == S_TRY && n->number % 2) {
        buf_printf(out, "} catch (error) {\nconsole.log(error.message);\nv1 += 1;\n");
    } else if (n->kind == S_TRY) {
        buf_printf(out, "} finally {\nv1 += %u;\n", n->number);
    }
    buf_printf(out, "}\n");
}

static void print_list(const Script *s, uint32_t first, uint32_t depth, Buf *out) {
    for (uint32_t i = first; i; i = s->nodes[i].next) print_statement(s, &s->nodes[i], depth, out);
}

static void print_script(const Script *s, Buf *out) {
    buf_printf(out, "const top = 3;\n");
    for (uint32_t i = 0; i < s->helper_count; i++) {
        const Helper *h = &s->helpers[(i + s->shift) % s->helper_count];
        const char *extra = h->uses_top ? " + top" : "";
        if (h->is_async) {
            buf_printf(out,
                       "async function h%u(a, b) {\nconst z = await Task.run('h%u', { a });\n"
                       "return z.amount + b + %u%s;\n}\n",
                       h->name, h->number, h->number, extra);
        } else {
            buf_printf(out, "function h%u(a, b) { return a * 2 + b + %u%s; }\n", h->name, h->number,
                       extra);
        }
    }
    buf_printf(out, s->is_block ? "workflow main(input) {\n" : "const input = Inputs;\n");
    buf_printf(out, "let v0 = input.start;\nlet v1 = 1;\n");
    print_list(s, s->first, 0, out);
    buf_printf(out, "return [v0, v1];\n%s", s->is_block ? "}\n" : "");
}

// --- edits

typedef enum Edit {
    EDIT_LINE,
    EDIT_OPTION,
    EDIT_COMMENT,
    EDIT_RENAME,
    EDIT_EXTRACT,
    EDIT_BRANCH,
    EDIT_ORDER,
    EDIT_VARIABLE,
    EDIT_TASK,
    EDIT_HELPER_BODY,
    EDIT_REMOVE,
    EDIT_WRAP,
    EDIT_COUNT
} Edit;

static const char *const edit_names[EDIT_COUNT] = {
    "a line added",        "an option or number changed",
    "a comment",           "a helper renamed",
    "a helper extracted",  "a new branch",
    "functions reordered", "a variable added",
    "a task added",        "a helper's body changed",
    "a line removed",      "a branch around a line"};

static bool is_line(StatementKind kind) {
    return kind == S_LOG || kind == S_ADD || kind == S_COMMENT || kind == S_HELPER;
}

static void insert(Script *s, StatementKind kind) {
    uint32_t after = 1 + pick(s->count);
    uint32_t index = node_new(s, kind);
    if (!index) return;
    if (kind == S_IF) {
        uint32_t body = node_new(s, S_ADD);
        s->nodes[index].first = body;
    }
    s->nodes[index].next = s->nodes[after].next;
    s->nodes[after].next = index;
}

// A variable that is declared somewhere on the way and used at the end.
static void declare(Script *s) {
    uint32_t made = node_new(s, S_DECLARE);
    uint32_t use = node_new(s, S_USE);
    if (!made || !use) return;
    s->nodes[use].id = s->nodes[made].id;
    uint32_t at = s->first;
    for (uint32_t i = pick(4); i > 0 && s->nodes[at].next; i--) at = s->nodes[at].next;
    s->nodes[made].next = s->nodes[at].next;
    s->nodes[at].next = made;
    while (s->nodes[at].next) at = s->nodes[at].next;
    s->nodes[at].next = use;
}

static void remove_line(Script *s) {
    for (uint32_t tries = 0; tries < 20; tries++) {
        uint32_t at = 1 + pick(s->count);
        uint32_t next = s->nodes[at].next;
        if (!next || !is_line(s->nodes[next].kind)) continue;
        s->nodes[at].next = s->nodes[next].next;
        return;
    }
}

static void wrap_line(Script *s) {
    uint32_t at = 1 + pick(s->count);
    uint32_t next = s->nodes[at].next;
    uint32_t index = next ? node_new(s, S_IF) : 0;
    if (!index) return;
    StatementKind kind = s->nodes[next].kind;
    if (kind == S_LET || kind == S_CONST) return;
    s->nodes[index].first = next;
    s->nodes[index].next = s->nodes[next].next;
    s->nodes[next].next = 0;
    s->nodes[at].next = index;
}

static void change_number(Script *s) {
    for (uint32_t tries = 0; tries < 20; tries++) {
        Statement *n = &s->nodes[1 + pick(s->count)];
        if (n->kind == S_TRY || n->kind == S_FOR || n->kind == S_FOR_OF) continue;
        n->number += 10;
        return;
    }
}

static void extract_helper(Script *s) { // v += n becomes v = new_helper(v, n)
    if (s->helper_count == 8) return;
    Helper made = {.name = 20 + s->helper_count, .number = 1 + pick(5)};
    for (uint32_t i = 1; i <= s->count; i++) {
        Statement *n = &s->nodes[i];
        if (n->kind != S_ADD || pick(2)) continue;
        n->kind = S_HELPER;
        s->helpers[s->helper_count++] = made;
        n->helper = s->helper_count;
        return;
    }
}

static void edit_script(Script *s, Edit edit) {
    switch (edit) {
    case EDIT_LINE: insert(s, pick(2) ? S_LOG : S_ADD); break;
    case EDIT_OPTION: change_number(s); break;
    case EDIT_COMMENT: insert(s, S_COMMENT); break;
    case EDIT_RENAME: s->helpers[pick(s->helper_count)].name += 40; break;
    case EDIT_EXTRACT: extract_helper(s); break;
    case EDIT_BRANCH: insert(s, S_IF); break;
    case EDIT_ORDER: s->shift++; break;
    case EDIT_VARIABLE:
        if (pick(2)) declare(s);
        else insert(s, pick(2) ? S_LET : S_CONST);
        break;
    case EDIT_TASK: insert(s, S_TASK); break;
    case EDIT_HELPER_BODY: {
        Helper *h = &s->helpers[pick(s->helper_count)];
        h->uses_top = !h->uses_top;
        break;
    }
    case EDIT_REMOVE: remove_line(s); break;
    case EDIT_WRAP: wrap_line(s); break;
    case EDIT_COUNT: break;
    }
}

// --- a host that remembers what was asked [move-pairs-1]

typedef struct Asked {
    uint32_t id;
    uint32_t answer;
} Asked;

typedef struct Host {
    FlowHost base;
    Buf started;
    Buf logged;
    Asked asked[WAITS_MAX * 8];
    uint32_t asked_count;
} Host;

static uint32_t text_sum(Str text) {
    uint32_t sum = 7;
    for (size_t i = 0; i < text.len; i++) sum = sum * 31 + (uint8_t)text.data[i];
    return sum;
}

static Status host_start(FlowHost *base, const FlowStart *start, Str *ret_id, Diag *diag) {
    (void)ret_id;
    (void)diag;
    Host *host = (Host *)base;
    buf_printf(&host->started, "%d %.*s %.*s %lld\n", (int)start->kind, STR_ARG(start->name),
               STR_ARG(start->input_json), (long long)start->delay_ms);
    if (host->asked_count < WAITS_MAX * 8) {
        uint32_t answer = text_sum(start->name) + text_sum(start->input_json) * 3;
        host->asked[host->asked_count++] = (Asked){start->id, answer};
    }
    return OK;
}

static Status host_effect(FlowHost *base, const FlowEffect *effect, Diag *diag) {
    (void)diag;
    buf_printf(&((Host *)base)->logged, "%.*s\n", STR_ARG(effect->json));
    return OK;
}

static int64_t host_now(FlowHost *base) {
    (void)base;
    return 1700000000000;
}

static const FlowHostOps host_ops = {
    .start = host_start, .effect = host_effect, .now_ms = host_now};

static void host_init(Host *host) {
    memset(host, 0, sizeof *host);
    host->base.ops = &host_ops;
    buf_init(&host->started, BYTES_MAX);
    buf_init(&host->logged, BYTES_MAX);
}

static void host_copy(Host *host, const Host *from) {
    host_init(host);
    buf_append_str(&host->started, buf_str(&from->started));
    buf_append_str(&host->logged, buf_str(&from->logged));
    memcpy(host->asked, from->asked, sizeof host->asked);
    host->asked_count = from->asked_count;
}

static void host_done(Host *host) {
    buf_done(&host->started);
    buf_done(&host->logged);
}

// --- runs

typedef struct Trial {
    Host host;
    FlowVm *vm;
    FlowRunResult result;
} Trial;

static void trial_turn(Trial *trial) {
    do {
        flow_vm_run(trial->vm, &trial->result);
    } while (trial->result.outcome == FLOW_PREEMPTED);
}

static void trial_answer(Trial *trial) {
    uint32_t id = trial->result.waits[0].id;
    uint32_t answer = 0;
    for (uint32_t i = 0; i < trial->host.asked_count; i++)
        if (trial->host.asked[i].id == id) answer = trial->host.asked[i].answer;
    char json[64];
    snprintf(json, sizeof json, "{\"amount\":%u}", answer % 17);
    FlowSettlement settlement = {.id = id, .json = str_from(json)};
    if (answer % 11 == 0) {
        settlement = (FlowSettlement){
            .id = id, .is_rejected = true, .error_class = "TaskError", .message = STR("no")};
    }
    Diag diag = {0};
    assert_int_equal(flow_vm_settle(trial->vm, &settlement, &diag), OK);
}

static void trial_begin(Trial *trial, FlowModule *module) {
    memset(trial, 0, sizeof *trial);
    host_init(&trial->host);
    FlowVmOptions options = {.module = module,
                             .input_json = STR("{\"items\":[4,5],\"start\":2}"),
                             .host = &trial->host.base,
                             .limits = FLOW_LIMITS_DEFAULT};
    Diag diag = {0};
    assert_int_equal(flow_vm_new(&options, &trial->vm, &diag), OK);
    trial_turn(trial);
}

static void trial_end(Trial *trial) {
    flow_vm_free(trial->vm);
    host_done(&trial->host);
}

// The end of it, with what was started and logged after `started` and `logged` bytes.
static void trial_finish(Trial *trial, size_t started, size_t logged, Buf *out) {
    for (uint32_t i = 0; i < 400 && trial->result.outcome == FLOW_PARKED; i++) {
        if (trial->result.wait_count == 0) break;
        trial_answer(trial);
        trial_turn(trial);
    }
    buf_printf(out, "%d %.*s %.*s\n", (int)trial->result.outcome,
               STR_ARG(trial->result.result_json), STR_ARG(trial->result.failure.message));
    Str all = buf_str(&trial->host.started);
    buf_append_str(out, (Str){all.data + started, all.len - started});
    all = buf_str(&trial->host.logged);
    buf_append_str(out, (Str){all.data + logged, all.len - logged});
}

// --- agreement [move-pairs-2]

static bool locals_agree(const JsonValue *old, const JsonValue *new) {
    const JsonValue *before = json_member(old, STR("locals"));
    const JsonValue *after = json_member(new, STR("locals"));
    if (!before || !after) return !before == !after;
    JSON_EACH (member, after) {
        const JsonValue *other = json_member(before, member->key);
        if (other && !json_equal(other, member)) return false;
    }
    return true;
}

static bool lines_agree(const JsonValue *a, const JsonValue *b) {
    return json_equal(json_member(a, STR("line")), json_member(b, STR("line")));
}

// Compares what two runs wait for, function by function.
static bool each_agrees(Trial *one, Trial *other,
                        bool (*agree)(const JsonValue *one, const JsonValue *other)) {
    Arena arena;
    Buf texts[2];
    JsonValue *values[2];
    Diag diag = {0};
    arena_init(&arena);
    Trial *trials[2] = {one, other};
    for (uint32_t i = 0; i < 2; i++) {
        buf_init(&texts[i], BYTES_MAX);
        flow_vm_inspect(trials[i]->vm, 0, &texts[i]);
        assert_int_equal(json_parse(&arena, buf_str(&texts[i]), &values[i], &diag), OK);
    }
    const JsonValue *a = json_member(values[0], STR("waitingAt"));
    const JsonValue *b = json_member(values[1], STR("waitingAt"));
    bool agrees = a && b && a->count == b->count;
    for (uint32_t i = 0; agrees && i < a->count; i++)
        agrees = agree(json_item(a, i), json_item(b, i));
    buf_done(&texts[0]);
    buf_done(&texts[1]);
    arena_done(&arena);
    return agrees;
}

// --- pairs

typedef struct Tally {
    uint32_t parks;
    uint32_t moved;
    uint32_t compared;
    uint32_t elsewhere; // the new version waits at another await like it
} Tally;

static Tally tallies[EDIT_COUNT];
static const char *show; // refusals are printed when the environment asks for it

typedef struct Pair {
    FlowModule *from;
    FlowModule *to;
    FlowMove *move;
    Str texts[2];
    Edit edit;
} Pair;

static void compare(const Pair *pair, Trial *moved, Trial *fresh) {
    Buf is;
    Buf should;
    buf_init(&is, BYTES_MAX);
    buf_init(&should, BYTES_MAX);
    trial_finish(fresh, fresh->host.started.len, fresh->host.logged.len, &should);
    trial_finish(moved, moved->host.started.len, moved->host.logged.len, &is);
    if (!str_equal(buf_str(&is), buf_str(&should))) {
        fprintf(stderr, "seed %llu, %s:\n%.*s\n--- became\n%.*s\n", (unsigned long long)seed,
                edit_names[pair->edit], STR_ARG(pair->texts[0]), STR_ARG(pair->texts[1]));
        fprintf(stderr, "--- moved:\n%.*s--- from the start:\n%.*s", STR_ARG(buf_str(&is)),
                STR_ARG(buf_str(&should)));
        fail();
    }
    buf_done(&is);
    buf_done(&should);
}

// The old run is parked after `answers` answers.
static void try_move(const Pair *pair, Trial *old, uint32_t answers) {
    Tally *tally = &tallies[pair->edit];
    Buf bytes;
    Buf moved;
    Diag diag = {0};
    buf_init(&bytes, BYTES_MAX);
    buf_init(&moved, BYTES_MAX);
    assert_int_equal(flow_snapshot_write(old->vm, &bytes, &diag), OK);
    Status status =
        flow_move_snapshot(pair->move, buf_str(&bytes), FLOW_LIMITS_DEFAULT, &moved, &diag);
    tally->parks++;
    if (status != OK) {
        assert_string_equal(diag.code, "MOVE_REFUSED");
        if (show) printf("%s: %s\n", edit_names[pair->edit], diag.message);
    } else {
        tally->moved++;
        Trial fresh;
        trial_begin(&fresh, pair->to);
        for (uint32_t i = 0; i < answers && fresh.result.outcome == FLOW_PARKED; i++) {
            if (fresh.result.wait_count == 0) break;
            trial_answer(&fresh);
            trial_turn(&fresh);
        }
        bool agrees = fresh.result.outcome == FLOW_PARKED && fresh.result.wait_count &&
                      str_equal(buf_str(&fresh.host.started), buf_str(&old->host.started)) &&
                      each_agrees(old, &fresh, locals_agree);
        Trial other = {.vm = NULL};
        host_copy(&other.host, &old->host);
        FlowVmOptions options = {
            .module = pair->to, .host = &other.host.base, .limits = FLOW_LIMITS_DEFAULT};
        assert_int_equal(flow_snapshot_read(buf_str(&moved), &options, &other.vm, &diag), OK);
        trial_turn(&other); // nothing has come: it parks where it stood
        assert_int_equal(other.result.outcome, FLOW_PARKED);
        if (agrees && !each_agrees(&other, &fresh, lines_agree)) {
            tally->elsewhere++;
        } else if (agrees) {
            tally->compared++;
            compare(pair, &other, &fresh);
        }
        trial_end(&other);
        trial_end(&fresh);
    }
    buf_done(&bytes);
    buf_done(&moved);
}

static FlowModule *compile(const Script *script, Buf *text) {
    print_script(script, text);
    FlowModule *module = NULL;
    Diag diag = {0};
    if (flow_compile(STR("pair.flow"), buf_str(text), &module, NULL, &diag) != OK)
        fail_msg("%s\n%.*s", diag.message, STR_ARG(buf_str(text)));
    return module;
}

static void run_pair(uint64_t number) {
    static Script script;
    static Script edited;
    seed = number * 2654435761u + 17;
    make_script(&script);
    edited = script;
    Pair pair = {.edit = (Edit)pick(EDIT_COUNT)};
    edit_script(&edited, pair.edit);
    Buf texts[2];
    buf_init(&texts[0], BYTES_MAX);
    buf_init(&texts[1], BYTES_MAX);
    pair.from = compile(&script, &texts[0]);
    pair.to = compile(&edited, &texts[1]);
    pair.texts[0] = buf_str(&texts[0]);
    pair.texts[1] = buf_str(&texts[1]);
    pair.move = flow_move_new(pair.from, pair.to);
    Trial old;
    trial_begin(&old, pair.from);
    for (uint32_t i = 0; i < PARKS_MAX && old.result.outcome == FLOW_PARKED; i++) {
        if (old.result.wait_count == 0) break;
        try_move(&pair, &old, i);
        trial_answer(&old);
        trial_turn(&old);
    }
    trial_end(&old);
    flow_move_free(pair.move);
    flow_module_release(pair.from);
    flow_module_release(pair.to);
    buf_done(&texts[0]);
    buf_done(&texts[1]);
}

static void what_is_called_movable_goes_on_as_the_new_version(void **state) {
    (void)state;
    show = getenv("ABIDE_MOVE_SHOW");
    const char *first = getenv("ABIDE_MOVE_FIRST");
    size_t from = first ? strtoull(first, NULL, 10) : 1;
    size_t count = scaled(PAIRS);
    for (size_t i = 0; i < count; i++) run_pair(from + i);
    Tally all = {0};
    for (uint32_t i = 0; i < EDIT_COUNT; i++) {
        const Tally *tally = &tallies[i];
        printf("# %-28s %7u parked, %5.1f %% movable, %7u compared\n", edit_names[i], tally->parks,
               tally->parks ? 100.0 * tally->moved / tally->parks : 0.0, tally->compared);
        all.parks += tally->parks;
        all.moved += tally->moved;
        all.compared += tally->compared;
        all.elsewhere += tally->elsewhere;
    }
    double share = 100.0 * all.moved / all.parks;
    printf("# %zu pairs, %u parked, %.1f %% movable, %u compared, %u elsewhere\n", count, all.parks,
           share, all.compared, all.elsewhere);
    assert_true(share >= 90.0);
    assert_true(all.compared >= all.moved / 3);
    assert_true(all.elsewhere <= all.compared / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_called_movable_goes_on_as_the_new_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
