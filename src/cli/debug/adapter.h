// The adapter from the inside: one debugging of one file, and the messages about it.
//
//   [adapter-1] Every request is answered once. Events tell what happens in between.
//   [adapter-2] References to variables are valid until the script goes on.
#pragma once
#include "cli/debug/session.h"
#include "cli/protocol/frame.h"
#include "cli/run/files.h"
#include "json/write.h"

enum { SOURCE_REFERENCE = 1 }; // of Adapter.source, for the client

typedef enum ReferenceKind {
    REFERENCE_LOCAL,
    REFERENCE_CAPTURED,
    REFERENCE_INPUTS,
    REFERENCE_VALUE
} ReferenceKind;

typedef struct Reference { // what a variablesReference means; its number is the place plus one
    ReferenceKind kind;
    uint32_t frame;
    FlowDebugRef value;
} Reference;

// What the command line and `launch` say. Texts end with a NUL; null: not said.
typedef struct Launch {
    Str program;
    Str input; // JSON
    Str mock, script, now, workflow;
    Str tasks, children, signals;      // mocks by name, JSON objects
    Str run;                           // to be attached to; null: `program` is launched
    Str server, store, token, ca_file; // where the run is
    uint64_t turn;                     // a kept one; 0 = as it is now
    bool has_secrets;                  // with the data that config.secret hides
    bool stops_on_entry;
    bool is_free; // noDebug: breakpoints do not stop
} Launch;

typedef struct LaunchFiles { // read and parsed
    Buf mock_text, script_text;
    Mocks mocks;
    EventScript script;
} LaunchFiles;

typedef struct Adapter {
    Arena arena;   // of the session
    Arena message; // of one message
    Launch given;  // by the command line
    Launch launch; // with what the request says
    LaunchFiles files;
    DebugSession session;
    Str path;    // of the source, absolute; null until launched
    Str source;  // its text when the client has no such file, and `path` is only its name; or null
    int64_t seq; // of the last message sent
    VEC(Reference) references;
    bool is_running;
    bool is_attached; // it stands at a wait of the run it is a copy of
    bool is_configured;
    bool is_ended; // the script is
    bool is_left;  // the client is
    bool counts_from_zero_lines;
    bool counts_from_zero_columns;
} Adapter;

typedef struct DapRequest {
    Adapter *adapter;
    int64_t seq;
    Str command;
    const JsonValue *arguments; // may be NULL
} DapRequest;

// Loads what is to be debugged. (launch.c)
MUST_CHECK Status launch_load(Adapter *adapter, Diag *diag);
// The same for a run (attach.c). Codes: those of the client and of the server, and of snapshots.
MUST_CHECK Status attach_load(Adapter *adapter, Diag *diag);
// The arguments of `launch` and `attach` go before those of the command line.
MUST_CHECK Status launch_read(Adapter *adapter, const JsonValue *arguments, Diag *diag);
// Mocks and events: from their files, or from the request.
MUST_CHECK Status launch_read_files(Adapter *adapter, Diag *diag);
// The path of a file without links; the path itself when there is no such file.
Str launch_real_path(Arena *arena, Str path);

// Answers: each writes the members of the body. (view.c, breaks.c)
MUST_CHECK Status view_stack(const DapRequest *request, JsonWriter *json, Diag *diag);
MUST_CHECK Status view_scopes(const DapRequest *request, JsonWriter *json, Diag *diag);
MUST_CHECK Status view_variables(const DapRequest *request, JsonWriter *json, Diag *diag);
MUST_CHECK Status view_evaluate(const DapRequest *request, JsonWriter *json, Diag *diag);
MUST_CHECK Status view_set_variable(const DapRequest *request, JsonWriter *json, Diag *diag);
MUST_CHECK Status view_exception(const DapRequest *request, JsonWriter *json, Diag *diag);
MUST_CHECK Status set_breakpoints(const DapRequest *request, JsonWriter *json, Diag *diag);
MUST_CHECK Status set_exception_breakpoints(const DapRequest *request, JsonWriter *json,
                                            Diag *diag);
