// Verify: events, signals and topics.
//
// Events are counted by topic while they are walked; then the topics are compared with what was
// counted ([verify-internal-1]). An ended run has no signals, and a mark that an event was taken
// belongs to its own topic.
#include "store/verify/internal.h"

typedef struct TopicCount {
    int64_t count;
    Str name; // its text follows
} TopicCount;

static TopicCount *topic_count(Verify *verify, Str name) {
    TopicCount *count = strmap_get(&verify->topics, name);
    if (count) return count;
    count = ARENA_NEW(&verify->kept, TopicCount);
    count->name = arena_str(&verify->kept, name);
    strmap_put(&verify->topics, count->name, count);
    return count;
}

Status verify_event(Verify *verify, const void *row) {
    const EventRow *event = row;
    if (!event_is_signal(event)) {
        if (str_is_null(event->topic)) {
            return verify_bad_key(verify, "an event is addressed to nobody", event->key);
        }
        if (event_is_taken(event) && event->run != event_taken_mark(event->topic)) {
            return verify_bad_key(verify, "an event is marked as taken on another topic",
                                  event->key);
        }
        verify->counts[COUNTER_EVENTS]++;
        topic_count(verify, event->topic)->count++;
        return OK;
    }
    RunRow run;
    verify->counts[COUNTER_SIGNALS]++;
    Status status = verify_find_run(verify, event->run, &run);
    if (status == ERR_NOT_FOUND) return verify_bad_key(verify, "a signal has no run", event->key);
    TRY(status);
    return run_state_is_terminal(run.state)
               ? verify_bad(verify, "an ended run has a signal", run.id)
               : OK;
}

Status verify_topics(Verify *verify) {
    TopicRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_TOPICS, .index = SCAN_PRIMARY, .limit = VERIFY_NAMES_MAX};
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        TopicCount *counted = topic_count(verify, rows[i].name);
        if (counted->count != rows[i].pending_count) { // [verify-internal-1]
            return verify_bad(verify, "a topic counts its events wrongly", rows[i].name);
        }
        counted->count = 0;
    }
    verify->row_count += (int64_t)count;
    Str name;
    void *counted;
    for (size_t at = 0; strmap_next(&verify->topics, &at, &name, &counted);) {
        if (((TopicCount *)counted)->count != 0)
            return verify_bad(verify, "a topic has no row", name);
    }
    return OK;
}
