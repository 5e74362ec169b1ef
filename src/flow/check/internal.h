// What the parts of the check share.
//
// The walk goes over the tree once and says of each expression how its value is used. What can only
// be decided with the whole file seen (is the name tested for, is the object extended, is the
// function async) is noted on the way and settled at the end.
#pragma once
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "flow/check/api.h"
#include "flow/check/check.h"
#include "flow/scope/scope.h"
#include "flow/vm/native.h"

typedef enum CheckUse { // how the value of an expression is used
    USE_VALUE,
    USE_DROPPED, // not at all: it stands as a statement
    USE_TESTED,  // only whether it is true, or is there
    USE_TYPEOF,
} CheckUse;

typedef struct CheckGlobal {     // what a name means that the file does not declare
    const FlowApiObject *api;    // one of the workflow API; or NULL
    const FlowClassEntry *class; // a class or namespace of the realm; or NULL
    bool is_known;
    bool is_expected; // the file looks whether it is there, or makes it
    bool is_open;     // the file may add members to it
    bool is_replaced; // the file sets members of it
    bool is_said;
} CheckGlobal;

typedef struct CheckName { // a use of a name that nothing declares
    const FlowNode *node;
    const FlowScope *scope; // for what else was probably meant
    CheckGlobal *global;
    bool is_written;
} CheckName;

typedef struct CheckMember { // a use of a member that the object lacks
    CheckGlobal *global;
    const FlowName *object;
    FlowName *name;
    uint32_t start; // of the member's name
    uint32_t end;
} CheckMember;

typedef struct CheckPromise { // a promise that is dropped or tested, if the function is async
    const FlowNode *call;
    const FlowVariable *function;
    CheckUse use;
} CheckPromise;

typedef struct Checker {
    const FlowProgram *program;
    Arena *arena;
    FlowReport *report;
    CheckGlobal **globals;  // by FlowName.id
    const FlowScope *scope; // the innermost around what is walked
    bool is_global_open;    // globalThis is handed out: anything may be declared
    VEC(CheckName) names;
    VEC(CheckMember) members;
    VEC(CheckMember) tested; // members that the file looks for
    VEC(CheckPromise) promises;
    VEC(const FlowNode *) calls; // of the workflow API
    Map async_constants;         // variable -> what it is: `const f = async () => …`
} Checker;

__attribute__((format(printf, 3, 4))) void check_say(Checker *c, const FlowFinding *finding,
                                                     const char *format, ...);

// ---- names (check/names.c)
// The global that an identifier means; NULL when the file declares it.
CheckGlobal *check_global(Checker *c, const FlowNode *identifier);
bool check_is_global(const FlowNode *node, const char *name); // an identifier that means it
void check_use_name(Checker *c, const FlowNode *identifier, CheckUse use);
void check_write_name(Checker *c, const FlowNode *identifier);
// A member of a global; `end` is where its name ends.
void check_use_member(Checker *c, const FlowNode *object, FlowName *name, uint32_t end,
                      CheckUse use);
void check_open_member(Checker *c, const FlowNode *object, const FlowName *name);
void check_settle_names(Checker *c);

// ---- calls (check/call.c, check/promise.c)
typedef struct CheckApiCall {  // a call of the workflow API
    const CheckGlobal *global; // NULL: it is none
    const FlowApiMember *member;
} CheckApiCall;
CheckApiCall check_api_call(Checker *c, const FlowNode *callee);
void check_settle_calls(Checker *c);
void check_promise_use(Checker *c, const FlowNode *node, CheckUse use);
void check_promise_member(Checker *c, const FlowNode *member);
void check_settle_promises(Checker *c);

// ---- literals (check/literal.c)
typedef struct CheckLiteral { // a part of a literal and where it stands
    JsonValue value;          // first: [api-2] speaks of JsonValue
    const FlowNode *node;     // of a member, its property
} CheckLiteral;
JsonValue *check_literal(Arena *arena, const FlowNode *node);

// ---- the walk (check/walk.c)
void check_walk(Checker *c, const FlowFunction *function);
