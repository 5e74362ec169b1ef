// A plug-in with two task functions.
//
//     cc -shared -fPIC -I include examples/plugin-numbers/plugin.c -o numbers.so
//     abide run sum.flow --plugin numbers.so
#include "abide.h"
#include <stdatomic.h>
#include <stdlib.h>

// Inputs and results are JSON; a number is its own text.
static int double_it(abide_call *call, const char *input) {
    char *end;
    double value = input != NULL ? strtod(input, &end) : 0;
    if (input == NULL || end == input)
        return abide_throw_final(call, "TypeError", "double wants a number");
    return abide_return(call, abide_call_printf(call, "%.17g", 2 * value));
}

// Functions run on several threads at a time: what they share is atomic, or has a lock.
static int next(abide_call *call, const char *input) {
    (void)input;
    atomic_long *counter = abide_call_user_data(call);
    long number = atomic_fetch_add(counter, 1) + 1;
    return abide_return(call, abide_call_printf(call, "%ld", number));
}

static int init(abide_engine *engine, abide_error *error) {
    atomic_long *counter = calloc(1, sizeof *counter);
    if (counter == NULL) return ABIDE_LIMIT;
    ABIDE_TRY(abide_on_close(engine, free, counter, error));
    ABIDE_TRY(abide_register_task(engine, "double", double_it, NULL, error));
    return abide_register_task(engine, "next", next, counter, error);
}

ABIDE_PLUGIN("numbers", init);
