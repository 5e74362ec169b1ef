// Parts: what several routes read and write.
#pragma once
#include "server/exchange/exchange.h"
#include "server/exchange/render.h"
#include "server/server.h"

// Lists: the fields of their query, and reading them.
#define PAGE_FIELDS                                                                                \
    {"limit", "integer", false, "Most items to answer, 1 to 1000; 100 unless given."}, {           \
        "cursor", "string", false, "`next` of the page before."                                    \
    }
#define PAGE_LIMIT 100
enum { PAGE_ROWS_SIZE = 8 << 20 }; // a page of a list is cut there, and says where to go on

// False when malformed: the exchange has been answered.
bool parts_page(Exchange *exchange, PageSpec *ret_page);
// The same for lists that are ordered by name: their cursor is the last one seen.
bool parts_named_page(Exchange *exchange, NamePageSpec *ret_page);
typedef struct RowList {
    const void *rows;
    size_t row_size;
    size_t count;
} RowList;
#define ROW_LIST(page) ((RowList){(page).rows, sizeof *(page).rows, (page).count})
// Writes a row of the list as JSON.
typedef void (*RowRenderer)(Exchange *exchange, JsonWriter *json, const void *row);
// {"items": […], "next": …}; `next` is the cursor of the next page (0 or null = there is none).
void parts_send_page(Exchange *exchange, RowList list, int64_t next, RowRenderer render);
void parts_send_list(Exchange *exchange, RowList list, Str next, RowRenderer render);
// The member "next" of a list: a cursor as text, null for 0.
void parts_put_cursor(JsonWriter *json, int64_t next);
// A name from a path or a body; NULL `what` never. False likewise.
bool parts_check(Exchange *exchange, Str text, const char *what, const char *code);
// This node has the code of the workflow: of a script always, of a C function if registered.
bool parts_is_registered(Exchange *exchange, int64_t kind, Str workflow);
// What is hidden of the data of a run, of whatever belongs to the run with that key (0 = to none:
// nothing is), and of what belongs to runs in common. They live as long as the exchange.
RenderMask parts_mask(Exchange *exchange, const RunRow *run);
const RenderMask *parts_mask_of(Exchange *exchange, int64_t run_key);
const RenderMask *parts_common_mask(Exchange *exchange);
RenderMask parts_mask_of_definition(Server *server, Arena *arena, int64_t definition);
// The run with that id. False: the exchange has been answered with why.
bool parts_find_run(Exchange *exchange, Str run_id, RunRow *ret_run);
// Answers the run called `run_id` with `http_status`, its result included when it has ended.
void parts_send_run(Exchange *exchange, int http_status, Str run_id);
// Answers a run that was just made, from what was written: the store is not asked.
void parts_send_new_run(Exchange *exchange, const RunRow *run, Str version);
// What a run's row does not tell. A reason that cannot be read just now is told as such.
RunMore parts_run_more(Exchange *exchange, const RunRow *run);
// Why what is kept of a released run cannot be read, an error object; null when it can. Rows of
// lists do not tell.
Str parts_unreadable(Exchange *exchange, const RunRow *run);
// {"changed": …}
void parts_send_changed(Exchange *exchange, bool is_changed);
// The values of a query parameter that may be repeated, joined by '\n'; null when there is none.
// With commas: each value may be a list itself. A name with a comma in it is found as it is, too.
Str parts_query_list(Exchange *exchange, const char *name, bool has_commas);
// The states in the query parameter "status", which may be repeated or have several with commas, as
// bits (1 << state); `name_of` names those from 1 to state_count - 1. False: it was refused.
bool parts_query_states(Exchange *exchange, const char *(*name_of)(int64_t state),
                        int64_t state_count, uint32_t *ret_states);
// The columns that a body which changes a row leaves as they are: those whose fields are missing.
typedef struct FieldColumn {
    const char *field; // NULL ends the list
    size_t offset;     // in the row struct
} FieldColumn;
uint64_t parts_kept(const JsonValue *body, TableNumber table, const FieldColumn *fields);
// A member that must be valid JSON text: its bytes. Null when absent.
Str parts_raw(const JsonValue *body, const char *name);
// `iteration` of the body: which of several steps of a name; the last one when it is not given.
MUST_CHECK Status parts_iteration(const JsonValue *body, StepChoice *step, Diag *diag);
