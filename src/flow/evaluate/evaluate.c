// Evaluation: an expression runs in a copy of a VM, above nothing.
//
//   write the VM -> read a copy -> bind the names -> run -> write again -> compare
//
// The expression was compiled on its own (expression.c), so its property names are other strings
// than those of the run, and keys are compared by address. Hence `instantiate`: the same code with
// the names that this VM knows.
//
//   [evaluate-3] The frames of the copy stay where they are and are held (vm.h), so that the
//        copy can be written again and compared. Same state, same bytes (format.h).
//   [evaluate-4] The host of the copy answers the time and the context, and nothing else.
#include "base/memory.h"
#include "flow/evaluate/internal.h"
#include "flow/mask/hide.h"
#include "flow/vm/native.h"
#include <stdio.h>

enum { COPY_BYTES_MAX = 1 << 30 };

// --- the host of a copy [evaluate-4]

typedef struct ReadingHost {
    FlowHost base;
    FlowHost *outer; // of the VM itself; may be NULL
} ReadingHost;

static Status reading_context(FlowHost *base, Str *ret_json, Diag *diag) {
    FlowHost *outer = ((ReadingHost *)base)->outer;
    if (outer && outer->ops->context) return outer->ops->context(outer, ret_json, diag);
    return diag_set(diag, ERR_UNSUPPORTED, "EXPRESSION_REFUSED", "Context is not available here");
}

static int64_t reading_now(FlowHost *base) {
    FlowHost *outer = ((ReadingHost *)base)->outer;
    return outer && outer->ops->now_ms ? outer->ops->now_ms(outer) : 0;
}

static const FlowHostOps reading_ops = {.context = reading_context, .now_ms = reading_now};

// --- the code, with the strings of this VM

typedef struct Instance {
    FlowVm *vm;
    Arena arena;
    FlowModule *module; // a copy of the variant's, as far as it is looked at
    FlowValue *strings; // made for it: nobody else keeps them
    uint32_t string_count;
    FlowHeld held;
} Instance;

static FlowValue own_string(Instance *self, FlowValue value) {
    if (!flow_is_string(value)) return value;
    FlowVm *vm = self->vm;
    FlowString *theirs = flow_as_string(value);
    uint32_t hash = flow_string_hash(theirs);
    FlowString *atom = flow_atoms_find(&vm->realm->atoms, theirs, hash);
    if (!atom) atom = flow_atoms_find(vm->module->atoms, theirs, hash);
    if (!atom) {
        bool is_wide = flow_string_is_wide(theirs);
        FlowString *copy = is_wide ? flow_string_utf16(vm, theirs->wide, theirs->cell.aux)
                                   : flow_string_latin1(vm, theirs->latin1, theirs->cell.aux);
        atom = flow_atom(vm, copy);
        self->strings[self->string_count++] = flow_from_string(atom);
    }
    return flow_from_string(atom);
}

static void instantiate_routine(Instance *self, FlowRoutine *routine) {
    FlowSite *sites = ARENA_ARRAY(&self->arena, FlowSite, routine->site_count + 1);
    FlowValue *constants = ARENA_ARRAY(&self->arena, FlowValue, routine->constant_count + 1);
    for (uint32_t i = 0; i < routine->site_count; i++) {
        sites[i].key = own_string(self, routine->sites[i].key);
    }
    for (uint32_t i = 0; i < routine->constant_count; i++) {
        constants[i] = own_string(self, routine->constants[i]);
    }
    routine->module = self->module;
    routine->sites = sites;
    routine->constants = constants;
    routine->name = own_string(self, routine->name);
    routine->site_base += self->vm->module->site_count;
}

static void instantiate(Instance *self, const FlowModule *variant) {
    uint32_t count = variant->routine_count;
    uint32_t strings = count;
    for (uint32_t i = 0; i < count; i++) {
        strings += variant->routines[i].site_count + variant->routines[i].constant_count;
    }
    self->strings = ARENA_ARRAY(&self->arena, FlowValue, strings + 1);
    self->module = ARENA_NEW(&self->arena, FlowModule);
    self->module->file_name = variant->file_name;
    self->module->source = variant->source;
    self->module->site_count = variant->site_count;
    self->module->routine_count = count;
    self->module->routines = ARENA_ARRAY(&self->arena, FlowRoutine, count);
    memcpy(self->module->routines, variant->routines, count * sizeof(FlowRoutine));
    for (uint32_t i = 0; i < count; i++) instantiate_routine(self, &self->module->routines[i]);
    FlowVm *vm = self->vm;
    mem_free(vm->caches);
    vm->extra_site_count = variant->site_count;
    vm->caches = flow_vm_caches_new((size_t)vm->module->site_count + variant->site_count + 1);
}

// --- running

static void hold(Instance *self) { // [evaluate-3]
    FlowVm *vm = self->vm;
    self->held = (FlowHeld){.stack = vm->stack,
                            .stack_top = vm->stack_top,
                            .stack_capacity = vm->stack_capacity,
                            .frames = vm->frames,
                            .frame_count = vm->frame_count,
                            .frame_capacity = vm->frame_capacity,
                            .values = self->strings,
                            .value_count = self->string_count};
    vm->stack = NULL;
    vm->frames = NULL;
    vm->stack_top = vm->stack_capacity = vm->frame_count = vm->frame_capacity = 0;
    vm->held = &self->held;
}

static void let_go(Instance *self) {
    FlowVm *vm = self->vm;
    mem_free(vm->stack);
    mem_free(vm->frames);
    vm->stack = self->held.stack;
    vm->stack_top = self->held.stack_top;
    vm->stack_capacity = self->held.stack_capacity;
    vm->frames = self->held.frames;
    vm->frame_count = self->held.frame_count;
    vm->frame_capacity = self->held.frame_capacity;
    vm->held = NULL;
}

static Status thrown(FlowVm *vm, Diag *diag) {
    char text[FLOW_TEXT_MAX];
    FlowValue error = vm->exception;
    vm->exception = FLOW_HOLE;
    return diag_set(diag, ERR_INVALID, "EXPRESSION_FAILED", "%s", flow_describe(vm, error, text));
}

// Runs what was pushed above the reserved slot 0; its result is there then.
static Status run_pushed(FlowVm *vm, bool is_pushed, Diag *diag) {
    if (!is_pushed) return thrown(vm, diag);
    switch (flow_interp_run(vm)) {
    case INTERP_IDLE: return OK;
    case INTERP_THROWN: return thrown(vm, diag);
    case INTERP_PREEMPTED: break;
    }
    return diag_set(diag, ERR_LIMIT, "EXPRESSION_BUDGET",
                    "the expression takes more instructions than it may");
}

typedef struct Bindings {
    uint64_t bound; // bit i: names[i]
    FlowValue values[FLOW_EXPRESSION_NAMES_MAX];
    uint32_t count;
    FlowValue this_value;
} Bindings;

static void bind_names(const FlowExpression *expression, FlowVm *vm, const ExpressionPlace *place,
                       Bindings *ret) {
    *ret = (Bindings){.this_value = FLOW_UNDEFINED};
    for (uint32_t i = 0; i < expression->shape.names.count; i++) {
        FlowValue value;
        if (!expression_lookup(vm, place, expression->shape.names.names[i], &value)) continue;
        ret->bound |= 1ull << i;
        ret->values[ret->count++] = value;
    }
    bool has_this = !(place->closure->routine->flags & (ROUTINE_ARROW | ROUTINE_MODULE)) &&
                    place->register_count > 0;
    FlowValue first = has_this ? place->registers[0] : FLOW_UNDEFINED;
    if (flow_is_cell(first) && flow_as_cell(first)->kind == KIND_BOX) {
        first = flow_as_box(first)->value;
    }
    if (!flow_is_hole(first) && !flow_is_cell(first)) ret->this_value = first;
}

static Status run_expression(Instance *self, const Bindings *bindings, Diag *diag) {
    FlowVm *vm = self->vm;
    FlowClosure *closure = flow_closure_new(vm, &self->module->routines[1]);
    FlowCall call = {
        .function = flow_from_object(closure),
        .this_value = bindings->this_value,
        .arguments = bindings->values,
        .count = bindings->count,
        .new_target = FLOW_UNDEFINED,
        .return_kind = RETURN_STORE,
        .return_to = 0,
    };
    if (!flow_vm_reserve_stack(vm, 1)) return thrown(vm, diag);
    vm->stack[0] = FLOW_UNDEFINED;
    vm->stack_top = 1;
    return run_pushed(vm, flow_vm_push_call(vm, &call), diag);
}

static Status write_result(FlowVm *vm, Buf *ret_json, Diag *diag) {
    FlowHelperCall call = {
        .helper = HELPER_stringify,
        .count = 1,
        .arguments = {vm->stack[0]},
        .return_kind = RETURN_STORE,
        .return_to = 0,
    };
    vm->stack_top = 1;
    TRY(run_pushed(vm, flow_vm_push_helper(vm, &call), diag));
    FlowValue json = vm->stack[0];
    if (!flow_is_string(json)) buf_append_cstr(ret_json, "null");
    else flow_string_to_utf8(vm, flow_as_string(json), ret_json);
    return OK;
}

typedef struct Answer { // one of the two is wanted
    Buf *json;
    bool *is_true;
} Answer;

static Status run_bound(Instance *self, const Bindings *bindings, const Answer *answer,
                        Diag *diag) {
    FlowVm *vm = self->vm;
    hold(self);
    Status status = run_expression(self, bindings, diag);
    if (status == OK && answer->is_true) *answer->is_true = flow_to_boolean(vm->stack[0]);
    if (status == OK && answer->json) status = write_result(vm, answer->json, diag);
    let_go(self);
    return status;
}

// In a VM that nobody else uses, and that is good for nothing but writing afterwards.
static Status evaluate_in(FlowExpression *expression, const FlowEvaluation *at,
                          const Answer *answer, Diag *diag) {
    FlowVm *vm = at->vm;
    ExpressionPlace place;
    if (!expression_place(vm, at->frame, &place)) {
        return diag_set(diag, ERR_NOT_FOUND, "EXPRESSION_NO_FRAME",
                        "the run stands nowhere in its script, or has no frame %u", at->frame);
    }
    Bindings bindings;
    bind_names(expression, vm, &place, &bindings);
    const FlowModule *variant;
    TRY(expression_variant(expression, bindings.bound, &variant, diag));
    uint64_t executed = vm->executed;
    FlowValue context = vm->context;
    int64_t fuel = at->budget > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)at->budget;
    vm->fuel = fuel;
    Instance instance = {.vm = vm};
    arena_init(&instance.arena);
    instantiate(&instance, variant);
    Status status = run_bound(&instance, &bindings, answer, diag);
    expression->cost = (uint64_t)(fuel - vm->fuel);
    vm->context = context; // asking for it is no change
    vm->executed = executed;
    arena_done(&instance.arena);
    return status;
}

// --- in a copy

static Status write_vm(FlowVm *vm, Buf *ret_bytes, Diag *diag) {
    uint32_t limit = vm->limits.snapshot_bytes;
    buf_init(ret_bytes, COPY_BYTES_MAX);
    vm->limits.snapshot_bytes = COPY_BYTES_MAX / 16;
    Status status = flow_snapshot_write(vm, ret_bytes, diag);
    vm->limits.snapshot_bytes = limit;
    return status;
}

static Status check_unchanged(FlowVm *copy, Str before, Diag *diag) {
    Buf after;
    Status status = write_vm(copy, &after, diag);
    bool is_same = status == OK && str_equal(before, buf_str(&after));
    buf_done(&after);
    if (is_same) return OK;
    return diag_set(diag, ERR_INVALID, "EXPRESSION_REFUSED",
                    "an expression only reads: this one calls something that changes the run");
}

static Status evaluate_copy(FlowExpression *expression, const FlowEvaluation *at,
                            const Answer *answer, Diag *diag) {
    Buf before;
    ReadingHost host = {{&reading_ops}, at->vm->host};
    FlowVmOptions options = {
        .module = at->vm->module, .host = &host.base, .limits = at->vm->limits};
    options.limits.is_exact = 0;
    FlowVm *copy = NULL;
    Status status = write_vm(at->vm, &before, diag);
    if (status == OK) status = flow_snapshot_read(buf_str(&before), &options, &copy, diag);
    if (status == OK) {
        FlowEvaluation inner = {copy, at->frame, at->budget};
        status = evaluate_in(expression, &inner, answer, diag);
    }
    if (status == OK && expression->shape.has_calls) {
        status = check_unchanged(copy, buf_str(&before), diag);
    }
    flow_vm_free(copy);
    buf_done(&before);
    return status;
}

uint64_t flow_expression_cost(const FlowExpression *expression) { return expression->cost; }

Status flow_expression_evaluate(FlowExpression *expression, const FlowEvaluation *at, Buf *ret_json,
                                Diag *diag) {
    size_t start = ret_json->len;
    Status status = evaluate_copy(expression, at, &(Answer){.json = ret_json}, diag);
    if (status != OK) ret_json->len = start;
    return status;
}

Status flow_expression_test(FlowExpression *expression, const FlowEvaluation *at, bool *ret_is_true,
                            Diag *diag) {
    bool is_true = false;
    TRY(evaluate_copy(expression, at, &(Answer){.is_true = &is_true}, diag));
    *ret_is_true = is_true;
    return OK;
}

Status flow_expression_test_snapshot(FlowExpression *expression, Str bytes,
                                     const FlowVmOptions *options, bool *ret_is_true, Diag *diag) {
    ReadingHost host = {{&reading_ops}, options->host};
    FlowVmOptions inner = *options;
    FlowVm *vm = NULL;
    Buf before;
    bool is_true = false;
    inner.host = &host.base;
    TRY(flow_snapshot_read(bytes, &inner, &vm, diag));
    flow_mask_hide(vm); // or an answer would tell what nobody is shown
    buf_init(&before, COPY_BYTES_MAX);
    Status status = OK;
    bool is_compared = expression->shape.has_unknown_calls;
    if (is_compared) status = write_vm(vm, &before, diag);
    if (status == OK) {
        FlowEvaluation at = {vm, 0, options->limits.instructions_per_turn};
        status = evaluate_in(expression, &at, &(Answer){.is_true = &is_true}, diag);
    }
    if (status == OK && is_compared) status = check_unchanged(vm, buf_str(&before), diag);
    flow_vm_free(vm);
    buf_done(&before);
    if (status == OK) *ret_is_true = is_true;
    return status;
}
