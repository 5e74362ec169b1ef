// Names that JavaScript hosts have and workflows do not, each with what to do instead.
//
// One sorted table. A name is refused when it is used without being declared; `typeof name` is
// allowed, because asking whether something exists is how portable code begins. `Function` is not
// here: as a value it is harmless, and scope analysis refuses only calling it.
#include "base/array.h"
#include "base/text/str.h"
#include "flow/scope/scope.h"

#define USE_TASK "Effects happen only in tasks: call one with `await Task.run(\"name\", input)`"
// clang-format off
#define USE_TIMER "Use `await Timer.delay(\"2s\")`, which also survives restarts"
#define NO_HOST "A workflow has no access to the machine it runs on; pass the value as input"
#define NO_MODULES "A workflow file is complete in itself; call a task instead"
#define NO_BROWSER "A workflow does not run in a browser; use `Inputs`, tasks and events"
#define NO_THREADS "A workflow is one logical thread; start tasks or child workflows instead"
#define NO_BYTES "Keep binary data outside and pass a reference, or use a base64 string"
#define NO_CODE "Code that is made at run time cannot be kept in a snapshot; write a function"
#define NO_WEAK "What garbage collection does cannot be kept in a snapshot; use WeakMap or WeakSet"
#define NO_INTL "Format in a task, or with Date and String methods, which use UTC and no locale"
// clang-format on

static const FlowRefusedGlobal refused_globals[] = {
    // sorted by bytes
    {"ArrayBuffer", NO_BYTES},
    {"Atomics", NO_THREADS},
    {"BigInt64Array", NO_BYTES},
    {"BigUint64Array", NO_BYTES},
    {"BroadcastChannel", "Use `Event.emit` and `Event.wait`"},
    {"Buffer", NO_BYTES},
    {"Bun", NO_HOST},
    {"DataView", NO_BYTES},
    {"Deno", NO_HOST},
    {"FinalizationRegistry", NO_WEAK},
    {"Float32Array", NO_BYTES},
    {"Float64Array", NO_BYTES},
    {"Int16Array", NO_BYTES},
    {"Int32Array", NO_BYTES},
    {"Int8Array", NO_BYTES},
    {"Intl", NO_INTL},
    {"Proxy", "Use getters and setters, or a class"},
    {"SharedArrayBuffer", NO_THREADS},
    {"Uint16Array", NO_BYTES},
    {"Uint32Array", NO_BYTES},
    {"Uint8Array", NO_BYTES},
    {"Uint8ClampedArray", NO_BYTES},
    {"WeakRef", NO_WEAK},
    {"WebAssembly", NO_CODE},
    {"WebSocket", USE_TASK},
    {"Worker", NO_THREADS},
    {"XMLHttpRequest", USE_TASK},
    {"__dirname", NO_HOST},
    {"__filename", NO_HOST},
    {"addEventListener", "Use `await Signal.next(\"name\")` or `await Event.wait(\"topic\")`"},
    {"alert", NO_BROWSER},
    {"await", "Write `async` before the function that contains it"},
    {"clearImmediate", USE_TIMER},
    {"clearInterval", USE_TIMER},
    {"clearTimeout", USE_TIMER},
    {"confirm", NO_BROWSER},
    {"document", NO_BROWSER},
    {"eval", NO_CODE},
    {"exports", "Use `export default async function (inputs) { … }`"},
    {"fetch", USE_TASK},
    {"global", NO_HOST},
    {"importScripts", NO_MODULES},
    {"localStorage", "Use `State.set(key, value)`"},
    {"location", NO_BROWSER},
    {"module", "Use `export default async function (inputs) { … }`"},
    {"navigator", NO_BROWSER},
    {"performance", "Use Date.now()"},
    {"process", NO_HOST},
    {"prompt", "Use `await Signal.next(\"name\")`"},
    {"requestAnimationFrame", USE_TIMER},
    {"require", NO_MODULES},
    {"self", NO_BROWSER},
    {"sessionStorage", "Use `State.set(key, value)`"},
    {"setImmediate", USE_TIMER},
    {"setInterval", "Use a loop with `await Timer.delay(\"2s\")`, or a schedule"},
    {"setTimeout", USE_TIMER},
    {"window", NO_BROWSER},
};

const FlowRefusedGlobal *flow_refused_global_find(Str name) {
    size_t low = 0;
    size_t high = COUNT_OF(refused_globals);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(name, str_from(refused_globals[middle].name));
        if (order == 0) return &refused_globals[middle];
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}
