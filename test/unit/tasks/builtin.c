// The built-in tasks on an engine: exec, log and fail. The http task has a server to talk to in
// test/e2e/workers/test_tasks_http.py.
#include "unit/api/api.h"
#include <dirent.h>
#include <poll.h>
#include <signal.h>

static char logged[4][256];
static int logged_level[4];
static int logged_count;

static void take_line(void *user, int level, const char *line) {
    (void)user;
    snprintf(logged[logged_count % 4], sizeof logged[0], "%s", line);
    logged_level[logged_count++ % 4] = level;
}

static int open_with(void **state, int allow_exec) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    logged_count = 0;
    abide_builtin_options options = {.allow_exec = allow_exec, .on_log = take_line};
    code = abide_register_builtin_tasks(fixture->engine, &options, NULL);
    put_to_work(fixture);
    return code;
}

static int setup_plain(void **state) { return open_with(state, 0); }
static int setup_exec(void **state) { return open_with(state, 1); }

// Runs the script; its result must be `json`.
static void run_flow_as(void **state, const char *id, const char *source, const char *json) {
    Fixture *fixture = *state;
    abide_error error;
    int code = abide_deploy(fixture->engine, "main.flow", source, NULL, NULL, &error);
    if (code != ABIDE_OK) fail_msg("deploy: %s", error.message);
    start(fixture, "main", id, NULL);
    expect_result(fixture, id, ABIDE_OK, json);
}

static void run_flow(void **state, const char *source, const char *json) {
    run_flow_as(state, "r", source, json);
}

#define CAUGHT(call, members)                                                                      \
    "try { return await " call                                                                     \
    " } catch (e) { const c = e.cause; return [e.attempts, c.type, " members "] }"

// ---- log and fail ----

static void log_takes_a_message_a_level_and_more(void **state) {
    run_flow(state,
             "await Task.run('log', 'plain')\n"
             "return await Task.run('log', {level: 'warn', message: 'slow', ms: 12})",
             "null");
    assert_int_equal(logged_count, 2);
    assert_string_equal(logged[0], "plain");
    assert_int_equal(logged_level[0], 1);
    assert_string_equal(logged[1], "slow {\"ms\":12}");
    assert_int_equal(logged_level[1], 2);
}

static void log_without_a_message_is_a_final_error(void **state) {
    run_flow(state, CAUGHT("Task.run('log', {level: 'info'})", "c.message.includes('message')"),
             "[1,\"TaskInputError\",true]");
}

static void fail_fails_so_many_times(void **state) {
    run_flow(state,
             "return await Task.run('fail', {times: 2}, {retry: {attempts: 5, delay: '1ms'}})",
             "3");
}

static void fail_can_be_final(void **state) {
    run_flow(
        state,
        CAUGHT("Task.run('fail', {message: 'no', type: 'Odd', retryable: false})", "c.message"),
        "[1,\"Odd\",\"no\"]");
}

static void fail_is_tried_as_often_as_the_policy_says(void **state) {
    run_flow(state, CAUGHT("Task.run('fail', null, {retry: {attempts: 4, delay: 0}})", "1"),
             "[4,\"Error\",1]");
}

static void a_misspelt_member_is_named(void **state) {
    run_flow(state, CAUGHT("Task.run('fail', {time: 1})", "c.message.includes('time')"),
             "[1,\"TaskInputError\",true]");
}

// ---- exec ----

static void exec_is_off_unless_allowed(void **state) {
    run_flow(state, CAUGHT("Task.run('exec', {argv: ['true']})", "1"),
             "[1,\"ExecDisabledError\",1]");
}

static void exec_hands_json_in_and_out(void **state) {
    run_flow(state, "return await Task.run('exec', {argv: ['cat'], input: {a: [1, 'é', null]}})",
             "{\"a\":[1,\"é\",null]}");
}

static void exec_gives_text_as_stdout(void **state) {
    run_flow(state, "return await Task.run('exec', {argv: ['printf', 'a b\\\\n']})",
             "{\"stdout\":\"a b\\n\"}");
}

static void exec_uses_no_shell(void **state) {
    run_flow(state, "return await Task.run('exec', {argv: ['echo', '$HOME;`id`|cat']})",
             "{\"stdout\":\"$HOME;`id`|cat\\n\"}");
}

static void exec_reports_status_and_stderr(void **state) {
    run_flow(state,
             CAUGHT("Task.run('exec', {argv: ['sh', '-c', 'echo oh no >&2; exit 7']},"
                    " {retry: {attempts: 1}})",
                    "c.status, c.stderr"),
             "[1,\"ExecError\",7,\"oh no\\n\"]");
}

static void exec_without_such_a_program_is_final(void **state) {
    run_flow(state, CAUGHT("Task.run('exec', {argv: ['no-such-program-here']})", "1"),
             "[1,\"ExecError\",1]");
}

static void exec_takes_a_folder_and_variables(void **state) {
    run_flow(state,
             "const r = await Task.run('exec', {argv: ['sh', '-c', 'pwd; echo $WORD'], cwd: '/',"
             " env: {WORD: 'x=y'}})\nreturn r.stdout",
             "\"/\\nx=y\\n\"");
}

static void exec_passes_on_no_secrets(void **state) {
    setenv("ABIDE_TEST_SECRET", "hush", 1);
    run_flow(state,
             "const r = await Task.run('exec', {argv: ['env']})\n"
             "return [r.stdout.includes('hush'), r.stdout.includes('PATH=')]",
             "[false,true]");
    unsetenv("ABIDE_TEST_SECRET");
}

static void exec_passes_on_no_descriptors(void **state) {
    FILE *open_file = fopen("/dev/null", "r"); // not close-on-exec
    assert_non_null(open_file);
    run_flow(state,
             "const r = await Task.run('exec', {argv: ['sh', '-c', 'for i in 3 4 5 6 7 8 9; do "
             "if [ -e /dev/fd/$i ]; then echo $i; fi; done']})\nreturn r.stdout",
             "\"\"");
    fclose(open_file);
}

static int count_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count;
}

static void exec_leaves_no_descriptors_here(void **state) {
    int before = count_descriptors();
    run_flow(state,
             "for (let i = 0; i < 10; i++) await Task.run('exec', {argv: ['true']})\n"
             "await Task.run('exec', {argv: ['no-such-program-here']}).catch(() => 0)\n"
             "return 1",
             "1");
    assert_int_equal(count_descriptors(), before);
}

static void exec_survives_a_program_that_does_not_read(void **state) {
    run_flow(state,
             "return await Task.run('exec', {argv: ['echo', '5'], input: 'x'.repeat(1000000)})",
             "5");
}

static void exec_bounds_the_output(void **state) {
    run_flow(state, CAUGHT("Task.run('exec', {argv: ['yes'], maxBytes: 1000})", "c.code"),
             "[1,\"ExecError\",\"OUTPUT_TOO_LARGE\"]");
}

// The process that wrote its number there; 0 when it did not get so far.
static int written_pid(const char *path) {
    int pid = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%d", &pid) != 1) pid = 0;
    fclose(file);
    return pid;
}

// It is not there any more, or waits only for its new parent to reap it.
static bool is_dead(int pid) {
    char name[64], line[256];
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    FILE *file = fopen(name, "r");
    if (file == NULL) return true;
    bool is_read = fgets(line, sizeof line, file) != NULL; // it may go away in between
    fclose(file);
    const char *mark = is_read ? strrchr(line, ')') : NULL;
    return mark == NULL || mark[2] == 'Z' || mark[2] == 'X';
}

// The group is killed: the grandchild, too, which would hold the pipe open for a minute.
static void exec_kills_the_whole_group_at_its_deadline(void **state) {
    Fixture *fixture = *state;
    char source[512], path[128];
    snprintf(path, sizeof path, "%s/pid", fixture->directory);
    int pid = 0;
    for (int timeout_ms = 200; pid == 0; timeout_ms *= 2) { // a slow machine needs longer to begin
        assert_true(timeout_ms < 60000);
        snprintf(source, sizeof source,
                 CAUGHT("Task.run('exec', {argv: ['sh', '-c', 'sleep 60 & echo $! > %s; wait'],"
                        " timeout: '%dms'}, {retry: {attempts: 1}})",
                        "c.code"),
                 path, timeout_ms);
        char id[16];
        snprintf(id, sizeof id, "r%d", timeout_ms);
        run_flow_as(state, id, source, "[1,\"ExecError\",\"TIMEOUT\"]");
        pid = written_pid(path);
    }
    for (int i = 0; i < 30000 && !is_dead(pid); i++) poll(NULL, 0, 1);
    assert_true(is_dead(pid));
}

static void exec_refuses_bad_input(void **state) {
    run_flow(state,
             "const bad = [null, {}, {argv: []}, {argv: 'ls'}, {argv: [1]}, {argv: ['']},\n"
             "  {argv: ['a\\0b']}, {argv: ['true'], env: {'a=b': 'c'}}, {argv: ['true'], cwd: 1},\n"
             "  {argv: ['true'], timeout: 'soon'}, {argv: ['true'], maxBytes: -1},\n"
             "  {argv: ['true'], shell: true}]\n"
             "const seen = new Set()\n"
             "for (const input of bad)\n"
             "  await Task.run('exec', input).then(() => seen.add(JSON.stringify(input)),\n"
             "    e => seen.add(e.cause.type + e.attempts))\n"
             "return [...seen]",
             "[\"TaskInputError1\"]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define PLAIN(name) cmocka_unit_test_setup_teardown(name, setup_plain, teardown)
#define EXEC(name)  cmocka_unit_test_setup_teardown(name, setup_exec, teardown)
        PLAIN(log_takes_a_message_a_level_and_more),
        PLAIN(log_without_a_message_is_a_final_error),
        PLAIN(fail_fails_so_many_times),
        PLAIN(fail_can_be_final),
        PLAIN(fail_is_tried_as_often_as_the_policy_says),
        PLAIN(a_misspelt_member_is_named),
        PLAIN(exec_is_off_unless_allowed),
        EXEC(exec_hands_json_in_and_out),
        EXEC(exec_gives_text_as_stdout),
        EXEC(exec_uses_no_shell),
        EXEC(exec_reports_status_and_stderr),
        EXEC(exec_without_such_a_program_is_final),
        EXEC(exec_takes_a_folder_and_variables),
        EXEC(exec_passes_on_no_secrets),
        EXEC(exec_passes_on_no_descriptors),
        EXEC(exec_leaves_no_descriptors_here),
        EXEC(exec_survives_a_program_that_does_not_read),
        EXEC(exec_bounds_the_output),
        EXEC(exec_kills_the_whole_group_at_its_deadline),
        EXEC(exec_refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
