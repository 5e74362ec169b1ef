// What the tests of the C library share: an engine on a fresh store of the kind API_BACKEND,
// which is the one the test was started for unless a test insists on one.
#pragma once
#include "abide.h"
#include "servers/servers.h"
#include "unit/unit.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef API_BACKEND
#define API_BACKEND test_backend()
#endif

typedef struct Fixture {
    char directory[64];
    char url[256];
    abide_engine *engine;
    abide_options options;
} Fixture;

static inline void fixture_open(Fixture *fixture) {
    abide_error error;
    int code = abide_open(fixture->url, &fixture->options, &fixture->engine, &error);
    if (code != ABIDE_OK) fail_msg("open: %s: %s", error.name, error.message);
}

static inline int setup(void **state) {
    Fixture *fixture = calloc(1, sizeof(Fixture));
    if (!test_folder_new("test", fixture->directory, sizeof fixture->directory)) return -1;
    if (strcmp(API_BACKEND, "memory") == 0) snprintf(fixture->url, sizeof fixture->url, "memory:");
    else if (test_server_is(API_BACKEND))
        test_server_store(API_BACKEND, "api", fixture->url, sizeof fixture->url);
    else snprintf(fixture->url, sizeof fixture->url, "sqlite:%s/test.db", fixture->directory);
    fixture_open(fixture);
    *state = fixture;
    return 0;
}

static inline int teardown(void **state) {
    Fixture *fixture = *state;
    abide_close(fixture->engine);
    test_folder_remove(fixture->directory);
    free(fixture);
    return 0;
}

static inline void add_workflow(Fixture *fixture, const char *name, abide_workflow_fn fn,
                                void *user) {
    abide_error error;
    int code = abide_register_workflow(fixture->engine, name, fn, user, &error);
    if (code != ABIDE_OK) fail_msg("register: %s", error.message);
}

static inline void put_to_work(Fixture *fixture) {
    abide_error error;
    int code = abide_recover(fixture->engine, NULL, &error);
    if (code != ABIDE_OK) fail_msg("recover: %s", error.message);
}

static inline void start(Fixture *fixture, const char *workflow, const char *id,
                         const char *input) {
    abide_error error;
    abide_start_options options = {.id = id};
    int code = abide_start(fixture->engine, workflow, input, &options, NULL, &error);
    if (code != ABIDE_OK) fail_msg("start: %s: %s", error.name, error.message);
}

static inline void deploy(Fixture *fixture, const char *name, const char *source) {
    abide_error error;
    char file[64];
    snprintf(file, sizeof file, "%s.flow", name);
    int code = abide_deploy(fixture->engine, file, source, NULL, NULL, &error);
    if (code != ABIDE_OK) fail_msg("deploy: %s: %s", error.name, error.message);
}

// Waits for the end; the result must be `json` (NULL = none).
#define expect_result(fixture, id, code, json)                                                     \
    check_result((fixture), (id), (code), (json), __FILE__, __LINE__)
static inline void check_result(Fixture *fixture, const char *id, int code, const char *json,
                                const char *file, int line) {
    abide_error error = {0};
    char *result = NULL;
    int actual = abide_result(fixture->engine, id, "120s", &result, &error);
    bool is_same = json == NULL ? result == NULL : result != NULL && strcmp(result, json) == 0;
    if (actual != code || !is_same) {
        print_error("%s %s instead of %s %s (%s)\n", abide_code_name(actual),
                    result ? result : "(none)", abide_code_name(code), json ? json : "(none)",
                    error.message);
        _fail(file, line);
    }
    abide_free(result);
}

// Waits for a condition: as long as a slow machine needs, and no longer.
#define WAIT_UNTIL(condition)                                                                      \
    for (int waited_ms = 0; !(condition); waited_ms++) {                                           \
        if (waited_ms == 100000) fail_msg("it did not become so: %s", #condition);                 \
        usleep(1000);                                                                              \
    }

// Waits until the run is parked on exactly this.
static inline void wait_parked(Fixture *fixture, const char *id, const char *waiting_on) {
    abide_run_info info;
    for (int i = 0; i < 100000; i++) {
        abide_error error;
        int code = abide_status(fixture->engine, id, &info, &error);
        if (code != ABIDE_OK) fail_msg("status: %s", error.message);
        if (info.state == ABIDE_RUN_SUSPENDED && strcmp(info.waiting_on, waiting_on) == 0) return;
        usleep(1000);
    }
    fail_msg("%s waits on \"%s\" (%s), not on \"%s\"", id, info.waiting_on,
             abide_state_name(info.state), waiting_on);
}

static inline int state_of(Fixture *fixture, const char *id) {
    abide_run_info info;
    abide_error error;
    int code = abide_status(fixture->engine, id, &info, &error);
    if (code != ABIDE_OK) fail_msg("status: %s", error.message);
    return info.state;
}
