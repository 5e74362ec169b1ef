// The tree of commands, walked; and the little grammar of usage lines.
//
// A command is asked for its table by running it with an observer set (options.h): it hands over
// its table and ends.
//
// Not here: what is made of it (completion.c, man.c).
#include "cli/shell/pages.h"
#include <stdio.h>

typedef struct Walk {
    PageFunction visit;
    void *context;
    Page page; // the one being asked for
} Walk;

static void take_table(void *context, const OptionTable *table) {
    Walk *walk = context;
    walk->page.table = table;
    walk->visit(walk->context, &walk->page);
}

static void walk_command(Walk *walk, const CliCommand *command, const char *path) {
    walk->page = (Page){.path = path, .summary = command->summary, .group = command->group};
    if (command->group != NULL) {
        walk->visit(walk->context, &walk->page);
        return;
    }
    options_observe(take_table, walk);
    (void)cli_command_run(command, 0, NULL);
    options_observe(NULL, NULL);
}

void pages_walk(PageFunction visit, void *context) {
    Walk walk = {.visit = visit, .context = context};
    walk.page = (Page){.path = "", .summary = "", .group = &cli_root};
    visit(context, &walk.page);
    for (size_t i = 0; i < cli_root.count; i++) {
        const CliCommand *command = &cli_root.commands[i];
        walk_command(&walk, command, command->name);
        for (size_t k = 0; command->group != NULL && k < command->group->count; k++) {
            char path[64];
            snprintf(path, sizeof path, "%s %s", command->name, command->group->commands[k].name);
            walk_command(&walk, &command->group->commands[k], path);
        }
    }
}

// The next word of a usage line, without brackets; *ret_is_repeated when "..." is behind it.
static Str next_word(Str *rest, bool *ret_is_repeated) {
    while (rest->len > 0 && rest->data[0] == ' ') *rest = (Str){rest->data + 1, rest->len - 1};
    size_t len = 0;
    while (len < rest->len && rest->data[len] != ' ') len++;
    Str word = {rest->data, len};
    *rest = (Str){rest->data + len, rest->len - len};
    *ret_is_repeated = false;
    for (;;) {
        if (word.len > 0 && word.data[0] == '[') word = (Str){word.data + 1, word.len - 1};
        else if (word.len > 0 && word.data[word.len - 1] == ']') word.len--;
        else if (word.len > 3 && memcmp(word.data + word.len - 3, "...", 3) == 0) {
            word.len -= 3;
            *ret_is_repeated = true;
        } else {
            return word;
        }
    }
}

Str pages_operand(const Page *page, size_t index) {
    if (page->table == NULL) return STR_NULL;
    Str rest = str_from(page->table->usage);
    size_t skip = strlen("abide ") + strlen(page->path);
    rest = skip < rest.len ? (Str){rest.data + skip, rest.len - skip} : STR("");
    for (size_t at = 0; rest.len > 0;) {
        bool is_repeated;
        Str word = next_word(&rest, &is_repeated);
        if (word.len > 0 && word.data[0] == '-' && word.len > 1) {
            // An option in the line; "[--to TIME]" and "--cron LINE" have their value behind them.
            if (rest.len > 1 && rest.data[1] != '[' && rest.data[1] != '-')
                (void)next_word(&rest, &is_repeated);
            continue;
        }
        if (word.len == 0 || str_equal(word, STR("options"))) continue;
        if (at++ == index || is_repeated) return word;
    }
    return STR_NULL;
}

bool pages_is_choice(const char *placeholder) {
    if (placeholder == NULL || strchr(placeholder, '|') == NULL) return false;
    for (const char *at = placeholder; *at; at++) // placeholders are in capitals, words are not
        if (!((*at >= 'a' && *at <= 'z') || *at == '|' || *at == '-')) return false;
    return true;
}
