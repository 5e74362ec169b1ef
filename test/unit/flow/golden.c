// Golden snapshots: what earlier releases wrote is read, and goes on to the right result.
//
// The files and their rules are in test/flow/golden. ABIDE_GOLDEN=write makes those that are
// missing and nothing else.
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "flow/code/image.h"
#include "flow/snapshot/format.h"
#include "unit/flow/vm.h"
#include <stdlib.h>

enum { FILE_MAX = 1 << 20, TURNS_MAX = 50, WAITS_MAX = 16 };

static bool golden_read(const char *name, const char *ending, Buf *ret_bytes) {
    const char *root = getenv("ABIDE_SOURCE_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/test/flow/golden/%s%s", root ? root : ".", name, ending);
    buf_init(ret_bytes, FILE_MAX);
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    int c;
    while ((c = fgetc(file)) != EOF) bytes_put_u8(ret_bytes, (uint8_t)c);
    fclose(file);
    return true;
}

static void golden_write(const char *name, const char *ending, Str bytes) {
    const char *root = getenv("ABIDE_SOURCE_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/test/flow/golden/%s%s", root ? root : ".", name, ending);
    FILE *file = fopen(path, "wbx"); // never over an existing one
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.len, file), bytes.len);
    fclose(file);
}

static void begin(Run *run, const char *name) {
    Buf source;
    if (!golden_read(name, ".flow", &source)) fail_msg("there is no %s.flow", name);
    bytes_put_u8(&source, 0);
    run_begin(run, source.data, "{\"n\":7}");
    buf_done(&source);
}

// What the release of the snapshot had compiled, instead of what this compiler makes.
static void take_image(Run *run, const char *name) {
    Buf image;
    Diag diag = {0};
    if (!golden_read(name, ".image", &image)) fail_msg("there is no %s.image", name);
    FlowModule *module;
    Status status = flow_image_read(buf_str(&image), STR("test.flow"),
                                    flow_module_source(run->module), &module, &diag);
    if (status != OK) fail_msg("%s: %s: %s", name, diag.code, diag.message);
    flow_module_release(run->module);
    run->module = module;
    buf_done(&image);
}

// Answers every wait with its number until the run ends.
static void go_on(Run *run) {
    for (int turn = 0; turn < TURNS_MAX && run_turn(run) == FLOW_PARKED; turn++) {
        uint32_t ids[WAITS_MAX];
        uint32_t count = run->result.wait_count;
        assert_in_range(count, 1, WAITS_MAX);
        for (uint32_t i = 0; i < count; i++) ids[i] = run->result.waits[i].id;
        for (uint32_t i = 0; i < count; i++) {
            char json[32];
            snprintf(json, sizeof json, "%u", ids[i]);
            run_settle(run, ids[i], json);
        }
    }
    if (run->result.outcome == FLOW_FAILED) fail_msg("%.*s", STR_ARG(run->result.failure.stack));
    assert_int_equal(run->result.outcome, FLOW_COMPLETED);
}

static void make_missing_image(const char *name) {
    const char *mode = getenv("ABIDE_GOLDEN");
    Buf image;
    bool is_there = golden_read(name, ".image", &image);
    if (!is_there && mode && strcmp(mode, "write") == 0) {
        Run run;
        Diag diag = {0};
        begin(&run, name);
        assert_ok(flow_image_write(run.module, &image, &diag));
        golden_write(name, ".image", buf_str(&image));
        run_end(&run);
    }
    buf_done(&image);
}

// The snapshot and the result of a straight run, into files that are not there yet.
static void make_missing(const char *name) {
    const char *mode = getenv("ABIDE_GOLDEN");
    Buf bytes;
    bool is_there = golden_read(name, ".snapshot", &bytes);
    buf_done(&bytes);
    if (is_there || !mode || strcmp(mode, "write") != 0) return;
    Run run;
    Diag diag = {0};
    begin(&run, name);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    buf_init(&bytes, FILE_MAX);
    assert_ok(flow_snapshot_write(run.vm, &bytes, &diag));
    golden_write(name, ".snapshot", buf_str(&bytes));
    buf_done(&bytes);
    go_on(&run);
    golden_write(name, ".json", run.result.result_json);
    run_end(&run);
}

static Status restore(Run *run, Str bytes, Diag *diag) {
    FlowVmOptions options = {
        .module = run->module, .host = &run->host.base, .limits = FLOW_LIMITS_DEFAULT};
    flow_vm_free(run->vm);
    run->vm = NULL;
    return flow_snapshot_read(bytes, &options, &run->vm, diag);
}

static void assert_golden(const char *name) {
    make_missing(name);
    make_missing_image(name);
    Buf bytes;
    Buf json;
    if (!golden_read(name, ".snapshot", &bytes)) fail_msg("there is no %s.snapshot", name);
    if (!golden_read(name, ".json", &json)) fail_msg("there is no %s.json", name);
    Run run;
    Diag diag = {0};
    begin(&run, name);
    take_image(&run, name);
    Status status = restore(&run, buf_str(&bytes), &diag);
    if (status != OK) fail_msg("%s: %s: %s", name, diag.code, diag.message);
    go_on(&run);
    assert_true(str_equal(run.result.result_json, buf_str(&json)));
    run_end(&run);
    buf_done(&bytes);
    buf_done(&json);
}

static void data_of_version_1_goes_on(void **state) {
    (void)state;
    assert_golden("v1-data");
}

static void functions_of_version_1_go_on(void **state) {
    (void)state;
    assert_golden("v1-functions");
}

static void promises_of_version_1_go_on(void **state) {
    (void)state;
    assert_golden("v1-promises");
}

static void a_compressed_one_of_version_1_goes_on(void **state) {
    (void)state;
    Buf bytes;
    assert_golden("v1-large");
    assert_true(golden_read("v1-large", ".snapshot", &bytes));
    assert_true(bytes.data[SNAPSHOT_HASH_AT - 1] & SNAPSHOT_COMPRESSED);
    buf_done(&bytes);
}

// From tomorrow, or with no version at all: refused by that name, whatever the checksum says.
static void a_version_we_do_not_know_is_refused(void **state) {
    (void)state;
    static const uint8_t versions[] = {SNAPSHOT_VERSION + 1, 255, 0};
    for (size_t i = 0; i < sizeof versions; i++) {
        Buf bytes;
        assert_true(golden_read("v1-data", ".snapshot", &bytes));
        bytes.data[SNAPSHOT_MAGIC_SIZE] = (char)versions[i];
        bytes.len -= SNAPSHOT_CRC_SIZE;
        bytes_put_u32(&bytes, crc32c(0, bytes.data, bytes.len));
        Run run;
        Diag diag = {0};
        begin(&run, "v1-data");
        assert_status(restore(&run, buf_str(&bytes), &diag), ERR_UNSUPPORTED);
        assert_string_equal(diag.code, "SNAPSHOT_VERSION");
        char text[64];
        snprintf(text, sizeof text, "format version %u", versions[i]);
        assert_non_null(strstr(diag.message, text));
        run_end(&run);
        buf_done(&bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_of_version_1_goes_on),
        cmocka_unit_test(functions_of_version_1_go_on),
        cmocka_unit_test(promises_of_version_1_go_on),
        cmocka_unit_test(a_compressed_one_of_version_1_goes_on),
        cmocka_unit_test(a_version_we_do_not_know_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
