// What the files of the Redis backend share.
//
// redis/url.c         the URL of a store
// redis/link.c        one connection: connecting, sending, waiting
// redis/call.c        calls of our functions, and the keys they declare
// redis/ticket.c      keeping other writers out for a moment
// redis/error.c       Redis's answers in our words
// redis/server.c      what the server is and how it keeps what it is told
// redis/heartbeat.c   leases beside the rows
// redis/layout.c      making the store, knowing its columns
// redis/rows.c        rows to bytes and back, members of the indexes
// redis/remote.c      the writer: what RemoteRows asks of a server
// redis/listen.c      hearing of what other nodes write
// redis/reader.c      the reader, and opening both
// redis/functions.lua what runs on the server
#pragma once
#include "base/containers/buf.h"
#include "base/log.h"
#include "store/remote/remote.h"
#include "store/row_key.h"
#include <hiredis/hiredis.h>
#include <pthread.h>

enum {
    REDIS_FORMAT = 2, // raised when an older abide cannot work with it any more
    REDIS_PREFIX_MAX = 64,
    REDIS_VERSION_MIN = 7,
    REDIS_CONNECT_TIMEOUT_MS = 5 * 1000,
    REDIS_ANSWER_TIMEOUT_MS = 30 * 1000, // past it the connection counts as lost
    REDIS_SILENCE_MS = 3 * 1000,         // past it the server is asked whether it answers anybody
    REDIS_SILENCE_KEPT_MS = 1000,        // after it did not
    REDIS_TICKET_MS = 5 * 1000,          // how long a writer that stands still holds up others
    REDIS_BUSY_TIMEOUT_MS = 10 * 1000,   // how long we wait for others before we say so
    REDIS_CALL_SIZE_MAX = 1 << 30,
    REDIS_GROUP_ARGUMENTS_MAX = 3000, // Lua unpacks no more than some thousands
    REDIS_HOLDER_SIZE = 16,           // hexadecimal digits
    REDIS_PROMISE_MAX = 400,
};

// ---- keys ----

typedef enum RedisKeyKind { // the first ones are declared with every call, in this order
    REDIS_KEY_STORE,        // hash: format, version, layout, columns of the tables
    REDIS_KEY_TICKET,       // text that expires: who keeps other writers out
    REDIS_KEY_FREED,        // list: pushed to when the ticket is given back
    REDIS_KEY_WANTED,       // text that expires: somebody waits for the ticket
    REDIS_KEY_CHANGES,      // hash: version -> what it changed [remote-6]
    REDIS_KEY_HEARTBEATS,   // hash: node -> until when its lease lasts
    REDIS_KEY_COMMON_COUNT,
} RedisKeyKind;

enum {
    REDIS_KEYS_PER_TABLE = 2 + TABLE_INDEXES_MAX, // the rows, the primary order, the indexes
    REDIS_KEY_COUNT = REDIS_KEY_COMMON_COUNT + TABLE_COUNT * REDIS_KEYS_PER_TABLE,
};
static inline int redis_key_rows(TableNumber table) {
    return REDIS_KEY_COMMON_COUNT + (int)table * REDIS_KEYS_PER_TABLE;
}
static inline int redis_key_order(TableNumber table, int index) {
    return redis_key_rows(table) + 2 + index; // SCAN_PRIMARY is -1
}

// ---- redis/url.c ----

typedef struct RedisAddress { // shared by writer, reader and listener; the last one frees it
    char *host;               // NULL: `path` counts
    int port;
    char *path; // of a socket
    char *user; // NULL = none
    char *password;
    int database;
    char prefix[REDIS_PREFIX_MAX + 1];
    pthread_mutex_t mutex;
    int user_count;
    // [remote-4] Commits whose outcome is not known, by number. Whoever speaks to the server next
    //      raises
    // the version, so that nothing of them comes later.
    int64_t lost_number, settled_number;
    char writer[REDIS_HOLDER_SIZE + 1]; // what comes from there is no news to us
    _Atomic int64_t silent_until_ns; // the server answered nobody: nobody asks it again until then
} RedisAddress;

MUST_CHECK Status redis_address_new(Str url, RedisAddress **ret_address, Diag *diag);
void redis_address_join(RedisAddress *address);
void redis_address_leave(RedisAddress *address); // frees it with its last user
// The name of a key; `buf` is replaced.
void redis_key_name(Buf *buf, const RedisAddress *address, int key);
void redis_channel_name(Buf *buf, const RedisAddress *address);

// ---- redis/link.c ----

enum { REDIS_COLUMN_UNKNOWN = 255, REDIS_COLUMNS_MAX = 128 };

typedef struct RedisTableLayout {
    uint8_t count;                      // columns stored
    uint8_t known_count;                // the first ones, which this program knows
    uint8_t columns[REDIS_COLUMNS_MAX]; // place in the row -> our column
} RedisTableLayout;

// What the server's last error asks for, besides what its Status does.
typedef enum RedisTrouble {
    REDIS_TROUBLE_OTHER,
    REDIS_TROUBLE_NO_FUNCTION, // it does not know the function (any more)
    REDIS_TROUBLE_IS_THERE,    // it knows these functions already
} RedisTrouble;

typedef struct RedisLink {
    RedisAddress *address;
    RedisTrouble trouble;               // of the last answer, if it was an error
    redisContext *context;              // NULL = not connected
    bool is_new;                        // the server has not said a word yet
    char holder[REDIS_HOLDER_SIZE + 1]; // who we are to the server
    char functions[16];                 // part of their names: a digest of their text
    char layout[24];                    // number of the layout we know; "" = none
    RedisTableLayout tables[TABLE_COUNT];
    Buf keys, arguments; // of the call that is being put together, as they go over the wire
    size_t key_count, argument_count;
    int places[REDIS_KEY_COUNT]; // of keys in the call; 0 = not declared yet
    Buf name, bytes;             // scratch
} RedisLink;

void redis_link_init(RedisLink *link, RedisAddress *address);
void redis_link_done(RedisLink *link);
void redis_link_drop(RedisLink *link); // the connection
// Connects when that is needed, and settles what is open [remote-4]. Knows the layout afterwards.
MUST_CHECK Status redis_link_connect(RedisLink *link, Diag *diag);
// The connection alone: for those who only look at the server, or listen.
MUST_CHECK Status redis_link_reach(RedisLink *link, Diag *diag);
static inline bool redis_link_is_alive(const RedisLink *link) { return link->context != NULL; }
// Sends all of it, or drops the connection.
MUST_CHECK Status redis_link_send(RedisLink *link, Str bytes, Diag *diag);
// Waits for one answer. An error that the server answers is given back as a Status.
MUST_CHECK Status redis_link_receive(RedisLink *link, int timeout_ms, redisReply **ret_reply,
                                     Diag *diag);
// One command, word by word, and its answer. The caller frees the reply.
MUST_CHECK Status redis_link_command(RedisLink *link, const Str *words, size_t count,
                                     redisReply **ret_reply, Diag *diag);

// ---- redis/call.c ----

void redis_wire_append(Buf *buf, Str word); // as the protocol has it
void redis_call_init(RedisLink *link);
void redis_call_begin(RedisLink *link);
int redis_call_place(RedisLink *link, int key); // declares it; its place
void redis_call_add(RedisLink *link, Str argument);
void redis_call_add_i64(RedisLink *link, int64_t argument);
void redis_call_add_head(RedisLink *link, int64_t version); // [functions-3] of redis/functions.lua
// Calls "read", "commit" …; loads the functions when the server has not got them.
MUST_CHECK Status redis_call_run(RedisLink *link, const char *function, redisReply **ret_reply,
                                 Diag *diag);
// The first word of an answer: OK for "ok", ERR_CONFLICT for "changed" and "layout" (which is
// forgotten then), ERR_UNAVAILABLE with STORE_BUSY for "busy".
MUST_CHECK Status redis_call_status(RedisLink *link, const redisReply *reply, Diag *diag);
bool redis_reply_is(const redisReply *reply, size_t place, const char *word);
Str redis_reply_str(const redisReply *reply, size_t place); // null when there is no text
bool redis_reply_i64(const redisReply *reply, size_t place, int64_t *ret_value);

// ---- redis/ticket.c ----

// Runs the call that was put together, again while another node has the ticket.
MUST_CHECK Status redis_call_patiently(RedisLink *link, const char *function,
                                       redisReply **ret_reply, Diag *diag);
void redis_ticket_release(RedisLink *link);

// ---- redis/error.c ----

Status redis_lost(const char *reason, Diag *diag);
Status redis_error(Str text, RedisTrouble *ret_trouble, Diag *diag);
Status redis_strange(const char *what, Diag *diag); // an answer that makes no sense

// ---- redis/server.c ----

typedef struct RedisServer {
    bool is_promised;                // P1: what was acknowledged survives a crash and a power cut
    char promise[REDIS_PROMISE_MAX]; // in words
} RedisServer;

// Refuses servers that cannot carry a store; says what those that can promise.
MUST_CHECK Status redis_server_look(RedisLink *link, bool is_writing, RedisServer *ret_server,
                                    Diag *diag);

// ---- redis/layout.c ----

// Makes the store or brings it up; or, with is_making false, only looks.
MUST_CHECK Status redis_layout_open(RedisLink *link, bool is_making, Diag *diag);

// ---- redis/rows.c ----

void redis_call_add_scan(RedisLink *link, const Scan *scan);
void redis_call_add_writes(RedisLink *link, const WriteList *list);
// Fills in the answer; the fetch knows its scan.
MUST_CHECK Status redis_take_rows(const RedisLink *link, const redisReply *reply, Arena *arena,
                                  Fetch *fetch, Diag *diag);
// For the function "count": the members that the rows of the fetch should have.
void redis_call_add_members(RedisLink *link, const Fetch *fetch);
bool redis_is_listed(const Table *table, int index, const void *row); // whether the index has it
// Where the primary key is in a member of an index: first and last byte of each piece, as Lua
// counts them. Stops the process when that cannot be told, which is a bug in the tables.
enum { REDIS_PIECES_MAX = 4 };
typedef struct RedisPieces {
    int count; // 0 = the member is the key
    int ends[2 * REDIS_PIECES_MAX];
} RedisPieces;
RedisPieces redis_pieces(const Table *table, int index);

// ---- redis/heartbeat.c ----

// Says that the node lives, or with no node only looks; as RemoteOps.heartbeat.
MUST_CHECK Status redis_heartbeat(RedisLink *link, Heartbeat *heartbeat, Arena *arena,
                                  int64_t *ret_version, Diag *diag);

// ---- redis/remote.c ----

MUST_CHECK Status redis_remote_open(RedisAddress *address, Remote **ret_remote,
                                    RedisServer *ret_server, Diag *diag);

// ---- redis/listen.c ----

struct RemoteListener *redis_listener_new(RedisAddress *address); // of remote/listen.h
