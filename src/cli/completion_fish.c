// Completions for fish: one line per offer, under the condition that its command is being typed.
//
// __abide_at is true when the words before the cursor name exactly that command; options and their
// values between them do not count.
//
// Not here: where names come from (completion.c).
#include "cli/completion.h"

static void print_source(FILE *file, const CompletionSource *source) {
    switch (source->kind) {
    case COMPLETE_FILES: fputs(" -F", file); break;
    case COMPLETE_FOLDERS: fputs(" -a '(__fish_complete_directories)'", file); break;
    case COMPLETE_ASK: fprintf(file, " -a '(abide %s 2>/dev/null)'", source->command); break;
    }
}

static void print_choice(FILE *file, const char *choice) {
    fputs(" -a '", file);
    for (; *choice; choice++) fputc(*choice == '|' ? ' ' : *choice, file);
    fputc('\'', file);
}

static void print_option(FILE *file, const char *path, const Option *option) {
    fprintf(file, "complete -c abide -n '__abide_at %s' -l %s", path, option->name);
    if (option->letter) fprintf(file, " -s %c", option->letter);
    if (option->value != NULL) {
        const CompletionSource *source = completion_source(str_from(option->value));
        fputs(source != NULL && source->kind == COMPLETE_FILES ? " -r" : " -x", file);
        if (pages_is_choice(option->value)) print_choice(file, option->value);
        else if (source != NULL) print_source(file, source);
    }
    fputs(" -d '", file);
    completion_quote(file, option->help);
    fputs("'\n", file);
}

static void print_page(void *context, const Page *page) {
    FILE *file = context;
    for (size_t i = 0; page->group != NULL && i < page->group->count; i++) {
        const CliCommand *command = &page->group->commands[i];
        fprintf(file, "complete -c abide -f -n '__abide_at %s' -a %s -d '", page->path,
                command->name);
        completion_quote(file, command->summary);
        fputs("'\n", file);
    }
    if (page->table == NULL) return;
    const Option *option;
    for (size_t i = 0; (option = options_at(page->table, i)) != NULL; i++)
        print_option(file, page->path, option);
    Str operand = pages_operand(page, 0);
    const CompletionSource *source = completion_source(operand);
    char choice[128];
    snprintf(choice, sizeof choice, "%.*s", STR_ARG(operand));
    fprintf(file, "complete -c abide -n '__abide_at %s'", page->path);
    fputs(source != NULL && source->kind == COMPLETE_FILES ? "" : " -f", file);
    if (pages_is_choice(choice)) print_choice(file, choice);
    else if (source != NULL) print_source(file, source);
    fputc('\n', file);
}

static void print_group(void *context, const Page *page) {
    if (page->group != NULL && page->path[0]) fprintf(context, " %s", page->path);
}

void completion_fish(FILE *file) {
    fputs("# Completions of abide for fish: abide completion fish > "
          "~/.config/fish/completions/abide.fish\n"
          "function __abide_at\n"
          "    set -l found\n"
          "    for word in (commandline -opc)[2..-1]\n"
          "        string match -q -- '-*' $word; and continue\n"
          "        set -a found $word\n"
          "        contains -- $found[1]",
          file);
    pages_walk(print_group, file);
    fputs("; or break\n"
          "        test (count $found) -ge 2; and break\n"
          "    end\n"
          "    test \"$found\" = \"$argv\"\n"
          "end\n"
          "complete -c abide -s h -l help -d 'show help'\n",
          file);
    pages_walk(print_page, file);
}
