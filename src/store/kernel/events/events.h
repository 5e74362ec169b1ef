// Events: what is published to topics and signalled to runs, and what becomes of it.
//
// The room keeps pending events and signals in the order of arrival, counts them, remembers the ids
// that were seen, and offers what comes to those who wait; a wait itself is resolved in waits.
#pragma once
#include "store/kernel/runs/runs.h"

// ---- events/events.c, events/topics.c ----
MUST_CHECK Status topic_load(Kernel *kernel, Str name, TopicRow *ret_topic, bool *ret_is_stored);
MUST_CHECK Status topic_change_pending(Kernel *kernel, Str name, int64_t delta);
MUST_CHECK Status event_remove(Kernel *kernel, const EventRow *event);
// A run has taken it, and it stays for others.
MUST_CHECK Status event_note_taken(Kernel *kernel, const EventRow *event);
MUST_CHECK Status signal_remove(Kernel *kernel, Run *run, const EventRow *event);
MUST_CHECK Status cursor_set(Kernel *kernel, Run *run, Str topic, int64_t event);
MUST_CHECK Status cursor_get(Kernel *kernel, const Run *run, Str topic, int64_t *ret_event);
bool event_is_visible(const TopicRow *topic, const EventRow *event, const RunRow *run,
                      int64_t now_ms);
bool event_matches(const Kernel *kernel, const WaitItem *item, Str payload);

typedef enum WhenFull { FULL_REFUSES, FULL_DEAD_LETTER } WhenFull;
typedef struct Published {
    int64_t resumed_count;
    bool is_kept;
    bool is_duplicate;
} Published;
MUST_CHECK Status event_publish(Kernel *kernel, const EventSpec *event, WhenFull when_full,
                                Published *ret_published);
MUST_CHECK Status dead_letter_add(Kernel *kernel, DeadLetterRow *letter);
MUST_CHECK Status dedupe_find(Kernel *kernel, Str scope, Str id, DedupeRow *ret_row);
MUST_CHECK Status dedupe_add(Kernel *kernel, const DedupeRow *row);
Str dedupe_signal_scope(Kernel *kernel, int64_t run);
MUST_CHECK Status apply_publish(Kernel *kernel, Op *op);
MUST_CHECK Status apply_signal(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_events(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_signals(Kernel *kernel, Op *op);
MUST_CHECK Status apply_set_topic(Kernel *kernel, Op *op);
MUST_CHECK Status apply_replay_dead_letter(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_dead_letter(Kernel *kernel, Op *op);
