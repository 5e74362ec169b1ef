// Tasks: the functions that make a flow useful without any worker: http, exec, log, fail.
//
// They are written against include/abide.h, as a stranger's would be; docs/tasks.md describes them
// for users. Registered together by abide_register_builtin_tasks.
//
//   [tasks-tasks-1] Input that cannot be right is a final error (type TaskInputError, the message
//        names the field): trying again would not mend it.
//   [tasks-tasks-2] Everything an outsider controls has a ceiling: answers, outputs, times,
//        redirects.
//   [tasks-tasks-3] An attempt leaves nothing behind: no process, descriptor or memory.
#pragma once
#include "abide.h"
#include "base/arena.h"
#include "base/containers/buf.h"
#include "base/diag.h"
#include "json/value.h"

struct sockaddr;

// A block of addresses, "10.1.0.0/16". IPv4 is kept as IPv6 wraps it, so both are compared alike.
typedef struct AddressBlock {
    uint8_t bytes[16];
    int bits; // of 128
} AddressBlock;

enum { ADDRESS_BLOCKS_MAX = 64 };

typedef struct TaskSettings { // the user data of each of them; lives as long as the engine
    bool is_exec_allowed;
    bool is_private_allowed; // http may reach loopback, link-local and private addresses
    AddressBlock allowed[ADDRESS_BLOCKS_MAX]; // http may reach these too
    size_t allowed_count;
    void (*on_log)(void *user, int level, const char *line);
    void *user;
} TaskSettings;

int task_http(abide_call *call, const char *input);
int task_exec(abide_call *call, const char *input);
int task_log(abide_call *call, const char *input);
int task_fail(abide_call *call, const char *input);

// The input as an object with no other members than `names` (ended by NULL; NULL: any).
// [tasks-tasks-1]
MUST_CHECK Status task_input(Arena *arena, const char *input, const char *const *names,
                             const JsonValue **ret_object, Diag *diag);
// Fails the attempt for good, because of its input. [tasks-tasks-1]
int task_refuse(abide_call *call, const Diag *diag);

// The policy of http about whom it talks to. `address` is what is about to be connected to, so
// neither names, redirects nor changing answers of the DNS get round it.
bool address_is_public(const struct sockaddr *address);
bool address_is_in(const struct sockaddr *address, const AddressBlock *block);
// "10.1.0.0/16", "127.0.0.2", "fd00::/8". ERR_INVALID: it is none of these.
MUST_CHECK Status address_block_parse(Str text, AddressBlock *ret_block, Diag *diag);
