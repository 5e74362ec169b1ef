// Reads of pending events and signals, topics, dead letters.
//
//   [reads-events-1] Pending events are listed oldest first, the order in which they will be taken;
//        dead letters newest first.
//   [reads-events-2] Topics have no number of their own: they are listed by name.
#include "store/reads/internal.h"

enum { TOPICS_MAX = 100000 }; // rows of the topics table that a listing looks at

static Status events_walk(Reads *reads, int index, const EventRow *match, const PageSpec *spec,
                          EventPage *ret_page) {
    Walk walk = {.table = TABLE_EVENTS, .page = *spec};
    walk_add(&walk, index, match, 1);
    TRY(walk_run(reads, &walk));
    *ret_page = (EventPage){(EventRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

Status read_events(Reads *reads, const EventFilter *filter, EventPage *ret_page) {
    EventRow match = {.topic = filter->topic};
    return events_walk(reads, EVENTS_BY_TOPIC, &match, &filter->page, ret_page);
}

Status read_signals(Reads *reads, const SignalFilter *filter, EventPage *ret_page) {
    RunRow run;
    TRY(read_run(reads, filter->run, &run));
    EventRow match = {.run = run.key};
    return events_walk(reads, EVENTS_BY_RUN, &match, &filter->page, ret_page);
}

// [events-5] of events/events.c
static Status topic_is_full(Reads *reads, const TopicRow *topic, bool *ret_is_full) {
    int64_t cap = topic->cap > 0 ? topic->cap : reads->kernel->config.events_per_topic;
    *ret_is_full = topic->visible != VISIBLE_AFTER_WAIT && topic->pending_count >= cap;
    if (!*ret_is_full || topic->consume == CONSUME_ONE) return OK;
    EventRow match = {.run = event_taken_mark(topic->name)}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_EVENTS, EVENTS_BY_RUN, &match, 1);
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    *ret_is_full = count == 0;
    return OK;
}

Status read_topic(Reads *reads, Str name, TopicStat *ret_topic) {
    TopicRow wanted = {.name = name};
    Status status = rows_get(reads->rows, TABLE_TOPICS, &wanted, reads->arena, &ret_topic->row);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (status == ERR_NOT_FOUND) {
        ret_topic->row = (TopicRow){.name = arena_str(reads->arena, name),
                                    .consume = reads->kernel->config.default_consume};
    }
    return topic_is_full(reads, &ret_topic->row, &ret_topic->is_full);
}

Status read_topics(Reads *reads, const NamePageSpec *spec,
                   TopicPage *ret_page) { // [reads-events-2]
    size_t limit = (size_t)read_limit(spec->limit);
    TopicRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_TOPICS, .index = SCAN_PRIMARY, .limit = TOPICS_MAX};
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    size_t first = 0;
    if (!str_is_null(spec->after)) {
        while (first < count && str_compare(rows[first].name, spec->after) <= 0) first++;
    }
    size_t found = count - first < limit ? count - first : limit;
    ret_page->rows = ARENA_ARRAY(reads->arena, TopicStat, found > 0 ? found : 1);
    for (size_t i = 0; i < found; i++) {
        TopicStat *topic = &ret_page->rows[i];
        row_copy(&tables[TABLE_TOPICS], reads->arena, &rows[first + i], &topic->row);
        TRY(topic_is_full(reads, &topic->row, &topic->is_full));
    }
    ret_page->count = found;
    ret_page->has_more = count - first > limit;
    return OK;
}

Status read_dead_letters(Reads *reads, const PageSpec *spec, DeadLetterPage *ret_page) {
    Walk walk;
    TRY(walk_newest(reads, TABLE_DEAD_LETTERS, spec, &walk));
    *ret_page = (DeadLetterPage){(DeadLetterRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}
