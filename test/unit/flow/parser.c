// Parser: the tree of every construct, the forms of a file, positions and limits.
#include "base/array.h"
#include "unit/flow/text.h"

static void literals(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"1", "(expression 1)"},
        {"0x10", "(expression 16)"},
        {"1_000.5", "(expression 1000.5)"},
        {"10n", "(expression 10n)"},
        {"0xFFn", "(expression 0xffn)"},
        {"\"a\\n\\x41\"", "(directive \"a\\x0AA\")"},
        {"'\\u{1F600}'", "(directive \"\360\237\230\200\")"},
        {"\"\\ud83d\\ude00\"", "(directive \"\360\237\230\200\")"},
        {"null", "(expression null)"},
        {"true", "(expression true)"},
        {"/a[/]b/gi", "(expression /a[/]b/gi)"},
        {"`a`", "(expression (template \"a\"))"},
        {"`a${b}c${d}`", "(expression (template \"a\" b \"c\" d \"\"))"},
        {"`\\n\r\n`", "(expression (template \"\\x0A\\x0A\"))"},
        {"undefined", "(expression undefined)"},
    };
    check_trees(cases);
}

static void arrays_and_objects(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"[]", "(expression (array))"},
        {"[1,,2,]", "(expression (array 1 hole 2))"},
        {"[...a, b]", "(expression (array (spread a) b))"},
        {"({})", "(expression (object))"},
        {"({a, b: 1, \"c\": 2, 3: 4, [d]: 5})",
         "(expression (object (shorthand a) (value \"b\" 1) (value \"c\" 2) (value 3 4) (value "
         "computed d 5)))"},
        {"({a() {}, get b() { return 1 }, set b(v) {}, async c() {}, *d() {}, async *e() {}})",
         "(expression (object (method \"a\" (method [])) (get \"b\" (getter [] (return 1))) (set "
         "\"b\" (setter [v])) (method \"c\" (async-method [])) (method \"d\" (method* [])) "
         "(method \"e\" (async-method* []))))"},
        {"({get: 1, set: 2, async: 3, static: 4})",
         "(expression (object (value \"get\" 1) (value \"set\" 2) (value \"async\" 3) (value "
         "\"static\" 4)))"},
        {"({get() {}, async() {}})",
         "(expression (object (method \"get\" (method [])) (method \"async\" (method []))))"},
        {"({__proto__: a})", "(expression (object (proto \"__proto__\" a)))"},
        {"({__proto__() {}, __proto__})",
         "(expression (object (method \"__proto__\" (method [])) (shorthand __proto__)))"},
        {"({...a})", "(expression (object (spread a)))"},
        {"({if: 1, 1n: 2})", "(expression (object (value \"if\" 1) (value 1n 2)))"},
    };
    check_trees(cases);
}

static void binary_operators_bind_by_precedence(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a + b * c", "(expression (+ a (* b c)))"},
        {"(a + b) * c", "(expression (* (+ a b) c))"},
        {"a - b - c", "(expression (- (- a b) c))"},
        {"a ** b ** c", "(expression (** a (** b c)))"},
        {"(-a) ** b", "(expression (** (- a) b))"},
        {"a || b && c | d ^ e & f == g < h << i + j * k",
         "(expression (|| a (&& b (| c (^ d (& e (== f (< g (<< h (+ i (* j k)))))))))))"},
        {"a ?\? b", "(expression (?\? a b))"},
        {"(a ?\? b) || c", "(expression (|| (?\? a b) c))"},
        {"a in b", "(expression (in a b))"},
        {"a instanceof b", "(expression (instanceof a b))"},
        {"a, b, c", "(expression (sequence a b c))"},
        {"a ? b : c ? d : e", "(expression (? a b (? c d e)))"},
        {"a ? (b, c) : d", "(expression (? a (sequence b c) d))"},
    };
    check_trees(cases);
}

static void unary_operators(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"!a", "(expression (! a))"},
        {"-+~a", "(expression (- (+ (~ a))))"},
        {"typeof a", "(expression (typeof a))"},
        {"void 0", "(expression (void 0))"},
        {"delete a.b", "(expression (delete (. a b)))"},
        {"++a", "(expression (pre++ a))"},
        {"a--", "(expression (post-- a))"},
        {"await a", "(expression (await a))"},
        {"await a.b()", "(expression (await (call (. a b))))"},
        {"- -a", "(expression (- (- a)))"},
    };
    check_trees(cases);
}

static void assignments(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a = b = c", "(expression (assign = a (assign = b c)))"},
        {"a += 1", "(expression (assign + a 1))"},
        {"a **= 2", "(expression (assign ** a 2))"},
        {"a ?\?= b", "(expression (assign ?\? a b))"},
        {"a.b = 1", "(expression (assign = (. a b) 1))"},
        {"a[b] ||= c", "(expression (assign || ([] a b) c))"},
        {"[a, b] = [b, a]", "(expression (assign = (array-pattern a b) (array b a)))"},
        {"({a, b: c.d, ...e} = f)",
         "(expression (assign = (object-pattern (shorthand a) (value \"b\" (. c d)) (rest e)) f))"},
        {"[a = 1, [b], ...c] = d",
         "(expression (assign = (array-pattern (default a 1) (array-pattern b) (rest c)) d))"},
        {"({a = 1} = b)", "(expression (assign = (object-pattern (shorthand (default a 1))) b))"},
        {"[(a), (b.c)] = d", "(expression (assign = (array-pattern a (. b c)) d))"},
    };
    check_trees(cases);
}

static void members_and_calls(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a.b.c", "(expression (. (. a b) c))"},
        {"a[b][0]", "(expression ([] ([] a b) 0))"},
        {"a.b(c, ...d)", "(expression (call (. a b) c (spread d)))"},
        {"a?.b.c", "(expression (optional-chain (. (?. a b) c)))"},
        {"a?.[b]?.(c)", "(expression (optional-chain (call? (?.[] a b) c)))"},
        {"(a?.b).c", "(expression (. (optional-chain (?. a b)) c))"},
        {"new A", "(expression (new A))"},
        {"new A.b(c).d", "(expression (. (new (. A b) c) d))"},
        {"new (a())()", "(expression (new (call a)))"},
        {"new new A()()", "(expression (new (new A)))"},
        {"a`b`", "(expression (tagged a (template \"b\")))"},
        {"a.b`c${d}`", "(expression (tagged (. a b) (template \"c\" d \"\")))"},
        {"a`\\u{`", "(expression (tagged a (template invalid:\"\\x5Cu{\")))"},
        {"a.if.class", "(expression (. (. a if) class))"},
        {"a?.5:1", "(expression (? a 0.5 1))"},
    };
    check_trees(cases);
}

static void arrow_functions(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a => b", "(expression (arrow [a] b))"},
        {"() => {}", "(expression (arrow []))"},
        {"(a, b) => a", "(expression (arrow [a b] a))"},
        {"(a = 1, {b}, [c], ...d) => a",
         "(expression (arrow [(default a 1) (object-pattern (shorthand b)) (array-pattern c) "
         "(rest d)] a))"},
        {"({a = 1}) => a", "(expression (arrow [(object-pattern (shorthand (default a 1)))] a))"},
        {"async a => await a", "(expression (async-arrow [a] (await a)))"},
        {"async (a, b) => {}", "(expression (async-arrow [a b]))"},
        {"async(a, b)", "(expression (call async a b))"},
        {"a => b => c", "(expression (arrow [a] (arrow [b] c)))"},
        {"a => ({})", "(expression (arrow [a] (object)))"},
        {"x = a => b, c", "(expression (sequence (assign = x (arrow [a] b)) c))"},
        {"(a,) => a", "(expression (arrow [a] a))"},
        {"async", "(expression async)"},
        {"async () => {}", "(expression (async-arrow []))"},
    };
    check_trees(cases);
}

static void functions(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"function f(a, b = 1, ...c) { return a }",
         "(function f [a (default b 1) (rest c)] (return a))"},
        {"async function f() { await 1 }", "(async-function f [] (expression (await 1)))"},
        {"function* f() { yield; yield a; yield* b }",
         "(function* f [] (expression (yield)) (expression (yield a)) (expression (yield* b)))"},
        {"async function* f() { yield await 1 }",
         "(async-function* f [] (expression (yield (await 1))))"},
        {"(function () {})", "(expression (function []))"},
        {"(function f() {})", "(expression (function f []))"},
        {"(async function* () {})", "(expression (async-function* []))"},
        {"function f({a, b: [c]} = {}) {}",
         "(function f [(default (object-pattern (shorthand a) (value \"b\" (array-pattern c))) "
         "(object))])"},
    };
    check_trees(cases);
}

static void classes(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"class A {}", "(class A)"},
        {"class A extends B { constructor(a) { super(a); super.m() } }",
         "(class A extends B (derived-constructor [a] (expression (super-call a)) (expression "
         "(call (super. m)))))"},
        {"class A { a; b = 1; static c = 2; #d; \"e\" = 3; [f] = 4; static g }",
         "(class A (field \"a\") (field \"b\" 1) (static-field \"c\" 2) (field #d) (field \"e\" "
         "3) (field computed f 4) (static-field \"g\"))"},
        {"class A { m() {} get a() { return 1 } set a(v) {} static s() {} async n() {} *g() {} "
         "#p() {} }",
         "(class A (method \"m\" (method [])) (get \"a\" (getter [] (return 1))) (set \"a\" "
         "(setter [v])) (static-method \"s\" (method [])) (method \"n\" (async-method [])) "
         "(method \"g\" (method* [])) (method #p (method [])))"},
        {"class A { static { a() } }",
         "(class A (static-block (static-block [] (expression (call a)))))"},
        {"(class B {})", "(expression (class B))"},
        {"(class extends A {})", "(expression (class extends A))"},
        {"class A { #a; m(o) { return #a in o && this.#a } }",
         "(class A (field #a) (method \"m\" (method [o] (return (&& (in #a o) (. this #a))))))"},
        {"class A { static; get; set; async; static static; static async }",
         "(class A (field \"static\") (field \"get\") (field \"set\") (field \"async\") "
         "(static-field \"static\") (static-field \"async\"))"},
        {"class A { static async *m() {} }", "(class A (static-method \"m\" (async-method* [])))"},
        {"class A { m() { return super[a] } }",
         "(class A (method \"m\" (method [] (return (super[] a)))))"},
        {"function F() { return new.target }", "(function F [] (return new.target))"},
    };
    check_trees(cases);
}

static void statements(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"var a, b = 1", "(var (declarator a) (declarator b 1))"},
        {"let a = 1; const b = 2", "(let (declarator a 1))\n(const (declarator b 2))"},
        {";", "empty"},
        {"{ a; b }", "(block (expression a) (expression b))"},
        {"if (a) b; else c", "(if a (expression b) (expression c))"},
        {"while (a) b", "(while a (expression b))"},
        {"do a; while (b)", "(do-while b (expression a))"},
        {"for (;;) ;", "(for _ _ _ empty)"},
        {"for (let i = 0; i < n; i++) a",
         "(for (let (declarator i 0)) (< i n) (post++ i) (expression a))"},
        {"for (const a of b) c", "(for-of (const (declarator a)) b (expression c))"},
        {"for (a in b) c", "(for-in a b (expression c))"},
        {"for ([a] of b) c", "(for-of (array-pattern a) b (expression c))"},
        {"for (var [a, b] of c) d",
         "(for-of (var (declarator (array-pattern a b))) c (expression d))"},
        {"for await (const a of b) c", "(for-await (const (declarator a)) b (expression c))"},
        {"a: for (;;) { continue a; break }", "(label a (for _ _ _ (block (continue a) (break))))"},
        {"switch (a) { case 1: b; default: c }",
         "(switch a (case 1 (expression b)) (default (expression c)))"},
        {"try { a } catch { b }", "(try (block (expression a)) (catch (block (expression b))))"},
        {"try { a } catch ({b}) { c } finally { d }",
         "(try (block (expression a)) (catch (object-pattern (shorthand b)) (block (expression "
         "c))) finally (block (expression d)))"},
        {"throw a", "(throw a)"},
        {"return", "(return)"},
        {"return a", "(return a)"},
        {"\"use strict\"; a", "(directive \"use strict\")\n(expression a)"},
        {"debuggerx", "(expression debuggerx)"},
        {"debugger", "empty"},
    };
    check_trees(cases);
}

static void destructuring_declarations(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"let {a, b: c, d = 1, [e]: f, ...g} = h",
         "(let (declarator (object-pattern (shorthand a) (value \"b\" c) (shorthand (default d "
         "1)) (value computed e f) (rest g)) h))"},
        {"const [a, , b = 1, ...[c]] = d",
         "(const (declarator (array-pattern a hole (default b 1) (rest (array-pattern c))) d))"},
        {"var {a: {b: [c]}} = d",
         "(var (declarator (object-pattern (value \"a\" (object-pattern (value \"b\" "
         "(array-pattern c))))) d))"},
        {"let {\"a\": a1, 1: b1} = c",
         "(let (declarator (object-pattern (value \"a\" a1) (value 1 b1)) c))"},
    };
    check_trees(cases);
}

static void automatic_semicolons(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"a\nb", "(expression a)\n(expression b)"},
        {"a\n++b", "(expression a)\n(expression (pre++ b))"},
        {"a\n(b)", "(expression (call a b))"},
        {"return\na", "(return)\n(expression a)"},
        {"let a\nlet b", "(let (declarator a))\n(let (declarator b))"},
        {"a = b\n/c/g", "(expression (assign = a (/ (/ b c) g)))"},
        {"do a; while (b) c", "(do-while b (expression a))\n(expression c)"},
        {"a: while (1) { break\na }", "(label a (while 1 (block (break) (expression a))))"},
        {"x => {}\ny", "(expression (arrow [x]))\n(expression y)"},
        {"async\nx => 1", "(expression async)\n(expression (arrow [x] 1))"},
        {"var a = 1 /*\n*/ b", "(var (declarator a 1))\n(expression b)"},
        {"{ a }", "(block (expression a))"},
        {"a\n`b`", "(expression (tagged a (template \"b\")))"},
        {"if (a) b\nelse c", "(if a (expression b) (expression c))"},
    };
    check_trees(cases);
}

static void words_that_are_names_too(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"async = 1", "(expression (assign = async 1))"},
        {"of = get = set", "(expression (assign = of (assign = get set)))"},
        {"workflow = target", "(expression (assign = workflow target))"},
        {"workflow(a)", "(expression (call workflow a))"},
        {"workflow\na", "(expression workflow)\n(expression a)"},
        {"var async, of, get, set, target, workflow, from, as",
         "(var (declarator async) (declarator of) (declarator get) (declarator set) (declarator "
         "target) (declarator workflow) (declarator from) (declarator as))"},
        {"let \\u0061b = 1", "(let (declarator ab 1))"},
        {"let \303\251t\303\251 = 1", "(let (declarator \303\251t\303\251 1))"},
        {"function f() { var await; return await }",
         "(function f [] (var (declarator await)) (return await))"},
    };
    check_trees(cases);
}

// ---- the forms of a file

static FlowForm form_of(const char *text, uint32_t *ret_entry_count) {
    Parsed parsed;
    parse_text(&parsed, text);
    if (!parsed.program) print_error("%s\n", parsed_error(&parsed));
    assert_non_null(parsed.program);
    FlowForm form = parsed.program->form;
    *ret_entry_count = parsed.program->entry_count;
    for (uint32_t i = 0; i < parsed.program->entry_count; i++)
        assert_true(form == FORM_BODY || parsed.program->entries[i].variable != NULL);
    parsed_done(&parsed);
    return form;
}

static void a_file_has_one_of_three_forms(void **state) {
    (void)state;
    static const struct {
        const char *text;
        FlowForm form;
        uint32_t count;
    } cases[] = {
        {"", FORM_BODY, 1},
        {"await a; return b", FORM_BODY, 1},
        {"#!/usr/bin/env abide\nreturn 1", FORM_BODY, 1},
        {"\xEF\xBB\xBFreturn 1", FORM_BODY, 1},
        {"export const config = {}; return 1", FORM_BODY, 1},
        {"workflow a(inputs) { return await inputs }", FORM_WORKFLOWS, 1},
        {"workflow a() {} workflow b({c}) {} function d() {} const e = 1", FORM_WORKFLOWS, 2},
        {"export const config = {a: 1}\nworkflow a() {}", FORM_WORKFLOWS, 1},
        {"workflow order(i) { return order }", FORM_WORKFLOWS, 1},
        {"export default async function main(inputs) { await inputs }", FORM_DEFAULT, 1},
        {"export default function (inputs) {}", FORM_DEFAULT, 1},
        {"export default async (inputs) => inputs", FORM_DEFAULT, 1},
        {"export default inputs => inputs; const helper = 1", FORM_DEFAULT, 1},
        {"async function main() {} export default main", FORM_DEFAULT, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t count = 0;
        assert_int_equal(form_of(cases[i].text, &count), cases[i].form);
        assert_int_equal(count, cases[i].count);
    }
}

static void forms_that_exclude_each_other_are_refused(void **state) {
    (void)state;
    static const TextCase cases[] = {
        {"workflow a() {} return 1", "Illegal return statement: this file has workflow blocks"},
        {"export default () => 1; return 1",
         "Illegal return statement: this file has a default export"},
        {"await x; workflow a() {}", "`await` beside workflow blocks: a file has either workflow "
                                     "blocks or is itself the workflow"},
        {"workflow a() {} export default () => 1",
         "A file has either workflow blocks or a default export, not both"},
        {"export default () => 1; export default () => 2", "Duplicate export of 'default'"},
        {"workflow a() {} workflow a() {}", "Identifier 'a' has already been declared"},
        {"workflow a() {} function a() {}", "Identifier 'a' has already been declared"},
        {"workflow a(b, c) {}", "A workflow has one parameter: its input"},
        {"workflow a {}", "Expected `(` after the name of the workflow"},
        {"{ workflow a() {} }", "A workflow block can only stand at the top level of the file"},
        {"export default 1", "The default export of a workflow file must be a function"},
        {"export default function* () {}", "A workflow cannot be a generator function"},
        {"export const a = 1", "Only `config` can be exported"},
        {"export let config = {}", "`config` must be exported with `const`"},
        {"export function f() {}", "Only `config` and a default function can be exported"},
        {"export {a}", "Only `config` and a default function can be exported"},
        {"{ export const config = {} }", "Unexpected token 'export'"},
        {"import a from 'b'", "`import` is not available in a workflow"},
        {"const a = import('b')", "`import` is not available in a workflow"},
        {"a <!-- b", "HTML comments are not allowed in workflows"},
        {"a\n--> b", "HTML comments are not allowed in workflows"},
    };
    check_errors(cases);
}

static void config_is_a_literal(void **state) {
    (void)state;
    static const TextCase wrong[] = {
        {"export const config = 1", "`config` must be an object literal"},
        {"export const config = f()", "`config` must be an object literal"},
        {"export const config = {a: b}", "`config` must be a literal: this is not"},
        {"export const config = {a: [1, {b: 1 + 1}]}", "`config` must be a literal: this is not"},
        {"export const config = {[a]: 1}", "`config` must be a literal: this is not"},
        {"export const config = {...a}", "`config` must be a literal: this is not"},
        {"export const config = {a() {}}", "`config` must be a literal: this is not"},
        {"export const config = {a: [1,,2]}", "`config` must be a literal: this is not"},
        {"export const config = {a: `b${c}`}", "`config` must be a literal: this is not"},
    };
    check_errors(wrong);
    Parsed parsed;
    parse_text(&parsed, "export const config = {a: -1, 'b': [true, null, `c`], d: {e: 1.5}}");
    assert_non_null(parsed.program);
    assert_non_null(parsed.program->config);
    assert_int_equal(parsed.program->config->kind, NODE_OBJECT);
    assert_int_equal(parsed.program->config->list.count, 3);
    parsed_done(&parsed);
}

static void intrinsics_are_for_the_prelude_only(void **state) {
    (void)state;
    Parsed parsed;
    parse_bytes(&parsed, STR("const f = a => %call(%get(a, 1), ...b) % 2; eval"),
                FLOW_PARSE_PRELUDE);
    assert_string_equal(parsed_tree(&parsed, false),
                        "(const (declarator f (arrow [a] (% (%call (%get a 1) (spread b)) 2))))\n"
                        "(expression eval)");
    assert_int_equal(parsed.program->form, FORM_PRELUDE);
    assert_false(parsed.program->main->is_async);
    parsed_done(&parsed);
    parse_text(&parsed, "%call(a)");
    assert_string_equal(parsed_error(&parsed), "Unexpected token '%'");
    parsed_done(&parsed);
}

// ---- positions and shapes

static void nodes_know_where_they_are(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "\n  foo.bar( 1 ) + (b);");
    const FlowNode *statement = parsed.program->main->body.items[0];
    assert_int_equal(statement->start, 3);
    const FlowNode *sum = statement->unary.operand;
    assert_int_equal(sum->at, 16);
    const FlowNode *call = sum->binary.left;
    assert_int_equal(call->start, 3);
    assert_int_equal(call->at, 7);
    assert_int_equal(call->end, 15);
    assert_int_equal(sum->binary.right->start, 19);
    FlowPosition at = flow_source_position(&parsed.source, call->at);
    assert_int_equal(at.line, 2);
    assert_int_equal(at.column, 7);
    parsed_done(&parsed);
}

static void jumps_point_at_what_they_leave(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "a: b: for (;;) { continue a }  c: { break c }  while (1) break");
    const FlowNode *label = parsed.program->main->body.items[0];
    const FlowNode *loop = label->labeled.body->labeled.body;
    const FlowNode *jump = loop->loop->body->block.statements.items[0];
    assert_ptr_equal(jump->jump.target, loop);
    const FlowNode *labeled = parsed.program->main->body.items[1];
    assert_ptr_equal(labeled->labeled.body->block.statements.items[0]->jump.target, labeled);
    const FlowNode *plain = parsed.program->main->body.items[2];
    assert_ptr_equal(plain->binary.right->jump.target, plain);
    parsed_done(&parsed);
}

static void functions_know_their_parameters(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "function f(a, {b}, c = () => 1, d) { await_; var x, y }\n"
                        "function g(a, b) {}\nfunction h(...r) {}");
    const FlowFunction *f = parsed.program->main->body.items[0]->function;
    assert_int_equal(f->length, 2);
    assert_false(f->has_simple_parameters);
    assert_true(f->has_parameter_expressions);
    assert_true(f->has_parameter_closures);
    assert_int_equal(f->vars.count, 2);
    const FlowFunction *g = parsed.program->main->body.items[1]->function;
    assert_int_equal(g->length, 2);
    assert_true(g->has_simple_parameters);
    assert_false(g->has_parameter_expressions);
    const FlowFunction *h = parsed.program->main->body.items[2]->function;
    assert_int_equal(h->length, 0);
    assert_false(h->has_parameter_expressions);
    parsed_done(&parsed);
}

// ---- size

static Str repeated(Parsed *owner, const char *head, const char *piece, size_t count) {
    buf_init(&owner->text, 64 << 20);
    buf_append_cstr(&owner->text, head);
    for (size_t i = 0; i < count; i++) buf_append_cstr(&owner->text, piece);
    return buf_str(&owner->text);
}

static void long_operator_runs_are_flat(void **state) {
    (void)state;
    static const char *const pieces[] = {"1+", "a&&", "a??", "a,", "a*b-", "'x'+", "a<", "f(),"};
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        Parsed text;
        repeated(&text, "return ", pieces[i], 20000);
        buf_append_cstr(&text.text, "1");
        Parsed parsed;
        parse_bytes(&parsed, buf_str(&text.text), FLOW_PARSE_WORKFLOW);
        assert_non_null(parsed.program);
        parsed_done(&parsed);
        buf_done(&text.text);
    }
}

static void deep_nesting_is_an_error(void **state) {
    (void)state;
    static const char *const pieces[] = {
        "(",
        "[",
        "x={a:",
        "{",
        "!",
        "typeof ",
        "await ",
        "new ",
        "a**",
        "a=",
        "a?b:",
        "a?",
        "a=>",
        "(a)=>",
        "a=>{",
        "async a=>",
        "async(",
        "(a=",
        "if(a);else ",
        "if(a)",
        "while(a)",
        "for(;;)",
        "for(a of b)",
        "do ",
        "try{",
        "try{}catch(e){",
        "switch(a){case 1:",
        "function f(){",
        "(function(){",
        "class A{m(){",
        "class A{x=",
        "class A extends ",
        "x=class{[",
        "class A{static{",
        "`${",
        "f(",
        "a[",
        "++",
        "[...",
        "let [",
        "[a=",
        "[[a]=",
        "x={get a(){",
        "a.b(c=>",
        "({a}=",
        "async function f(a=",
        "x={a(b=",
        "a?.[",
        "super[",
        "%a(",
        "return(",
    };
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        Parsed text;
        Parsed parsed;
        parse_bytes(&parsed, repeated(&text, "", pieces[i], 10000), FLOW_PARSE_WORKFLOW);
        assert_null(parsed.program);
        parsed_done(&parsed);
        buf_done(&text.text);
    }
    static const char *const links[] = {".b", "[0]", "()", "``", "?.b", "?.()"};
    for (size_t i = 0; i < COUNT_OF(links); i++) {
        Parsed text;
        Parsed parsed;
        parse_bytes(&parsed, repeated(&text, "a", links[i], 10000), FLOW_PARSE_WORKFLOW);
        assert_string_equal(parsed_error(&parsed), "Expression nesting too deep");
        parsed_done(&parsed);
        buf_done(&text.text);
    }
}

static void nesting_up_to_the_limit_is_fine(void **state) {
    (void)state;
    Parsed text;
    repeated(&text, "return ", "(", 990);
    buf_append_cstr(&text.text, "1");
    for (int i = 0; i < 990; i++) buf_append_char(&text.text, ')');
    Parsed parsed;
    parse_bytes(&parsed, buf_str(&text.text), FLOW_PARSE_WORKFLOW);
    assert_string_equal(parsed_error(&parsed), "");
    parsed_done(&parsed);
    buf_done(&text.text);
}

static void ten_megabytes_are_fine(void **state) {
    (void)state;
    static const char piece[] = "f({a: [1, 'two', x => x + 1], b}).then(async y => await y);\n";
    Parsed text;
    Parsed parsed;
    size_t count = scaled((10 << 20) / sizeof(piece));
    parse_bytes(&parsed, repeated(&text, "", piece, count), FLOW_PARSE_WORKFLOW);
    assert_non_null(parsed.program);
    assert_int_equal(parsed.program->main->body.count, count);
    parsed_done(&parsed);
    buf_done(&text.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),
        cmocka_unit_test(arrays_and_objects),
        cmocka_unit_test(binary_operators_bind_by_precedence),
        cmocka_unit_test(unary_operators),
        cmocka_unit_test(assignments),
        cmocka_unit_test(members_and_calls),
        cmocka_unit_test(arrow_functions),
        cmocka_unit_test(functions),
        cmocka_unit_test(classes),
        cmocka_unit_test(statements),
        cmocka_unit_test(destructuring_declarations),
        cmocka_unit_test(automatic_semicolons),
        cmocka_unit_test(words_that_are_names_too),
        cmocka_unit_test(a_file_has_one_of_three_forms),
        cmocka_unit_test(forms_that_exclude_each_other_are_refused),
        cmocka_unit_test(config_is_a_literal),
        cmocka_unit_test(intrinsics_are_for_the_prelude_only),
        cmocka_unit_test(nodes_know_where_they_are),
        cmocka_unit_test(jumps_point_at_what_they_leave),
        cmocka_unit_test(functions_know_their_parameters),
        cmocka_unit_test(long_operator_runs_are_flat),
        cmocka_unit_test(deep_nesting_is_an_error),
        cmocka_unit_test(nesting_up_to_the_limit_is_fine),
        cmocka_unit_test(ten_megabytes_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
