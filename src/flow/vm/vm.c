// Vm: one run of one module, from its first turn to its last. See vm.h for the state and flow.h
// for the contract.
//
//   new --run--> [frames? run them : job? run it : main settled? finish : parked] --> outcome
//
//   [vm-4] A turn ends when there is nothing left to do, when the fuel is used up, or when the run
//        has ended. Ended is for ever: further runs answer the same.
//   [vm-5] Jobs run only when no frame is left, one at a time.
//   [vm-6] The run has ended when the promise of the top level is settled and the queue is empty;
//        awaitables that nobody waits for do not hold it up.
//   [vm-7] Natives cannot be stopped, but are paid for by what they did; what they took beyond the
//        fuel of a turn is missing in the next ones.
#include "base/assert.h"
#include "base/memory.h"
#include "flow/mask/mask.h"
#include "flow/value/object_layout.h"
#include "flow/vm/unwound.h"

// --- life

static void vm_init(FlowVm *vm, const FlowVmOptions *options) {
    vm->realm = flow_realm();
    vm->module = flow_module_retain(options->module);
    vm->host = options->host;
    vm->limits = options->limits;
    vm->workflow_index = options->workflow_index;
    flow_heap_init(&vm->heap, (size_t)vm->limits.heap_bytes, false);
    vm->heap.fuel = &vm->fuel;
    vm->exception = FLOW_HOLE;
    vm->symbols = vm->inputs = vm->cancel_reason = vm->result = FLOW_UNDEFINED;
    vm->context = FLOW_HOLE;
    vm->next_awaitable_id = 1;
    vm->plain_shape = flow_shape_root(vm, vm->realm->protos[PROTO_OBJECT]);
    vm->array_shape = flow_shape_root(vm, vm->realm->protos[PROTO_ARRAY]);
}

FlowVm *flow_vm_new_empty(const FlowVmOptions *options) {
    FlowVm *vm = mem_zalloc(sizeof *vm);
    vm_init(vm, options);
    return vm;
}

Status flow_vm_new(const FlowVmOptions *options, FlowVm **ret_vm, Diag *diag) {
    if (options->workflow_index >= options->module->workflow_count) {
        return diag_set(diag, ERR_NOT_FOUND, "WORKFLOW_NOT_FOUND", "there is no workflow %u",
                        options->workflow_index);
    }
    FlowVm *vm = flow_vm_new_empty(options);
    if (!str_is_null(options->input_json)) {
        Status status = flow_json_to_value(vm, options->input_json, &vm->inputs, diag);
        if (status != OK) {
            flow_vm_free(vm);
            return status;
        }
    }
    *ret_vm = vm;
    return OK;
}

void flow_vm_free(FlowVm *vm) {
    if (!vm) return;
    flow_vm_texts_free(vm);
    flow_unwound_drop(vm);
    flow_heap_done(&vm->heap);
    flow_atoms_done(&vm->atoms);
    flow_queue_done(&vm->queue);
    mem_free(vm->stack);
    mem_free(vm->frames);
    mem_free(vm->awaitables);
    mem_free(vm->overrides);
    mem_free(vm->templates);
    mem_free(vm->roots);
    mem_free(vm->caches);
    mem_free(vm->prelude_caches);
    mem_free(vm->lookups);
    flow_module_release(vm->module);
    mem_free(vm);
}

void flow_vm_set_host(FlowVm *vm, FlowHost *host) { vm->host = host; }

// --- memory

static void mark_values(FlowHeap *heap, const FlowValue *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) flow_heap_mark(heap, values[i]);
}

static void mark_frame_list(FlowHeap *heap, const FlowFrame *frames, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const FlowFrame *frame = &frames[i];
        flow_heap_mark_cell(heap, frame->closure);
        flow_heap_mark(heap, frame->function);
        flow_heap_mark(heap, frame->new_target);
        flow_heap_mark_cell(heap, frame->coroutine);
    }
}

static void mark_frames(FlowVm *vm) {
    FlowHeap *heap = &vm->heap;
    mark_values(heap, vm->stack, vm->stack_top);
    mark_frame_list(heap, vm->frames, vm->frame_count);
    if (vm->held) {
        mark_values(heap, vm->held->stack, vm->held->stack_top);
        mark_frame_list(heap, vm->held->frames, vm->held->frame_count);
        mark_values(heap, vm->held->values, vm->held->value_count);
    }
    for (uint32_t i = 0; i < vm->queue.count; i++) {
        const FlowJob *job = &vm->queue.jobs[(vm->queue.first + i) & (vm->queue.capacity - 1)];
        flow_heap_mark(heap, job->a);
        flow_heap_mark(heap, job->b);
        flow_heap_mark(heap, job->c);
    }
}

static void mark_roots(FlowVm *vm) {
    FlowHeap *heap = &vm->heap;
    mark_frames(vm);
    flow_unwound_mark(vm);
    flow_heap_mark(heap, vm->exception);
    flow_heap_mark(heap, vm->symbols);
    flow_heap_mark(heap, vm->inputs);
    flow_heap_mark(heap, vm->context);
    flow_heap_mark(heap, vm->cancel_reason);
    flow_heap_mark(heap, vm->result);
    flow_heap_mark_cell(heap, vm->main_promise);
    flow_heap_mark_cell(heap, vm->driver_reaction);
    flow_heap_mark_cell(heap, vm->plain_shape);
    flow_heap_mark_cell(heap, vm->array_shape);
    for (uint32_t i = 0; i < vm->awaitable_count; i++) {
        flow_heap_mark_cell(heap, vm->awaitables[i].promise);
    }
    for (uint32_t i = 0; i < vm->rejected_count; i++) {
        flow_heap_mark_cell(heap, vm->rejected[i]);
    }
    for (uint32_t i = 0; i < vm->override_count; i++) {
        flow_heap_mark_cell(heap, vm->overrides[i].copy);
    }
    for (uint32_t i = 0; i < vm->template_count; i++) {
        flow_heap_mark_cell(heap, vm->templates[i].object);
    }
}

static bool is_alive(const void *cell) {
    return !cell || ((const FlowCell *)cell)->flags & (CELL_MARKED | CELL_SHARED);
}

// Caches are weak: an entry whose shape dies could match a new shape at the same address.
static void sweep_caches(FlowInlineCache *caches, size_t count) {
    for (size_t i = 0; caches && i < count; i++) {
        bool is_kept = caches[i].shape && is_alive(caches[i].shape) && is_alive(caches[i].holder) &&
                       is_alive(caches[i].next);
        if (!is_kept) caches[i] = (FlowInlineCache){0};
    }
}

void flow_vm_collect(FlowVm *vm) {
    vm->fuel -= (int64_t)(vm->heap.bytes / 256); // a script that makes us collect pays for it
    mark_roots(vm);
    flow_heap_drain(&vm->heap);
    flow_atoms_sweep(&vm->atoms);
    flow_shape_sweep_roots(vm);
    sweep_caches(vm->caches, (size_t)vm->module->site_count + vm->extra_site_count);
    sweep_caches(vm->prelude_caches, vm->realm->prelude->site_count);
    if (vm->lookups) memset(vm->lookups, 0, LOOKUP_COUNT * sizeof *vm->lookups);
    flow_heap_sweep(&vm->heap);
}

bool flow_vm_safe_point(FlowVm *vm) {
    if (!flow_heap_is_due(&vm->heap)) return true;
    flow_vm_collect(vm);
    if (vm->heap.bytes >= vm->heap.limit && vm->unwound) { // what is kept for people is in the way
        flow_unwound_drop(vm);
        flow_vm_collect(vm);
    }
    return vm->heap.bytes < vm->heap.limit || flow_throw_memory(vm);
}

FlowInlineCache *flow_vm_caches_new(size_t count) {
    return mem_zalloc(count * sizeof(FlowInlineCache));
}

FlowLookup *flow_vm_lookups_new(void) { return mem_zalloc(LOOKUP_COUNT * sizeof(FlowLookup)); }

// The interpreter holds pointers into the caches: they are emptied, and freed only when parked.
void flow_vm_drop_caches(FlowVm *vm) {
    size_t count = (size_t)vm->module->site_count + vm->extra_site_count;
    if (vm->caches) memset(vm->caches, 0, count * sizeof *vm->caches);
    if (vm->lookups) memset(vm->lookups, 0, LOOKUP_COUNT * sizeof *vm->lookups);
    if (vm->prelude_caches) {
        memset(vm->prelude_caches, 0, vm->realm->prelude->site_count * sizeof *vm->prelude_caches);
    }
}

void flow_vm_park(FlowVm *vm) {
    flow_vm_collect(vm);
    mem_free(vm->caches);
    mem_free(vm->prelude_caches);
    mem_free(vm->lookups);
    vm->caches = vm->prelude_caches = NULL;
    vm->lookups = NULL;
    mem_free(vm->heap.mark_stack);
    vm->heap.mark_stack = NULL;
    vm->heap.mark_capacity = 0;
    if (vm->frame_count == 0) {
        mem_free(vm->frames);
        mem_free(vm->stack);
        vm->frames = NULL;
        vm->stack = NULL;
        vm->frame_capacity = vm->stack_capacity = 0;
    }
    if (vm->queue.count == 0) flow_queue_done(&vm->queue);
    flow_vm_texts_free(vm);
}

void flow_vm_stats(const FlowVm *vm, FlowVmStats *ret_stats) {
    size_t caches = (vm->caches ? vm->module->site_count : 0) +
                    (vm->prelude_caches ? vm->realm->prelude->site_count : 0);
    *ret_stats = (FlowVmStats){
        .heap_bytes = vm->heap.bytes,
        .total_bytes =
            sizeof *vm + vm->heap.chunk_bytes + flow_heap_large_bytes(&vm->heap) +
            vm->stack_capacity * sizeof *vm->stack + vm->frame_capacity * sizeof *vm->frames +
            vm->queue.capacity * sizeof *vm->queue.jobs +
            vm->awaitable_capacity * sizeof *vm->awaitables +
            vm->override_capacity * sizeof *vm->overrides +
            vm->template_capacity * sizeof *vm->templates + vm->root_capacity * sizeof *vm->roots +
            vm->atoms.capacity * sizeof *vm->atoms.slots + caches * sizeof *vm->caches +
            (vm->lookups ? LOOKUP_COUNT * sizeof *vm->lookups : 0),
        .instructions = vm->executed,
        .frame_count = vm->frame_count,
        .awaitable_count = vm->awaitable_count,
    };
}

// --- awaitables

void flow_vm_awaitable_add(FlowVm *vm, FlowPromise *promise, FlowAwaitKind kind) {
    if (vm->awaitable_count == vm->awaitable_capacity) {
        vm->awaitable_capacity = vm->awaitable_capacity ? vm->awaitable_capacity * 2 : 4;
        vm->awaitables =
            mem_realloc(vm->awaitables, vm->awaitable_capacity * sizeof *vm->awaitables);
    }
    promise->awaitable_id = vm->next_awaitable_id++;
    promise->await_kind = (uint8_t)kind;
    promise->object.cell.aux |= OBJECT_IS_HANDLE;
    vm->awaitables[vm->awaitable_count++] =
        (FlowAwaitable){promise->awaitable_id, (uint8_t)kind, promise};
}

static uint32_t awaitable_place(const FlowVm *vm, uint32_t id) {
    uint32_t low = 0;
    uint32_t high = vm->awaitable_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (vm->awaitables[middle].id < id) low = middle + 1;
        else high = middle;
    }
    return low;
}

FlowPromise *flow_vm_awaitable_find(FlowVm *vm, uint32_t id) {
    uint32_t at = awaitable_place(vm, id);
    bool is_found = at < vm->awaitable_count && vm->awaitables[at].id == id;
    return is_found ? vm->awaitables[at].promise : NULL;
}

void flow_vm_awaitable_remove(FlowVm *vm, uint32_t id) {
    uint32_t at = awaitable_place(vm, id);
    if (at == vm->awaitable_count || vm->awaitables[at].id != id) return;
    ASSERT(vm->awaitable_count <= vm->awaitable_capacity);
    memmove(vm->awaitables + at, vm->awaitables + at + 1,
            (vm->awaitable_count - at - 1) * sizeof *vm->awaitables);
    vm->awaitable_count--;
}

// --- the turn

static void vm_end(FlowVm *vm, FlowOutcome outcome, FlowValue result) {
    vm->state = VM_ENDED;
    vm->outcome = (uint8_t)outcome;
    vm->result = result;
}

static void vm_start(FlowVm *vm) {
    vm->state = VM_RUNNING;
    FlowClosure *closure = flow_closure_new(vm, &vm->module->routines[0]);
    FlowValue arguments[2] = {vm->inputs, flow_int((int32_t)vm->workflow_index)};
    FlowCall call = {
        .function = flow_from_object(closure),
        .this_value = FLOW_UNDEFINED,
        .arguments = arguments,
        .count = 2,
        .new_target = FLOW_UNDEFINED,
        .return_kind = RETURN_DRIVER,
    };
    vm->driver = DRIVER_START;
    if (!flow_vm_push_call(vm, &call)) {
        FlowValue reason = vm->exception;
        vm->exception = FLOW_HOLE;
        vm_end(vm, FLOW_FAILED, reason);
    }
}

// The body is done: its result becomes JSON (which may run toJSON methods) or a failure.
static void vm_finish_main(FlowVm *vm) {
    FlowPromise *promise = vm->main_promise;
    ASSERT(promise->state != PROMISE_PENDING && vm->frame_count == 0); // [vm-6]
    if (promise->state == PROMISE_REJECTED) {
        vm_end(vm, FLOW_FAILED, promise->result);
        return;
    }
    vm->state = VM_FINISHING;
    vm->driver = DRIVER_FINISH;
    FlowHelperCall call = {
        .helper = HELPER_stringify,
        .count = 1,
        .arguments = {promise->result},
        .return_kind = RETURN_DRIVER,
    };
    if (!flow_vm_push_helper(vm, &call)) {
        FlowValue reason = vm->exception;
        vm->exception = FLOW_HOLE;
        flow_vm_finish(vm, reason, true);
    }
}

void flow_vm_finish(FlowVm *vm, FlowValue json, bool is_thrown) {
    vm_end(vm, is_thrown ? FLOW_FAILED : FLOW_COMPLETED, json);
}

// Has the conditions of Always and Eventually looked at. False: there are none.
static bool vm_look(FlowVm *vm, bool is_last) {
    uint32_t kept = 0;
    uint32_t count = vm->awaitable_count;
    for (uint32_t i = 0; i < count; i++) {
        FlowAwaitable awaitable = vm->awaitables[i];
        if (awaitable.kind == FLOW_AWAIT_LOOK)
            flow_promise_resolve(vm, awaitable.promise, flow_bool(is_last));
        else vm->awaitables[kept++] = awaitable;
    }
    vm->awaitable_count = kept;
    return kept < count;
}

// Delivers a cancellation when the script would otherwise wait.
static bool vm_deliver_cancel(FlowVm *vm) {
    if (!vm->is_cancel_pending) return false;
    vm->is_cancel_pending = 0;
    vm->is_cancelled = 1;
    FlowString *message = flow_is_string(vm->cancel_reason)
                              ? flow_as_string(vm->cancel_reason)
                              : flow_string_cstr(vm, "the run was cancelled");
    FlowValue error = flow_from_object(flow_error_new(vm, ERROR_KIND_CANCELLED, message));
    bool has_waiter = false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < vm->awaitable_count; i++) {
        if (vm->awaitables[i].kind == FLOW_AWAIT_LOOK) {
            vm->awaitables[kept++] = vm->awaitables[i];
            continue;
        }
        FlowPromise *promise = vm->awaitables[i].promise;
        has_waiter |= promise->first != NULL;
        flow_promise_reject(vm, promise, error);
    }
    vm->awaitable_count = kept;
    if (!has_waiter) vm_end(vm, FLOW_FAILED, error); // nobody is there to clean up
    return true;
}

// Rejections that nobody has listened to when all jobs are done do not fail the run, but they must
// not vanish without a trace either.
static void vm_report_rejections(FlowVm *vm) {
    for (uint32_t i = 0; i < vm->rejected_count; i++) {
        const FlowPromise *promise = vm->rejected[i];
        if (promise->is_handled || promise == vm->main_promise) continue;
        if (!vm->host || !vm->host->ops->effect) continue;
        char text[FLOW_TEXT_MAX];
        Buf line;
        buf_init(&line, FLOW_TEXT_MAX * 2);
        buf_append_cstr(&line, "Uncaught (in promise) ");
        flow_mask_text(vm, str_from(flow_describe(vm, promise->result, text)), &line);
        FlowEffect effect = {FLOW_EFFECT_LOG, STR("error"), buf_str(&line)};
        Diag diag;
        (void)!vm->host->ops->effect(vm->host, &effect, &diag); // nobody is there to be told
        buf_done(&line);
    }
    vm->rejected_count = 0;
}

// One step of a turn. True: go on; false: `ret_outcome` says why not.
static bool vm_step(FlowVm *vm, FlowOutcome *ret_outcome) {
    if (vm->state == VM_ENDED) {
        *ret_outcome = (FlowOutcome)vm->outcome;
        return false;
    }
    if (vm->frame_count > 0) {
        FlowInterpResult result = flow_interp_run(vm);
        if (vm->state == VM_ENDED) return true;
        if (result == INTERP_PREEMPTED) {
            *ret_outcome = FLOW_PREEMPTED;
            return false;
        }
        vm->exception = FLOW_HOLE; // only jobs without a driver let one through
        return true;
    }
    if (vm->fuel <= 0) {
        *ret_outcome = FLOW_PREEMPTED;
        return false;
    }
    if (vm->queue.count > 0) { // [vm-5]
        vm->fuel -= 2;
        FlowJob job = flow_queue_pop(&vm->queue);
        flow_job_run(vm, &job);
        if (!flow_vm_safe_point(vm)) {
            // No frame to throw in: the run as a whole is over its budget.
            FlowValue reason = vm->exception;
            vm->exception = FLOW_HOLE;
            if (vm->heap.bytes >= vm->heap.limit) vm_end(vm, FLOW_FAILED, reason);
        }
        return true;
    }
    vm_report_rejections(vm);
    if (vm->main_promise && vm->main_promise->state != PROMISE_PENDING) { // [vm-6]
        if (!vm_look(vm, true)) vm_finish_main(vm);
        return true;
    }
    if (vm_deliver_cancel(vm)) return true;
    if (!vm->has_looked) {
        vm->has_looked = 1;
        if (vm_look(vm, false)) return true;
    }
    *ret_outcome = FLOW_PARKED;
    return false;
}

void flow_vm_run(FlowVm *vm, FlowRunResult *ret_result) {
    int64_t budget = vm->limits.instructions_per_turn > INT64_MAX / 2
                         ? INT64_MAX / 2
                         : (int64_t)vm->limits.instructions_per_turn;
    // [vm-7] A native that took more than there was is paid for by the slices to come.
    int64_t debt = vm->is_in_debt && !vm->limits.is_exact ? vm->fuel : 0;
    int64_t start = budget + debt;
    vm->fuel = start;
    vm->has_looked = 0;
    if (vm->state == VM_NEW) vm_start(vm);
    FlowOutcome outcome = FLOW_PREEMPTED;
    if (start > 0)
        while (vm_step(vm, &outcome)) {}
    vm->executed += (uint64_t)(start - vm->fuel);
    vm->is_in_debt = outcome == FLOW_PREEMPTED && vm->fuel < 0;
    if (outcome == FLOW_PARKED) flow_unwound_drop(vm); // [unwound-2]
    flow_vm_fill_result(vm, outcome, ret_result);
}

void flow_vm_cancel(FlowVm *vm, Str reason) {
    if (vm->state == VM_ENDED || vm->is_cancelled) return;
    vm->is_cancel_pending = 1;
    if (reason.len) vm->cancel_reason = flow_from_string(flow_string_utf8(vm, reason));
}
