// Session: what every command that talks to a server has: the connection, the form of the output,
// how it ends.
//
//   Session session;
//   int code = session_begin(&session, &table, argument_count, arguments, &operands);
//   if (code != SESSION_GO_ON) return code;
//   ... session_get, session_post …; each answers false when the session has failed
//   return session_end(&session);
//
//   [client-session-1] What went wrong is said once, on stderr: "abide: what and what to do
//        (CODE)". With -o json stdout has {"error": {"code", "detail", "status"}} besides, so it is
//        always JSON.
//   [client-session-2] The exit code is that of the first failure (cli.h).
//   [client-session-3] A reader who closes the pipe ends the command quietly.
//   [client-session-4] Ctrl-C ends what waits, closes a store in order, and gives 130; twice ends
//        it at once.
#pragma once
#include "cli/cli.h"
#include "cli/client/client.h"
#include "cli/client/local.h"
#include "cli/options.h"
#include "cli/output/output.h"

enum { SESSION_GO_ON = -1, SESSION_OPTIONS = 6 };

typedef enum SessionUse {
    SESSION_READS,    // looks only: a store it opens stays as it is
    SESSION_CHANGES,  // a store it opens is put to work for the length of the command
    SESSION_PREPARES, // changes what no run is touched by; a store is made if there is none
} SessionUse;

typedef struct Session {
    Arena arena;         // everything that is answered, until the end
    ClientConfig config; // of the connection, for commands that need further ones
    Client *client;
    LocalServer *local; // NULL: there is a server
    SessionUse use;
    OutputFormat format;
    Terminal terminal;                         // stdout
    Terminal progress;                         // stderr
    int64_t now_ms;                            // when it began
    int exit_code;                             // [client-session-2]
    ClientAnswer answer;                       // the last one
    Str server, token, store, ca_file, output; // as given
    bool is_progress_shown;
    Option options[SESSION_OPTIONS];
} Session;

// Parses, opens the connection. SESSION_GO_ON, or the exit code of a command that is done already.
// `table` needs no shared options; they are added. Set `use` before (session_init).
void session_init(Session *session, SessionUse use);
// For commands that talk to nobody: of the shared options only the form of the output remains.
// No connection is made.
void session_init_bare(Session *session);
void session_has_no_ids(Session *session); // -o ids is refused: it shows no list
int session_begin(Session *session, OptionTable *table, int argument_count, char **arguments,
                  Operands *ret_operands);
// The same in two parts, for commands whose options decide what becomes of a store.
int session_parse(Session *session, OptionTable *table, int argument_count, char **arguments,
                  Operands *ret_operands);
int session_connect(Session *session);
int session_end(Session *session); // closes everything, answers the exit code

// One call. False: it failed, and that has been said. The answer is in session->answer.
bool session_call(Session *session, const ClientRequest *request);
bool session_get(Session *session, Str path);
bool session_post(Session *session, Str path, Str body); // body: JSON or null
// The same without a word; the caller says it, or not.
Status session_try(Session *session, const ClientRequest *request, Diag *diag);

// Says what went wrong and keeps the exit code. Answers false, for `return session_fail(…)`.
bool session_fail(Session *session, Status status, const Diag *diag);
// The same without JSON on stdout, for commands that write one document over several failures.
bool session_complain(Session *session, Status status, const Diag *diag);
// A mistake in the arguments. Answers false.
bool session_misuse(Session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int session_exit_code(Status status, const Diag *diag, int http_status);

// Prints the answer with -o json, or `id` with -o ids. True: neither, the caller says it in words.
bool session_says_words(Session *session, Str id);

// JSON given as TEXT, @FILE or "-" (stdin); NULL gives null. False: it is none.
bool session_payload(Session *session, const char *operand, Str *ret_json);
// Null is fine. False: it is no whole number, which has been said.
bool session_check_number(Session *session, const char *option, Str text);
// RFC 3339, or a duration before now. Null stays null.
bool session_past(Session *session, const char *option, Str text, Str *ret_instant);
// "/v1/runs/%s/cancel" with the parts encoded; `second` may be null when there is only one %s.
Str session_path(Session *session, const char *format, Str first, Str second);

// Has Ctrl-C been pressed?
bool session_is_stopped(void);
const atomic_bool *session_stop_flag(void);
// A line on stderr that the next one replaces; only on a terminal. NULL clears it.
void session_progress(Session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void session_clear_progress(Session *session);
// False when nobody reads stdout any more [client-session-3].
bool session_flush(Session *session);
