// Scope analysis: which variable a name means, where it lives, and what is refused.
#include "base/array.h"
#include "unit/flow/text.h"
#include <stdio.h>

static void names_resolve_to_their_declaration(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"let a = 1; a", "(let (declarator a@local 1))\n(expression a@local)"},
        {"var a; a", "(var (declarator a@local))\n(expression a@local)"},
        {"a", "(expression a@global)"},
        {"function f(a) { return a }", "(function f [a@local] (return a@local))"},
        {"let a; { let a; a } a",
         "(let (declarator a@local))\n(block (let (declarator a@local)) (expression "
         "a@local))\n(expression a@local)"},
        {"let a; { a }", "(let (declarator a@local))\n(block (expression a@local))"},
        {"function f() { return b } var b",
         "(function f [] (return b@0))\n(var (declarator b@cell))"},
        {"try {} catch (e) { e }", "(try (block) (catch e@local (block (expression e@local))))"},
        {"try {} catch ({a, b: [c]}) { a; c }",
         "(try (block) (catch (object-pattern (shorthand a@local) (value \"b\" (array-pattern "
         "c@local))) (block (expression a@local) (expression c@local))))"},
        {"for (let i = 0; i < 1; i++) i",
         "(for (let (declarator i@local 0)) (< i@local 1) (post++ i@local) (expression i@local))"},
        {"for (const x of y) x",
         "(for-of (const (declarator x@local)) y@global (expression x@local))"},
        {"for (const x in y) x",
         "(for-in (const (declarator x@local)) y@global (expression x@local))"},
        {"const f = function g() { return g }",
         "(const (declarator f@local (function g [] (return g@local))))"},
        {"class A { m() { return A } }", "(class A (method \"m\" (method [] (return A@0))))"},
        {"switch (1) { case 1: let a = 1 }", "(switch 1 (case 1 (let (declarator a@local 1))))"},
        {"[a, b.c] = d; let a",
         "(expression (assign = (array-pattern a@local! (. b@global c)) d@global))\n(let "
         "(declarator a@local))"},
    };
    check_access(cases);
}

static void captured_variables_live_in_cells(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"let a = 1; const f = () => a",
         "(let (declarator a@cell 1))\n(const (declarator f@local (arrow [] a@0)))"},
        {"let a; function f() { a = 1 } a",
         "(let (declarator a@cell))\n(function f [] (expression (assign = a@0! 1)))\n(expression "
         "a@cell)"},
        {"function f(a) { return () => a }", "(function f [a@cell] (return (arrow [] a@0)))"},
        {"function f() { let a; return () => () => a }",
         "(function f [] (let (declarator a@cell)) (return (arrow [] (arrow [] a@0))))"},
        {"for (const x of y) { f(() => x) }",
         "(for-of (const (declarator x@cell)) y@global (block (expression (call f@global (arrow "
         "[] x@0)))))"},
        {"let a; { let a; () => a } a",
         "(let (declarator a@local))\n(block (let (declarator a@cell)) (expression (arrow [] "
         "a@0)))\n(expression a@local)"},
        {"const f = function g() { return () => g }",
         "(const (declarator f@local (function g [] (return (arrow [] g@0)))))"},
        {"try {} catch (e) { () => e }",
         "(try (block) (catch e@cell (block (expression (arrow [] e@0)))))"},
        {"let a, b; () => { b; () => { a; b } }",
         "(let (declarator a@cell) (declarator b@cell))\n(expression (arrow [] (expression b@0) "
         "(expression (arrow [] (expression a@0) (expression b@1)))))"},
    };
    check_access(cases);
}

static void use_before_initialisation_is_checked(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a; let a = 1; a",
         "(expression a@local!)\n(let (declarator a@local 1))\n(expression a@local)"},
        {"let a = a", "(let (declarator a@local a@local!))"},
        {"{ f(); let x = 1; function f() { return x } x }",
         "(block (expression (call f@local)) (let (declarator x@cell 1)) (function f [] (return "
         "x@0!)) (expression x@cell))"},
        {"const f = () => x; let x; const g = () => x",
         "(const (declarator f@local (arrow [] x@0!)))\n(let (declarator x@cell))\n(const "
         "(declarator g@local (arrow [] x@0)))"},
        {"let x = 1; { function f() { return x } }",
         "(let (declarator x@cell 1))\n(block (function f [] (return x@0)))"},
        {"switch (a) { case 1: let b = 1; case 2: b }",
         "(switch a@global (case 1 (let (declarator b@local 1))) (case 2 (expression b@local!)))"},
        {"for (let x of x) x", "(for-of (let (declarator x@local)) x@local! (expression x@local))"},
        {"function f(a = b, b) { return b }",
         "(function f [(default a@local b@local!) b@local] (return b@local))"},
        {"function f(a, b = a) { }", "(function f [a@local (default b@local a@local)])"},
        {"class A extends A {}", "(class A extends A@local!)"},
        {"class A { [A] = 1; b = A; static c = A }",
         "(class A (field computed A@cell! 1) (field \"b\" A@1) (static-field \"c\" A@0))"},
        {"typeof x; let x", "(expression (typeof x@local!))\n(let (declarator x@local))"},
        {"x = 1; let x", "(expression (assign = x@local! 1))\n(let (declarator x@local))"},
        {"function f() { return x } let x = 1; f()",
         "(function f [] (return x@0!))\n(let (declarator x@cell 1))\n(expression (call f@local))"},
        {"let {a, b = a} = c",
         "(let (declarator (object-pattern (shorthand a@local) (shorthand (default b@local "
         "a@local))) c@global))"},
        {"let {a = b, b} = c",
         "(let (declarator (object-pattern (shorthand (default a@local b@local!)) (shorthand "
         "b@local)) c@global))"},
        {"try {} catch ({a = b, b}) {}",
         "(try (block) (catch (object-pattern (shorthand (default a@local b@local!)) (shorthand "
         "b@local)) (block)))"},
        {"let f = function () { return f }",
         "(let (declarator f@cell (function [] (return f@0!))))"},
    };
    check_access(cases);
}

static void arrows_capture_this_and_friends(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"function f() { return this }", "(function f [] (return this@local))"},
        {"function f() { return () => this }", "(function f [] (return (arrow [] this@0)))"},
        {"function f() { return () => () => this }",
         "(function f [] (return (arrow [] (arrow [] this@0))))"},
        {"function f() { return arguments }", "(function f [] (return arguments@local))"},
        {"function f() { return () => arguments }",
         "(function f [] (return (arrow [] arguments@0)))"},
        {"function f() { return () => new.target }",
         "(function f [] (return (arrow [] new.target@0)))"},
        {"class A extends B { constructor() { super(); this.a } }",
         "(class A extends B@global (derived-constructor [] (expression (super-call)) "
         "(expression (. this@local! a))))"},
        {"class A extends B { constructor() { const f = () => super(); f(); return () => this } }",
         "(class A extends B@global (derived-constructor [] (const (declarator f@local (arrow [] "
         "(super-call)))) (expression (call f@local)) (return (arrow [] this@0!))))"},
        {"({m() { return () => super.x }})",
         "(expression (object (method \"m\" (method [] (return (arrow [] (super. x)))))))"},
        {"class A { a = this; b = () => this }",
         "(class A (field \"a\" this@cell) (field \"b\" (arrow [] this@0)))"},
        {"this", "(expression this@local)"},
    };
    check_access(cases);
}

static void parameters_have_their_own_scope(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"function f(a, b = () => a) { var a; return a }",
         "(function f [a@cell (default b@local (arrow [] a@0))] (var (declarator a@local)) "
         "(return a@local))"},
        {"function f(a, b = a) { var a; return a }",
         "(function f [a@local (default b@local a@local)] (var (declarator a@local)) (return "
         "a@local))"},
        {"let b; (a = b) => { let b }",
         "(let (declarator b@cell))\n(expression (arrow [(default a@local b@0)] (let (declarator "
         "b@local))))"},
        {"function f(a) { function a() {} }", "(function f [a@local] (function a []))"},
        {"function f(a) { var a }", "(function f [a@local] (var (declarator a@local)))"},
        {"let x; function f(a = () => x) { var x; return x }",
         "(let (declarator x@cell))\n(function f [(default a@local (arrow [] x@0!))] (var "
         "(declarator x@local)) (return x@local))"},
    };
    check_access(cases);
}

static void private_names_are_variables_of_the_class(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"class A { #a = 1; m() { return this.#a } }",
         "(class A (field #a@cell 1) (method \"m\" (method [] (return (. this@local #a@0)))))"},
        {"class A { #a; m() { return class { n(o) { return o.#a } } } }",
         "(class A (field #a@cell) (method \"m\" (method [] (return (class (method \"n\" (method "
         "[o@local] (return (. o@local #a@0)))))))))"},
        {"class A { #a; m(o) { return #a in o } }",
         "(class A (field #a@cell) (method \"m\" (method [o@local] (return (in #a@0 o@local)))))"},
        {"class A { static #s() {} static { A.#s() } }",
         "(class A (static-method #s@cell (method [])) (static-block (static-block [] "
         "(expression (call (. A@0 #s@1))))))"},
    };
    check_access(cases);
}

// ---- variables

static const FlowVariable *find_variable(const FlowScope *scope, const char *name) {
    for (const FlowVariable *v = scope->variables; v; v = v->next)
        if (v->name && str_equal(v->name->text, str_from(name))) return v;
    return NULL;
}

static void captures_reach_no_further_than_the_parent(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "let a, b; function f(c) { return () => () => [a, c] }");
    const FlowFunction *f = parsed.program->main->body.items[1]->function;
    const FlowFunction *outer = f->body.items[0]->unary.operand->function;
    const FlowFunction *inner = outer->body.items[0]->function;
    const FlowScope *top = parsed.program->main->body_scope;
    assert_int_equal(f->capture_count, 1);
    assert_ptr_equal(f->captures[0].variable, find_variable(top, "a"));
    assert_true(f->captures[0].is_parent_local);
    assert_int_equal(outer->capture_count, 2);
    assert_false(outer->captures[0].is_parent_local);
    assert_int_equal(outer->captures[0].parent_index, 0);
    assert_true(outer->captures[1].is_parent_local);
    assert_ptr_equal(outer->captures[1].variable, find_variable(f->parameter_scope, "c"));
    assert_int_equal(inner->capture_count, 2);
    assert_false(inner->captures[0].is_parent_local);
    assert_false(inner->captures[1].is_parent_local);
    assert_int_equal(inner->captures[1].parent_index, 1);
    assert_int_equal(top->captured_count, 1);
    assert_false(find_variable(top, "b")->is_captured);
    assert_ptr_equal(inner->parent, outer);
    assert_ptr_equal(f->parent, parsed.program->main);
    assert_int_equal(parsed.program->function_count, 4);
    parsed_done(&parsed);
}

static void each_capture_is_listed_once(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "let a; const f = () => { a; a = a + 1; (() => a)(); a }; () => [a, a]");
    FlowNodeList body = parsed.program->main->body;
    const FlowFunction *f = body.items[1]->list.items[0]->binary.right->function;
    assert_int_equal(f->capture_count, 1);
    const FlowFunction *g = body.items[2]->unary.operand->function;
    assert_int_equal(g->capture_count, 1);
    parsed_done(&parsed);
}

static const FlowScope *for_scope(Parsed *parsed, const char *text) {
    parse_text(parsed, text);
    return parsed->program->main->body.items[0]->loop->scope;
}

static void loop_variables_are_copied_only_when_captured(void **state) {
    (void)state;
    Parsed parsed;
    assert_true(for_scope(&parsed, "for (let i = 0; i < 3; i++) f(() => i)")->needs_copy);
    parsed_done(&parsed);
    assert_false(for_scope(&parsed, "for (let i = 0; i < 3; i++) f(i)")->needs_copy);
    parsed_done(&parsed);
    assert_false(for_scope(&parsed, "for (const i = 0; i < 3; ) f(() => i)")->needs_copy);
    parsed_done(&parsed);
    assert_null(for_scope(&parsed, "for (var i = 0; i < 3; i++) f(() => i)"));
    parsed_done(&parsed);
    assert_null(for_scope(&parsed, "for (;;) f()"));
    parsed_done(&parsed);
}

static void of_functions_with_one_name_the_last_is_made(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "function f() { return 1 } var f; function g() {}\n"
                        "function f() { return 2 }");
    const FlowScope *scope = parsed.program->main->body_scope;
    assert_int_equal(scope->functions.count, 2);
    assert_ptr_equal(scope->functions.items[1], parsed.program->main->body.items[3]);
    assert_int_equal(scope->variable_count, 2);
    parsed_done(&parsed);
}

static void block_functions_belong_to_their_block(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"{ function f() {} f } f", "(block (function f []) (expression f@local))\n"
                                    "(expression f@global)"},
    };
    check_access(cases);
}

static void blocks_without_declarations_have_no_scope(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "{ var a; b }  { let a }");
    assert_null(parsed.program->main->body.items[0]->block.scope);
    assert_non_null(parsed.program->main->body.items[1]->block.scope);
    parsed_done(&parsed);
}

static void a_var_beside_parameter_closures_starts_as_the_parameter(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "function f(a, g = () => a) { var a; var b }");
    const FlowFunction *f = parsed.program->main->body.items[0]->function;
    assert_ptr_not_equal(f->body_scope, f->parameter_scope);
    const FlowVariable *a = find_variable(f->body_scope, "a");
    assert_ptr_equal(a->parameter, find_variable(f->parameter_scope, "a"));
    assert_null(find_variable(f->body_scope, "b")->parameter);
    parsed_done(&parsed);
    parse_text(&parsed, "function f(a, g = a) { var a }");
    f = parsed.program->main->body.items[0]->function;
    assert_ptr_equal(f->body_scope, f->parameter_scope);
    parsed_done(&parsed);
}

static void variables_know_how_they_are_used(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "let a = 1, b = 1, c = 1, d = 1\n"
                        "a = 2; b++; c; [d] = e; typeof a; const f = 1");
    const FlowScope *scope = parsed.program->main->body_scope;
    assert_true(find_variable(scope, "a")->is_assigned);
    assert_true(find_variable(scope, "b")->is_assigned);
    assert_true(find_variable(scope, "b")->is_used);
    assert_false(find_variable(scope, "c")->is_assigned);
    assert_true(find_variable(scope, "c")->is_used);
    assert_true(find_variable(scope, "d")->is_assigned);
    assert_false(find_variable(scope, "d")->is_used);
    assert_false(find_variable(scope, "a")->needs_tdz);
    assert_int_equal(find_variable(scope, "f")->kind, VARIABLE_CONST);
    parsed_done(&parsed);
}

static void classes_know_their_parts(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "class A { #f; #m() {} get #g() { return 1 } set #g(v) {}\n"
                        "static set #s(v) {} [k] = 1; static x = 1; static {} constructor() {} }");
    const FlowClass *class = parsed.program->main->body.items[0]->class_definition;
    assert_int_equal(find_variable(class->scope, "#f")->private_kind, PRIVATE_FIELD);
    assert_int_equal(find_variable(class->scope, "#m")->private_kind, PRIVATE_METHOD);
    assert_int_equal(find_variable(class->scope, "#g")->private_kind, PRIVATE_ACCESSOR);
    assert_int_equal(find_variable(class->scope, "#s")->private_kind, PRIVATE_SETTER);
    assert_true(find_variable(class->scope, "#s")->is_static);
    assert_true(class->has_instance_private_methods);
    assert_true(class->has_static_private_methods);
    assert_null(class->inner_variable);
    assert_non_null(class->constructor);
    assert_non_null(class->instance_fields);
    assert_non_null(class->static_fields);
    const FlowNode *computed = class->elements.items[5];
    assert_non_null(computed->element.field_key);
    assert_int_equal(computed->element.field_key->store.access, ACCESS_CELL);
    assert_int_equal(computed->element.field_key->load.access, ACCESS_CAPTURE);
    const FlowNode *block = class->elements.items[7];
    assert_int_equal(block->op, ELEMENT_STATIC_BLOCK);
    assert_ptr_equal(block->element.value->function->parent, class->static_fields);
    parsed_done(&parsed);
}

static void functions_know_what_they_contain(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "async function f() { await 1; async () => { await 2 } }\n"
                        "async function g() { async () => { await 2 } }\n"
                        "function* h() { yield }\n"
                        "const o = { m() { return () => super.x }, n() {} }");
    FlowNodeList body = parsed.program->main->body;
    assert_true(body.items[0]->function->contains_await);
    assert_false(body.items[1]->function->contains_await);
    assert_true(body.items[2]->function->contains_yield);
    FlowNodeList properties = body.items[3]->list.items[0]->binary.right->list;
    assert_true(properties.items[0]->property.value->function->contains_super_property);
    assert_non_null(properties.items[0]->property.value->function->home_variable);
    assert_false(properties.items[1]->property.value->function->contains_super_property);
    assert_false(parsed.program->main->contains_await);
    parsed_done(&parsed);
}

static void entries_have_a_variable(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "workflow a(i) {} workflow b() {}");
    assert_ptr_equal(parsed.program->entries[1].variable,
                     find_variable(parsed.program->main->body_scope, "b"));
    parsed_done(&parsed);
    parse_text(&parsed, "export default async () => 1");
    assert_int_equal(parsed.program->entries[0].variable->kind, VARIABLE_DEFAULT);
    assert_null(parsed.program->entries[0].name);
    parsed_done(&parsed);
}

// ---- globals

static void names_of_other_hosts_are_refused_with_a_hint(void **state) {
    (void)state;
    static const char *const names[] = {"require",     "eval",   "Proxy",   "SharedArrayBuffer",
                                        "WebAssembly", "fetch",  "process", "setTimeout",
                                        "setInterval", "window", "Buffer",  "XMLHttpRequest"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char text[100];
        snprintf(text, sizeof(text), "const a = %s", names[i]);
        Parsed parsed;
        parse_text(&parsed, text);
        assert_int_equal(parsed.report.count, 1);
        assert_int_equal(parsed.report.items[0].code, FLOW_ERROR_REFUSED);
        assert_true(parsed.report.items[0].hint.len > 0);
        parsed_done(&parsed);
        snprintf(text, sizeof(text), "typeof %s", names[i]);
        parse_text(&parsed, text);
        assert_non_null(parsed.program);
        parsed_done(&parsed);
    }
}

static void a_declared_name_is_never_refused(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"const fetch = 1; fetch", "(const (declarator fetch@local 1))\n(expression fetch@local)"},
        {"(process) => process", "(expression (arrow [process@local] process@local))"},
        {"a.fetch(b.process)", "(expression (call (. a@global fetch) (. b@global process)))"},
        {"x instanceof Function", "(expression (instanceof x@global Function@global))"},
    };
    check_access(cases);
}

static void code_is_not_made_at_run_time(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"Function('a')", "`Function()` is not available in a workflow"},
        {"new Function('a')", "`Function()` is not available in a workflow"},
        {"eval('a')", "`eval` is not available in a workflow"},
        {"function f() { return await(1) }", "`await` is not available in a workflow"},
        {"arguments", "`arguments` is not available at the top level"},
        {"() => arguments", "`arguments` is not available at the top level"},
    };
    check_errors(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_resolve_to_their_declaration),
        cmocka_unit_test(captured_variables_live_in_cells),
        cmocka_unit_test(use_before_initialisation_is_checked),
        cmocka_unit_test(arrows_capture_this_and_friends),
        cmocka_unit_test(parameters_have_their_own_scope),
        cmocka_unit_test(private_names_are_variables_of_the_class),
        cmocka_unit_test(captures_reach_no_further_than_the_parent),
        cmocka_unit_test(each_capture_is_listed_once),
        cmocka_unit_test(loop_variables_are_copied_only_when_captured),
        cmocka_unit_test(of_functions_with_one_name_the_last_is_made),
        cmocka_unit_test(block_functions_belong_to_their_block),
        cmocka_unit_test(blocks_without_declarations_have_no_scope),
        cmocka_unit_test(a_var_beside_parameter_closures_starts_as_the_parameter),
        cmocka_unit_test(variables_know_how_they_are_used),
        cmocka_unit_test(classes_know_their_parts),
        cmocka_unit_test(functions_know_what_they_contain),
        cmocka_unit_test(entries_have_a_variable),
        cmocka_unit_test(names_of_other_hosts_are_refused_with_a_hint),
        cmocka_unit_test(a_declared_name_is_never_refused),
        cmocka_unit_test(code_is_not_made_at_run_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
