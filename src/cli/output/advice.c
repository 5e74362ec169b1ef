// Which flags help with which code, and which codes blame the command line.
//
// The library says what is wrong in words that hold for every program that uses it; here is what a
// person who typed a command can do about it.
//
// Not here: what went wrong (whoever filled the Diag).
#include "cli/output/advice.h"
#include "base/array.h"
#include <stdio.h>
#include <string.h>

// Whether it is the fault of what was typed.
typedef enum Blame {
    BLAME_NOT,
    BLAME_HERE,     // if the command itself found it; a server may mean something else by it
    BLAME_ANYWHERE, // a server refused it because of how it is written: it was not tried
} Blame;

typedef struct Advice {
    const char *code;
    Blame blame;
    const char *text; // NULL = the message says it all
} Advice;

static const Advice advices[] = {
    {"LISTEN_FAILED", BLAME_NOT,
     "--listen HOST:PORT takes another one, and port 0 any that is free"},
    {"STORE_LOCKED", BLAME_NOT,
     "talk to the running server with --server, or name another store with "
     "--store"},
    {"STORE_FILLING", BLAME_NOT, "`abide migrate --resume` finishes the copy"},
    {"STORE_MOVED", BLAME_NOT,
     "`abide migrate --resume` goes on with a copy that was interrupted, "
     "`abide migrate --reopen URL` takes the mark away"},
    {"TRANSFER_STOPPED", BLAME_NOT,
     "--resume goes on from here, `abide migrate --reopen URL` gives the "
     "source back"},
    {"BACKUP_EXISTS", BLAME_HERE, "--replace writes over a file that is there"},
    {"BACKUP_UNSUPPORTED", BLAME_HERE,
     "with no server at work, `abide migrate` moves a store into a file"},
    {"TRANSFER_SAME", BLAME_HERE, "name another target with --to"},
    {"BACKUP_TARGET", BLAME_HERE, NULL},
    {"BAD_ARGUMENT", BLAME_HERE, NULL},
    {"BAD_DURATION", BLAME_HERE, NULL},
    {"BAD_JSON", BLAME_HERE, NULL},
    {"BAD_SERVER_URL", BLAME_HERE, NULL},
    {"BAD_TIME", BLAME_HERE, NULL},
    {"FILE_NOT_READ", BLAME_HERE, NULL},
    {"FILE_TOO_LARGE", BLAME_HERE, NULL},
    {"JSON_TOO_DEEP", BLAME_HERE, NULL},
    {"STORE_URL", BLAME_HERE, NULL},
    {"FLOW_SYNTAX", BLAME_ANYWHERE, NULL},
};

static const Advice *find(const Diag *diag) {
    for (size_t i = 0; i < COUNT_OF(advices); i++)
        if (strcmp(diag->code, advices[i].code) == 0) return &advices[i];
    return NULL;
}

void advice_add(Diag *diag) {
    const Advice *advice = find(diag);
    if (advice == NULL || advice->text == NULL) return;
    size_t len = strlen(diag->message);
    snprintf(diag->message + len, sizeof diag->message - len, "; %s", advice->text);
}

bool advice_is_misuse(const Diag *diag, bool is_of_server) {
    const Advice *advice = find(diag);
    if (advice == NULL) return false;
    return advice->blame == BLAME_ANYWHERE || (advice->blame == BLAME_HERE && !is_of_server);
}
