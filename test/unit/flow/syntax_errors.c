// Errors in statements, literals, parameters and operators, each refused with its message.
#include "unit/flow/text.h"

static void for_heads_are_checked(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"for await (x in y) ;", "for await is only possible with `of`"},
        {"for await (;;) ;", "for await is only possible with `of`"},
        {"for await (var i = 0;;) ;", "for await is only possible with `of`"},
        {"for (async of x) ;", "Unexpected identifier 'x'"},
        {"for (let of x) ;", "Unexpected identifier 'x'"},
        {"for (let x = 1 of y) ;", "for-of loop variable declaration may not have an initializer."},
        {"for (let x = 1 in y) ;", "for-in loop variable declaration may not have an initializer."},
        {"for (const x = 1 of y) ;",
         "for-of loop variable declaration may not have an initializer."},
        {"for (var x = 1 of y) ;", "for-of loop variable declaration may not have an initializer."},
        {"for (var [a] = 1 in y) ;",
         "for-in loop variable declaration may not have an initializer."},
        {"for (1 of x) ;", "Invalid left-hand side in for-loop"},
        {"for (a + b of x) ;", "Invalid left-hand side in for-loop"},
        {"for (a, b of x) ;", "Unexpected identifier 'of'"},
        {"for (f() of x) ;", "Invalid left-hand side in for-loop"},
        {"for (a = 1 of x) ;", "Invalid left-hand side in for-loop"},
        {"for ((a, b) in x) ;", "Invalid left-hand side in for-loop"},
        {"for (x of a, b) ;", "Unexpected token ','"},
        {"for ({a: 1} of x) ;", "Invalid destructuring assignment target"},
        {"for (let x of y, z) ;", "Unexpected token ','"},
        {"for (;) ;", "Unexpected token ')'"},
        {"for () ;", "Unexpected token ')'"},
        {"for (a) ;", "Unexpected token ')'"},
        {"for (a;b) ;", "Unexpected token ')'"},
    };
    check_errors(cases);
}

static void jumps_need_a_target(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"break", "Illegal break statement"},
        {"continue", "Illegal continue statement: no surrounding iteration statement"},
        {"if (1) break", "Illegal break statement"},
        {"a: continue a", "Illegal continue statement: 'a' does not denote an iteration statement"},
        {"a: { continue a }",
         "Illegal continue statement: 'a' does not denote an iteration statement"},
        {"while (1) { function f() { break } }", "Illegal break statement"},
        {"while (1) { () => { continue } }",
         "Illegal continue statement: no surrounding iteration statement"},
        {"break a", "Undefined label 'a'"},
        {"continue a", "Undefined label 'a'"},
        {"while (1) break a", "Undefined label 'a'"},
        {"while (1) continue a", "Undefined label 'a'"},
        {"a: a: 1", "Label 'a' has already been declared"},
        {"a: { a: 1 }", "Label 'a' has already been declared"},
        {"a: while (1) { a: 1 }", "Label 'a' has already been declared"},
        {"a: { (function () { break a })() }", "Undefined label 'a'"},
        {"switch (1) { continue }", "Unexpected token 'continue'"},
        {"switch (1) { case 1: continue }",
         "Illegal continue statement: no surrounding iteration statement"},
    };
    check_errors(cases);
}

static void statements_are_complete(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"switch (1) { default: default: }", "More than one default clause in switch statement"},
        {"switch (1) { a: 1 }", "Unexpected identifier 'a'"},
        {"switch (1) { foo }", "Unexpected identifier 'foo'"},
        {"try {}", "Missing catch or finally after try"},
        {"try { } catch", "Unexpected end of input"},
        {"try { } catch (a, b) { }", "Unexpected token ','"},
        {"try { } catch () { }", "Unexpected token ')'"},
        {"catch (e) {}", "Unexpected token 'catch'"},
        {"throw", "Unexpected end of input"},
    };
    check_errors(cases);
}

static void declarations_do_not_stand_alone_after_if_and_loops(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"if (1) let a", "Lexical declaration cannot appear in a single-statement context"},
        {"if (1) const a = 1", "Unexpected token 'const'"},
        {"if (1) class A {}", "Unexpected token 'class'"},
        {"if (1) function f() {}",
         "In strict mode code, functions can only be declared at top level or inside a block."},
        {"if (1) async function f() {}",
         "Async functions can only be declared at the top level or inside a block."},
        {"while (1) function f() {}",
         "In strict mode code, functions can only be declared at top level or inside a block."},
        {"while (1) let", "Lexical declaration cannot appear in a single-statement context"},
        {"for (;;) class A {}", "Unexpected token 'class'"},
        {"a: function f() {}",
         "In strict mode code, functions can only be declared at top level or inside a block."},
        {"a: class A {}", "Unexpected token 'class'"},
        {"a: let b", "Lexical declaration cannot appear in a single-statement context"},
        {"a: async function f() {}",
         "Async functions can only be declared at the top level or inside a block."},
        {"do let", "Lexical declaration cannot appear in a single-statement context"},
        {"x; while (0)", "Unexpected end of input"},
    };
    check_errors(cases);
}

static void sloppy_mode_is_refused(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"with (a) {}", "Strict mode code may not include a with statement"},
        {"delete a", "Delete of an unqualified identifier in strict mode."},
        {"delete (a)", "Delete of an unqualified identifier in strict mode."},
        {"delete ((a))", "Delete of an unqualified identifier in strict mode."},
    };
    check_errors(cases);
}

static void numbers_are_well_formed(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"010", "Octal literals are not allowed in strict mode."},
        {"08", "Decimals with leading zeros are not allowed in strict mode."},
        {"09.5", "Decimals with leading zeros are not allowed in strict mode."},
        {"00", "Octal literals are not allowed in strict mode."},
        {"0_1", "Numeric separator can not be used after leading 0."},
        {"1__0", "Only one underscore is allowed as numeric separator"},
        {"1_", "Numeric separators are not allowed at the end of numeric literals"},
        {"_1_: 1_", "Numeric separators are not allowed at the end of numeric literals"},
        {"1._0", "Numeric separators are not allowed here"},
        {"1_.0", "Numeric separators are not allowed at the end of numeric literals"},
        {"1e_1", "Invalid or unexpected token"},
        {"1e", "Invalid or unexpected token"},
        {"0x", "Invalid or unexpected token"},
        {"0xg", "Invalid or unexpected token"},
        {"0b2", "Invalid or unexpected token"},
        {"0o8", "Invalid or unexpected token"},
        {"0x_1", "Numeric separators are not allowed here"},
        {"1n2", "Invalid or unexpected token"},
        {"1.5n", "Invalid or unexpected token"},
        {"1e3n", "Invalid or unexpected token"},
        {"01n", "Octal literals are not allowed in strict mode."},
        {"3in []", "Invalid or unexpected token"},
        {"3a", "Invalid or unexpected token"},
    };
    check_errors(cases);
}

static void strings_and_templates_are_well_formed(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"\"\\01\"", "Octal escape sequences are not allowed in strict mode."},
        {"\"\\08\"", "Octal escape sequences are not allowed in strict mode."},
        {"'\\8'", "\\8 and \\9 are not allowed in strict mode."},
        {"\"\\x4\"", "Invalid hexadecimal escape sequence"},
        {"\"\\u12\"", "Invalid Unicode escape sequence"},
        {"\"\\u{110000}\"", "Undefined Unicode code-point"},
        {"\"\\u{}\"", "Invalid Unicode escape sequence"},
        {"\"a", "Invalid or unexpected token"},
        {"b\"", "Invalid or unexpected token"},
        {"'abc", "Invalid or unexpected token"},
        {"`\\01`", "Octal escape sequences are not allowed in template strings."},
        {"`\\u{zz}`", "Invalid Unicode escape sequence"},
        {"`abc", "Unterminated template literal"},
        {"`${a`", "Unterminated template literal"},
    };
    check_errors(cases);
}

static void regular_expressions_are_closed_and_have_known_flags(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"/abc", "Invalid regular expression: missing /"},
        {"/[abc/", "Invalid regular expression: missing /"},
        {"/a/gg", "Invalid regular expression flags"},
        {"/a/x", "Invalid regular expression flags"},
        {"/a/\\u0067", "Invalid regular expression flags"},
    };
    check_errors(cases);
}

static void parameters_obey_their_rules(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"function f() { \"use strict\"; 010 }", "Octal literals are not allowed in strict mode."},
        {"function f(a = 1) { \"use strict\" }",
         "Illegal 'use strict' directive in function with non-simple parameter list"},
        {"({a}) => { \"use strict\" }",
         "Illegal 'use strict' directive in function with non-simple parameter list"},
        {"(...a) => { \"use strict\" }",
         "Illegal 'use strict' directive in function with non-simple parameter list"},
        {"function f({a}) { 'use strict' }",
         "Illegal 'use strict' directive in function with non-simple parameter list"},
        {"function f(...a, b) {}", "Rest parameter must be last formal parameter"},
        {"function f(...a,) {}", "Rest parameter must be last formal parameter"},
        {"function f(...a = 1) {}", "Rest parameter may not have a default initializer"},
        {"function f(a,,b) {}", "Unexpected token ','"},
        {"function f(,a) {}", "Unexpected token ','"},
    };
    check_errors(cases);
}

static void arrow_parameters_are_patterns(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"(...a, b) => 1", "Rest parameter must be last formal parameter"},
        {"(...a,) => 1", "Rest parameter must be last formal parameter"},
        {"(a, ...b)", "Unexpected token '...'"},
        {"(...a)", "Unexpected token '...'"},
        {"()", "Unexpected token ')'"},
        {"() + 1", "Unexpected token ')'"},
        {"(a,)", "Unexpected token ')'"},
        {"(a, b,)", "Unexpected token ')'"},
        {"((a)) => 1", "Invalid destructuring assignment target"},
        {"((a, b)) => 1", "Invalid destructuring assignment target"},
        {"(a.b) => 1", "Invalid destructuring assignment target"},
        {"([a.b]) => 1", "Invalid destructuring assignment target"},
        {"({a: b.c}) => 1", "Invalid destructuring assignment target"},
        {"(a + b) => 1", "Invalid destructuring assignment target"},
        {"(1) => 1", "Invalid destructuring assignment target"},
        {"(a => 1) => 1", "Invalid destructuring assignment target"},
        {"({a}, b.c) => 1", "Invalid destructuring assignment target"},
        {"([(a)]) => 1", "Invalid destructuring assignment target"},
        {"({a: (b)}) => 1", "Invalid destructuring assignment target"},
        {"f(a) => 1", "Malformed arrow function parameter list"},
        {"async a, b => 1", "Unexpected token ','"},
        {"async (a.b) => 1", "Invalid destructuring assignment target"},
        {"async ((a)) => 1", "Invalid destructuring assignment target"},
        {"async (...a, b) => 1", "Rest parameter must be last formal parameter"},
        {"async (...a,) => 1", "Rest parameter must be last formal parameter"},
        {"async (a, a) => 1", "Duplicate parameter name not allowed in this context"},
        {"=> 1", "Malformed arrow function parameter list"},
        {"async a", "Unexpected end of input"},
        {"a => 1; async a b", "Unexpected identifier 'b'"},
    };
    check_errors(cases);
}

static void nothing_follows_an_arrow_function(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a => {} ()", "Unexpected token '('"},
        {"a => {} .x", "Unexpected token '.'"},
        {"a => {} || b", "Unexpected token '||'"},
        {"a => {} ? 1 : 2", "Unexpected token '?'"},
        {"a || b => 1", "Malformed arrow function parameter list"},
        {"a ? b => 1", "Unexpected end of input"},
        {"!a => 1", "Malformed arrow function parameter list"},
        {"1 + a => 1", "Malformed arrow function parameter list"},
        {"new a => 1", "Malformed arrow function parameter list"},
        {"a => { } + 1", "Unexpected token '+'"},
        {"() => {}()", "Unexpected token '('"},
    };
    check_errors(cases);
}

static void operators_that_do_not_mix_are_refused(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a ?\? b || c", "Unexpected token '||'"},
        {"a || b ?\? c", "Unexpected token '?\?'"},
        {"a && b ?\? c", "Unexpected token '?\?'"},
        {"a ?\? b && c", "Unexpected token '&&'"},
        {"-1 ** 2",
         "Unary operator used immediately before exponentiation expression. Parenthesis must be "
         "used to disambiguate operator precedence"},
        {"!a ** 2",
         "Unary operator used immediately before exponentiation expression. Parenthesis must be "
         "used to disambiguate operator precedence"},
        {"typeof a ** 2",
         "Unary operator used immediately before exponentiation expression. Parenthesis must be "
         "used to disambiguate operator precedence"},
        {"void a ** 2",
         "Unary operator used immediately before exponentiation expression. Parenthesis must be "
         "used to disambiguate operator precedence"},
        {"delete a.b ** 2",
         "Unary operator used immediately before exponentiation expression. Parenthesis must be "
         "used to disambiguate operator precedence"},
        {"await a ** 2",
         "Unary operator used immediately before exponentiation expression. Parenthesis must be "
         "used to disambiguate operator precedence"},
        {"(-1) ** 2 ** -3 ** 4",
         "Unary operator used immediately before exponentiation expression. Parenthesis must be "
         "used to disambiguate operator precedence"},
    };
    check_errors(cases);
}

static void incomplete_programs_are_refused(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a ? b", "Unexpected end of input"},
        {"a ? b : ", "Unexpected end of input"},
        {"a +", "Unexpected end of input"},
        {"* a", "Unexpected token '*'"},
        {"a b", "Unexpected identifier 'b'"},
        {"a.", "Unexpected end of input"},
        {"a.1", "Unexpected number"},
        {"a..b", "Unexpected token '.'"},
        {"a[", "Unexpected end of input"},
        {"a[]", "Unexpected token ']'"},
        {"f(", "Unexpected end of input"},
        {"f(a b)", "missing ) after argument list"},
        {"f(a,,b)", "Unexpected token ','"},
        {"f(,a)", "Unexpected token ','"},
        {"[a b]", "Unexpected identifier 'b'"},
        {"[", "Unexpected end of input"},
        {"{", "Unexpected end of input"},
        {"}", "Unexpected token '}'"},
        {"(", "Unexpected end of input"},
        {")", "Unexpected token ')'"},
        {"(a", "Unexpected end of input"},
        {"{ a: 1, b: 2 }", "Unexpected token ':'"},
        {"var", "Unexpected end of input"},
        {"var 1", "Unexpected number"},
        {"var a b", "Unexpected identifier 'b'"},
        {"let", "Unexpected end of input"},
        {"const", "Unexpected end of input"},
        {"var a = ", "Unexpected end of input"},
        {"var a,", "Unexpected end of input"},
        {"let a,", "Unexpected end of input"},
        {"function", "Unexpected end of input"},
        {"function f", "Unexpected end of input"},
        {"function f(", "Unexpected end of input"},
        {"function f() {", "Unexpected end of input"},
        {"function () {}", "Function statements require a function name"},
        {"function* () {}", "Function statements require a function name"},
        {"async function () {}", "Function statements require a function name"},
        {"function f(1) {}", "Unexpected number"},
        {"function f(\"a\") {}", "Unexpected string"},
        {"function f(a.b) {}", "missing ) after formal parameters"},
        {"class", "Unexpected end of input"},
        {"class A", "Unexpected end of input"},
        {"class A {", "Unexpected end of input"},
        {"class A extends {}", "Unexpected end of input"},
        {"class A extends", "Unexpected end of input"},
        {"if", "Unexpected end of input"},
        {"if (", "Unexpected end of input"},
        {"if (a", "Unexpected end of input"},
        {"if a", "Unexpected identifier 'a'"},
        {"if (a) else b", "Unexpected token 'else'"},
        {"else", "Unexpected token 'else'"},
        {"while", "Unexpected end of input"},
        {"while (", "Unexpected end of input"},
        {"do", "Unexpected end of input"},
        {"do a", "Unexpected end of input"},
        {"do a while", "Unexpected token 'while'"},
        {"do a while (", "Unexpected token 'while'"},
        {"switch (a)", "Unexpected end of input"},
        {"switch (a) {", "Unexpected end of input"},
        {"switch (a) { case", "Unexpected end of input"},
        {"switch a {}", "Unexpected identifier 'a'"},
        {"return a b", "Unexpected identifier 'b'"},
        {"export default 1", "The default export of a workflow file must be a function"},
        {"import a from \"b\"", "`import` is not available in a workflow"},
        {"import \"b\"", "`import` is not available in a workflow"},
        {"enum A { }", "Unexpected reserved word"},
        {"@decorator class A {}", "Invalid or unexpected token"},
        {"a @ b", "Invalid or unexpected token"},
    };
    check_errors(cases);
}

static void reserved_words_have_no_escapes(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"#", "Invalid or unexpected token"},
        {"\\", "Invalid Unicode escape sequence"},
        {"a \\ b", "Invalid Unicode escape sequence"},
        {"var v\\u0061r", "Keyword must not contain escaped characters"},
        {"v\\u0061r a", "Keyword must not contain escaped characters"},
        {"n\\u0065w A", "Keyword must not contain escaped characters"},
        {"\\u0061sync function f() {}", "Unexpected token 'function'"},
        {"cl\\u0061ss A {}", "Keyword must not contain escaped characters"},
        {"({ g\\u0065t a() { return 1 } })", "Unexpected identifier 'a'"},
        {"class A { st\\u0061tic m() {} }", "Unexpected identifier 'm'"},
        {"function* g() { yi\\u0065ld 1 }", "Keyword must not contain escaped characters"},
        {"async function f() { aw\\u0061it 1 }", "Keyword must not contain escaped characters"},
        {"var l\\u0065t", "Keyword must not contain escaped characters"},
        {"for (x o\\u0066 y) ;", "Unexpected identifier 'of'"},
        {"\"use strict\"; with (a) {}", "Strict mode code may not include a with statement"},
        {"x = { get a, b }", "Unexpected token ','"},
        {"x = { async *, b }", "Unexpected token ','"},
        {"x = { *a }", "Unexpected token '}'"},
        {"x = { *a: 1 }", "Unexpected token ':'"},
        {"x = { ... }", "Unexpected token '}'"},
        {"x = [...]", "Unexpected token ']'"},
        {"x = {,}", "Unexpected token ','"},
        {"f(...)", "Unexpected token ')'"},
        {"new", "Unexpected end of input"},
        {"new.target", "new.target expression is not allowed here"},
        {"new 1 + ", "Unexpected end of input"},
        {"i\\u0066 (1) {}", "Keyword must not contain escaped characters"},
        {"a?.", "Unexpected end of input"},
        {"a?.?.b", "Unexpected token '?.'"},
        {"?.a", "Unexpected token '?.'"},
        {"a ?.5", "Unexpected end of input"},
        {"a ? . b", "Unexpected token '.'"},
        {"var a\\u{20}b", "Invalid Unicode escape sequence"},
        {"!", "Unexpected end of input"},
        {"typeof", "Unexpected end of input"},
        {"void", "Unexpected end of input"},
        {"async function* f() { yield", "Unexpected end of input"},
        {"* 2 }", "Unexpected token '*'"},
    };
    check_errors(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(for_heads_are_checked),
        cmocka_unit_test(jumps_need_a_target),
        cmocka_unit_test(statements_are_complete),
        cmocka_unit_test(declarations_do_not_stand_alone_after_if_and_loops),
        cmocka_unit_test(sloppy_mode_is_refused),
        cmocka_unit_test(numbers_are_well_formed),
        cmocka_unit_test(strings_and_templates_are_well_formed),
        cmocka_unit_test(regular_expressions_are_closed_and_have_known_flags),
        cmocka_unit_test(parameters_obey_their_rules),
        cmocka_unit_test(arrow_parameters_are_patterns),
        cmocka_unit_test(nothing_follows_an_arrow_function),
        cmocka_unit_test(operators_that_do_not_mix_are_refused),
        cmocka_unit_test(incomplete_programs_are_refused),
        cmocka_unit_test(reserved_words_have_no_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
