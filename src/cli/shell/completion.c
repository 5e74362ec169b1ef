// abide completion: scripts that let shells complete commands, options and names.
//
// All three are made of the same walk over the commands. What can be known beforehand is written
// into the script; runs, workflows and so on are asked for when the key is pressed.
//
//   [completion-1] What was asked for is data from others: no shell expands or evaluates it, and
//        what is put into the line is quoted, so that the command gets the name as it is.
//   [completion-2] A name that begins with a dash is not offered: it would be taken for an option.
//
// Not here: the shells' own parts (shell/bash.c, shell/zsh.c, shell/fish.c).
#include "cli/shell/completion.h"
#include "base/array.h"
#include "cli/cli.h"
#include <stdio.h>

typedef struct Known {
    const char *placeholder;
    CompletionKind kind;
    const char *text;
} Known;

static const Known known[] = {
    {"FILE", COMPLETE_FILES, ""},
    {"STORE", COMPLETE_FILES, ""},
    {"JSON|@FILE|-", COMPLETE_FILES, ""},
    {"JSON|@FILE", COMPLETE_FILES, ""},
    {"DIR", COMPLETE_FOLDERS, ""},
    {"RUN", COMPLETE_ASK, "wf ls -o ids"},
    {"WORKFLOW", COMPLETE_ASK, "workflow ls -o ids"},
    {"TASK", COMPLETE_ASK, "task ls -o ids"},
    {"QUEUE", COMPLETE_ASK, "queue ls -o ids"},
    {"TOPIC", COMPLETE_ASK, "topic ls -o ids"},
    {"SCHEDULE", COMPLETE_ASK, "schedule ls -o ids"},
    {"LETTER", COMPLETE_ASK, "dead ls -o ids"},
    {"TOKEN-ID", COMPLETE_ASK, "token ls -o ids"},
    {"STATUS", COMPLETE_WORDS, "pending running suspended paused completed failed cancelled"},
    {"TASK-STATUS", COMPLETE_WORDS, "queued leased completed failed cancelled"},
};

bool completion_source(Str placeholder, CompletionSource *ret_source) {
    *ret_source = (CompletionSource){.kind = COMPLETE_WORDS};
    char *text = ret_source->text;
    size_t size = sizeof ret_source->text;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (!str_equal(placeholder, str_from(known[i].placeholder))) continue;
        ret_source->kind = known[i].kind;
        snprintf(text, size, "%s", known[i].text);
        return true;
    }
    snprintf(text, size, "%.*s", STR_ARG(placeholder));
    if (!pages_is_choice(text)) return false;
    for (char *at = text; *at; at++)
        if (*at == '|') *at = ' ';
    return true;
}

bool completion_operand(const Page *page, size_t index, CompletionSource *ret_source,
                        bool *ret_is_last) {
    *ret_is_last = false;
    if (page->table == NULL) return false;
    Str operand = pages_operand(page, index);
    if (!completion_source(operand, ret_source)) return false;
    bool is_repeated = str_same(pages_operand(page, COMPLETION_OPERANDS_MAX), operand);
    *ret_is_last = is_repeated && operand.data != NULL;
    return true;
}

void completion_cases(FILE *file, const Page *page,
                      void (*print)(FILE *file, const CompletionSource *source), const char *end) {
    CompletionSource source;
    bool is_last = false;
    for (size_t i = 0; i < COMPLETION_OPERANDS_MAX && !is_last; i++) {
        if (!completion_operand(page, i, &source, &is_last)) continue;
        fprintf(file, "        ' %s ", page->path);
        if (is_last) fputs("'*) ", file);
        else fprintf(file, "%zu') ", i);
        print(file, &source);
        fputs(end, file);
    }
}

void completion_quote(FILE *file, const char *text) {
    for (; *text; text++)
        if (*text == '\'') fputs("'\\''", file);
        else fputc(*text == '\n' ? ' ' : *text, file);
}

int cli_completion(int argument_count, char **arguments) {
    const OptionTable table = {
        .usage = "abide completion bash|zsh|fish",
        .about = "Prints a script that lets a shell complete commands, options and names.",
        .example = "source <(abide completion bash)\n"
                   "abide completion zsh > \"${fpath[1]}/_abide\"\n"
                   "abide completion fish > ~/.config/fish/completions/abide.fish",
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands operands;
    OptionsResult result = options_parse(&table, argument_count, arguments, &operands);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    const char *shell = operands.items[0];
    if (strcmp(shell, "bash") == 0) completion_bash(stdout);
    else if (strcmp(shell, "zsh") == 0) completion_zsh(stdout);
    else if (strcmp(shell, "fish") == 0) completion_fish(stdout);
    else {
        fprintf(stderr, "abide: no completions for %s; there are bash, zsh and fish\n", shell);
        return EXIT_CODE_USAGE;
    }
    return fflush(stdout) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}
