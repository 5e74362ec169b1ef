// Schemas of what workers are told: of tasks, and of turns of workflows that they execute.
//
// As those of schemas.c they say exactly what is written, and tests compare.
//
// Not here: the table of all schemas (schemas.c), the protocol itself (docs/protocol.md).
#include "server/openapi/openapi.h"

// ---- tasks ----

const Field schema_claimed_task[] = {
    {"id", "string", true, ""},
    {"name", "string", true, ""},
    {"queue", "string", true, ""},
    {"input", "any", true, ""},
    {"attempt", "integer", true, "1 is the first."},
    {"token", "integer", true, "To be sent with the result: it fences. Random, and below 2^53."},
    {"lease_until", "instant?", true, ""},
    {"lease_ms", "integer", true, "How long the lease is."},
    {"run_id", "string?", true, "The run it belongs to."},
    {"step", "integer?", true, "Its place in the run."},
    {"traceparent", "string?", true, "The W3C trace that its work belongs to; null: none."},
    {"tracestate", "string?", true, "What came with it, to be handed on; null: none."},
    {0}};
const Field schema_claimed[] = {{"tasks", "[ClaimedTask]", true, ""}, {0}};
const Field schema_verdict[] = {
    {"id", "string", true, ""},
    {"status", "string", true, "accepted, cancelled, fenced, not_found or refused"},
    {"retried", "boolean", false, "Of an accepted failure: it will be tried again."},
    {"code", "string", false, "Why it was not accepted."},
    {"detail", "string", false, ""},
    {0}};
const Field schema_completed[] = {
    {"results", "[Verdict]", true, ""},
    {"tasks", "[ClaimedTask]", false, "Where a claim came with them."},
    {0}};
const Field schema_renewed[] = {{"tasks", "[Verdict]", true, ""}, {0}};

// ---- turns of code ----

const Field schema_registered_code[] = {
    {"workflows", "objects", true, "Each {name, version, is_new}."}, {0}};
const Field schema_journal_entry[] = {
    {"seq", "integer", true, "Its number in the run's log."},
    {"kind", "string", true, "step, step_attempt, wait, task, child, emit, stream or mark"},
    {"op", "integer", true, "The operation that it belongs to; 0: none."},
    {"name", "string?", true, ""},
    {"outcome", "string", true, "ok, error, timeout or cancelled"},
    {"attempt", "integer", true, "Attempts used."},
    {"data", "any", true, "Result, error, id of the task or child, value of the mark."},
    {0}};
const Field schema_claimed_turn[] = {
    {"turn", "integer", true, "The token under which it is held."},
    {"run_id", "string", true, ""},
    {"workflow", "string", true, ""},
    {"version", "string?", true, "Null in the answer of /v1/turns/journal."},
    {"epoch", "integer", true, ""},
    {"attempt", "integer", true, "Attempts of the whole run, this one included."},
    {"parent_id", "string?", true, ""},
    {"started_at", "instant?", true, ""},
    {"tags", "strings", true, ""},
    {"traceparent", "string?", true, ""},
    {"cancelled", "boolean", true, "The run was asked to end."},
    {"now", "instant", true, "The time of the server, which the function goes by."},
    {"lease_until", "instant", true, "Until then it must be committed or renewed."},
    {"input", "any", true, "Null when the worker has the run in memory."},
    {"after", "integer", true, "The journal begins behind this entry; 0: it is whole."},
    {"journal", "[JournalEntry]", true, ""},
    {0}};
const Field schema_claimed_turns[] = {
    {"turns", "[ClaimedTurn]", true, ""},
    {"news", "[integer]", true,
     "Turns that the worker holds: something that they wait for is there."},
    {0}};
const Field schema_turn_verdict[] = {
    {"turn", "integer", true, ""},
    {"status", "string", true, "accepted, fenced or refused"},
    {"now", "instant", true, "The time of the server, which the function goes by."},
    {"run_status", "string", false, "accepted: the state of the run now"},
    {"is_held", "boolean", false, "running: the worker still holds the turn"},
    {"cancelled", "boolean", false, "The run was asked to end."},
    {"journal", "[JournalEntry]", false,
     "running, with waits: what of them was there; these entries follow those of the commit."},
    {"seq", "integer", false, "accepted: of the log, the last entry that the worker knows now"},
    {"code", "string", false, "Why not."},
    {"detail", "string", false, ""},
    {0}};
const Field schema_committed_turns[] = {
    {"turns", "[TurnVerdict]", true, ""},
    {"claimed", "[ClaimedTurn]", false, "With claim: turns that are the worker's now."},
    {0}};
const Field schema_renewed_turn[] = {
    {"turn", "integer", true, ""},
    {"status", "string", true, "accepted, cancelled or fenced"},
    {"news", "boolean", true, "Something that it waits for is there."},
    {0}};
const Field schema_renewed_turns[] = {{"turns", "[RenewedTurn]", true, ""}, {0}};
