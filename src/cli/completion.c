// abide completion: scripts that let shells complete commands, options and names.
//
// All three are made of the same walk over the commands. What can be known beforehand is written
// into the script; runs, workflows and so on are asked for when the key is pressed.
//
// Not here: the shells' own parts (completion_bash.c, completion_zsh.c, completion_fish.c).
#include "cli/completion.h"
#include "cli/cli.h"
#include <stdio.h>

const CompletionSource *completion_source(Str placeholder) {
    static const CompletionSource sources[] = {
        {"FILE", COMPLETE_FILES, NULL},
        {"STORE", COMPLETE_FILES, NULL},
        {"JSON|@FILE|-", COMPLETE_FILES, NULL},
        {"DIR", COMPLETE_FOLDERS, NULL},
        {"RUN", COMPLETE_ASK, "wf ls -o ids"},
        {"WORKFLOW", COMPLETE_ASK, "workflow ls -o ids"},
        {"TASK", COMPLETE_ASK, "task ls -o ids"},
        {"QUEUE", COMPLETE_ASK, "queue ls -o ids"},
        {"TOPIC", COMPLETE_ASK, "topic ls -o ids"},
        {"SCHEDULE", COMPLETE_ASK, "schedule ls -o ids"},
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (str_equal(placeholder, str_from(sources[i].placeholder))) return &sources[i];
    return NULL;
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
