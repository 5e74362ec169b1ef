// Early errors about names, targets, classes, objects, await and yield: each refused with its
// message. The messages are those of V8 where V8 has one.
#include "unit/flow/text.h"

static void one_name_is_declared_once(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"let a; let a", "Identifier 'a' has already been declared"},
        {"let a; var a", "Identifier 'a' has already been declared"},
        {"var a; let a", "Identifier 'a' has already been declared"},
        {"const a = 1; function a() {}", "Identifier 'a' has already been declared"},
        {"function a() {} let a", "Identifier 'a' has already been declared"},
        {"function f(a) { let a }", "Identifier 'a' has already been declared"},
        {"function f() { let a; { var a } }", "Identifier 'a' has already been declared"},
        {"(a) => { let a }", "Identifier 'a' has already been declared"},
        {"(a, a) => 1", "Duplicate parameter name not allowed in this context"},
        {"function f(a, a) {}", "Duplicate parameter name not allowed in this context"},
        {"function f({a}, [a]) {}", "Duplicate parameter name not allowed in this context"},
        {"{ function f() {} function f() {} }", "Identifier 'f' has already been declared"},
        {"{ let f; function f() {} }", "Identifier 'f' has already been declared"},
        {"{ var f; function f() {} }", "Identifier 'f' has already been declared"},
        {"{ function f() {} var f; }", "Identifier 'f' has already been declared"},
        {"switch (1) { case 1: let a; case 2: let a }", "Identifier 'a' has already been declared"},
        {"switch (1) { case 1: function a() {} case 2: function a() {} }",
         "Identifier 'a' has already been declared"},
        {"try {} catch (e) { let e }", "Identifier 'e' has already been declared"},
        {"try {} catch ([e]) { var e }", "Identifier 'e' has already been declared"},
        {"try {} catch ({e}) { let e }", "Identifier 'e' has already been declared"},
        {"try {} catch ([a, a]) {}", "Identifier 'a' has already been declared"},
        {"try {} catch (e) { function e() {} }", "Identifier 'e' has already been declared"},
        {"for (let a of []) { var a }", "Identifier 'a' has already been declared"},
        {"for (let a, a;;) ;", "Identifier 'a' has already been declared"},
        {"for (let i;;) { var i }", "Identifier 'i' has already been declared"},
        {"for (const x, y of z) ;",
         "Invalid left-hand side in for-of loop: Must have a single binding."},
        {"let [a, a] = []", "Identifier 'a' has already been declared"},
    };
    check_errors(cases);
}

static void names_that_strict_mode_reserves_bind_nothing(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"let let = 1", "let is disallowed as a lexically bound name"},
        {"const let = 1", "let is disallowed as a lexically bound name"},
        {"class let {}", "Unexpected strict mode reserved word"},
    };
    check_errors(cases);
}

static void declarations_need_initializers(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"const a", "Missing initializer in const declaration"},
        {"let [a]", "Missing initializer in destructuring declaration"},
        {"const {a}", "Missing initializer in destructuring declaration"},
        {"var {a}", "Missing initializer in destructuring declaration"},
        {"for (const a;;) ;", "Missing initializer in const declaration"},
        {"for (let [a];;) ;", "Missing initializer in destructuring declaration"},
    };
    check_errors(cases);
}

static void only_targets_are_assigned_to(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a + = b", "Unexpected token '='"},
        {"1 = 2", "Invalid left-hand side in assignment"},
        {"a + b = c", "Invalid left-hand side in assignment"},
        {"a++ = 1", "Invalid left-hand side in assignment"},
        {"++a++", "Invalid left-hand side expression in prefix operation"},
        {"--1", "Invalid left-hand side expression in prefix operation"},
        {"a()++", "Invalid left-hand side expression in postfix operation"},
        {"this = 1", "Invalid left-hand side in assignment"},
        {"this++", "Invalid left-hand side expression in postfix operation"},
        {"new.target = 1", "new.target expression is not allowed here"},
        {"\"a\" = 1", "Invalid left-hand side in assignment"},
        {"(a, b) = 1", "Invalid left-hand side in assignment"},
        {"({a}) = 1", "Invalid left-hand side in assignment"},
        {"([a]) = 1", "Invalid left-hand side in assignment"},
        {"[a + 1] = b", "Invalid destructuring assignment target"},
        {"({a: 1} = b)", "Invalid destructuring assignment target"},
        {"({a: b + c} = d)", "Invalid destructuring assignment target"},
        {"({a() {}} = b)", "Invalid destructuring assignment target"},
        {"({get a() { return 1 }} = b)", "Invalid destructuring assignment target"},
        {"[...a, b] = c", "Rest element must be last element"},
        {"[...a,] = c", "Rest element must be last element"},
        {"({...a, b} = c)", "Rest element must be last element"},
        {"({...a,} = c)", "Rest element must be last element"},
        {"({...{a}} = b)",
         "`...` must be followed by an assignable reference in assignment contexts"},
        {"({...[a]} = b)",
         "`...` must be followed by an assignable reference in assignment contexts"},
        {"let {...{a}} = b", "Unexpected token '{'"},
        {"let {...[a]} = b", "Unexpected token '['"},
        {"let [...a, b] = c", "Rest element must be last element"},
        {"let [...a = 1] = c", "Unexpected token '='"},
        {"[...a = 1] = c", "Invalid destructuring assignment target"},
        {"[((a))=1] = 1; [(a = 1)] = 1", "Invalid destructuring assignment target"},
        {"({(a)} = 1)", "Unexpected token '('"},
        {"({a: ({b})} = 1)", "Invalid destructuring assignment target"},
        {"[([a])] = 1", "Invalid destructuring assignment target"},
        {"(a = 1) = 2", "Invalid left-hand side in assignment"},
    };
    check_errors(cases);
}

static void optional_chains_are_no_targets(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a?.b = 1", "Invalid left-hand side in assignment"},
        {"a?.b++", "Invalid left-hand side expression in postfix operation"},
        {"++a?.b", "Invalid left-hand side expression in prefix operation"},
        {"[a?.b] = c", "Invalid destructuring assignment target"},
        {"for (a?.b of c) ;", "Invalid left-hand side in for-loop"},
        {"new a?.b()", "Invalid optional chain from new expression"},
        {"a?.`x`", "Invalid tagged template on optional chain"},
        {"a?.b`x`", "Invalid tagged template on optional chain"},
    };
    check_errors(cases);
}

static void super_needs_a_method(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"super.x", "'super' keyword unexpected here"},
        {"super()", "'super' keyword unexpected here"},
        {"function f() { super.x }", "'super' keyword unexpected here"},
        {"function f() { super() }", "'super' keyword unexpected here"},
        {"class A { constructor() { super() } }", "'super' keyword unexpected here"},
        {"class A extends B { m() { super() } }", "'super' keyword unexpected here"},
        {"class A extends B { x = super() }", "'super' keyword unexpected here"},
        {"class A extends B { static { super() } }", "'super' keyword unexpected here"},
        {"({ m() { super() } })", "'super' keyword unexpected here"},
        {"({ m: function () { super.x } })", "'super' keyword unexpected here"},
        {"super", "'super' keyword unexpected here"},
        {"class A { m() { super } }", "'super' keyword unexpected here"},
        {"new.foo", "Unexpected identifier 'foo'"},
        {"function f() { new.foo }", "Unexpected identifier 'foo'"},
    };
    check_errors(cases);
}

static void class_bodies_obey_their_rules(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"class A { constructor() {} constructor() {} }", "A class may only have one constructor"},
        {"class A { get constructor() { return 1 } }", "Class constructor may not be an accessor"},
        {"class A { *constructor() {} }", "Class constructor may not be a generator"},
        {"class A { async constructor() {} }", "Class constructor may not be an async method"},
        {"class A { async *constructor() {} }", "Class constructor may not be a generator"},
        {"class A { static prototype() {} }",
         "Classes may not have a static property named 'prototype'"},
        {"class A { static prototype = 1 }",
         "Classes may not have a static property named 'prototype'"},
        {"class A { static get prototype() { return 1 } }",
         "Classes may not have a static property named 'prototype'"},
        {"class A { constructor = 1 }", "Classes may not have a field named 'constructor'"},
        {"class A { 'constructor' = 1 }", "Classes may not have a field named 'constructor'"},
        {"class A { static constructor = 1 }", "Classes may not have a field named 'constructor'"},
    };
    check_errors(cases);
}

static void private_names_are_declared_once_in_an_enclosing_class(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"class A { #constructor }", "Classes may not have a private field named '#constructor'"},
        {"class A { #constructor() {} }",
         "Classes may not have a private field named '#constructor'"},
        {"class A { #a; #a }", "Identifier '#a' has already been declared"},
        {"class A { #a; get #a() { return 1 } }", "Identifier '#a' has already been declared"},
        {"class A { get #a() { return 1 } get #a() { return 1 } }",
         "Identifier '#a' has already been declared"},
        {"class A { static get #a() { return 1 } set #a(v) {} }",
         "Identifier '#a' has already been declared"},
        {"class A { #a() {} #a = 1 }", "Identifier '#a' has already been declared"},
        {"this.#a", "Private field '#a' must be declared in an enclosing class"},
        {"class A { m() { this.#b } }",
         "Private field '#b' must be declared in an enclosing class"},
        {"class A { #a; m() { delete this.#a } }", "Private fields can not be deleted"},
        {"class A { #a; m() { delete this?.#a } }", "Private fields can not be deleted"},
        {"class A { #a; m() { #a } }", "Unexpected identifier '#a'"},
        {"class A { #a; m() { #a in #a in this } }", "Unexpected identifier '#a'"},
        {"class A { #a; m() { 1 + #a in this } }", "Unexpected identifier '#a'"},
        {"class A { #a; m() { (#a) in this } }", "Unexpected identifier '#a'"},
        {"class A { #a; m() { super.#a } }", "Unexpected private field"},
        {"({ #a: 1 })", "Unexpected identifier '#a'"},
        {"#a in b", "Private field '#a' must be declared in an enclosing class"},
    };
    check_errors(cases);
}

static void class_initializers_have_no_arguments_await_or_return(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"class A { x = arguments }",
         "'arguments' is not allowed in class field initializer or static initialization block"},
        {"class A { static { arguments } }",
         "'arguments' is not allowed in class field initializer or static initialization block"},
        {"class A { x = () => arguments }",
         "'arguments' is not allowed in class field initializer or static initialization block"},
        {"class A { static { await } }", "Unexpected reserved word"},
        {"class A { static { await 1 } }", "Unexpected reserved word"},
        {"class A { static { return } }", "Illegal return statement"},
        {"class A { static { yield } }", "Unexpected strict mode reserved word"},
        {"class A { static { let a; var a } }", "Identifier 'a' has already been declared"},
        {"class A { static { let a; let a } }", "Identifier 'a' has already been declared"},
        {"class A { static { break } }", "Illegal break statement"},
        {"class A { static { (await) => 1 } }", "Unexpected reserved word"},
        {"class A { x = await 1 }",
         "await is only valid in async functions and the top level bodies of modules"},
    };
    check_errors(cases);
}

static void accessors_have_the_right_number_of_parameters(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"class A { get a(b) {} }", "Getter must not have any formal parameters."},
        {"class A { set a() {} }", "Setter must have exactly one formal parameter."},
        {"class A { set a(...b) {} }", "Setter function argument must not be a rest parameter"},
        {"class A { set a(b, c) {} }", "Setter must have exactly one formal parameter."},
    };
    check_errors(cases);
}

static void class_syntax_is_checked(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"class A { a: 1 }", "Unexpected token ':'"},
        {"class A { a, b }", "Unexpected token ','"},
        {"class A { x y }", "Unexpected identifier 'y'"},
        {"class A extends B, C {}", "Unexpected token ','"},
        {"class A extends a => 1 {}", "Malformed arrow function parameter list"},
        {"class { }", "Unexpected token '{'"},
        {"class A { get x }", "Unexpected token '}'"},
    };
    check_errors(cases);
}

static void object_literals_obey_their_rules(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"({ get a(b) {} })", "Getter must not have any formal parameters."},
        {"({ set a() {} })", "Setter must have exactly one formal parameter."},
        {"({ set a(b, c) {} })", "Setter must have exactly one formal parameter."},
        {"({ set a(...b) {} })", "Setter function argument must not be a rest parameter"},
        {"({ a: 1, a b })", "Unexpected identifier 'b'"},
        {"({ async a: 1 })", "Unexpected token ':'"},
        {"({ get a: 1 })", "Unexpected token ':'"},
        {"({ async", "Unexpected end of input"},
        {"a() {} })", "Unexpected token '{'"},
        {"({ a = 1 })", "Invalid shorthand property initializer"},
        {"({ a = 1 }).b", "Invalid shorthand property initializer"},
        {"f({ a = 1 })", "Invalid shorthand property initializer"},
        {"[{ a = 1 }].b", "Invalid shorthand property initializer"},
        {"({ a: { b = 1 } })", "Invalid shorthand property initializer"},
        {"({ __proto__: a, __proto__: b })",
         "Duplicate __proto__ fields are not allowed in object literals"},
        {"({ __proto__: a, \"__proto__\": b })",
         "Duplicate __proto__ fields are not allowed in object literals"},
        {"({ if })", "Unexpected token 'if'"},
        {"({ this })", "Unexpected token 'this'"},
        {"({ 1 })", "Unexpected token '}'"},
        {"({ \"a\" })", "Unexpected token '}'"},
        {"({ [a] })", "Unexpected token '}'"},
        {"({ yield })", "Unexpected strict mode reserved word"},
        {"({ let })", "Unexpected strict mode reserved word"},
        {"({ static })", "Unexpected strict mode reserved word"},
        {"({ await })", "Unexpected reserved word"},
    };
    check_errors(cases);
}

static void eval_and_arguments_are_not_bound(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"({ eval } = 1)", "Unexpected eval or arguments in strict mode"},
        {"({ arguments } = 1)", "Unexpected eval or arguments in strict mode"},
        {"eval = 1", "Unexpected eval or arguments in strict mode"},
        {"arguments = 1", "Unexpected eval or arguments in strict mode"},
        {"eval++", "Unexpected eval or arguments in strict mode"},
        {"--arguments", "Unexpected eval or arguments in strict mode"},
        {"let eval = 1", "Unexpected eval or arguments in strict mode"},
        {"var arguments", "Unexpected eval or arguments in strict mode"},
        {"function eval() {}", "Unexpected eval or arguments in strict mode"},
        {"function f(eval) {}", "Unexpected eval or arguments in strict mode"},
        {"(arguments) => 1", "Unexpected eval or arguments in strict mode"},
        {"arguments => 1", "Unexpected eval or arguments in strict mode"},
        {"try {} catch (eval) {}", "Unexpected eval or arguments in strict mode"},
        {"class eval {}", "Unexpected eval or arguments in strict mode"},
        {"[eval] = 1", "Unexpected eval or arguments in strict mode"},
        {"({ a: arguments } = 1)", "Unexpected eval or arguments in strict mode"},
        {"for (eval of []) ;", "Unexpected eval or arguments in strict mode"},
        {"let [eval] = []", "Unexpected eval or arguments in strict mode"},
    };
    check_errors(cases);
}

static void reserved_words_are_no_names(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"var public", "Unexpected strict mode reserved word"},
        {"var static", "Unexpected strict mode reserved word"},
        {"var yield", "Unexpected strict mode reserved word"},
        {"var interface", "Unexpected strict mode reserved word"},
        {"let implements", "Unexpected strict mode reserved word"},
        {"let package, private, protected", "Unexpected strict mode reserved word"},
        {"function yield() {}", "Unexpected strict mode reserved word"},
        {"function static() {}", "Unexpected strict mode reserved word"},
        {"(yield) => 1", "Unexpected strict mode reserved word"},
        {"yield => 1", "Unexpected strict mode reserved word"},
        {"yield = 1", "Unexpected strict mode reserved word"},
        {"static = 1", "Unexpected strict mode reserved word"},
        {"public: 1", "Unexpected strict mode reserved word"},
        {"yield: 1", "Unexpected strict mode reserved word"},
        {"let: 1", "Unexpected token ':'"},
        {"var enum", "Unexpected reserved word"},
        {"var class", "Unexpected token 'class'"},
        {"var if", "Unexpected token 'if'"},
    };
    check_errors(cases);
}

static void await_and_yield_stand_only_where_they_may(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"let await", "Unexpected reserved word"},
        {"await = 1", "Unexpected token '='"},
        {"await: 1", "Unexpected token ':'"},
        {"var {await} = 1", "Unexpected reserved word"},
        {"async function f(await) {}", "Unexpected reserved word"},
        {"async function await() {}", "Unexpected reserved word"},
        {"async (await) => 1", "Unexpected token ')'"},
        {"async await => 1", "Unexpected reserved word"},
        {"(async function await() {})", "Unexpected reserved word"},
        {"async (a = await 1) => 1",
         "Illegal await-expression in formal parameters of async function"},
        {"(a = await 1) => 1", "Illegal await-expression in formal parameters of async function"},
        {"async function f(a = await 1) {}",
         "Illegal await-expression in formal parameters of async function"},
        {"function* g(a = yield) {}", "Yield expression not allowed in formal parameter"},
        {"function* g() { (a = yield) => 1 }", "Yield expression not allowed in formal parameter"},
        {"function* g() { function yield() {} }", "Unexpected strict mode reserved word"},
        {"function* yield() {}", "Unexpected strict mode reserved word"},
        {"function f() { await 1 }",
         "await is only valid in async functions and the top level bodies of modules"},
        {"function f() { for await (x of y) ; }",
         "for await is only valid in async functions and the top level"},
        {"() => { await 1 }",
         "await is only valid in async functions and the top level bodies of modules"},
        {"() => await 1",
         "await is only valid in async functions and the top level bodies of modules"},
        {"function f() { yield 1 }", "Unexpected strict mode reserved word"},
    };
    check_errors(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_name_is_declared_once),
        cmocka_unit_test(names_that_strict_mode_reserves_bind_nothing),
        cmocka_unit_test(declarations_need_initializers),
        cmocka_unit_test(only_targets_are_assigned_to),
        cmocka_unit_test(optional_chains_are_no_targets),
        cmocka_unit_test(super_needs_a_method),
        cmocka_unit_test(class_bodies_obey_their_rules),
        cmocka_unit_test(private_names_are_declared_once_in_an_enclosing_class),
        cmocka_unit_test(class_initializers_have_no_arguments_await_or_return),
        cmocka_unit_test(accessors_have_the_right_number_of_parameters),
        cmocka_unit_test(class_syntax_is_checked),
        cmocka_unit_test(object_literals_obey_their_rules),
        cmocka_unit_test(eval_and_arguments_are_not_bound),
        cmocka_unit_test(reserved_words_are_no_names),
        cmocka_unit_test(await_and_yield_stand_only_where_they_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
