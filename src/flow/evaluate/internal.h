// What the files of the evaluator share.
#pragma once
#include "flow/code/code.h"
#include "flow/evaluate.h"
#include "flow/parser/parse.h"
#include "flow/vm/vm.h"

// --- refuse.c: what an expression may consist of
typedef struct ExpressionNames {
    Str names[FLOW_EXPRESSION_NAMES_MAX]; // declared nowhere in the expression, each once
    uint32_t count;
    bool is_too_many;
} ExpressionNames;

typedef struct Refusal {
    const FlowNode *node; // NULL: nothing is refused
    const char *what;     // "an assignment"
} Refusal;

typedef struct ExpressionShape {
    ExpressionNames names;
    Refusal refusal;
    bool has_calls;         // only a call can change something, a getter apart
    bool has_unknown_calls; // some of them not by the name of a built-in that reads
} ExpressionShape;
void expression_look(const FlowNode *node, ExpressionShape *ret);

// --- expression.c
// The expression as a function of the names that are bound; those that are not are globals.
typedef struct ExpressionVariant {
    uint64_t bound;     // bit i: names[i] is a parameter
    FlowModule *module; // routines[1] is the function
} ExpressionVariant;

enum { EXPRESSION_VARIANTS_MAX = 32 };

struct FlowExpression {
    Arena arena;
    Str text;
    ExpressionShape shape;
    ExpressionVariant variants[EXPRESSION_VARIANTS_MAX]; // the last ones used; a ring
    uint32_t variant_count;
    uint32_t next_variant;
    uint64_t cost; // instructions of the last evaluation
};
// Compiled before, or now. ERR_INVALID: a name that is not bound is one that scripts do not have.
MUST_CHECK Status expression_variant(FlowExpression *expression, uint64_t bound,
                                     const FlowModule **ret_module, Diag *diag);

// --- place.c: where a VM stands
typedef struct ExpressionPlace {
    const FlowClosure *closure;
    const FlowValue *registers;
    uint32_t register_count;
    uint32_t pc;
} ExpressionPlace;
// The frame of that number. False: there are fewer.
bool expression_place(FlowVm *vm, uint32_t frame, ExpressionPlace *ret);
// The variable that `name` means there; false: it is none.
typedef struct ExpressionBinding {
    FlowValue *value; // HOLE: not initialised yet; NULL: nothing that a script can read
    bool is_settable; // see FlowLocalName
} ExpressionBinding;
bool expression_find(FlowVm *vm, const ExpressionPlace *place, Str name, ExpressionBinding *ret);
// What `name` means there; false: it is no variable, or not initialised yet.
bool expression_lookup(FlowVm *vm, const ExpressionPlace *place, Str name, FlowValue *ret);
