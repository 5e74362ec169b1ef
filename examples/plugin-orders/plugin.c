// A plug-in with a workflow: a server that loads it runs it as it runs scripts.
//
//     cc -shared -fPIC -I include examples/plugin-orders/plugin.c -o orders.so
//     abide serve --plugin ./orders.so
//     abide wf start order '{"amount": 7}' --id o-1
//     abide signal o-1 approved true
#include "abide.h"

// Stands for a call of a payment service, which gets the key so that it charges once.
static int charge(abide_call *call, const char *input) {
    (void)input;
    return abide_return(call, abide_call_printf(call, "\"receipt %s\"", abide_call_key(call)));
}

static int order(abide_ctx *ctx, const char *input) {
    const char *receipt, *answer;
    ABIDE_TRY(abide_step(ctx, "charge", charge, input, &receipt));
    int code = abide_await_signal(ctx, "approved", &(abide_wait){.timeout = "24h"}, &answer);
    if (code == ABIDE_TIMEOUT) return abide_fail(ctx, "not approved in time");
    if (code != ABIDE_OK) return code;
    return abide_complete(ctx, receipt);
}

static int init(abide_engine *engine, abide_error *error) {
    return abide_register_workflow(engine, "order", order, NULL, error);
}

ABIDE_PLUGIN("orders", init);
