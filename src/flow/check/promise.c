// Promises that nothing waits for: the forgotten `await`.
//
// A promise counts as handled when its value is used in any way, when `.catch(…)` or a second
// argument of `.then` takes its failure, and when `void` says that it is dropped on purpose. Whose
// promises: those of the workflow API, of Promise.all and its kin, and of async functions that the
// file declares.
//
// Not here: where values are dropped (check/walk.c).
#include "flow/check/internal.h"
#include <stdio.h>

typedef struct Promise { // what an expression gives
    bool is_one;
    const FlowVariable *function; // it is one if this function is async; NULL: it is one
    const char *what;             // "Task.run"; NULL: an async function without a name
} Promise;

static const FlowNode *strip(const FlowNode *node) {
    return node->kind == NODE_OPTIONAL_CHAIN ? node->unary.operand : node;
}

static bool is_combinator(const FlowNode *callee) {
    if (!check_is_global(callee->member.object, "Promise")) return false;
    Str name = callee->member.name->text;
    return str_equal(name, STR("all")) || str_equal(name, STR("allSettled")) ||
           str_equal(name, STR("any")) || str_equal(name, STR("race"));
}

static Promise promise_of(Checker *c, const FlowNode *node);

// promise.then(…), promise.finally(…): again a promise, unless its failure is taken.
static Promise promise_of_chain(Checker *c, const FlowNode *call, const FlowNode *callee) {
    Str name = callee->member.name->text;
    bool is_then = str_equal(name, STR("then"));
    if (!is_then && !str_equal(name, STR("finally"))) return (Promise){0};
    if (is_then && call->call.arguments.count > 1) return (Promise){0};
    return promise_of(c, callee->member.object);
}

static Promise promise_of_call(Checker *c, const FlowNode *node) {
    const FlowNode *callee = strip(node->call.callee);
    if (callee->kind == NODE_FUNCTION) {
        bool is_async = callee->function->is_async && !callee->function->is_generator;
        return (Promise){.is_one = is_async};
    }
    if (callee->kind == NODE_IDENTIFIER && callee->reference.to.variable)
        return (Promise){.is_one = true, .function = callee->reference.to.variable};
    if (callee->kind != NODE_MEMBER) return (Promise){0};
    CheckApiCall call = check_api_call(c, callee);
    if (call.global) {
        bool is_promise =
            call.member->result == API_RESULT_HANDLE || call.member->result == API_RESULT_PROMISE;
        return (Promise){.is_one = is_promise, .what = call.member->call};
    }
    if (is_combinator(callee)) {
        Str what = arena_printf(c->arena, "Promise.%.*s", STR_ARG(callee->member.name->text));
        return (Promise){.is_one = true, .what = what.data};
    }
    return promise_of_chain(c, node, callee);
}

// Recursion is as deep as a chain of calls, which the parser limits.
static Promise promise_of(Checker *c, const FlowNode *node) {
    node = strip(node);
    return node->kind == NODE_CALL ? promise_of_call(c, node) : (Promise){0};
}

// ---- what is said ----

static void say_dropped(Checker *c, const FlowNode *call, const char *what, CheckUse use) {
    FlowFinding finding = {.code = FLOW_WARNING_UNAWAITED,
                           .severity = FLOW_SEVERITY_WARNING,
                           .start = call->start,
                           .end = call->end};
    const char *quote = what ? "`" : "";
    if (!what) what = "an async function";
    if (use == USE_TESTED) {
        finding.hint = "Write `await` before the call";
        check_say(c, &finding, "what %s%s%s answers is a promise, which always counts as true",
                  quote, what, quote);
    } else {
        finding.hint = "Write `await` before the call, or `void` if nothing has to wait for it";
        check_say(c, &finding, "nothing waits for the promise of %s%s%s", quote, what, quote);
    }
}

void check_promise_use(Checker *c, const FlowNode *node, CheckUse use) {
    Promise promise = promise_of(c, node);
    if (!promise.is_one) return;
    if (!promise.function) {
        say_dropped(c, node, promise.what, use);
        return;
    }
    CheckPromise later = {node, promise.function, use};
    vec_push(&c->promises, later);
}

void check_promise_member(Checker *c, const FlowNode *member) {
    static const char *const names[] = {"id",      "then",           "catch",
                                        "finally", "constructor",    "toString",
                                        "valueOf", "hasOwnProperty", NULL};
    const FlowNode *object = strip(member->member.object);
    if (object->kind != NODE_CALL) return;
    CheckApiCall call = check_api_call(c, object->call.callee);
    if (!call.global ||
        (call.member->result != API_RESULT_HANDLE && call.member->result != API_RESULT_PROMISE))
        return;
    Str name = member->member.name->text;
    for (const char *const *known = names; *known; known++)
        if (str_equal(name, str_from(*known))) return;
    FlowFinding finding = {.code = FLOW_WARNING_UNAWAITED,
                           .severity = FLOW_SEVERITY_WARNING,
                           .start = member->end - (uint32_t)name.len,
                           .end = member->end,
                           .hint = arena_printf(c->arena, "Write `(await %s(…)).%.*s`",
                                                call.member->call, STR_ARG(name))
                                       .data};
    check_say(c, &finding, "what `%s` answers is a promise, which has no `%.*s`", call.member->call,
              STR_ARG(name));
}

static bool is_async(const Checker *c, const FlowVariable *variable) {
    const FlowNode *declaration = variable->declaration;
    if (variable->kind == VARIABLE_CONST)
        return map_get(&c->async_constants, (uint64_t)(uintptr_t)variable) != NULL;
    return declaration && !variable->is_assigned && declaration->function->is_async &&
           !declaration->function->is_generator;
}

void check_settle_promises(Checker *c) {
    for (size_t i = 0; i < c->promises.count; i++) {
        const CheckPromise *later = &c->promises.data[i];
        if (!is_async(c, later->function)) continue;
        say_dropped(c, later->call, later->function->name->text.data, later->use);
    }
}
