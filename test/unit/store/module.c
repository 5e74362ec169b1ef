// Finding, loading and refusing modules. module_load.c is compiled a second time for it: with
// PostgreSQL and without Redis, and with folders for modules that do not exist.
#include "store/module.h"
#include "base/array.h"
#include "base/version.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_NAME "abide-postgres.so"

typedef struct World {
    char folder[64]; // what ABIDE_MODULE_PATH says
    char second[64];
    Diag diag;
    const StoreModule *module;
} World;

static void make_path(char *text, size_t size, const char *folder) {
    assert_true((size_t)snprintf(text, size, "%s/" FILE_NAME, folder) < size);
}

static void remove_folder(const char *folder) {
    char path[128];
    make_path(path, sizeof path, folder);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static int set_up(void **state) {
    World *world = calloc(1, sizeof(World));
    snprintf(world->folder, sizeof world->folder, "/tmp/abide-module-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    snprintf(world->second, sizeof world->second, "/tmp/abide-module-XXXXXX");
    assert_non_null(mkdtemp(world->second));
    assert_int_equal(setenv("ABIDE_MODULE_PATH", world->folder, 1), 0);
    *state = world;
    return 0;
}

static int tear_down(void **state) {
    World *world = *state;
    assert_int_equal(chdir("/"), 0);
    remove_folder(world->folder);
    remove_folder(world->second);
    free(world);
    return 0;
}

static void put_module(const char *folder, const char *file) {
    char path[128];
    make_path(path, sizeof path, folder);
    assert_int_equal(symlink(file, path), 0);
}

static Status get(World *world, ModuleName name) {
    diag_clear(&world->diag);
    world->module = NULL;
    return store_module_get(name, &world->module, &world->diag);
}

static void assert_refused(World *world, const char *code) {
    assert_int_equal(get(world, MODULE_POSTGRES), ERR_UNSUPPORTED);
    assert_string_equal(world->diag.code, code);
    assert_null(world->module);
}

static void assert_said(const World *world, const char *text) {
    if (strstr(world->diag.message, text) == NULL) fail_msg("%s", world->diag.message);
}

static void missing_module_is_refused_with_file_folders_and_option(void **state) {
    World *world = *state;
    assert_refused(world, "STORE_MODULE_NOT_FOUND");
    assert_said(world, "PostgreSQL");
    assert_said(world, FILE_NAME);
    assert_said(world, "-Dpostgres");
    assert_said(world, "ABIDE_MODULE_PATH");
    assert_said(world, world->folder);
    assert_said(world, "/nonexistent/modules");
}

static void folders_are_looked_at_in_order_and_the_first_file_decides(void **state) {
    World *world = *state;
    char both[160];
    snprintf(both, sizeof both, "%s:%s", world->folder, world->second);
    assert_int_equal(setenv("ABIDE_MODULE_PATH", both, 1), 0);
    put_module(world->second, REAL_MODULE);
    assert_int_equal(get(world, MODULE_POSTGRES), OK);
    put_module(world->folder, OTHER_VERSION_MODULE);
    assert_refused(world, "STORE_MODULE_VERSION");
    assert_said(world, world->folder);
}

static void module_of_this_build_is_taken(void **state) {
    World *world = *state;
    put_module(world->folder, REAL_MODULE);
    assert_int_equal(get(world, MODULE_POSTGRES), OK);
    assert_string_equal(world->module->version, program_version);
    const StoreModule *first = world->module;
    assert_int_equal(get(world, MODULE_POSTGRES), OK); // the same, it is not loaded twice
    assert_ptr_equal(world->module, first);
}

static void module_of_another_version_is_refused(void **state) {
    World *world = *state;
    put_module(world->folder, OTHER_VERSION_MODULE);
    assert_refused(world, "STORE_MODULE_VERSION");
    assert_said(world, "0.0.9");
    assert_said(world, program_version);
}

static void module_of_another_build_is_refused(void **state) {
    World *world = *state;
    put_module(world->folder, OTHER_BUILD_MODULE);
    assert_refused(world, "STORE_MODULE_VERSION");
    assert_said(world, "another build");
    assert_said(world, store_interface);
}

static void file_that_is_no_shared_object_is_refused(void **state) {
    World *world = *state;
    put_module(world->folder, "/proc/version");
    assert_refused(world, "STORE_MODULE_LOAD");
    assert_said(world, "libpq");
}

static void shared_object_that_is_no_module_is_refused(void **state) {
    World *world = *state;
    put_module(world->folder, OTHER_BACKEND_MODULE);
    assert_refused(world, "STORE_MODULE_LOAD");
    assert_said(world, "store_module_postgres");
}

static void current_folder_is_never_searched(void **state) {
    World *world = *state;
    put_module(world->folder, REAL_MODULE);
    assert_int_equal(chdir(world->folder), 0);
    const char *paths[] = {"", ".", ":", "./", ":.:", "../tmp", NULL};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        if (paths[i] != NULL) setenv("ABIDE_MODULE_PATH", paths[i], 1);
        else unsetenv("ABIDE_MODULE_PATH");
        assert_refused(world, "STORE_MODULE_NOT_FOUND");
    }
}

static void back_end_that_was_not_built_is_not_looked_for(void **state) {
    World *world = *state;
    assert_int_equal(get(world, MODULE_REDIS), ERR_UNSUPPORTED);
    assert_string_equal(world->diag.code, "STORE_NOT_BUILT");
    assert_said(world, "-Dredis=enabled");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(missing_module_is_refused_with_file_folders_and_option),
        TEST(folders_are_looked_at_in_order_and_the_first_file_decides),
        TEST(module_of_this_build_is_taken),
        TEST(module_of_another_version_is_refused),
        TEST(module_of_another_build_is_refused),
        TEST(file_that_is_no_shared_object_is_refused),
        TEST(shared_object_that_is_no_module_is_refused),
        TEST(current_folder_is_never_searched),
        TEST(back_end_that_was_not_built_is_not_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
