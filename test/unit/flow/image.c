// Images: what is read back is what was compiled; runs parked in other code go on in theirs; what
// is wrong with bytes is said.
#include "flow/code/image.h"
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "flow/code/code.h"
#include "flow/code/disasm.h"
#include "flow/code/opcodes.h"
#include "fuzz/snapshot_programs.h"
#include "unit/flow/vm.h"

enum { TEXT_MAX = 16 << 20 };

static FlowModule *compile(const char *source) {
    FlowModule *module;
    Diag diag = {0};
    if (flow_compile(STR("p.flow"), str_from(source), &module, NULL, &diag) != OK)
        fail_msg("%s", diag.message);
    return module;
}

static void write_image(const FlowModule *module, Buf *ret_image) {
    Diag diag = {0};
    buf_init(ret_image, FLOW_IMAGE_SIZE_MAX);
    assert_ok(flow_image_write(module, ret_image, &diag));
}

static FlowModule *read_image(Str image, const char *source) {
    FlowModule *module;
    Diag diag = {0};
    if (flow_image_read(image, STR("p.flow"), str_from(source), &module, &diag) != OK)
        fail_msg("%s: %s", diag.code, diag.message);
    return module;
}

static void assert_same_text(const FlowModule *a, const FlowModule *b) {
    Buf left, right;
    buf_init(&left, TEXT_MAX);
    buf_init(&right, TEXT_MAX);
    flow_disassemble(a, &left);
    flow_disassemble(b, &right);
    assert_true(left.len > 0 && str_equal(buf_str(&left), buf_str(&right)));
    buf_done(&left);
    buf_done(&right);
}

static void what_is_read_is_what_was_compiled(void **state) {
    (void)state;
    for (size_t i = 0; i < SNAPSHOT_PROGRAM_COUNT; i++) {
        FlowModule *module = compile(snapshot_programs[i]);
        Buf image, again;
        write_image(module, &image);
        FlowModule *back = read_image(buf_str(&image), snapshot_programs[i]);
        assert_int_equal(back->code_checksum, module->code_checksum);
        assert_int_equal(back->string_count, module->string_count);
        assert_int_equal(back->site_count, module->site_count);
        assert_same_text(module, back);
        write_image(back, &again);
        assert_true(str_equal(buf_str(&image), buf_str(&again))); // [image-1]
        flow_module_release(module);
        flow_module_release(back);
        buf_done(&image);
        buf_done(&again);
    }
}

static void constants_of_every_kind_come_back(void **state) {
    (void)state;
    static const char source[] =
        "export const config = { queue: 'q' }\n"
        "const tag = (s, ...v) => s.raw.join('|') + s[0] + v.length\n"
        "const all = [1.5, -0, 1e300, 12345678901234567890n, 'caf\\u00e9', '\\ud83d', 2 ** 40,\n"
        "  null, undefined, true, tag`a\\u0041${1}\\unicode`, /x+/g.flags]\n"
        "return JSON.stringify(all.map(String)) + (await Task.run('t'))\n";
    FlowModule *module = compile(source);
    Buf image;
    write_image(module, &image);
    FlowModule *back = read_image(buf_str(&image), source);
    assert_true(str_equal(flow_module_workflow(back, 0).config_json,
                          flow_module_workflow(module, 0).config_json));
    assert_same_text(module, back);
    flow_module_release(module);
    flow_module_release(back);
    buf_done(&image);
}

// ---- another compiler ----

// As if another version of the compiler had made it: one register more in every routine.
static FlowModule *compile_differently(const char *source) {
    FlowModule *module = compile(source);
    for (uint32_t i = 0; i < module->routine_count; i++) {
        FlowRoutine *routine = &module->routines[i];
        FlowInstruction *code = (FlowInstruction *)(uintptr_t)routine->code;
        for (uint32_t pc = 0; pc < routine->code_count; pc++)
            code[pc].op = flow_op_base(code[pc].op);
        routine->register_count++;
    }
    module->string_count = 0;
    flow_module_index(module);
    return module;
}

static Status restore(Run *run, FlowModule *module, Str snapshot, Diag *diag) {
    flow_vm_free(run->vm);
    run->vm = NULL;
    FlowVmOptions options = {
        .module = module, .host = &run->host.base, .limits = FLOW_LIMITS_DEFAULT};
    return flow_snapshot_read(snapshot, &options, &run->vm, diag);
}

static void a_run_parked_in_other_code_goes_on_in_it(void **state) {
    (void)state;
    static const char source[] = "const list = [1, 2]\n"
                                 "const add = async n => { list.push(n); return list.length }\n"
                                 "const got = await Task.run('one')\n"
                                 "return [await add(got), list]\n";
    FlowModule *other = compile_differently(source);
    Run run;
    Buf image, snapshot;
    Diag diag = {0};
    run_begin(&run, source, NULL);
    flow_vm_free(run.vm);
    FlowVmOptions options = {
        .module = other, .host = &run.host.base, .limits = FLOW_LIMITS_DEFAULT};
    assert_ok(flow_vm_new(&options, &run.vm, &diag));
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    buf_init(&snapshot, TEXT_MAX);
    assert_ok(flow_snapshot_write(run.vm, &snapshot, &diag));
    write_image(other, &image);
    // What this compiler makes of the source is of no use to it …
    assert_status(restore(&run, run.module, buf_str(&snapshot), &diag), ERR_CONFLICT);
    assert_string_equal(diag.code, "SNAPSHOT_OTHER_COMPILER");
    // … the image is.
    FlowModule *kept = read_image(buf_str(&image), source);
    assert_ok(restore(&run, kept, buf_str(&snapshot), &diag));
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    run_settle(&run, run.result.waits[0].id, "7");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_true(str_equal(run.result.result_json, STR("[3,[1,2,7]]")));
    run_end(&run);
    flow_module_release(kept);
    flow_module_release(other);
    buf_done(&image);
    buf_done(&snapshot);
}

// ---- damage ----

static void refuse(Str image, const char *source, Status expected, const char *code) {
    FlowModule *module;
    Diag diag = {0};
    Status status = flow_image_read(image, STR("p.flow"), str_from(source), &module, &diag);
    assert_status(status, expected);
    assert_string_equal(diag.code, code);
}

static void every_cut_and_every_flipped_byte_is_refused(void **state) {
    (void)state;
    static const char source[] = "return await Task.run('a', Inputs)";
    FlowModule *module = compile(source);
    Buf image;
    write_image(module, &image);
    for (size_t len = 0; len < image.len; len++)
        refuse((Str){image.data, len}, source, ERR_CORRUPT, "IMAGE_CORRUPT");
    for (size_t i = 0; i < image.len; i++) {
        image.data[i] ^= 0x20;
        bool is_version = i == 3; // which is looked at before the checksum
        refuse(buf_str(&image), source, is_version ? ERR_UNSUPPORTED : ERR_CORRUPT,
               is_version ? "IMAGE_NEWER" : "IMAGE_CORRUPT");
        image.data[i] ^= 0x20;
    }
    refuse(buf_str(&image), "return 1", ERR_CORRUPT, "IMAGE_CORRUPT"); // of another source
    flow_module_release(module);
    buf_done(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_what_was_compiled),
        cmocka_unit_test(constants_of_every_kind_come_back),
        cmocka_unit_test(a_run_parked_in_other_code_goes_on_in_it),
        cmocka_unit_test(every_cut_and_every_flipped_byte_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
