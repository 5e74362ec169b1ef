// Completions for fish: one line per offer, under the condition that its command is being typed.
//
// __abide_at is true when the words before the cursor name exactly that command; options and their
// values between them do not count.
//
// Not here: where names come from (completion.c).
#include "cli/shell/completion.h"

static void print_source(FILE *file, const CompletionSource *source) {
    switch (source->kind) {
    case COMPLETE_FILES: fputs(" -F", file); break;
    case COMPLETE_FOLDERS: fputs(" -a '(__fish_complete_directories)'", file); break;
    case COMPLETE_WORDS: fprintf(file, " -a '%s'", source->text); break;
    case COMPLETE_ASK: fprintf(file, " -a '(__abide_names %s)'", source->text); break;
    }
}

static void print_option(FILE *file, const char *path, const Option *option) {
    fprintf(file, "complete -c abide -n '__abide_at %s' -l %s", path, option->name);
    if (option->letter) fprintf(file, " -s %c", option->letter);
    if (option->value != NULL) {
        CompletionSource source;
        bool is_known = completion_source(str_from(option->value), &source);
        fputs(is_known && source.kind == COMPLETE_FILES ? " -r" : " -x", file);
        if (is_known) print_source(file, &source);
    }
    fputs(" -d '", file);
    completion_quote(file, option->help);
    fputs("'\n", file);
}

// What stands at which place behind the command.
static void print_operands(FILE *file, const Page *page) {
    CompletionSource source;
    bool is_last = false;
    for (size_t i = 0; i < COMPLETION_OPERANDS_MAX && !is_last; i++) {
        if (!completion_operand(page, i, &source, &is_last)) continue;
        fprintf(file, "complete -c abide -n '__abide_at %s; and __abide_operand %zu%s %s'",
                page->path, i, is_last ? "+" : "", page->path);
        fputs(source.kind == COMPLETE_FILES ? "" : " -f", file);
        print_source(file, &source);
        fputc('\n', file);
    }
}

static void print_takes(void *context, const Page *page) {
    const Option *option;
    for (size_t i = 0; page->table && (option = options_at(page->table, i)) != NULL; i++) {
        if (option->value == NULL) continue;
        fprintf(context, " '%s --%s'", page->path, option->name);
        if (option->letter) fprintf(context, " '%s -%c'", page->path, option->letter);
    }
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
    fprintf(file, "complete -c abide -f -n '__abide_at %s'\n", page->path);
    print_operands(file, page);
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
          "# Is the cursor at that place behind the command? \"1+\" is that one and all after "
          "it.\n"
          "function __abide_operand\n"
          "    set -l path $argv[2..-1]\n"
          "    set -l left (count $path)\n"
          "    set -l number 0\n"
          "    set -l skip 0\n"
          "    for word in (commandline -opc)[2..-1]\n"
          "        if test $skip = 1\n"
          "            set skip 0\n"
          "        else if string match -q -- '-?*' $word\n"
          "            __abide_takes \"$path $word\"; and set skip 1\n"
          "        else if test $left -gt 0\n"
          "            set left (math $left - 1)\n"
          "        else\n"
          "            set number (math $number + 1)\n"
          "        end\n"
          "    end\n"
          "    set -l wanted (string replace '+' '' -- $argv[1])\n"
          "    test $number -eq $wanted; and return 0\n"
          "    test $argv[1] != $wanted -a $number -gt $wanted\n"
          "end\n"
          "function __abide_takes\n"
          "    contains -- $argv[1]",
          file);
    pages_walk(print_takes, file);
    fputs("\nend\n"
          // [completion-1] what a substitution answers is not expanded again
          "function __abide_names\n"
          "    abide $argv 2>/dev/null | string match -v -- '-*'\n" // [completion-2]
          "end\n"
          "complete -c abide -s h -l help -d 'show help'\n",
          file);
    pages_walk(print_page, file);
}
