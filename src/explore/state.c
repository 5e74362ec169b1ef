// State: a digest of all that decides what may still happen, and what is said about it.
//
// The order in which things came to be is left out where it does not matter: rows of one table are
// added up. What the script knows is in the snapshots of its runs. Numbers that are drawn at random
// later are not told apart.
#include "base/containers/hash.h"
#include "explore/trial.h"

static uint64_t mix(uint64_t digest, uint64_t value) {
    return hash_fixed_u64(digest ^ (value + 0x9E3779B97F4A7C15u + (digest << 6)));
}

static uint64_t mix_str(uint64_t digest, Str text) {
    return mix(digest, hash_fixed_bytes(text.data, text.len));
}

static uint64_t of_runs(Trial *self) {
    RunPage runs = trial_runs(self);
    uint64_t sum = 0;
    for (size_t i = 0; i < runs.count; i++) {
        const RunRow *run = &runs.rows[i];
        uint64_t digest = mix_str((uint64_t)run->state, run->id);
        digest = mix(digest, (uint64_t)run->due_at_ms);
        digest = mix(digest, (uint64_t)run->deadline_at_ms);
        digest = mix(digest, (uint64_t)run->incarnation);
        sum += mix_str(digest, run->snapshot);
        if (!run_state_is_terminal(run->state)) continue;
        RunResult result;
        Diag diag;
        if (store_find_result(self->store, &self->step, run_of_key(run->key), &result, &diag) == OK)
            sum += mix_str(digest, result.json);
    }
    return sum;
}

static uint64_t of_tasks(Trial *self) {
    TaskFilter filter = {.page.limit = LIMIT_LIST_PAGE};
    uint64_t sum = 0;
    do {
        TaskPage page;
        Diag diag;
        Status status = store_list_tasks(self->store, &self->step, &filter, &page, &diag);
        ASSERT(status == OK);
        for (size_t i = 0; i < page.count; i++) {
            uint64_t digest = mix_str((uint64_t)page.rows[i].state, page.rows[i].id);
            digest = mix(digest, (uint64_t)page.rows[i].attempt);
            sum += mix(digest, (uint64_t)page.rows[i].due_at_ms);
        }
        filter.page.after = page.next;
    } while (filter.page.after != 0);
    return sum;
}

static uint64_t of_attempts(const Trial *self) {
    uint64_t sum = 0;
    for (size_t i = 0; i < self->attempts.count; i++) {
        const Attempt *attempt = &self->attempts.data[i];
        uint64_t digest = mix_str((uint64_t)attempt->state, attempt->task);
        digest = mix(digest, attempt->call);
        if (attempt->state == ATTEMPT_LOST || attempt->state == ATTEMPT_ANSWERED)
            digest = mix_str(digest, attempt->reply->json);
        sum += digest;
    }
    return sum;
}

static bool is_order_looked_at(const Trial *self) {
    const Scenario *scenario = self->subject->scenario;
    for (size_t i = 0; i < scenario->condition_count; i++)
        if (scenario->conditions[i].looks_at_order) return true;
    return false;
}

static uint64_t of_effects(const Trial *self) {
    bool is_ordered = is_order_looked_at(self);
    uint64_t digest = 0;
    for (size_t i = 0; i < self->effects.count; i++) {
        uint64_t effect =
            mix_str(mix_str(7, self->effects.data[i].name), self->effects.data[i].task);
        digest = is_ordered ? mix(digest, effect) : digest + effect;
    }
    return digest;
}

// Events that nobody has taken yet; signals are told by what was sent.
static uint64_t of_events(Trial *self) {
    TopicPage topics;
    EventPage events;
    Diag diag;
    uint64_t digest = 0;
    const NamePageSpec all = {.limit = LIMIT_LIST_PAGE};
    if (store_list_topics(self->store, &self->step, &all, &topics, &diag) != OK) return 0;
    for (size_t i = 0; i < topics.count; i++) {
        const EventFilter filter = {topics.rows[i].row.name, {.limit = LIMIT_LIST_PAGE}};
        if (store_list_events(self->store, &self->step, &filter, &events, &diag) != OK) continue;
        for (size_t k = 0; k < events.count; k++)
            digest = mix_str(mix_str(digest, events.rows[k].topic), events.rows[k].payload);
    }
    return digest;
}

uint64_t trial_state(Trial *self) {
    uint64_t digest = mix((uint64_t)self->env.now_ms, self->faults);
    digest = mix(digest, (uint64_t)self->armed * 2 + self->is_started);
    digest = mix(digest, of_runs(self));
    digest = mix(digest, of_tasks(self));
    digest = mix(digest, of_attempts(self));
    digest = mix(digest, of_effects(self));
    digest = mix(digest, of_events(self));
    for (size_t i = 0; i < self->subject->scenario->part_count; i++)
        digest = mix(mix(mix(digest, self->calls[i]), self->sent[i]), self->digests[i]);
    uint64_t hopes = 0;
    for (size_t i = 0; i < self->hopes.count; i++) {
        const Hope *hope = &self->hopes.data[i];
        hopes += mix_str(mix_str(hope->is_true, hope->run), hope->name);
    }
    return mix(digest, hopes);
}
