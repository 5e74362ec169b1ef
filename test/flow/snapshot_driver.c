// Snapshot driver: runs each program straight through and again with snapshots, and compares.
//
//   snapshot-driver MODE...      programs on stdin: LENGTH\n<program>, answers: LENGTH\n<JSON>
//
// A mode is `await` (whenever no frame is left: between jobs and when the run is parked) or a
// number N (after every N-th instruction), `N@SEED` (at distances 1 .. 2N-1 drawn from a seed).
// The answer is {"ok":true,"snapshots":n,"largest":bytes} or {"ok":false,"phase":"run","error":…}
// with what differed.
//
//   [snapshot-driver-1] Same program, same host: the clock ticks per call, tasks and timers answer
//        in the order in which they were started, random numbers come from a counter.
//   [snapshot-driver-2] At each stop the VM is written, freed, read, and written again: both texts
//        are equal.
//   [snapshot-driver-3] Outcome, result, error text with its stack, and everything the host was
//        told are equal.
#include "base/memory.h"
#include "flow/flow.h"
#include "flow/vm/vm.h"
#include "json/escape.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    TEXT_MAX = 64 << 20,
    INSTRUCTIONS_MAX = 3000000,   // of a straight run; more is not compared
    SNAPSHOTS_MAX = 60000,        // of one program and mode; the rest runs straight
    SNAPSHOT_WORK_MAX = 40 << 20, // heap bytes written, of one program and mode
};

typedef struct Host {
    FlowHost base;
    Buf told;
    int64_t now_ms;
    uint64_t random;
} Host;

static void tell(Host *host, const char *word, Str name, Str text) {
    buf_printf(&host->told, "%s %.*s %.*s\n", word, STR_ARG(name), STR_ARG(text));
}

static Status host_start(FlowHost *base, const FlowStart *start, Str *ret_id, Diag *diag) {
    (void)ret_id;
    (void)diag;
    tell((Host *)base, "start", start->name, start->input_json);
    return OK;
}

static Status host_effect(FlowHost *base, const FlowEffect *effect, Diag *diag) {
    (void)diag;
    tell((Host *)base, "effect", effect->name, effect->json);
    return OK;
}

static Status host_state_get(FlowHost *base, Str key, Str *ret_json, Diag *diag) {
    (void)base;
    (void)diag;
    (void)key;
    *ret_json = STR("{\"n\":1}");
    return OK;
}

static Status host_start_run(FlowHost *base, const FlowStart *start, Str *ret_id, Diag *diag) {
    (void)diag;
    tell((Host *)base, "run", start->name, start->input_json);
    *ret_id = STR("run-1");
    return OK;
}

static Status host_context(FlowHost *base, Str *ret_json, Diag *diag) {
    (void)base;
    (void)diag;
    *ret_json = STR("{\"runId\":\"r1\",\"workflow\":\"program\",\"attempt\":1}");
    return OK;
}

static int64_t host_now(FlowHost *base) { return ((Host *)base)->now_ms++; }
static uint64_t host_random(FlowHost *base) {
    return ((Host *)base)->random = ((Host *)base)->random * 6364136223846793005u + 1;
}

static const FlowHostOps host_ops = {
    .start = host_start,
    .effect = host_effect,
    .state_get = host_state_get,
    .start_run = host_start_run,
    .context = host_context,
    .now_ms = host_now,
    .random_u64 = host_random,
};

static void host_init(Host *host) { // [snapshot-driver-1]
    *host = (Host){.base = {&host_ops}, .now_ms = 1700000000000, .random = 1};
    buf_init(&host->told, TEXT_MAX);
}

// --- modes

typedef struct Mode {
    const char *name;
    uint64_t step; // 0: at awaits
    uint64_t seed; // 0: fixed distance
} Mode;

static Mode mode_parse(const char *text) {
    Mode mode = {.name = text};
    if (strcmp(text, "await") == 0) return mode;
    char *end;
    mode.step = strtoull(text, &end, 10);
    if (*end == '@') mode.seed = strtoull(end + 1, NULL, 10);
    if (mode.step == 0) {
        fprintf(stderr, "bad mode %s\n", text);
        exit(2);
    }
    return mode;
}

typedef struct Run {
    Host host;
    FlowVmOptions options;
    FlowVm *vm;
    FlowRunResult result;
    uint64_t seed;
    uint64_t snapshots;
    uint64_t work;
    size_t largest;
    Buf text;  // the outcome
    Buf fault; // of the snapshots
} Run;

static uint64_t next_distance(Run *run, const Mode *mode) {
    if (mode->step == 0) return 1;
    if (mode->seed == 0) return mode->step;
    run->seed = run->seed * 6364136223846793005u + 1442695040888963407u;
    return 1 + (run->seed >> 33) % (2 * mode->step - 1);
}

// Writes, frees, reads, writes again [snapshot-driver-2]. False: it did not work.
static bool pass_through_snapshot(Run *run) {
    Buf first;
    Buf second;
    Diag diag = {0};
    buf_init(&first, TEXT_MAX);
    buf_init(&second, TEXT_MAX);
    run->work += run->vm->heap.bytes;
    bool is_fine = flow_snapshot_write(run->vm, &first, &diag) == OK;
    if (is_fine) {
        flow_vm_free(run->vm);
        run->vm = NULL;
        is_fine = flow_snapshot_read(buf_str(&first), &run->options, &run->vm, &diag) == OK;
    }
    if (is_fine) is_fine = flow_snapshot_write(run->vm, &second, &diag) == OK;
    if (!is_fine) {
        buf_printf(&run->fault, "snapshot %llu: %s", (unsigned long long)run->snapshots,
                   diag.message);
    } else if (!str_equal(buf_str(&first), buf_str(&second))) {
        buf_printf(&run->fault, "snapshot %llu: %zu bytes become %zu other ones",
                   (unsigned long long)run->snapshots, first.len, second.len);
        is_fine = false;
    }
    run->snapshots++;
    if (first.len > run->largest) run->largest = first.len;
    buf_done(&first);
    buf_done(&second);
    return is_fine;
}

// Everything that is pending gets its answer, in order.
static bool settle_all(Run *run) {
    bool is_any = false;
    FlowWait *waits =
        (FlowWait *)mem_copy(run->result.waits, run->result.wait_count * sizeof *run->result.waits);
    for (uint32_t i = 0; i < run->result.wait_count; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"id\":%u,\"kind\":%d}", waits[i].id, waits[i].kind);
        FlowSettlement settlement = {.id = waits[i].id, .json = str_from(json)};
        if (waits[i].id % 5 == 4) {
            settlement.is_rejected = true;
            settlement.error_class = "TaskError";
            settlement.message = STR("no");
        }
        Diag diag = {0};
        if (flow_vm_settle(run->vm, &settlement, &diag) == OK) is_any = true;
    }
    mem_free(waits);
    return is_any;
}

static bool is_stop(const Run *run, const Mode *mode) {
    if (!mode || run->snapshots >= SNAPSHOTS_MAX) return false;
    if (run->work >= SNAPSHOT_WORK_MAX) return false;
    return mode->step != 0 || run->vm->frame_count == 0;
}

static void write_outcome(Run *run) {
    const FlowRunResult *result = &run->result;
    buf_printf(&run->text, "%d %.*s %.*s %.*s\n", (int)result->outcome,
               STR_ARG(result->result_json), STR_ARG(result->failure.name),
               STR_ARG(result->failure.stack));
    buf_append_str(&run->text, result->failure.json);
    buf_append_str(&run->text, buf_str(&run->host.told));
}

// NULL mode: straight through. False: more instructions than we compare.
static bool run_program(Run *run, FlowModule *module, const Mode *mode) {
    *run = (Run){.seed = mode ? mode->seed : 0};
    host_init(&run->host);
    buf_init(&run->text, TEXT_MAX);
    buf_init(&run->fault, TEXT_MAX);
    run->options = (FlowVmOptions){.module = module,
                                   .input_json = STR("{\"n\":3,\"list\":[1,2,{\"a\":\"b\"}]}"),
                                   .host = &run->host.base,
                                   .limits = FLOW_LIMITS_DEFAULT};
    run->options.limits.is_exact = 1;
    run->options.limits.snapshot_bytes = 16 << 20;
    run->options.limits.instructions_per_turn = mode ? next_distance(run, mode) : INSTRUCTIONS_MAX;
    Diag diag = {0};
    if (flow_vm_new(&run->options, &run->vm, &diag) != OK) abort();
    for (;;) {
        flow_vm_run(run->vm, &run->result);
        bool is_parked = run->result.outcome == FLOW_PARKED;
        if (run->result.outcome != FLOW_PREEMPTED && !is_parked) break;
        if (!mode && run->result.outcome == FLOW_PREEMPTED) return false;
        if (is_parked && !settle_all(run)) break;
        if (!is_stop(run, mode)) {
            bool is_done =
                mode && (run->snapshots >= SNAPSHOTS_MAX || run->work >= SNAPSHOT_WORK_MAX);
            if (is_done) run->vm->limits.instructions_per_turn = INSTRUCTIONS_MAX;
            continue;
        }
        run->options.limits.instructions_per_turn = next_distance(run, mode);
        if (!pass_through_snapshot(run)) break;
    }
    if (run->vm && run->fault.len == 0) write_outcome(run);
    return true;
}

static void run_done(Run *run) {
    flow_vm_free(run->vm);
    buf_done(&run->host.told);
    buf_done(&run->text);
    buf_done(&run->fault);
}

// --- programs

static void answer_difference(Buf *answer, const Mode *mode, Str straight, Str other) {
    Buf message;
    buf_init(&message, TEXT_MAX);
    buf_printf(&message, "mode %s: straight through:\n%.*s\nwith snapshots:\n%.*s", mode->name,
               STR_ARG(straight), STR_ARG(other));
    buf_append_cstr(answer, "{\"ok\":false,\"phase\":\"run\",\"error\":{\"name\":\"Difference\","
                            "\"message\":");
    json_append_string(answer, buf_str(&message));
    buf_append_cstr(answer, "}}");
    buf_done(&message);
}

static void compare(FlowModule *module, const Mode *modes, size_t count, Buf *answer) {
    Run straight;
    bool is_compared = run_program(&straight, module, NULL);
    uint64_t snapshots = 0;
    size_t largest = 0;
    for (size_t i = 0; is_compared && i < count && answer->len == 0; i++) {
        Run run;
        run_program(&run, module, &modes[i]);
        snapshots += run.snapshots;
        if (run.largest > largest) largest = run.largest;
        bool is_same = str_equal(buf_str(&run.text), buf_str(&straight.text));
        if (run.fault.len) {
            answer_difference(answer, &modes[i], buf_str(&straight.text), buf_str(&run.fault));
        } else if (!is_same) {
            answer_difference(answer, &modes[i], buf_str(&straight.text), buf_str(&run.text));
        }
        run_done(&run);
    }
    run_done(&straight);
    if (answer->len == 0) {
        buf_printf(answer, "{\"ok\":true,\"snapshots\":%llu,\"largest\":%zu}",
                   (unsigned long long)snapshots, largest);
    }
}

static bool read_program(Buf *text) {
    size_t length = 0;
    if (scanf("%zu", &length) != 1 || getchar() != '\n') return false;
    buf_clear(text);
    buf_reserve(text, length + 1);
    text->len = fread(text->data, 1, length, stdin);
    return text->len == length;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s MODE...\n", argv[0]);
        return 2;
    }
    Mode modes[16];
    size_t count = 0;
    for (int i = 1; i < argc && count < 16; i++) modes[count++] = mode_parse(argv[i]);
    Buf text;
    Buf answer;
    buf_init(&text, TEXT_MAX);
    buf_init(&answer, TEXT_MAX);
    while (read_program(&text)) {
        FlowModule *module = NULL;
        Diag diag = {0};
        buf_clear(&answer);
        if (flow_compile(STR("program.flow"), buf_str(&text), &module, NULL, &diag) == OK) {
            compare(module, modes, count, &answer);
            flow_module_release(module);
        } else {
            buf_append_cstr(&answer, "{\"ok\":true,\"snapshots\":0,\"largest\":0}");
        }
        printf("%zu\n", answer.len);
        fwrite(answer.data, 1, answer.len, stdout);
        fflush(stdout);
    }
    buf_done(&text);
    buf_done(&answer);
    return 0;
}
