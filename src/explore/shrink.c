// Shrinking: a history that fails becomes one with fewer steps that fails alike.
//
//   [shrink-1] Steps that cannot happen any more because another was left out are left out, too;
//        what is missing at the end is made up fairly (player.c).
//   [shrink-2] A shorter history counts if the same condition is violated; so it never grows.
//
// Single steps are left out, the last first, until none can be.
#include "explore/history.h"

static const Choice *find_line(const Player *player, Str line) {
    for (size_t i = 0; i < player->choices.count; i++)
        if (str_equal(player->choices.data[i].line, line)) return &player->choices.data[i];
    return NULL;
}

// Plays the steps that can be played and leaves out the others, then to the end. [shrink-1]
static Status play_steps(const ExploreSubject *subject, const ExploreStep *steps, size_t count,
                         Player *ret_player, Diag *diag) {
    TRY(player_open(ret_player, subject, diag));
    ret_player->keeps_steps = true;
    for (size_t i = 0; i < count && !trial_has_failed(ret_player->trial); i++) {
        player_look(ret_player, SIZE_MAX);
        const Choice *choice = find_line(ret_player, steps[i].line);
        if (choice == NULL) continue;
        Choice copy = *choice;
        copy.line = steps[i].line;
        player_do(ret_player, &copy);
    }
    if (trial_has_failed(ret_player->trial)) return OK;
    player_look(ret_player, 0);
    if (player_is_at_end(ret_player)) trial_judge(ret_player->trial);
    if (!trial_has_failed(ret_player->trial)) player_finish(ret_player);
    return OK;
}

void history_report(const Player *player, Arena *arena, ExploreReport *report) {
    const Violation *violation = &player->trial->violation;
    report->violation = (Violation){violation->kind, arena_str(arena, violation->name),
                                    arena_str(arena, violation->text)};
    report->step_count = player->steps.count;
    report->steps = ARENA_ARRAY(arena, ExploreStep, player->steps.count + 1);
    for (size_t i = 0; i < player->steps.count; i++)
        report->steps[i] = (ExploreStep){arena_str(arena, player->steps.data[i].line),
                                         player->steps.data[i].at_ms};
}

Status history_check_start(const ExploreReport *report, Diag *diag) {
    const Violation *violation = &report->violation;
    if (violation->kind == NULL || strcmp(violation->kind, VIOLATION_START) != 0) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_INPUT", "%.*s", STR_ARG(violation->text));
}

static bool is_same(const Violation *a, const Violation *b) { // [shrink-2]
    return a->kind != NULL && b->kind != NULL && strcmp(a->kind, b->kind) == 0 &&
           str_equal(a->name, b->name);
}

// Without step number `left_out`: if that is shorter, it is the report now.
static Status try_without(const ExploreSubject *subject, size_t left_out, Arena *arena,
                          ExploreReport *report, Diag *diag) {
    ExploreStep *steps = ARENA_ARRAY(arena, ExploreStep, report->step_count);
    size_t count = 0;
    for (size_t i = 0; i < report->step_count; i++)
        if (i != left_out) steps[count++] = report->steps[i];
    Player player;
    TRY(play_steps(subject, steps, count, &player, diag));
    if (is_same(&report->violation, &player.trial->violation) &&
        player.steps.count < report->step_count)
        history_report(&player, arena, report);
    player_close(&player);
    return OK;
}

Status history_shrink(const ExploreSubject *subject, Arena *arena, ExploreReport *report,
                      Diag *diag) {
    for (size_t before = SIZE_MAX; report->step_count < before;) {
        before = report->step_count;
        for (size_t i = report->step_count; i-- > 0;)
            if (i < report->step_count) TRY(try_without(subject, i, arena, report, diag));
    }
    return OK;
}
