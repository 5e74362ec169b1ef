// Schemas of the answers, by name.
//
// They say exactly what render.c and the routes write: every test of the server holds each answer
// against its schema, so a member that is added there has to be added here.
// Not here: bodies and queries of requests, which stand with their routes.
#include "base/array.h"
#include "server/openapi/openapi.h"

static const Field problem[] = {
    {"type", "string", true, "urn:abide:error:CODE"},
    {"title", "string", true, "The HTTP status in words."},
    {"status", "integer", true, "The HTTP status."},
    {"code", "string", true, "Stable; docs/errors.md explains each."},
    {"detail", "string", true, "What is wrong and what to do, for people."},
    {"findings", "[Finding]", false, "What is wrong with a script."},
    {0}};
static const Field health[] = {{"status", "string", true, "alive, ready, stopping"}, {0}};
static const Field version[] = {{"version", "string", true, "Of the server."}, {0}};
static const Field changed[] = {{"changed", "boolean", true, "False: it was so already."},
                                {"from", "string", false, "Of a move: the version it had."},
                                {"to", "string", false, "Of a move: the one asked for."},
                                {"id", "string", false, "Of a dry run: id of the new run."},
                                {0}};

// ---- runs ----

static const Field wait[] = {
    {"on", "string", true, "event, signal, task, child or timer"},
    {"name", "string?", true, "Topic, signal, or the id of a task or run; null for timers."},
    {"label", "string", false, "The task's name, or the workflow of the run."},
    {"since", "instant?", true, "When it began to wait."},
    {"deadline", "instant?", true, "When it stops waiting."},
    {"filter", "string", false, "Which events it wants."},
    {"unserved", "Unserved?", false, "Of a task that nobody asks for. Not in lists."},
    {0}};
static const Field run_item[] = {
    {"id", "string", true, ""},
    {"workflow", "string", true, ""},
    {"kind", "string", true,
     "flow: a script; native: a C function; code: a function of another process"},
    {"status", "string", true,
     "pending, running, suspended, paused, completed, failed or cancelled"},
    {"priority", "integer", true, "Higher first."},
    {"tags", "strings", true, ""},
    {"waits", "[Wait]", true, "What a parked run waits for: the first of them wakes it."},
    {"attempt", "integer", true,
     "1, and +1 each time it failed and began again from its input (config.retry)."},
    {"attempts", "integer", true, "Executions in a row whose process ended before they did."},
    {"incarnation", "integer", true, "+1 with each continue-as, rewind and further attempt."},
    {"cancel_requested", "boolean", true, ""},
    {"created_at", "instant?", true, ""},
    {"started_at", "instant?", true, ""},
    {"updated_at", "instant?", true, "Last change of status."},
    {"finished_at", "instant?", true, ""},
    {"next_wake_at", "instant?", true, "What happens next by itself."},
    {"deadline_at", "instant?", true, "Overall time-out."},
    {"idle_since", "instant?", true, "Since when it waits for the outside world only."},
    {"released", "boolean", true, "It waits, and nothing of it is in memory."},
    {"waits_for_code", "boolean", true,
     "It could go on, and waits for a node that has its workflow in C."},
    {"pause_reason", "any", true, "Why it is paused: an error object; null when it is not."},
    {0}};
static const Field run[] = {
    {"parent_id", "string?", true, "The run that started it."},
    {"traceparent", "string?", true, "The W3C trace it was started under."},
    {"registered", "boolean", true, "This node has its code; that of scripts always."},
    {"version", "string?", true, "Of the script it is pinned to."},
    {"state", "object", true, "What its script has set with State.set."},
    {"result", "any", true, "Null until it has completed."},
    {"error", "any", true,
     "Null unless it failed, was cancelled, or what is kept of it cannot be read."},
    {0}};
static const Field run_list[] = {
    {"items", "[RunItem]", true, ""},
    {"next", "string?", true, "Cursor of the next page."},
    {"looked_at", "integer", false, "With q: runs that were looked at."},
    {"where", "WhereCounts?", false, "Of a request with `where`, or with where(…) in q."},
    {0}};
static const Field filter_term[] = {{"from", "integer", true, "Its first byte in q."},
                                    {"to", "integer", true, "The byte behind it."},
                                    {"field", "string", true, "text: a word alone."},
                                    {"op", "string", true, ": ~ > < >= or <="},
                                    {"values", "strings", true, ""},
                                    {"negated", "boolean", true, ""},
                                    {0}};
static const Field filter_fault[] = {{"at", "integer", true, "The first byte of what is wrong."},
                                     {"length", "integer", true, "How many bytes are."},
                                     {"detail", "string", true, "What is wrong and what to do."},
                                     {"did_you_mean", "string?", true, "What may have been meant."},
                                     {0}};
static const Field completion[] = {{"text", "string", true, ""},
                                   {"from", "integer", true, "It replaces the bytes from here …"},
                                   {"to", "integer", true, "… to here."},
                                   {"about", "string", true, ""},
                                   {0}};
static const Field filter_read[] = {
    {"ok", "boolean", true, ""},
    {"terms", "[FilterTerm]", true, "Up to what is wrong."},
    {"error", "FilterFault?", true, ""},
    {"completions", "[Completion]", true, "What may stand at `at`."},
    {0}};
static const Field run_result[] = {{"status", "string", true, "As of the run."},
                                   {"result", "any", false, "When it has completed."},
                                   {"error", "any", false, "When it failed or was cancelled."},
                                   {0}};
static const Field entry[] = {
    {"seq", "integer", true, "1, 2, 3 … within the run."},
    {"at", "instant?", true, ""},
    {"kind", "string", true, "started, step, wait, task, line, finished …"},
    {"name", "string?", true, "Of the step, task, signal, topic, workflow …"},
    {"target", "string", false, "Of a task or child that has ended: its id."},
    {"outcome", "string", true, "ok, error, timeout or cancelled"},
    {"step_state", "string", false,
     "preparing, running or not_running: what became of the step or task, or of the run itself"},
    {"position", "integer", false, "Of a checkpoint."},
    {"iteration", "integer", false, "Which of several of that name."},
    {"attempt", "integer", false, ""},
    {"data", "any", false, ""},
    {0}};
static const Field entry_list[] = {
    {"items", "[Entry]", true, ""}, {"next", "string?", true, "Cursor of the next page."}, {0}};
static const Field view[] = {
    {"name", "string", false, "Of a variable."},
    {"key", "string", false, "Of an item."},
    {"path", "string", false, "Of the value that was asked for."},
    {"type", "string", true,
     "string, number, boolean, null, undefined, bigint, object, array, map, set, date, error, "
     "function, promise, uninitialised or other"},
    {"text", "string", true, "One line, shortened."},
    {"size", "integer", false, "Characters of a string; items of others."},
    {"items", "[View]", false, "What is in it."},
    {"left_out", "integer", false, "Items that are not shown."},
    {0}};
static const Field post_mortem[] = {
    {"frames", "[Frame]", true, "As the exception left them, the innermost first."},
    {"excerpt", "objects", true, "The source around the place: {line, text}."},
    {"causes", "objects", true, "Of the error, the nearest first: {type, message, code}."},
    {0}};
static const Field frame[] = {{"file", "string", true, ""},
                              {"line", "integer", true, ""},
                              {"column", "integer", true, ""},
                              {"function", "string?", true, ""},
                              {"locals", "object", true, "Variables, shortened."},
                              {"variables", "[View]", true, "The same, as deep as asked."},
                              {0}};
static const Field variable[] = {{"name", "string", true, ""},
                                 {"function", "string?", true, ""},
                                 {"bytes", "integer", true, ""},
                                 {0}};
static const Field snapshot[] = {
    {"run_id", "string", true, ""},
    {"kind", "string", true, "flow, native or code"},
    {"status", "string", true, "As of the run."},
    {"bytes", "integer", true, "Of the snapshot."},
    {"taken_at", "instant?", true, ""},
    {"waits", "[Wait]", true, ""},
    {"frames", "[Frame]", true, "Where it stands."},
    {"variables", "[Variable]", true, "The heaviest first."},
    {"value", "View?", true, "What `path` names."},
    {"failure", "PostMortem?", true, "Of a script that failed: how it looked then."},
    {0}};
static const Field turn[] = {
    {"turn", "integer", true, "Its number."},
    {"bytes", "integer", true, "Of the snapshot it began with."},
    {"after", "integer", true, "The last entry of the log before it."},
    {"last", "integer", true, "Its own last entry."},
    {"file", "string?", true, "Where the script stood; null when the snapshot cannot be opened."},
    {"line", "integer?", true, ""},
    {"column", "integer?", true, ""},
    {"function", "string?", true, ""},
    {0}};
static const Field turn_list[] = {{"items", "[Turn]", true, "Oldest first."},
                                  {"next", "string?", true, "Cursor of the next page."},
                                  {0}};
static const Field diff_side[] = {{"turn", "integer?", true, "Null: as it is now."},
                                  {"file", "string?", true, ""},
                                  {"line", "integer?", true, ""},
                                  {"column", "integer?", true, ""},
                                  {"function", "string?", true, ""},
                                  {0}};
static const Field variable_change[] = {{"function", "string?", true, ""},
                                        {"path", "string", true, "`order.items[3].price`"},
                                        {"change", "string", true, "added, removed or changed"},
                                        {"from", "string?", true, "What it was, as text."},
                                        {"to", "string?", true, "What it is."},
                                        {0}};
static const Field diff[] = {{"run_id", "string", true, ""},
                             {"from", "DiffSide", true, ""},
                             {"to", "DiffSide", true, ""},
                             {"changes", "[VariableChange]", true, "At most 1,000."},
                             {"more", "boolean", true, "There are more."},
                             {0}};
static const Field rewound[] = {{"changed", "boolean", true, ""},
                                {"position", "integer", true, "What was dropped begins here."},
                                {"dropped", "integer", true, "Checkpoints."},
                                {0}};
static const Field signalled[] = {{"event_id", "string", true, ""},
                                  {"delivered", "boolean", true, "A wait took it at once."},
                                  {"duplicate", "boolean", true, "The id was seen before."},
                                  {0}};

// ---- events ----

static const Field published[] = {{"event_id", "string", true, ""},
                                  {"resumed", "integer", true, "Runs it woke."},
                                  {"pending", "boolean", true, "It is kept for who waits later."},
                                  {"duplicate", "boolean", true, "The id was seen before."},
                                  {0}};
static const Field topic_item[] = {
    {"name", "string", true, ""},
    {"consume", "string", true, "one or all"},
    {"visible", "string", true, "all, after-create or after-wait"},
    {"expire", "duration?", true, ""},
    {"cap", "integer", true, "0: the server's setting."},
    {"pending", "integer", true, "Events that are kept."},
    {"full", "boolean", true, "An event that nobody waits for would be refused."},
    {0}};
static const Field topic[] = {{"waiters", "strings", true, "Ids of runs, oldest first."}, {0}};
static const Field topic_list[] = {
    {"items", "[TopicItem]", true, ""}, {"next", "string?", true, "Cursor of the next page."}, {0}};
static const Field dead_letter[] = {
    {"id", "string", true, ""},           {"event_id", "string?", true, ""},
    {"run_id", "string?", true, ""},      {"topic", "string?", true, ""},
    {"name", "string?", true, ""},        {"reason", "string", true, ""},
    {"created_at", "instant?", true, ""}, {"expires_at", "instant?", true, ""},
    {"payload", "any", true, ""},         {0}};
static const Field dead_letter_list[] = {{"items", "[DeadLetter]", true, ""},
                                         {"next", "string?", true, "Cursor of the next page."},
                                         {0}};
static const Field pending[] = {
    {"id", "string", true, "Its number."},
    {"event_id", "string?", true, "The sender's, or made for it."},
    {"name", "string", false, "Of a signal."},
    {"taken", "boolean", false, "Of an event: a run has taken it, it is kept for others."},
    {"created_at", "instant?", true, ""},
    {"expires_at", "instant?", true, ""},
    {"payload", "any", true, ""},
    {0}};
static const Field pending_list[] = {
    {"items", "[Pending]", true, ""}, {"next", "string?", true, "Cursor of the next page."}, {0}};
static const Field removed[] = {{"removed", "integer", true, "How many are gone."}, {0}};
static const Field replayed[] = {{"resumed", "integer", true, "Runs it woke."}, {0}};

// ---- tasks ----

static const Field task[] = {
    {"id", "string", true, ""},
    {"name", "string", true, ""},
    {"queue", "string", true, ""},
    {"status", "string", true, "queued, leased, completed, failed or cancelled"},
    {"priority", "integer", true, ""},
    {"attempt", "integer", true, "Attempts so far."},
    {"max_attempts", "integer", true, ""},
    {"worker", "string?", true, ""},
    {"concurrency_key", "string?", true, ""},
    {"cancel_requested", "boolean", true, ""},
    {"created_at", "instant?", true, ""},
    {"started_at", "instant?", true, ""},
    {"finished_at", "instant?", true, ""},
    {"next_at", "instant?", true, "What happens next by itself: a retry, the end of a lease."},
    {"input", "any", true, ""},
    {"result", "any", true, ""},
    {"error", "any", true, "The last one."},
    {"progress", "any", true, "What the worker said last."},
    {"unserved", "Unserved?", false, "When nobody asks for it. Not in lists."},
    {0}};
static const Field task_list[] = {
    {"items", "[Task]", true, ""}, {"next", "string?", true, "Cursor of the next page."}, {0}};
static const Field queue[] = {
    {"name", "string", true, ""},
    {"queued", "integer", true, "Tasks that wait, delayed and blocked ones too."},
    {"blocked", "integer", true, "Those that wait for others of their concurrency key."},
    {"running", "integer", true, ""},
    {"oldest_at", "instant?", true, "When the oldest that could be claimed was made."},
    {"oldest_age_seconds", "number", true, ""},
    {"set", "boolean", true, "Somebody has set its limits."},
    {"paused", "boolean", true, ""},
    {"max_running", "integer", true, "0: no limit."},
    {"max_per_key", "integer", true, "0: no limit."},
    {"rate_count", "integer", true, "0: no limit."},
    {"rate_period", "duration?", true, ""},
    {"opens_at", "instant?", true, "When a rate that is used up lets more pass."},
    {0}};
static const Field queue_list[] = {
    {"items", "[Queue]", true, ""}, {"next", "string?", true, "Cursor of the next page."}, {0}};

// ---- workflows and schedules ----

static const Field workflow_item[] = {
    {"name", "string", true, ""},
    {"version", "string", true,
     "SHA-256 of the source; native for C functions; what its process calls it."},
    {"kind", "string", true,
     "flow: a script; native: a C function; code: a function of another process"},
    {"current", "boolean", true, "New runs begin with it."},
    {"created_at", "instant?", true, ""},
    {"file", "string?", true, "Name of its file, if it was deployed with one."},
    {"config", "any", true, "What the script exports as config."},
    {"registered", "boolean", true, "This node can execute it; scripts always."},
    {0}};
static const Field workflow[] = {{"source", "string?", true, ""}, {0}};
static const Field workflow_list[] = {{"items", "[WorkflowItem]", true, ""},
                                      {"next", "string?", true, "Cursor of the next page."},
                                      {0}};
static const Field finding[] = {
    {"severity", "string", true, "error or warning"},
    {"code", "string", true, ""},
    {"message", "string", true, ""},
    {"hint", "string?", true, ""},
    {"suggestion", "string?", true, "What to write instead of what is between start and end."},
    {"file", "string", true, ""},
    {"line", "integer", true, ""},
    {"column", "integer", true, ""},
    {"endLine", "integer", true, ""},
    {"endColumn", "integer", true, ""},
    {"start", "integer", true, "Byte in the source."},
    {"end", "integer", true, ""},
    {"excerpt", "string", true, "The line, cut around the place when it is long."},
    {0}};
static const Field findings[] = {{"ok", "boolean", true, "It could be deployed."},
                                 {"workflows", "strings", true, "What it holds."},
                                 {"findings", "[Finding]", true, ""},
                                 {0}};
static const Field schedule[] = {{"name", "string", true, ""},
                                 {"workflow", "string", true, ""},
                                 {"input", "any", true, ""},
                                 {"cron", "string", false, "One of the three …"},
                                 {"every", "string", false, "…"},
                                 {"at", "string", false, "… is there."},
                                 {"timezone", "string", true, ""},
                                 {"jitter", "duration", true, ""},
                                 {"overlap", "string", true, "skip, queue, allow or cancel-old"},
                                 {"catch_up", "duration", true, ""},
                                 {"tags", "strings", true, ""},
                                 {"paused", "boolean", true, ""},
                                 {"next_at", "instant?", true, ""},
                                 {"last_at", "instant?", true, ""},
                                 {"last_run_id", "string?", true, ""},
                                 {"started", "integer", true, "Ticks that started a run."},
                                 {"skipped", "integer", true, ""},
                                 {"missed", "integer", true, ""},
                                 {"failed", "integer", true, ""},
                                 {"last_error", "string?", true, ""},
                                 {0}};
static const Field schedule_list[] = {
    {"items", "[Schedule]", true, ""}, {"next", "string?", true, "Cursor of the next page."}, {0}};
static const Field backfilled[] = {{"started", "integer", true, "Runs."},
                                   {"existing", "integer", true, "Ticks that had theirs."},
                                   {0}};

// ---- the system ----

static const Field unserved[] = {
    {"queue", "string", true, ""},
    {"name", "string", true, "Of the task."},
    {"task_id", "string", true, "One of that name that waits."},
    {"since", "instant?", true, "When it was made."},
    {"asked", "strings", true, "Names that workers ask its queue for."},
    {"other_queues", "strings", true, "Queues in which its name is asked for."},
    {"did_you_mean", "string?", true, "The name that is nearest, if one is near."},
    {0}};
static const Field node[] = {
    {"id", "integer", true, ""},
    {"name", "string", true, ""},
    {"version", "string?", true, "Of its program; null when it did not say."},
    {"alive", "boolean", true, "Its lease lasts."},
    {"started_at", "instant?", true, "When it joined."},
    {"lease_until", "instant?", true, "Past: since when it counts as dead."},
    {"executing", "integer", true, "Runs it executes, or is about to; 1000 are counted at most."},
    {"resident", "integer", true, "Runs it has in memory, as of its last renewal."},
    {0}};
static const Field node_list[] = {
    {"items", "[Node]", true, ""}, {"next", "string?", true, "Always null."}, {0}};
static const Field stats[] = {
    {"runs", "object", true, "By status."},
    {"tasks", "object", true, "By status."},
    {"pending_events", "integer", true, ""},
    {"pending_signals", "integer", true, ""},
    {"dead_letters", "integer", true, ""},
    {"schedules", "integer", true, ""},
    {"started_total", "integer", true, "Runs, ever."},
    {"completed_total", "integer", true, ""},
    {"failed_total", "integer", true, ""},
    {"cancelled_total", "integer", true, ""},
    {"resident_runs", "integer", true, "In memory here."},
    {"active_runs", "integer", true, "Executed here."},
    {"commits", "integer", true, "Of this process."},
    {"committed_operations", "integer", true, ""},
    {"turns", "integer", true, ""},
    {"disk_free_bytes", "integer?", true, "Left for a store that is a file; null for any other."},
    {"server_started_at", "instant?", true, ""},
    {0}};

static const Field token[] = {{"id", "string", true, ""},
                              {"name", "string", true, ""},
                              {"scopes", "strings", true, "read, client, worker, admin"},
                              {"hint", "string", true, "The last characters of its text."},
                              {"created_at", "instant?", true, ""},
                              {"expires_at", "instant?", true, "Null: never."},
                              {"expired", "boolean", true, ""},
                              {0}};
static const Field new_token[] = {{"token", "string", true, "Its text, shown this once."}, {0}};
static const Field token_list[] = {
    {"items", "[Token]", true, ""}, {"next", "string?", true, "Cursor of the next page."}, {0}};

// ---- the handler API ----

static const Field detail[] = {{"detail", "string", true, "What is wrong, for people."}, {0}};
static const Field word[] = {
    {"status", "string", true, "healthy, unhealthy, sent, cancelled, deleted or released"}, {0}};
static const Field workflow_names[] = {{"workflows", "strings", true, "Their names."}, {0}};
static const Field start_and_stop[] = {
    {"start", "object", true, "JSON Schema of what a run is started with."},
    {"stop", "object", true, "JSON Schema of its result."},
    {0}};
static const Field event_schemas[] = {{"events", "objects", true, "A JSON Schema each."}, {0}};
static const Field graph[] = {{"graph", "object", true, "Name, nodes, edges and description."},
                              {0}};
static const Field envelope[] = {
    {"value", "object", true, "The fields of the event."},
    {"qualified_name", "string?", true, "Module and class that a client can load it as."},
    {"type", "string", true, "Name of its class."},
    {"types", "strings?", true, "Names of the classes it is derived from."},
    {0}};
#define HANDLER_FIELDS                                                                             \
    {"handler_id", "string", true, "The id of its run in /v1."},                                   \
        {"workflow_name", "string", true, ""},                                                     \
        {"run_id", "string?", true, "Tells the runs under one handler_id apart."},                 \
        {"error", "string?", true, "Why it failed, was cancelled, or does not go on."},            \
        {"status", "string", true, "running, completed, failed or cancelled"},                     \
        {"started_at", "instant", true, ""}, {"updated_at", "instant?", true, ""},                 \
        {"completed_at", "instant?", true, ""},                                                    \
        {"idle_since", "instant?", true, "Since when it waits for the outside world only."}, {     \
        "released", "boolean", true, "It waits, and nothing of it is in memory."                   \
    }
static const Field handler[] = {
    HANDLER_FIELDS, {"result", "Envelope?", true, "Null until it has completed."}, {0}};
static const Field handler_result[] = {
    HANDLER_FIELDS, {"result", "any", true, "What the workflow returned."}, {0}};
static const Field handler_list[] = {{"handlers", "[Handler]", true, "Oldest first."},
                                     {"next", "string?", false, "With limit: of the next page."},
                                     {0}};

static const Schema schemas[] = {
    {"Problem", "RFC 9457", NULL, problem},
    {"Health", "", NULL, health},
    {"Version", "", NULL, version},
    {"Changed", "Whether anything changed.", NULL, changed},
    {"Wait", "", NULL, wait},
    {"RunItem", "A run as lists show it.", NULL, run_item},
    {"Run", "A run.", "RunItem", run},
    {"CopyDelivery", "", NULL, schema_copy_delivery},
    {"RunCopy", "What a debugger goes on with.", NULL, schema_copy},
    {"TrialEffect", "", NULL, schema_trial_effect},
    {"TrialWait", "", NULL, schema_trial_wait},
    {"TrialVariable", "", NULL, schema_trial_variable},
    {"Trial", "What a run would do.", NULL, schema_trial},
    {"WhereCounts", "What an expression found in a page of runs.", NULL, schema_where_counts},
    {"RunList", "", NULL, run_list},
    {"FilterTerm", "", NULL, filter_term},
    {"FilterFault", "", NULL, filter_fault},
    {"Completion", "", NULL, completion},
    {"FilterRead", "A filter as it was read.", NULL, filter_read},
    {"Attention", "What needs a person.", NULL, schema_attention},
    {"AttentionGroup", "", NULL, schema_attention_group},
    {"Action", "A request that helps.", NULL, schema_action},
    {"Access", "What the caller may do.", NULL, schema_access},
    {"Rates", "How much happened, step by step.", NULL, schema_rates},
    {"Bulk", "What became of many runs.", NULL, schema_bulk},
    {"BulkResult", "", NULL, schema_bulk_result},
    {"BulkReason", "", NULL, schema_bulk_reason},
    {"RunResult", "", NULL, run_result},
    {"Entry", "An entry of a run's history.", NULL, entry},
    {"EntryList", "", NULL, entry_list},
    {"View", "A value of a script.", NULL, view},
    {"PostMortem", "A script when it failed.", NULL, post_mortem},
    {"Frame", "", NULL, frame},
    {"Variable", "", NULL, variable},
    {"Snapshot", "Where a run stands.", NULL, snapshot},
    {"Turn", "The beginning of a turn that is kept.", NULL, turn},
    {"TurnList", "", NULL, turn_list},
    {"DiffSide", "", NULL, diff_side},
    {"VariableChange", "", NULL, variable_change},
    {"Diff", "What changed in the variables.", NULL, diff},
    {"Rewound", "", NULL, rewound},
    {"Signalled", "", NULL, signalled},
    {"Published", "", NULL, published},
    {"TopicItem", "", NULL, topic_item},
    {"Topic", "", "TopicItem", topic},
    {"TopicList", "", NULL, topic_list},
    {"DeadLetter", "An event nobody took.", NULL, dead_letter},
    {"DeadLetterList", "", NULL, dead_letter_list},
    {"Replayed", "", NULL, replayed},
    {"Pending", "An event or signal that is kept.", NULL, pending},
    {"PendingList", "", NULL, pending_list},
    {"SetValue", "", NULL, schema_set_value},
    {"VariablesSet", "", NULL, schema_variables_set},
    {"Removed", "", NULL, removed},
    {"Task", "", NULL, task},
    {"RetriedTask", "A task after a retry; `changed` is false when it was due already.", "Task",
     changed},
    {"TaskList", "", NULL, task_list},
    {"ClaimedTask", "A task as a worker gets it.", NULL, schema_claimed_task},
    {"Claimed", "", NULL, schema_claimed},
    {"Verdict", "What became of one item.", NULL, schema_verdict},
    {"Completed", "", NULL, schema_completed},
    {"Renewed", "", NULL, schema_renewed},
    {"RegisteredCode", "", NULL, schema_registered_code},
    {"JournalEntry", "What happened in a run, in order.", NULL, schema_journal_entry},
    {"ClaimedTurn", "A turn as a worker gets it.", NULL, schema_claimed_turn},
    {"ClaimedTurns", "", NULL, schema_claimed_turns},
    {"TurnVerdict", "What became of one turn.", NULL, schema_turn_verdict},
    {"CommittedTurns", "", NULL, schema_committed_turns},
    {"RenewedTurn", "", NULL, schema_renewed_turn},
    {"RenewedTurns", "", NULL, schema_renewed_turns},
    {"Queue", "", NULL, queue},
    {"QueueList", "", NULL, queue_list},
    {"WorkflowItem", "", NULL, workflow_item},
    {"Workflow", "", "WorkflowItem", workflow},
    {"WorkflowList", "", NULL, workflow_list},
    {"DeployedWorkflow", "", NULL, schema_deployed_workflow},
    {"Deployed", "", NULL, schema_deployed},
    {"Place", "Where runs stand.", NULL, schema_place},
    {"Places", "", NULL, schema_places},
    {"PlanGroup", "Runs of one version at one place.", NULL, schema_plan_group},
    {"Plan", "What a version would mean for the runs there are.", NULL, schema_plan},
    {"Finding", "", NULL, finding},
    {"Findings", "", NULL, findings},
    {"Schedule", "", NULL, schedule},
    {"ScheduleList", "", NULL, schedule_list},
    {"Backfilled", "", NULL, backfilled},
    {"Node", "", NULL, node},
    {"NodeList", "", NULL, node_list},
    {"Setting", "", NULL, schema_setting},
    {"SettingList", "", NULL, schema_setting_list},
    {"Unserved", "A task that nobody asks for.", NULL, unserved},
    {"WorkerAsk", "", NULL, schema_worker_ask},
    {"Worker", "", NULL, schema_worker},
    {"NodeFunctions", "", NULL, schema_node_functions},
    {"WorkerList", "", NULL, schema_worker_list},
    {"Stats", "", NULL, stats},
    {"Time", "", NULL, schema_time},
    {"Advanced", "", "Time", schema_advanced},
    {"Token", "", NULL, token},
    {"NewToken", "", "Token", new_token},
    {"TokenList", "", NULL, token_list},
    {"Detail", "", NULL, detail},
    {"Word", "", NULL, word},
    {"WorkflowNames", "", NULL, workflow_names},
    {"StartAndStop", "", NULL, start_and_stop},
    {"EventSchemas", "", NULL, event_schemas},
    {"Graph", "", NULL, graph},
    {"Envelope", "An event.", NULL, envelope},
    {"Handler", "A run as clients of the handler API know it.", NULL, handler},
    {"HandlerResult", "The same with its bare result.", NULL, handler_result},
    {"HandlerList", "", NULL, handler_list},
};

const Schema *openapi_schemas(size_t *ret_count) {
    *ret_count = COUNT_OF(schemas);
    return schemas;
}

const Schema *openapi_schema(const char *name) {
    for (size_t i = 0; i < COUNT_OF(schemas); i++)
        if (strcmp(schemas[i].name, name) == 0) return &schemas[i];
    return NULL;
}
