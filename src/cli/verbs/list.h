// Lists: pages of a resource, gathered and shown in the form that was asked for.
//
//   [list-1] A limit above the server's page size is served by several pages.
//   [list-2] When there is more than was asked for, stderr says how to go on; JSON has it in
//        "next".
//   [list-3] -o ids names each thing once: a workflow has a row per version.
#pragma once
#include "cli/client/session.h"

enum { LIST_LIMIT = 100, LIST_COLUMNS_MAX = 16 };

typedef enum CellKind {
    CELL_TEXT,   // as it is
    CELL_STATUS, // painted by what it says
    CELL_AGE,    // a time, as its distance from now
    CELL_JSON,   // any value
} CellKind;

typedef struct ListColumn {
    TableColumn column;
    const char *field; // of the item
    CellKind kind;
    // The text in place of the field's; NULL: that.
    Str (*text)(Session *session, const JsonValue *item);
} ListColumn;

typedef struct Listing {
    Str path;             // with the filters, without limit and cursor
    uint64_t limit;       // 0: the server answers everything in one page
    Str cursor;           // null: from the beginning
    const char *id_field; // what -o ids prints
    const ListColumn *columns;
    size_t column_count;
    bool has_no_titles; // a table goes on
} Listing;

typedef VEC(const JsonValue *) ListItems; // in the session's arena

// All items up to the limit; the caller frees the vector. *ret_next: null when there are no more.
bool list_gather(Session *session, const Listing *listing, ListItems *items, Str *ret_next);
bool list_show(Session *session, const Listing *listing);
// Prints what was gathered, in the form that was asked for.
void list_print(Session *session, const Listing *listing, const ListItems *items, Str next);
// Shows the list until it is interrupted, again whenever it has changed (list_watch.c).
void list_watch(Session *session, const Listing *listing);
