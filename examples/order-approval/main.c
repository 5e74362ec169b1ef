// An order that is charged once, sleeps, waits for a person's approval, and survives `kill -9`.
//
//     order-approval [FILE]
//
// The program plays both parts. A first process charges the card, sleeps, and parks the run on
// the event "approved". It is then killed without a chance to clean up. A second process opens
// the same file, finds the run where it stopped, and publishes the approval: the workflow goes on
// behind the wait. The card is charged once, although the function is called many times.
#include "abide.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int charge_card(abide_call *call, const char *input) {
    printf("    [step charge, attempt %d] charging for %s\n", abide_call_attempt(call), input);
    fflush(stdout);
    return abide_return(call, "{\"receipt\":\"R-1001\"}");
}

static int ship(abide_call *call, const char *input) {
    printf("    [step ship] approved by %s\n", input);
    fflush(stdout);
    return abide_return(call, "\"parcel 7\"");
}

static int order(abide_ctx *ctx, const char *input) {
    const char *receipt, *answer, *parcel;
    ABIDE_TRY(abide_step(ctx, "charge", charge_card, input, &receipt));
    ABIDE_TRY(abide_sleep(ctx, "200ms"));
    int rc = abide_await_event(ctx, "approved", &(abide_wait){.timeout = "24h"}, &answer);
    if (rc == ABIDE_TIMEOUT) return abide_fail(ctx, "not approved in time");
    if (rc != ABIDE_OK) return rc;
    ABIDE_TRY(abide_step(ctx, "ship", ship, answer, &parcel));
    return abide_complete(ctx, abide_printf(ctx, "{\"charge\":%s,\"parcel\":%s}", receipt, parcel));
}

static void die(const char *what, const abide_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, error->name, error->message);
    exit(1);
}

static abide_engine *open_engine(const char *path) {
    abide_engine *engine;
    abide_error error;
    abide_recovery report;
    if (abide_open(path, NULL, &engine, &error) != ABIDE_OK) die("open", &error);
    if (abide_register_workflow(engine, "order", order, NULL, &error) != ABIDE_OK)
        die("register", &error);
    if (abide_recover(engine, &report, &error) != ABIDE_OK) die("recover", &error);
    printf("  pid %d: opened %s; %lld running, %lld suspended runs found\n", (int)getpid(), path,
           (long long)report.resumed_running, (long long)report.suspended);
    return engine;
}

// The first process: starts the order, tells its parent when the run waits, and is killed.
static void first_process(const char *path, int tell_parent) {
    abide_engine *engine = open_engine(path);
    abide_error error;
    abide_start_options options = {.id = "order-1001"};
    const char *input = "{\"item\":\"lamp\",\"price\":42}";
    if (abide_start(engine, "order", input, &options, NULL, &error) != ABIDE_OK)
        die("start", &error);
    printf("  started order-1001\n");
    fflush(stdout);
    abide_run_info info;
    do {
        usleep(20000);
        if (abide_status(engine, "order-1001", &info, &error) != ABIDE_OK) die("status", &error);
    } while (strcmp(info.waiting_on, "event:approved") != 0);
    printf("  order-1001 is %s, waiting on %s\n", abide_state_name(info.state), info.waiting_on);
    fflush(stdout);
    if (write(tell_parent, "w", 1) != 1) exit(1);
    pause(); // until the parent kills us
}

static int second_process(const char *path) {
    abide_engine *engine = open_engine(path);
    abide_error error;
    int64_t resumed = 0;
    if (abide_emit(engine, "approved", "{\"by\":\"Ada\"}", NULL, &resumed, &error) != ABIDE_OK)
        die("emit", &error);
    printf("  published \"approved\": %lld run resumed\n", (long long)resumed);
    fflush(stdout);
    char *result;
    int code = abide_result(engine, "order-1001", "10s", &result, &error);
    printf("  order-1001: %s %s\n", abide_code_name(code), result != NULL ? result : "");
    abide_free(result);
    abide_close(engine);
    return code == ABIDE_OK && resumed == 1 ? 0 : 1;
}

int main(int argc, char **argv) {
    char path[] = "/tmp/order-approval-XXXXXX";
    const char *file = argc > 1 ? argv[1] : NULL;
    char fresh[64];
    if (file == NULL) {
        if (mkdtemp(path) == NULL) return 1;
        snprintf(fresh, sizeof fresh, "%s/orders.db", path);
        file = fresh;
    }
    int tell[2];
    if (pipe(tell) != 0) return 1;
    printf("1. A process starts an order:\n");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) first_process(file, tell[1]);
    char byte;
    close(tell[1]);
    if (read(tell[0], &byte, 1) != 1) return 1;
    printf("2. kill -9 %d\n", (int)child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("3. Another process goes on with it:\n");
    return second_process(file);
}
