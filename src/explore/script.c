// Scripts: a history as lines, and playing it again.
//
//   history
//   start
//   task charge#1 returns {"id":7}
//   time passes
//
// Lines that begin with # are for people. A line is what happens, word by word as the search says
// it; one that cannot happen where it stands is refused.
#include "base/time/duration.h"
#include "explore/history.h"

static Str next_line(Str *rest) {
    const char *end = memchr(rest->data, '\n', rest->len);
    size_t len = end != NULL ? (size_t)(end - rest->data) : rest->len;
    Str line = str_trim((Str){rest->data, len});
    size_t skipped = end != NULL ? len + 1 : len;
    *rest = (Str){rest->data + skipped, rest->len - skipped};
    return line;
}

// The next line that is not for people; empty at the end.
static Str next_step(Str *rest, size_t *number) {
    while (rest->len > 0) {
        Str line = next_line(rest);
        ++*number;
        if (line.len > 0 && line.data[0] != '#') return line;
    }
    return STR("");
}

bool explore_is_script(Str text) {
    size_t number = 0;
    return str_equal(next_step(&text, &number), STR("history"));
}

void explore_write_script(const ExploreReport *report, const char *command, Buf *text) {
    int64_t at_ms = 0;
    buf_printf(text, "# %.*s\n# Again: %s\nhistory\n", STR_ARG(report->violation.text), command);
    for (size_t i = 0; i < report->step_count; i++) {
        const ExploreStep *step = &report->steps[i];
        buf_printf(text, "%.*s\n", STR_ARG(step->line));
        if (step->at_ms == at_ms) continue;
        char duration[INSTANT_TEXT_MAX];
        at_ms = step->at_ms;
        (void)duration_format(at_ms, duration);
        buf_printf(text, "# it is +%s\n", duration);
    }
}

static Status play_line(Player *player, Str line, size_t number, Diag *diag) {
    player_look(player, SIZE_MAX);
    for (size_t i = 0; i < player->choices.count; i++) {
        if (!str_equal(player->choices.data[i].line, line)) continue;
        Choice choice = player->choices.data[i];
        choice.line = line;
        player_do(player, &choice);
        return OK;
    }
    Str able = STR("nothing");
    for (size_t i = 0; i < player->choices.count && !player->choices.data[i].is_optional; i++)
        able = i == 0 ? player->choices.data[i].line
                      : arena_printf(&player->arena, "%.*s; %.*s", STR_ARG(able),
                                     STR_ARG(player->choices.data[i].line));
    return diag_set(diag, ERR_INVALID, "BAD_SCRIPT",
                    "line %zu, \"%.*s\", cannot happen here; this can: %.*s", number, STR_ARG(line),
                    STR_ARG(able));
}

static Status play_lines(Player *player, Str script, Diag *diag) {
    size_t number = 0;
    (void)next_step(&script, &number); // "history"
    while (!trial_has_failed(player->trial)) {
        Str line = next_step(&script, &number);
        if (line.len == 0) break;
        TRY(play_line(player, line, number, diag));
    }
    if (trial_has_failed(player->trial)) return OK;
    player_look(player, 0);
    if (player_is_at_end(player)) trial_judge(player->trial);
    if (!trial_has_failed(player->trial)) player_finish(player);
    return OK;
}

Status explore_replay(const ExploreSubject *subject, Str script, Arena *arena,
                      ExploreReport *ret_report, Diag *diag) {
    Player player;
    *ret_report = (ExploreReport){.history_count = 1};
    TRY(player_open(&player, subject, diag));
    player.keeps_steps = true;
    Status status = play_lines(&player, script, diag);
    if (status == OK) history_report(&player, arena, ret_report);
    player_close(&player);
    return status == OK ? history_check_start(ret_report, diag) : status;
}
