// Names that the file does not declare, and members of the objects they mean.
//
// What there is comes from the tables that the realm is made of (realm/tables.c), so that nothing
// can be missing here that a script finds. Whether something is said is decided when the file has
// been walked: see [check-1].
//
// Not here: how names are resolved (scope/resolve.c), the arguments of calls (check/call.c).
#include "base/array.h"
#include "base/text/suggest.h"
#include "flow/builtin/objects.h"
#include "flow/check/internal.h"
#include "flow/lexer/token.h"
#include "flow/realm/tables.h"
#include <stdio.h>
#include <string.h>

// ---- what there is ----

static const FlowClassEntry *find_class(Str name) {
    for (size_t i = 0; flow_realm_classes[i]; i++)
        if (str_equal(name, str_from(flow_realm_classes[i]->name))) return flow_realm_classes[i];
    return NULL;
}

static bool has_entry(const FlowNativeEntry *entries, Str name) {
    for (const FlowNativeEntry *entry = entries; entry && entry->name; entry++)
        if (str_equal(name, str_from(entry->name))) return true;
    return false;
}

static bool is_plain_global(Str name) {
    for (size_t i = 0; flow_realm_globals[i]; i++)
        if (has_entry(flow_realm_globals[i], name)) return true;
    return false;
}

static CheckGlobal *check_global_named(Checker *c, const FlowName *name) {
    CheckGlobal **slot = &c->globals[name->id];
    if (*slot) return *slot;
    CheckGlobal *global = *slot = ARENA_NEW(c->arena, CheckGlobal);
    global->api = flow_api_object(name->text);
    global->class = find_class(name->text);
    global->is_known = global->api || global->class || is_plain_global(name->text) ||
                       flow_refused_global_find(name->text);
    return global;
}

CheckGlobal *check_global(Checker *c, const FlowNode *node) {
    if (node->kind != NODE_IDENTIFIER || node->reference.to.access != ACCESS_GLOBAL) return NULL;
    return check_global_named(c, node->reference.name);
}

bool check_is_global(const FlowNode *node, const char *name) {
    return node->kind == NODE_IDENTIFIER && node->reference.to.access == ACCESS_GLOBAL &&
           str_equal(node->reference.name->text, str_from(name));
}

// What every function has besides the members of the prototypes.
static bool is_function_member(Str name) {
    static const char *const names[] = {"prototype", "name", "length", "caller", "arguments", NULL};
    for (const char *const *own = names; *own; own++)
        if (str_equal(name, str_from(*own))) return true;
    return has_entry(flow_class_function.members, name);
}

static bool has_member(const CheckGlobal *global, Str name) {
    if (str_equal(name, STR("constructor")) || str_equal(name, STR("__proto__")) ||
        has_entry(flow_class_object.members, name))
        return true;
    if (global->api) return flow_api_member(global->api, name) != NULL;
    const FlowClassEntry *class = global->class;
    if (class->constructor.name && is_function_member(name)) return true;
    for (; class; class = class->parent ? find_class(str_from(class->parent)) : NULL)
        if (has_entry(class->statics, name)) return true;
    return false;
}

// ---- uses ----

static void note_name(Checker *c, const FlowNode *node, CheckGlobal *global, bool is_written) {
    CheckName use = {node, c->scope, global, is_written};
    vec_push(&c->names, use);
}

void check_use_name(Checker *c, const FlowNode *node, CheckUse use) {
    CheckGlobal *global = check_global(c, node);
    if (!global) return;
    if (use == USE_TYPEOF) global->is_expected = true;
    else if (!global->is_known) note_name(c, node, global, false);
    else if (use == USE_VALUE) {
        global->is_open = true; // whoever gets it may add to it
        if (check_is_global(node, "globalThis")) c->is_global_open = true;
    }
}

void check_write_name(Checker *c, const FlowNode *node) {
    CheckGlobal *global = check_global(c, node);
    if (!global) return;
    if (!global->is_known) note_name(c, node, global, true);
    global->is_open = true;
}

void check_use_member(Checker *c, const FlowNode *object, FlowName *name, uint32_t end,
                      CheckUse use) {
    CheckGlobal *global = check_global(c, object);
    if (!global || !global->is_known) {
        check_use_name(c, object, use == USE_TYPEOF ? USE_TESTED : use);
        return;
    }
    if ((!global->api && !global->class) || has_member(global, name->text)) return;
    uint32_t start = end - (uint32_t)name->text.len;
    CheckMember member = {global, object->reference.name, name, start, end};
    bool is_asked = use == USE_TYPEOF || (use == USE_TESTED && !global->api);
    if (is_asked) vec_push(&c->tested, member);
    else vec_push(&c->members, member);
}

void check_open_member(Checker *c, const FlowNode *object, const FlowName *name) {
    CheckGlobal *global = check_global(c, object);
    if (!global) return;
    if (!global->is_known) check_use_name(c, object, USE_VALUE);
    global->is_open = true;
    global->is_replaced = true;
    if (!check_is_global(object, "globalThis")) return;
    if (name) check_global_named(c, name)->is_expected = true; // globalThis.name = …
    else c->is_global_open = true;
}

// ---- what was probably meant ----

// Nearer than a name of that length may be by chance: by one letter, or more when it begins alike.
static const char *near_enough(const Suggestion *guess) {
    if (!guess->best) return NULL;
    bool begins_alike = (guess->best[0] | 0x20) == (guess->wanted.data[0] | 0x20);
    return guess->distance <= 1 || begins_alike ? guess->best : NULL;
}

static const char *guess_name(const CheckName *use) {
    Suggestion guess = {.wanted = use->node->reference.name->text};
    for (const FlowScope *scope = use->scope; scope; scope = scope->parent)
        for (const FlowVariable *v = scope->variables; v; v = v->next)
            if (v->name && v->name->text.data[0] != '#') suggest(&guess, v->name->text.data);
    for (size_t i = 0; flow_realm_classes[i]; i++)
        if (flow_realm_classes[i]->name[0] != '%') suggest(&guess, flow_realm_classes[i]->name);
    for (size_t i = 0; flow_realm_globals[i]; i++)
        for (const FlowNativeEntry *entry = flow_realm_globals[i]; entry->name; entry++)
            suggest(&guess, entry->name);
    return near_enough(&guess);
}

// Names from other systems, and how it is said here.
static const char *other_word(Str name) {
    static const struct {
        const char *name, *hint;
    } words[] = {
        {"sleep", "Use `await Timer.delay(\"2s\")`"},
        {"delay", "Use `await Timer.delay(\"2s\")`"},
        {"wait", "Use `await Timer.delay(\"2s\")` or `await Signal.when(\"name\")`"},
        {"inputs", "The run's input is `Inputs`"},
        {"input", "The run's input is `Inputs`"},
        {"context", "Use `Context`"},
        {"ctx", "Use `Context`"},
        {"print", "Use `console.log(…)`"},
        {"log", "Use `console.log(…)`"},
        {"uuid", "Use `crypto.randomUUID()`"},
        {"logger", "Use `console`"},
    };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_equal(name, str_from(words[i].name))) return words[i].hint;
    return NULL;
}

static bool is_listed(const char *words, Str word) {
    while (words) {
        const char *space = strchr(words, ' ');
        size_t len = space ? (size_t)(space - words) : strlen(words);
        if (str_equal(word, (Str){words, len})) return true;
        words = space ? space + 1 : NULL;
    }
    return false;
}

static const char *guess_api_member(const FlowApiObject *object, Str name, Str *ret_all,
                                    Arena *arena) {
    Suggestion guess = {.wanted = name};
    const char *known = NULL;
    for (const FlowApiMember *member = object->members; member->name; member++) {
        if (is_listed(member->also, name)) known = member->name;
        suggest(&guess, member->name);
        *ret_all = str_is_null(*ret_all)
                       ? str_from(member->name)
                       : arena_printf(arena, "%.*s, %s", STR_ARG(*ret_all), member->name);
    }
    return known ? known : near_enough(&guess);
}

static const char *guess_class_member(const FlowClassEntry *class, Str name) {
    Suggestion guess = {.wanted = name};
    for (; class; class = class->parent ? find_class(str_from(class->parent)) : NULL)
        for (const FlowNativeEntry *entry = class->statics; entry && entry->name; entry++)
            if (entry->name[0] != '@') suggest(&guess, entry->name);
    return near_enough(&guess);
}

// ---- at the end ----

static void say_name(Checker *c, const CheckName *use) {
    const FlowName *name = use->node->reference.name;
    FlowFinding finding = {.code = FLOW_ERROR_UNDECLARED,
                           .start = use->node->start,
                           .end = use->node->end,
                           .hint = other_word(name->text)};
    if (!finding.hint) finding.suggestion = guess_name(use);
    if (!finding.hint && !finding.suggestion && use->is_written)
        finding.hint =
            arena_printf(c->arena, "Declare it first: `let %.*s = …`", STR_ARG(name->text)).data;
    check_say(c, &finding,
              use->is_written ? "`%.*s` is assigned to and declared nowhere"
                              : "`%.*s` is declared nowhere",
              STR_ARG(name->text));
}

static bool is_tested(const Checker *c, const CheckMember *use) {
    for (size_t i = 0; i < c->tested.count; i++)
        if (c->tested.data[i].global == use->global && c->tested.data[i].name == use->name)
            return true;
    return false;
}

static void say_member(Checker *c, const CheckMember *use) {
    Str all = STR_NULL;
    FlowFinding finding = {.code = FLOW_ERROR_MEMBER, .start = use->start, .end = use->end};
    finding.suggestion = use->global->api
                             ? guess_api_member(use->global->api, use->name->text, &all, c->arena)
                             : guess_class_member(use->global->class, use->name->text);
    if (!finding.suggestion && !str_is_null(all))
        finding.hint =
            arena_printf(c->arena, "`%.*s` has %.*s", STR_ARG(use->object->text), STR_ARG(all))
                .data;
    check_say(c, &finding, "`%.*s` has no `%.*s`", STR_ARG(use->object->text),
              STR_ARG(use->name->text));
}

void check_settle_names(Checker *c) {
    for (size_t i = 0; i < c->names.count && !c->is_global_open; i++) {
        const CheckName *use = &c->names.data[i];
        if (use->global->is_expected || use->global->is_said) continue;
        use->global->is_said = true; // once per name
        say_name(c, use);
    }
    for (size_t i = 0; i < c->members.count && c->report->error_count < FLOW_REPORT_MAX; i++) {
        const CheckMember *use = &c->members.data[i];
        if (!use->global->is_open && !is_tested(c, use)) say_member(c, use);
    }
}
