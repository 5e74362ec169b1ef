// Schemas of answers about many things at once: what needs a person, who may do what, who asks for
// tasks, changes of many runs, what a run would do.
//
// As those of schemas.c they say exactly what is written, and tests compare.
//
// Not here: the table of all schemas (schemas.c).
#include "server/openapi/openapi.h"

const Field schema_attention[] = {
    {"at", "instant?", true, "When it was looked."},
    {"groups", "[AttentionGroup]", true, "The most pressing first."},
    {"looked_at", "object", true, "How many failed_runs, paused_runs and tasks were."},
    {"totals", "object", true, "How many failed_runs, paused_runs and dead_letters there are."},
    {0}};
const Field schema_attention_group[] = {
    {"kind", "string", true,
     "dead_nodes, paused_runs, failed_runs, unserved_runs, unserved_tasks, failing_retries, "
     "full_topics, late_schedules or dead_letters"},
    {"title", "string", true, "For people."},
    {"count", "integer", true, ""},
    {"is_exact", "boolean", true, "False: there may be more than were looked at."},
    {"since", "instant?", true, "The first of them."},
    {"latest", "instant?", true, "The last of them."},
    {"workflow", "string?", true, ""},
    {"error", "object?", true, "{name, message}, which all of them have."},
    {"place", "string?", true, "Where it was thrown, order.flow:3:9."},
    {"queue", "string?", true, "Of tasks."},
    {"name", "string?", true, "Of the task, topic, schedule or node."},
    {"examples", "strings", true, "Ids or names, up to five."},
    {"q", "string?", true, "The filter that finds its runs."},
    {"advice", "string", true, "For people."},
    {"actions", "[Action]", true, "What helps."},
    {0}};
const Field schema_action[] = {{"verb", "string", true, "resume, cancel, retry, remove …"},
                               {"method", "string", true, "Of the request."},
                               {"path", "string", true, "Of the request."},
                               {"body", "any", true, "Of the request; null: none."},
                               {"about", "string", true, "To how many of them it applies."},
                               {"command", "string", true, "The same on the command line."},
                               {0}};
const Field schema_access[] = {
    {"open", "boolean", true, "No tokens are asked for."},
    {"reason", "string", true, "loopback, insecure, token, or none: a token is missing."},
    {"scopes", "strings", true, "What the caller may do: read, client, worker, admin."},
    {"token", "object?", true, "{name, expires_at} of the token that was sent."},
    {0}};
const Field schema_time[] = {{"now", "instant", true, ""},
                             {"is_virtual", "boolean", true, "It stands still until it is moved."},
                             {0}};
const Field schema_advanced[] = {
    {"is_settled", "boolean", true,
     "The clock is where it was to go and nothing is executed any more; false: `wait` was over."},
    {"next_at", "instant?", true, "When something is due next."},
    {0}};
const Field schema_rates[] = {
    {"step_ms", "integer", true, "How long a step is."},
    {"from", "instant?", true, "Where the first step begins."},
    {"to", "instant?", true, "Where the last step ends; it goes on."},
    {"series", "object", true,
     "A list per series, one value per step, null where nothing is known. How many: started, "
     "completed, failed, cancelled, turns, tasks_completed, tasks_failed. At the end of the step: "
     "queued, suspended, resident. How long resumed runs waited: resume_p50_ms, resume_p99_ms."},
    {"nodes", "integer", true, "How many are alive now."},
    {0}};
const Field schema_setting[] = {
    {"name", "string", true, "As of the command line, without its dashes."},
    {"value", "any", true, "Passwords in URLs are left out."},
    {"source", "string", true, "default, file, environment or flag"},
    {"description", "string", true, ""},
    {0}};
const Field schema_setting_list[] = {
    {"items", "[Setting]", true, "None when the server was not started by abide serve or dev."},
    {"next", "string?", true, "Always null."},
    {0}};
const Field schema_bulk[] = {{"verb", "string", true, ""},
                             {"dry_run", "boolean", true, "Nothing was changed."},
                             {"changed", "integer", true, "Runs of this answer that were."},
                             {"unchanged", "integer", true, "Runs that were so already."},
                             {"refused", "integer", true, "Runs that it does not apply to."},
                             {"looked_at", "integer", true, "Runs."},
                             {"results", "[BulkResult]", true, "One per run."},
                             {"reasons", "[BulkReason]", true, "Why runs were refused."},
                             {"next", "string?", true, "With q: the cursor to go on with."},
                             {0}};
const Field schema_bulk_result[] = {{"id", "string", true, ""},
                                    {"status", "string", true, "changed, unchanged or refused"},
                                    {"code", "string", false, "Of one that was refused."},
                                    {"detail", "string", false, "Why."},
                                    {0}};
const Field schema_bulk_reason[] = {{"code", "string", true, ""},
                                    {"detail", "string", true, "The same for all of them."},
                                    {"count", "integer", true, "Runs of this answer."},
                                    {"example", "string", true, "One of them."},
                                    {0}};
const Field schema_trial_effect[] = {
    {"at", "instant", true, "By the clock of the sandbox."},
    {"kind", "string", true, "log, task, workflow, event or stream."},
    {"name", "string?", true, "Level, task, workflow, topic or type."},
    {"data", "any", true, "Text, input, payload or value."},
    {0}};
const Field schema_trial_wait[] = {{"on", "string", true, "signal, event, timer, task or child."},
                                   {"name", "string?", true, "Null of a timer."},
                                   {"until", "instant?", true, "When it is due or times out."},
                                   {0}};
const Field schema_trial_variable[] = {{"function", "string", true, ""},
                                       {"name", "string", true, ""},
                                       {"before", "string?", true, "Null: it is new."},
                                       {"after", "string", true, "Shortened, for people."},
                                       {0}};
const Field schema_trial[] = {
    {"run_id", "string", true, ""},
    {"workflow", "string", true, ""},
    {"version", "string", true, "The version that the copy was executed in."},
    {"turn", "integer?", true, "The kept turn that it began as; null: as the run is now."},
    {"status", "string", true,
     "suspended, completed, failed, cancelled, continued (as a new incarnation) or stopped."},
    {"result", "any", true, "When it would complete, or the input of the next incarnation."},
    {"error", "any", true, "When it would fail or be cancelled."},
    {"reason", "string?", true, "Why it was stopped."},
    {"now", "instant", true, "The clock of the sandbox at the end."},
    {"turns", "integer", true, ""},
    {"effects", "[TrialEffect]", true, "What it would do, in order."},
    {"state", "object", true, "What it would set with State.set."},
    {"waits", "[TrialWait]", true, "What it would wait for then."},
    {"variables", "[TrialVariable]", true, "Variables where it would wait, as far as they differ."},
    {"unused", "strings", true, "Answers that nothing asked for."},
    {0}};
const Field schema_copy_delivery[] = {
    {"slot", "integer", true, "The number of what was waited for."},
    {"outcome", "string", true, "ok, error, timeout or cancelled."},
    {"data", "any", true, "The result, payload or error."},
    {0}};
const Field schema_copy[] = {
    {"run_id", "string", true, ""},
    {"workflow", "string", true, ""},
    {"version", "string", true, "The version that goes with the snapshot."},
    {"file", "string", true, "Its file."},
    {"source", "string", true, "Its text."},
    {"turn", "integer?", true, "The kept turn; null: as the run is now."},
    {"at", "instant", true, "When it came to stand there."},
    {"input", "any", true, ""},
    {"snapshot", "string?", true, "Hexadecimal; null: it has not begun."},
    {"deliveries", "[CopyDelivery]", true, "What has come for it and is not in the snapshot."},
    {0}};
const Field schema_where_counts[] = {
    {"looked_at", "integer", true, "Runs in which the expression was evaluated."},
    {"matched", "integer", true, "Those of the page."},
    {"errors", "integer", true, "Runs in which it failed; they do not match."},
    {"first_error", "string?", true, "Why it failed in the first of them."},
    {0}};
const Field schema_worker_ask[] = {
    {"queues", "strings", true, ""}, {"names", "any", true, "Null: any."}, {0}};
const Field schema_worker[] = {
    {"id", "string", true, "As it calls itself."},
    {"node", "string", true, "The node that it asks."},
    {"queues", "strings", true, "Of its last claim."},
    {"names", "any", true, "Of its last claim; null: any."},
    {"asks", "[WorkerAsk]", true, "All kinds of claims it makes, the last one first."},
    {"present", "boolean", true, "A claim of it waits, or did within ten seconds."},
    {"waiting", "integer", false, "Claims of it that wait now."},
    {"first_claim_at", "instant?", false, ""},
    {"last_claim_at", "instant?", false, ""},
    {"handed_out", "integer", false, "Tasks it was given."},
    {"completed", "integer", false, "Of those, completed."},
    {"failed", "integer", false, "Attempts that failed."},
    {"last_seen_at", "instant?", false, "When it claimed, or a task of it ended."},
    {"recent", "object", false,
     "Of the last five minutes: tasks claimed, completed and failed; per_minute: how many ended."},
    {"library", "string?", false, "The User-Agent of its last claim."},
    {"held", "integer", true, "Tasks it has now."},
    {0}};
const Field schema_node_functions[] = {
    {"node", "string", true, ""},
    {"names", "strings", true, "Tasks it executes itself, of any queue: built-ins and plug-ins."},
    {0}};
const Field schema_worker_list[] = {
    {"items", "[Worker]", true, "At most 1000 per node."},
    {"next", "string?", true, "Always null."},
    {"functions", "[NodeFunctions]", true, "What needs no worker."},
    {"unserved", "[Unserved]", true, "Tasks that nobody asks for, one per queue and name."},
    {0}};

// ---- deployments and plans ----

const Field schema_deployed_workflow[] = {
    {"name", "string", true, ""}, {"new", "boolean", true, "This version is new."}, {0}};
const Field schema_deployed[] = {{"version", "string", true, "SHA-256 of the source."},
                                 {"workflows", "[DeployedWorkflow]", true, ""},
                                 {"warnings", "[Finding]", true, "What is probably a mistake."},
                                 {0}};
const Field schema_place[] = {{"line", "integer?", true, "Null: not known."},
                              {"column", "integer?", true, ""},
                              {"function", "string?", true, ""},
                              {"source", "string?", true, "The line of the script."},
                              {"waiting", "integer", true, "Runs that wait there."},
                              {"failed", "integer", true, "Runs whose last turn began there."},
                              {"example", "string?", true, "One of these runs."},
                              {0}};
const Field schema_places[] = {{"version", "string", true, ""},
                               {"places", "[Place]", true, ""},
                               {"more", "boolean", true, "There are more places."},
                               {0}};
const Field schema_plan_group[] = {
    {"version", "string", true, "That the runs have."},
    {"line", "integer?", true, "Where they stand in it. Null: not known."},
    {"column", "integer?", true, ""},
    {"function", "string?", true, ""},
    {"source", "string?", true, "The line of the script."},
    {"count", "integer", true, "Runs that stand here."},
    {"failed", "integer", true, "Those of them that failed: a retry may go on."},
    {"verdict", "string", true, "moves, refused, stays or unknown"},
    {"reason", "string?", true, "Of refused and unknown."},
    {"example", "string?", true, "One of these runs."},
    {0}};
const Field schema_plan[] = {{"workflow", "string", true, ""},
                             {"current", "string?", true, "The current version."},
                             {"new", "string", true, "The version of this source."},
                             {"is_same", "boolean", true, "It is current already."},
                             {"groups", "[PlanGroup]", true, ""},
                             {"moves", "integer", true, "Runs that can go on in it."},
                             {"refused", "integer", true, "Runs that cannot."},
                             {"stays", "integer", true, "Runs that have that version."},
                             {"unknown", "integer", true, ""},
                             {"more", "boolean", true, "There are more groups."},
                             {"others", "[Plan]", false, "Of further workflows of the file."},
                             {"warnings", "[Finding]", false, "What is probably a mistake."},
                             {0}};
