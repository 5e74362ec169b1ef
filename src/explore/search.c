// Search: histories in order, depth first, then at random.
//
// There is no way back to an earlier state of an engine, so a history is played from its start up
// to the last choice that has alternatives left, and on from there. The way up to it is known to be
// good; only what follows is looked at.
//
// A state that was met before, with at least as many choices left, is not gone on from: the same
// would happen. `abide sim` in docs/sim.md says what that leaves out.
#include "base/containers/map.h"
#include "base/env.h"
#include "base/memory.h"
#include "explore/history.h"

enum { PROGRESS_EVERY = 64, RANDOM_FAULT_IN = 8 };

typedef struct Place { // of a history: what was chosen, and what is left to choose
    Choice *choices;   // owned; their lines are not kept
    size_t count, index;
} Place;

typedef struct Search {
    const ExploreSubject *subject;
    const ExploreOptions *options;
    Arena *arena;
    ExploreReport *report;
    VEC(Place) path;
    Map seen;          // state -> 1 + the least depth at which it was met
    uint64_t until_ns; // 0 = no limit
    uint64_t random;
} Search;

static bool is_out_of_time(const Search *self) {
    return self->until_ns != 0 && env_monotonic_ns(env_system()) > self->until_ns;
}

// ---- the path ----

static void push_place(Search *self, const Choices *choices) {
    Place place = {.choices = mem_alloc(choices->count * sizeof(Choice)), .count = choices->count};
    memcpy(place.choices, choices->data, choices->count * sizeof(Choice));
    for (size_t i = 0; i < place.count; i++) place.choices[i].line = STR_NULL;
    vec_push(&self->path, place);
}

static void pop_place(Search *self) { mem_free(vec_pop(&self->path).choices); }

// To the next history. False: that was the last.
static bool step_back(Search *self) {
    while (self->path.count > 0) {
        Place *place = &vec_last(&self->path);
        if (++place->index < place->count) return true;
        pop_place(self);
    }
    return false;
}

static bool is_seen(Search *self, uint64_t state) {
    size_t depth = self->path.count + 1;
    uint64_t key = state != 0 ? state : 1;
    uintptr_t before = (uintptr_t)map_get(&self->seen, key);
    if (before != 0 && before <= depth) return true;
    if (before == 0) self->report->state_count++;
    (void)map_put(&self->seen, key, (void *)(uintptr_t)depth); // a number, not an address
    return false;
}

// ---- one history ----

static void play_on(Search *self, Player *player) {
    while (!trial_has_failed(player->trial)) {
        if (self->path.count >= self->options->depth_max) {
            player_finish(player);
            return;
        }
        player_look(player, self->options->fault_max);
        if (is_seen(self, trial_state(player->trial))) return;
        if (player_is_at_end(player)) trial_judge(player->trial);
        if (trial_has_failed(player->trial) || player->choices.count == 0) return;
        push_place(self, &player->choices);
        player_do(player, &vec_last(&self->path).choices[0]);
    }
}

static Status play_path(Search *self, Player *player, Diag *diag) {
    TRY(player_open(player, self->subject, diag));
    for (size_t i = 0; i < self->path.count && !trial_has_failed(player->trial); i++)
        player_do(player, &self->path.data[i].choices[self->path.data[i].index]);
    return OK;
}

// The same again, with its lines, and the shortest of its kind. [explore-2]
static Status found_on_path(Search *self, Diag *diag) {
    Player player;
    TRY(player_open(&player, self->subject, diag));
    player.keeps_steps = true;
    for (size_t i = 0; i < self->path.count && !trial_has_failed(player.trial); i++) {
        player_look(&player, self->options->fault_max);
        Choice choice = player.choices.data[self->path.data[i].index];
        choice.line = arena_str(&player.arena, choice.line);
        player_do(&player, &choice);
    }
    player_look(&player, self->options->fault_max);
    if (!trial_has_failed(player.trial) && player_is_at_end(&player)) trial_judge(player.trial);
    if (!trial_has_failed(player.trial)) player_finish(&player);
    history_report(&player, self->arena, self->report);
    player_close(&player);
    ASSERT(self->report->violation.kind != NULL); // [explore-1]
    return history_shrink(self->subject, self->arena, self->report, diag);
}

static void tell(Search *self) {
    const ExploreOptions *options = self->options;
    if (options->progress == NULL || self->report->history_count % PROGRESS_EVERY != 0) return;
    options->progress(options->context, self->report->history_count, self->report->state_count);
}

// One more history; says whether it fails.
static Status play_next(Search *self, bool *ret_has_failed, Diag *diag) {
    Player player;
    TRY(play_path(self, &player, diag));
    play_on(self, &player);
    *ret_has_failed = trial_has_failed(player.trial);
    player_close(&player);
    self->report->history_count++;
    tell(self);
    return OK;
}

static Status search_in_order(Search *self, Diag *diag) {
    for (;;) {
        bool has_failed = false;
        TRY(play_next(self, &has_failed, diag));
        if (has_failed) return found_on_path(self, diag);
        if (!step_back(self)) {
            self->report->is_whole = true;
            return OK;
        }
        if (self->report->history_count >= self->options->history_limit || is_out_of_time(self))
            return OK;
    }
}

// ---- at random ----

static const Choice *random_choice(Search *self, const Choices *choices) {
    const Choice *choice = &choices->data[random_next(&self->random) % choices->count];
    // Faults are many and most change nothing: mostly something else happens.
    for (int i = 0; i < RANDOM_FAULT_IN && choice->kind >= CHOICE_FAIL; i++)
        choice = &choices->data[random_next(&self->random) % choices->count];
    return choice;
}

static Status play_at_random(Search *self, Diag *diag) {
    Player player;
    TRY(player_open(&player, self->subject, diag));
    player.keeps_steps = true;
    for (size_t i = 0; i < self->options->depth_max && !trial_has_failed(player.trial); i++) {
        player_look(&player, self->options->fault_max);
        if (player_is_at_end(&player)) trial_judge(player.trial);
        if (trial_has_failed(player.trial) || player.choices.count == 0) break;
        Choice choice = *random_choice(self, &player.choices);
        choice.line = arena_str(&player.arena, choice.line);
        player_do(&player, &choice);
    }
    if (!trial_has_failed(player.trial)) player_finish(&player);
    bool has_failed = trial_has_failed(player.trial);
    if (has_failed) history_report(&player, self->arena, self->report);
    player_close(&player);
    self->report->history_count++;
    tell(self);
    return has_failed ? history_shrink(self->subject, self->arena, self->report, diag) : OK;
}

static Status search_at_random(Search *self, Diag *diag) {
    for (uint64_t i = 0; i < self->options->seed_count && !is_out_of_time(self); i++) {
        self->random = (self->options->seed + i) * 0x9E3779B97F4A7C15u + 1;
        TRY(play_at_random(self, diag));
        if (self->report->violation.kind != NULL) break;
    }
    return OK;
}

Status explore(const ExploreSubject *subject, const ExploreOptions *options, Arena *arena,
               ExploreReport *ret_report, Diag *diag) {
    *ret_report = (ExploreReport){0};
    Search search = {.subject = subject, .options = options, .arena = arena, .report = ret_report};
    map_init(&search.seen);
    if (options->time_limit_ms > 0)
        search.until_ns =
            env_monotonic_ns(env_system()) + (uint64_t)options->time_limit_ms * 1000000u;
    Status status = options->history_limit > 0 ? search_in_order(&search, diag) : OK;
    bool is_over = ret_report->is_whole || ret_report->violation.kind != NULL;
    if (status == OK && !is_over) status = search_at_random(&search, diag);
    if (status == OK) status = history_check_start(ret_report, diag);
    while (search.path.count > 0) pop_place(&search);
    vec_free(&search.path);
    map_done(&search.seen);
    return status;
}
