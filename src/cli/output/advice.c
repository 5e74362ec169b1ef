// Which flags help with which code.
//
// The library says what is wrong in words that hold for every program that uses it; here is what a
// person who typed a command can do about it.
//
// Not here: what went wrong (whoever filled the Diag).
#include "cli/output/advice.h"
#include "base/array.h"
#include <stdio.h>
#include <string.h>

typedef struct Advice {
    const char *code;
    const char *text;
} Advice;

static const Advice advices[] = {
    {"LISTEN_FAILED", "--listen HOST:PORT takes another one, and port 0 any that is free"},
    {"STORE_LOCKED", "talk to the running server with --server, or name another store with "
                     "--store"},
    {"STORE_FILLING", "`abide migrate --resume` finishes the copy"},
    {"STORE_MOVED", "`abide migrate --resume` goes on with a copy that was interrupted, "
                    "`abide migrate --reopen URL` takes the mark away"},
    {"TRANSFER_STOPPED", "--resume goes on from here, `abide migrate --reopen URL` gives the "
                         "source back"},
    {"BACKUP_EXISTS", "--replace writes over a file that is there"},
    {"BACKUP_UNSUPPORTED", "with no server at work, `abide migrate` moves a store into a file"},
    {"TRANSFER_SAME", "name another target with --to"},
};

void advice_add(Diag *diag) {
    size_t len = strlen(diag->message);
    for (size_t i = 0; i < COUNT_OF(advices); i++) {
        if (strcmp(diag->code, advices[i].code) != 0) continue;
        snprintf(diag->message + len, sizeof diag->message - len, "; %s", advices[i].text);
        return;
    }
}
