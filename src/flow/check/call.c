// Calls of the workflow API: how many arguments, which, and their options.
//
// Arguments that are literals are held to the table (check/api.h); of the others nothing is said.
//
// Not here: what becomes of the promise (check/promise.c).
#include "flow/check/internal.h"

typedef struct CallCheck {
    Checker *checker;
    const FlowNode *call;
    const FlowApiMember *member;
    FlowCode code; // of the faults: of the argument, or of an option in it
} CallCheck;

CheckApiCall check_api_call(Checker *c, const FlowNode *callee) {
    CheckApiCall none = {0};
    if (callee->kind == NODE_OPTIONAL_CHAIN) callee = callee->unary.operand;
    if (callee->kind == NODE_IDENTIFIER) {
        const CheckGlobal *global = check_global(c, callee);
        const FlowApiMember *function =
            global ? flow_api_function(callee->reference.name->text) : NULL;
        return function ? (CheckApiCall){global, function} : none;
    }
    if (callee->kind != NODE_MEMBER) return none;
    const CheckGlobal *global = check_global(c, callee->member.object);
    if (!global || !global->api) return none;
    const FlowApiMember *member = flow_api_member(global->api, callee->member.name->text);
    if (!member || member->result == API_RESULT_PROPERTY) return none;
    return (CheckApiCall){global, member};
}

// "It is `Task.run(name, input?, options?)`"
static const char *signature(Arena *arena, const FlowApiMember *member) {
    Str text = arena_printf(arena, "It is `%s(", member->call);
    for (const FlowApiField *field = member->parameters; field && field->name; field++)
        text = arena_printf(arena, "%.*s%s%s%s", STR_ARG(text),
                            field == member->parameters ? "" : ", ", field->name,
                            field->is_required ? "" : "?");
    return arena_printf(arena, "%.*s)`", STR_ARG(text)).data;
}

static void say_fault(void *context, const FlowApiFault *fault) {
    const CallCheck *self = context;
    const FlowNode *node = ((const CheckLiteral *)fault->at)->node;
    if (node->kind == NODE_PROPERTY)
        node = fault->is_key ? node->property.key : node->property.value;
    check_say(self->checker,
              &(FlowFinding){.code = self->code,
                             .start = node->start,
                             .end = node->end,
                             .hint = str_is_null(fault->hint) ? NULL : fault->hint.data,
                             .suggestion = fault->suggestion},
              "%.*s", STR_ARG(fault->message));
}

// An object that may say by itself what it is as text or number.
static bool may_convert(const JsonValue *object) {
    JSON_EACH (member, object) {
        if (str_is_null(member->key) || str_equal(member->key, STR("valueOf")) ||
            str_equal(member->key, STR("toString")))
            return true;
    }
    return false;
}

static void say_function(CallCheck *self, const FlowApiField *field, const FlowNode *node) {
    check_say(self->checker,
              &(FlowFinding){.code = FLOW_ERROR_ARGUMENT,
                             .start = node->start,
                             .end = node->end,
                             .hint = signature(self->checker->arena, self->member)},
              "`%s` of `%s` cannot be a function", field->name, self->member->call);
}

static void check_argument(CallCheck *self, const FlowApiField *field, const FlowNode *node) {
    Checker *c = self->checker;
    if (field->type == API_ANY) return;
    if (field->type == API_FUNCTION && node->kind == NODE_FUNCTION) return;
    if (node->kind == NODE_FUNCTION || node->kind == NODE_CLASS) {
        say_function(self, field, node);
        return;
    }
    const JsonValue *value = check_literal(c->arena, node);
    bool is_converted = field->type == API_DURATION || field->type == API_MOMENT;
    if (is_converted && value->kind == JSON_KIND_ARRAY) return; // ["2s"] is "2s"
    if (is_converted && value->kind == JSON_KIND_OBJECT && may_convert(value)) return;
    bool has_options = field->fields && value->kind == JSON_KIND_OBJECT;
    self->code = has_options ? FLOW_ERROR_OPTION : FLOW_ERROR_ARGUMENT;
    FlowApiCheck check = {self->member->call, c->arena, say_fault, self};
    if (has_options) flow_api_check_options(&check, field->fields, value);
    else flow_api_check_value(&check, field, str_from(field->name), value);
}

static void say_missing(const CallCheck *self, const FlowApiField *field) {
    const FlowNode *callee = self->call->call.callee;
    check_say(self->checker,
              &(FlowFinding){.code = FLOW_ERROR_ARGUMENT,
                             .start = callee->start,
                             .end = callee->end,
                             .hint = signature(self->checker->arena, self->member)},
              "`%s` needs `%s`", self->member->call, field->name);
}

static void check_count(const CallCheck *self) {
    const FlowApiMember *member = self->member;
    FlowNodeList arguments = self->call->call.arguments;
    uint32_t most = flow_api_field_count(member->parameters);
    for (uint32_t i = arguments.count; i < most; i++) {
        if (!member->parameters[i].is_required) continue;
        say_missing(self, &member->parameters[i]);
        return;
    }
    if (arguments.count <= most) return;
    const FlowNode *extra = arguments.items[most];
    check_say(self->checker,
              &(FlowFinding){.code = FLOW_ERROR_ARGUMENT,
                             .start = extra->start,
                             .end = extra->end,
                             .hint = signature(self->checker->arena, member)},
              "`%s` takes %u argument%s, not %u", member->call, most, most == 1 ? "" : "s",
              arguments.count);
}

static void settle_call(Checker *c, const FlowNode *node) {
    CheckApiCall call = check_api_call(c, node->call.callee);
    if (call.global->is_replaced) return;
    CallCheck self = {.checker = c, .call = node, .member = call.member};
    const FlowApiField *field = call.member->parameters;
    FlowNodeList arguments = node->call.arguments;
    for (uint32_t i = 0; i < arguments.count; i++) {
        if (arguments.items[i]->kind == NODE_SPREAD) return; // what follows may be anything
        if (field && field->name) check_argument(&self, field++, arguments.items[i]);
    }
    check_count(&self);
}

void check_settle_calls(Checker *c) {
    for (size_t i = 0; i < c->calls.count; i++) settle_call(c, c->calls.data[i]);
}
