// The verifier: code damaged by hand is refused, whatever the damage.
#include "flow/code/verify.h"
#include "base/env.h"
#include "base/memory.h"
#include "flow/code/opcodes.h"
#include "flow/compile/compile.h"
#include "unit/unit.h"

static const char sample[] =
    "class A { #p = 1; static s = 2; m(x = 1, ...r) { return super.toString() + this.#p + r } }\n"
    "function* g(n) { try { for (const x of n) yield x; yield* n } finally { n = 0 } }\n"
    "async function* h(n) { for await (const x of n) { await x; yield `a${x}` } }\n"
    "const [a, , ...b] = [1, 2, 3], { c, ...d } = { c: 1 }\n"
    "let t = null\n"
    "outer: for (let i = 0; i < 3; i++) {\n"
    "  const f = () => i + t; if (f() > 9) continue outer; t++ }\n"
    "switch (t) { case 1: t = 2; default: t = /x/g.test('x') ? 1n : Math.max(...b) }\n"
    "try { t = new A().m?.(1) } catch (e) { t = typeof zz } finally { delete d.c }\n"
    "for (const k in d) t = k in d\n"
    "return String.raw`x${t}` + a + c + g([1]).next().value + typeof h\n";

// A module whose tables may be written to: a copy of one routine is damaged at a time.
typedef struct Damaged {
    FlowModule *module;
    FlowRoutine routine; // copy with its own code
    FlowInstruction *code;
} Damaged;

static FlowModule *sample_module(void) {
    FlowModule *module = NULL;
    Diag diag = {0};
    if (flow_compile(STR("test.flow"), str_from(sample), &module, NULL, &diag) != OK)
        fail_msg("%s", diag.message);
    return module;
}

static void damaged_begin(Damaged *damaged, FlowModule *module, uint32_t index) {
    damaged->module = module;
    damaged->routine = module->routines[index];
    size_t size = damaged->routine.code_count * sizeof(FlowInstruction);
    damaged->code = mem_alloc(size);
    memcpy(damaged->code, damaged->routine.code, size);
    damaged->routine.code = damaged->code;
}

static void damaged_end(Damaged *damaged) { mem_free(damaged->code); }

// Finds an instruction and hands over a damaged copy; fails when the sample has none.
static FlowInstruction *damaged_at(Damaged *damaged, FlowModule *module, FlowOp op) {
    for (uint32_t i = 0; i < module->routine_count; i++) {
        for (uint32_t pc = 0; pc < module->routines[i].code_count; pc++) {
            if (module->routines[i].code[pc].op != op) continue;
            damaged_begin(damaged, module, i);
            return &damaged->code[pc];
        }
    }
    fail_msg("the sample has no %s", flow_op_info[op].name);
    return NULL;
}

static void assert_refused(Damaged *damaged, const char *why) {
    Diag diag = {0};
    assert_status(flow_verify_routine(&damaged->routine, &diag), ERR_CORRUPT);
    if (!strstr(diag.message, why)) fail_msg("\"%s\" does not say \"%s\"", diag.message, why);
    damaged_end(damaged);
}

static void what_the_compiler_makes_is_accepted(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    assert_ok(flow_verify(module, NULL));
    flow_module_release(module);
}

static void operands_out_of_range_are_refused(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    Damaged damaged;
    damaged_at(&damaged, module, OP_MOVE)->b = 60000;
    assert_refused(&damaged, "no such register");
    damaged_at(&damaged, module, OP_LOAD_CONST)->wide = 1 << 20;
    assert_refused(&damaged, "no such constant");
    damaged_at(&damaged, module, OP_LOAD_CONST)->wide = -1;
    assert_refused(&damaged, "no such constant");
    damaged_at(&damaged, module, OP_GET_FIELD)->c = 65535;
    assert_refused(&damaged, "no such site");
    damaged_at(&damaged, module, OP_CLOSURE)->wide = 9999;
    assert_refused(&damaged, "no such routine");
    damaged_at(&damaged, module, OP_GET_UPVALUE)->wide = 500;
    assert_refused(&damaged, "no such upvalue");
    damaged_at(&damaged, module, OP_TEMPLATE_OBJECT)->wide = 3;
    assert_refused(&damaged, "no such template");
    damaged_at(&damaged, module, OP_AWAIT)->c = 65535;
    assert_refused(&damaged, "too many live registers");
    damaged_at(&damaged, module, OP_NEW_OBJECT)->wide = -5;
    assert_refused(&damaged, "negative count");
    damaged_at(&damaged, module, OP_LOAD_NULL)->op = OP_END;
    assert_refused(&damaged, "no such opcode");
    damaged_at(&damaged, module, OP_LOAD_NULL)->op = OP_MOVES;
    assert_refused(&damaged, "not the sequence it stands for");
    flow_module_release(module);
}

static void jumps_must_land_on_instructions(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    Damaged damaged;
    damaged_at(&damaged, module, OP_JUMP)->wide = 100000;
    assert_refused(&damaged, "leaves the code");
    damaged_at(&damaged, module, OP_JUMP)->wide = -100000;
    assert_refused(&damaged, "leaves the code");
    damaged_at(&damaged, module, OP_ITER_NEXT)->c = (uint16_t)INT16_MIN;
    assert_refused(&damaged, "leaves the code");
    FlowInstruction *jump = damaged_at(&damaged, module, OP_JUMP);
    uint32_t pc = (uint32_t)(jump - damaged.code);
    uint32_t second = 0;
    while (second < damaged.routine.code_count && damaged.code[second].op != OP_ITER_STEP_VALUE)
        second++;
    assert_true(second < damaged.routine.code_count);
    jump->wide = (int32_t)second - (int32_t)pc - 1;
    assert_refused(&damaged, "middle of a pair");
    flow_module_release(module);
}

static void blocks_must_lie_inside_the_frame(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    Damaged damaged;
    damaged_at(&damaged, module, OP_CALL)->b = 60000;
    assert_refused(&damaged, "leaves the frame");
    FlowInstruction *in = damaged_at(&damaged, module, OP_ITER_CLOSE);
    in->a = (uint16_t)(damaged.routine.register_count - 1);
    assert_refused(&damaged, "leaves the frame");
    damaged_at(&damaged, module, OP_CONCAT)->c = 60000;
    assert_refused(&damaged, "leaves the frame");
    in = damaged_at(&damaged, module, OP_YIELD);
    in->a = (uint16_t)(damaged.routine.register_count - 1);
    assert_refused(&damaged, "leaves the frame");
    damaged_at(&damaged, module, OP_RETURN);
    damaged.routine.register_count = 0;
    assert_refused(&damaged, "frame too small");
    flow_module_release(module);
}

static void halves_of_a_pair_stay_together(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    Damaged damaged;
    damaged_at(&damaged, module, OP_ITER_START)->op = OP_NOP;
    assert_refused(&damaged, "");
    damaged_at(&damaged, module, OP_ITER_STEP)->op = OP_ITER_REST;
    assert_refused(&damaged, "first half is missing");
    damaged_at(&damaged, module, OP_ITER_VALUE)->b ^= 1;
    assert_refused(&damaged, "");
    flow_module_release(module);
}

static void code_never_runs_past_its_end(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    Damaged damaged;
    damaged_begin(&damaged, module, 0);
    damaged.code[damaged.routine.code_count - 1] = (FlowInstruction){.op = OP_NOP};
    assert_refused(&damaged, "past its end");
    damaged_begin(&damaged, module, 0);
    damaged.routine.code_count = 0;
    assert_refused(&damaged, "no code");
    flow_module_release(module);
}

static void handlers_must_cover_code_and_land_in_it(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    ASSERT(module->routines[0].handler_count > 0);
    for (int damage = 0; damage < 4; damage++) {
        Damaged damaged;
        FlowHandler handlers[64];
        damaged_begin(&damaged, module, 0);
        assert_true(damaged.routine.handler_count <= 64);
        memcpy(handlers, damaged.routine.handlers,
               damaged.routine.handler_count * sizeof handlers[0]);
        damaged.routine.handlers = handlers;
        if (damage == 0) handlers[0].target = 1u << 30;
        if (damage == 1) handlers[0].end = 1u << 30;
        if (damage == 2) handlers[0].start = handlers[0].end;
        if (damage == 3) handlers[0].reg = 65535;
        assert_refused(&damaged, "");
    }
    flow_module_release(module);
}

static void suspension_belongs_to_functions_that_can_suspend(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    Damaged damaged;
    damaged_at(&damaged, module, OP_AWAIT);
    damaged.routine.flags &= ~(uint32_t)ROUTINE_ASYNC;
    assert_refused(&damaged, "not in an async function");
    damaged_at(&damaged, module, OP_YIELD);
    damaged.routine.flags &= ~(uint32_t)ROUTINE_GENERATOR;
    assert_refused(&damaged, "not in a generator");
    damaged_begin(&damaged, module, 0);
    damaged.code[0] = (FlowInstruction){.op = OP_LOAD_PRELUDE, .a = 0};
    assert_refused(&damaged, "only in the prelude");
    flow_module_release(module);
}

// Random damage: the verifier answers and never reads outside its tables (sanitizers watch).
static void any_damage_is_looked_at_safely(void **state) {
    (void)state;
    FlowModule *module = sample_module();
    uint64_t seed = 7;
    size_t refused = 0;
    size_t rounds = scaled(200000);
    for (size_t i = 0; i < rounds; i++) {
        Damaged damaged;
        damaged_begin(&damaged, module, (uint32_t)(random_next(&seed) % module->routine_count));
        uint64_t value = random_next(&seed);
        memcpy(&damaged.code[random_next(&seed) % damaged.routine.code_count], &value,
               sizeof value);
        if (i % 2 == 0) // a valid opcode with wild operands is the harder case
            damaged.code[random_next(&seed) % damaged.routine.code_count].op =
                (uint16_t)(random_next(&seed) % OP_END);
        refused += flow_verify_routine(&damaged.routine, NULL) != OK;
        damaged_end(&damaged);
    }
    assert_true(refused > rounds / 2);
    flow_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_compiler_makes_is_accepted),
        cmocka_unit_test(operands_out_of_range_are_refused),
        cmocka_unit_test(jumps_must_land_on_instructions),
        cmocka_unit_test(blocks_must_lie_inside_the_frame),
        cmocka_unit_test(halves_of_a_pair_stay_together),
        cmocka_unit_test(code_never_runs_past_its_end),
        cmocka_unit_test(handlers_must_cover_code_and_land_in_it),
        cmocka_unit_test(suspension_belongs_to_functions_that_can_suspend),
        cmocka_unit_test(any_damage_is_looked_at_safely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
