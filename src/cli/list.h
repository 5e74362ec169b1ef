// Lists: pages of a resource, gathered and shown in the form that was asked for.
//
//   [L1] A limit above the server's page size is served by several pages.
//   [L2] When there is more than was asked for, stderr says how to go on; JSON has it in "next".
#pragma once
#include "cli/session.h"

enum { LIST_LIMIT = 100 };

typedef struct Listing {
    Str path;             // with the filters, without limit and cursor
    uint64_t limit;       // 0: the server answers everything in one page
    Str cursor;           // null: from the beginning
    const char *id_field; // what -o ids prints
    const TableColumn *columns;
    size_t column_count;
    void (*add_row)(Session *session, TextTable *table, const JsonValue *item);
} Listing;

typedef VEC(const JsonValue *) ListItems; // in the session's arena

// All items up to the limit; the caller frees the vector. *ret_next: null when there are no more.
bool list_gather(Session *session, const Listing *listing, ListItems *items, Str *ret_next);
bool list_show(Session *session, const Listing *listing);
// A whole command that lists `listing`, with --limit and --cursor.
int list_command(const OptionTable *table, Listing *listing, int argument_count, char **arguments);
