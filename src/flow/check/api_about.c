// A sentence for each part of the workflow API, for editors and `abide check --api`.
//
// Members go by their path ("Task.run", "Context.runId"), options by the call and their own path
// ("Task.run:retry.delay"), keys of the config as if it were a call ("config:ttl"). An option that
// means the same everywhere stands without a call (":priority").
//
// Not here: what may be called at all (check/api.c, check/config.c).
#include "base/array.h"
#include "flow/check/api.h"

typedef struct ApiAbout {
    const char *path;
    const char *text;
} ApiAbout;

static const ApiAbout members[] = {
    {"Task", "Work that is done outside of the script, once it is committed."},
    {"Task.run", "Queues a task; answers its result. Rejects with a `TaskError` when it failed for "
                 "good. Without `await` nothing waits for it."},
    {"Task.delay", "Waits for that long, also over restarts."},
    {"Task.all", "All results in order; the first failure rejects."},
    {"Task.any", "`{ item_id, result }` of the first success."},
    {"Task.race", "`{ item_id, status, result | error }` of the first that settles."},
    {"Timer", "Waiting for a time. The run leaves memory meanwhile."},
    {"Timer.delay", "Waits for that long, also over restarts."},
    {"Timer.until", "Waits until that time: a `Date`, milliseconds, or a text in RFC 3339."},
    {"Signal", "Messages from outside to this run."},
    {"Signal.next", "The next signal of that name for this run."},
    {"Signal.when", "The next signal of that name; rejects with a `TimeoutError` when its "
                    "`timeout` is over."},
    {"Event", "Messages to everybody who waits for a topic."},
    {"Event.wait", "The next event of that topic that fits the filter."},
    {"Event.emit", "Publishes an event with the commit of the turn."},
    {"Stream", "What readers outside follow while the run goes on."},
    {"Stream.write", "Appends to the run's stream."},
    {"State", "Small values that others can read and search for while the run waits."},
    {"State.set", "Sets a value of up to 16 KiB; a run has up to 100."},
    {"State.get", "The value that was last set; undefined when there is none."},
    {"Workflow", "Other runs."},
    {"Workflow.run", "The result of a child run. Rejects with a `ChildWorkflowError`."},
    {"Workflow.start", "Starts an independent run; answers its id."},
    {"Workflow.continueAs", "Ends here: the run starts again under the same id, with this input "
                            "and empty state."},
    {"Invariant", "Must be true whenever it is executed. `abide sim` looks for a history in which "
                  "it is not; elsewhere it does nothing."},
    {"Always", "Must be true from here on, whenever the run waits or ends. For `abide sim`; "
               "elsewhere it does nothing."},
    {"Eventually", "Must have been true once when the run ends. For `abide sim`; elsewhere it "
                   "does nothing."},
    {"Secret", "Texts that only the server's environment knows."},
    {"Secret.get",
     "Stands for a secret in the input of a task; the text is put there when the task "
     "is handed out, and is seen nowhere else."},
    {"Secret.get:prefix", "Text before the secret, such as \"Bearer \"."},
    {"Context", "What is known of this run."},
    {"Context.runId", "Id of the run."},
    {"Context.workflow", "Name of the workflow."},
    {"Context.version", "Hash of the source that this run executes."},
    {"Context.attempt", "1; one more each time the whole run is retried."},
    {"Context.parentId", "Id of the parent run, or null."},
    {"Context.startedAt", "When the run started, in milliseconds."},
    {"Context.tags", "Tags of the run."},
    {"Context.namespace", "Namespace of the run."},
};

static const ApiAbout options[] = {
    {"config:timeout", "The run fails with a `TimeoutError` if it has not ended by then."},
    {"config:retry", "A failed run begins again from its input."},
    {"config:queue", "Queue of those of the run's tasks that name none."},
    {"Task.run:queue", "Where the task waits."},
    {"Task.run:delay", "The first attempt begins after this long."},
    {"Task.run:timeout", "For one attempt."},
    {"Task.run:retry", "When a failed attempt is repeated."},
    {"Task.run:key", "Idempotency key: a second task with this key is the first one."},
    {"Signal.when:timeout", "Then it rejects with a `TimeoutError`."},
    {"Event.wait:timeout", "Then it rejects with a `TimeoutError`."},
    {":timeout", "For the whole run."},
    {":delay", "Starts after this long."},
    {":key", "Idempotency key."},
    {":queue", "Queue of those of its tasks that name none."},
    {":priority", "Higher first."},
    {":scheduleTimeout", "Until the first attempt begins."},
    {":heartbeatTimeout", "An attempt is lost when its worker is silent for this long."},
    {":concurrencyKey", "Tasks of one queue with the same key run one at a time."},
    {":retry.attempts", "Attempts in total."},
    {":retry.delay", "Before the second attempt."},
    {":retry.factor", "Each delay is this many times the previous one."},
    {":retry.maxDelay", "Longest delay."},
    {":retry.jitter", "Each delay is up to this share shorter or longer."},
    {":retry.nonRetryable", "Error types after which there is no further attempt."},
    {":filter", "Which payloads to wait for: an object whose members they must have, or an "
                "expression."},
    {":id", "Id of the run; one that exists starts nothing."},
    {":startAt", "Starts at this time: a text in RFC 3339, or a `Date`."},
    {":tags", "Up to 16."},
    {":ttl", "How long the run is kept after its end."},
    {":parentClose", "What happens to it when this run ends."},
    {":type", "What kind of entry it is."},
    {":types", "Its parent types."},
    {":idleTimeout", "How long an idle run stays in memory, or \"off\"."},
    {":keepSnapshots", "Snapshots kept for rewinding."},
    {":events", "Events that clients of the handler API may post; others are refused."},
    {":input", "JSON Schema of the input; other input starts no run."},
    {":output", "JSON Schema that describes the result to clients."},
};

const char *flow_api_about_member(const char *path) {
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (str_equal(str_from(path), str_from(members[i].path))) return members[i].text;
    return NULL;
}

// "Task.run" and ":retry.delay" against "Task.run:retry.delay".
static bool is_option(const char *entry, Str call, Str path) {
    Str text = str_from(entry);
    const char *colon = memchr(text.data, ':', text.len);
    size_t call_len = (size_t)(colon - text.data);
    bool is_call = call_len == 0 || str_equal(call, (Str){text.data, call_len});
    return is_call && str_equal(path, (Str){colon + 1, text.len - call_len - 1});
}

const char *flow_api_about_option(Str call, Str path) {
    for (size_t i = 0; i < COUNT_OF(options); i++) // those of one call come first
        if (is_option(options[i].path, call, path)) return options[i].text;
    return NULL;
}
