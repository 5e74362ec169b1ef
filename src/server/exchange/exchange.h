// Exchange: one HTTP request and its answer.
//
// A handler (see route.h) reads the request and does one of three things: it answers, it submits an
// operation to the engine and goes on in another function when that is committed, or it turns the
// answer into a stream. Nothing here blocks a server thread except short reads of the store.
//
//   [exchange-1] An exchange belongs to one server thread. Between exchange_submit and its
//        continuation the coordinator's thread may touch `request`, nothing else; of one that waits
//        for a run it knows the wait alone (exchange/wait.c).
//   [exchange-2] Nothing is answered before the commit that records it (the engine's
//        [coordinator-1]).
//   [exchange-3] Everything of an exchange lives in its arena and goes with it.
//   [exchange-4] A connection may end whenever it is not suspended, also between a wake-up and the
//        continuation: who registers an exchange anywhere sets `abandoned`.
//   [exchange-5] The tree of a body is gone when its handler returns: what a continuation needs are
//        texts, which live as long as the exchange. An exchange that is answered keeps its answer
//        only.
#pragma once
#include "api/engine.h"
#include "base/limits.h"
#include "json/write.h"
#include "server/exchange/route.h"
#include "server/http/holding.h"
#include "server/http/ticker.h"
#include "store/reads.h"

typedef struct Server Server;
typedef struct Exchange Exchange;

struct MHD_Connection;

enum { EXCHANGE_HEADERS_MAX = 12 };

typedef struct ExchangeHeader {
    const char *name;
    Str value; // in the arena
} ExchangeHeader;

typedef struct QueryParameter {
    Str name, value; // decoded
} QueryParameter;

typedef struct RequestHeader {
    Str name, value; // in the library's memory, without the white space around them
} RequestHeader;

typedef enum ExchangeStage {
    EXCHANGE_HEAD,    // the request's line and headers are there
    EXCHANGE_BODY,    // its body is being read
    EXCHANGE_WAITING, // for the engine: the connection is suspended, `next` goes on when it is not
    EXCHANGE_ANSWERED
} ExchangeStage;

struct Exchange {
    List link; // among the server's exchanges
    Server *server;
    const struct ServerPolicy *policy; // [policy-2]
    struct MHD_Connection *connection;
    Arena arena;
    ExchangeStage stage;
    int64_t began_at_ms;
    uint64_t began_ns; // monotonic
    // the request
    char method[16]; // for the log
    bool is_patient; // it takes long because its client wants to wait
    Str caller;      // name of the token it came with; null = none was asked for
    int64_t scopes;  // what the caller may do, once it was let in
    const Route *route;
    Str uri;            // as it came
    const char *target; // the same where the library has it, to be compared only
    RequestHeader *received;
    size_t received_count;
    int64_t declared_size;                // of the body; -1 = it comes in chunks, or there is none
    bool has_body;                        // by what the headers say
    Str parameters[ROUTE_PARAMETERS_MAX]; // of the path, decoded
    QueryParameter *query;
    size_t query_count;
    struct ExchangeMasks {                        // what parts.h has found out
        const struct RenderMask *of_run, *common; // NULL = not asked for yet
        int64_t run_key;                          // of `of_run`
    } masks;
    Buf body;
    size_t received_size; // of the body, what was dropped included
    bool is_body_dropped; // there was no room for it
    Holding holding;
    Arena tree;       // of the body as JSON, while its handler runs [exchange-5]
    size_t tree_size; // what of it is held
    // the answer
    int status;
    Buf answer;
    JsonWriter json; // writes into `answer`
    const char *content_type;
    ExchangeHeader headers[EXCHANGE_HEADERS_MAX];
    size_t header_count;
    struct Stream *stream;        // NULL = the answer is `answer`
    struct ChangeStream *changes; // likewise, of changes
    int64_t spilled_size; // > 0: so much of it is in `spill_file`, before what is in `answer`
    int spill_file;
    int64_t spill_held; // its part of the server's spilled_bytes
    char *kept;         // texts of a stream's exchange, which has no arena; NULL = none
    // the engine's part
    ExchangeFunction next;         // when the engine has answered
    ExchangeFunction after_commit; // when it answered OK
    ExchangeFunction after_wait;   // when exchange_await is over
    // The connection ended while it was EXCHANGE_WAITING, and `next` will not be called: lets go of
    // what others know of the exchange. NULL = nothing.
    ExchangeFunction abandoned;
    Request *request;     // of exchange_op; NULL = none yet
    struct RunWait *wait; // of exchange_await; NULL = none
    Deadline wait_end;    // of the same, where runs go by a virtual clock
    bool has_left;        // the client did while it waited: nothing is worth waiting for any more
    _Atomic size_t open_count;  // of exchange_submit_all
    void *state;                // what the handler keeps for its continuation
    List offload_link;          // among those that wait for a thread
    ExchangeFunction offloaded; // of exchange_offload; NULL = none
};

// ---- the request ----

// The value of a query parameter; null = absent.
Str exchange_query(const Exchange *exchange, const char *name);
// The value of a header, the first if it repeats; null = absent.
Str exchange_header(const Exchange *exchange, const char *name);
size_t exchange_header_count(const Exchange *exchange, const char *name);
// The value of the one with that number among those of the name; false = there are not as many.
bool exchange_header_at(const Exchange *exchange, const char *name, size_t number, Str *ret_value);
// Durations, numbers and times of the query. Absent leaves *ret_value alone. False when it was
// malformed: then the exchange has been answered.
bool exchange_query_duration(Exchange *exchange, const char *name, int64_t *ret_ms);
bool exchange_query_count(Exchange *exchange, const char *name, int64_t max, int64_t *ret_value);
bool exchange_query_instant(Exchange *exchange, const char *name, int64_t *ret_ms);
// JSON that came with the request, as a tree; it is gone when the handler returns, its texts are
// not. Faults are those of json_parse, and SERVER_BUSY when there is no room for it. [exchange-5]
MUST_CHECK Status exchange_parse(Exchange *exchange, Str text, JsonValue **ret_value, Diag *diag);
void exchange_drop_tree(Exchange *exchange);
// The body as a JSON object with only the route's fields, all required ones among them. NULL: the
// exchange has been answered.
const JsonValue *exchange_object(Exchange *exchange);
// The body as a payload: checked JSON, byte for byte; null when there is none. False likewise.
bool exchange_payload(Exchange *exchange, Str *ret_payload);

// ---- the answer ----

void exchange_set_header(Exchange *exchange, const char *name, Str value);
// Begins a JSON answer; the handler writes it to what this returns and ends with exchange_send.
JsonWriter *exchange_begin(Exchange *exchange, int status);
void exchange_send(Exchange *exchange);
// For answers without a ceiling: moves what has been written so far out of memory once it is worth
// it, into a file that has no name. False: that failed, and the exchange has been answered.
bool exchange_spill(Exchange *exchange);
bool exchange_spill_rest(Exchange *exchange); // whatever its size
void exchange_drop_spill(Exchange *exchange);
// Text of another kind; `text` is copied.
void exchange_send_text(Exchange *exchange, int status, const char *content_type, Str text);
// RFC 9457 problem+json; the HTTP status follows from the two (problem.c).
void exchange_refuse(Exchange *exchange, Status status, const Diag *diag);
void exchange_refuse_with(Exchange *exchange, Status status, const char *code, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

// ---- the engine ----

Store *exchange_store(const Exchange *exchange);
int64_t exchange_now_ms(const Exchange *exchange);
// Whether the store has answered what it was asked. False: the exchange has been answered with why.
bool exchange_found(Exchange *exchange, Status status, const Diag *diag);
// A cleared operation to be filled in and submitted.
Op *exchange_op(Exchange *exchange, OpKind kind);
// Submits it; when it has been answered OK `next` goes on on a server thread, with the answers in
// exchange->request.op; otherwise the exchange is refused with its diagnosis.
void exchange_submit(Exchange *exchange, ExchangeFunction next);
// As above, but `next` looks at the operation's status itself.
void exchange_submit_any(Exchange *exchange, ExchangeFunction next);
// Several at once (in the arena), answered together: `next` looks at each status itself.
void exchange_submit_all(Exchange *exchange, Request *requests, size_t count,
                         ExchangeFunction next);
// `next` goes on when the run has ended, when `wait_ms` have passed, or when the client has left.
void exchange_await(Exchange *exchange, Str run_id, int64_t wait_ms, ExchangeFunction next);
// Suspends the connection until somebody wakes the exchange; then `next` goes on.
void exchange_suspend(Exchange *exchange, ExchangeFunction next);
// For answers that take long to compute: `work` makes the answer on a thread of its own, after the
// handler has returned. It may read the request and the store and answers; it submits nothing and
// waits for nothing. [offload-1]
void exchange_offload(Exchange *exchange, ExchangeFunction work);
// Lets the continuation of one that is EXCHANGE_WAITING run. Any thread.
void exchange_wake(Exchange *exchange);
