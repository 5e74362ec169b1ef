// The tree of commands, and the way from the arguments to one of them.
//
// A word that is no option names a command or a group; a group takes the next word. Help exists at
// every level and is written from the tree; the options of a command are its own affair
// (options.h).
//
// Not here: what the commands do.
#include "base/array.h"
#include "base/text/suggest.h"
#include "cli/cli.h"
#include "cli/groups.h"
#include "cli/verbs/verb.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COMMANDS_MAX = 64 }; // of a group, among which a mistyped word is looked for

static const CliCommand config_commands[] = {
    {"print", "show the settings and where they come from", cli_config_print, NULL, NULL},
    {"check", "say what is wrong with the settings", cli_config_check, NULL, NULL},
};

static const CliGroup config_group = {
    .about = "Shows and checks the settings of `abide serve`.",
    .example = "abide config print\nabide config check --config /etc/abide/abide.toml",
    .commands = config_commands,
    .count = COUNT_OF(config_commands),
};

static const CliCommand commands[] = {
    {"check", "report what is wrong with workflow files", cli_check, NULL, NULL},
    {"run", "run a workflow in the foreground", cli_run, NULL, NULL},
    {"sim", "look for what could go wrong with a workflow", cli_sim, NULL, NULL},
    {"dev", "serve the flows of a folder, and deploy them as they change", cli_dev, NULL, NULL},
    {"serve", "serve workflows over HTTP", cli_serve, NULL, NULL},
    {"worker", "do tasks with a program", cli_worker, NULL, NULL},
    {"deploy", "deploy workflow files", NULL, NULL, &deploy_verb},
    {"wf", "start, watch and steer runs", NULL, &wf_group, NULL},
    {"logs", "print the console lines of a run", NULL, NULL, &logs_verb},
    {"signal", "send a signal to a run", NULL, NULL, &signal_verb},
    {"emit", "publish an event to a topic", NULL, NULL, &emit_verb},
    {"task", "list, queue and retry tasks", NULL, &task_group, NULL},
    {"queue", "list queues, set their limits", NULL, &queue_group, NULL},
    {"schedule", "start runs by the clock", NULL, &schedule_group, NULL},
    {"topic", "topics, their policies and waiters", NULL, &topic_group, NULL},
    {"dead", "events and signals that reached nobody", NULL, &dead_group, NULL},
    {"workflow", "list and show deployed workflows", NULL, &workflow_group, NULL},
    {"attention", "show what needs a person, and what helps", NULL, NULL, &attention_verb},
    {"stats", "show the counters of a server", NULL, NULL, &stats_verb},
    {"rates", "show how much happened in the last hours", NULL, NULL, &rates_verb},
    {"changes", "print what changes, as it happens", NULL, NULL, &changes_verb},
    {"access", "show what this caller may do", NULL, NULL, &access_verb},
    {"workers", "list who asks for tasks, and the tasks nobody asks for", NULL, NULL,
     &workers_verb},
    {"nodes", "list the processes that work on a store", NULL, NULL, &nodes_verb},
    {"doctor", "look whether everything is well", NULL, NULL, &doctor_verb},
    {"verify", "check the content of a store", cli_verify, NULL, NULL},
    {"backup", "copy an SQLite store, also while it is in use", cli_backup, NULL, NULL},
    {"migrate", "move everything from one store to another", cli_migrate, NULL, NULL},
    {"settings", "show what a server was told, and where it comes from", NULL, NULL,
     &settings_verb},
    {"config", "show and check the settings of a server", NULL, &config_group, NULL},
    {"token", "make, list and remove tokens", NULL, &token_group, NULL},
    {"disasm", "show the bytecode of a workflow file", cli_disasm, NULL, NULL},
    {"debug", "let an editor step through a workflow", cli_debug, NULL, NULL},
    {"lsp", "tell an editor about workflow files", cli_lsp, NULL, NULL},
    {"completion", "print completions for a shell", cli_completion, NULL, NULL},
    {"man", "print manual pages", cli_man, NULL, NULL},
    {"version", "show the version", cli_version, NULL, NULL},
};

const CliGroup cli_root = {
    .about = "Durable workflows.",
    .example = "abide run order.flow --input '{\"orderId\": 7}'\nabide deploy order.flow\n"
               "abide wf start order '{\"orderId\": 7}' --wait",
    .commands = commands,
    .count = COUNT_OF(commands),
};

static void print_help(FILE *out, const char *path, const CliGroup *group) {
    fprintf(out, "Usage: %s COMMAND [arguments]\n\n%s\n\nCommands:\n", path, group->about);
    for (size_t i = 0; i < group->count; i++)
        fprintf(out, "  %-11s %s\n", group->commands[i].name, group->commands[i].summary);
    fprintf(out, "\n%s COMMAND --help says more.\n\nExamples:\n", path);
    for (const char *line = group->example; *line;) {
        size_t len = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static const CliCommand *find(const CliGroup *group, const char *name) {
    for (size_t i = 0; i < group->count; i++)
        if (strcmp(name, group->commands[i].name) == 0) return &group->commands[i];
    return NULL;
}

static int no_command(const CliGroup *group, const char *path, const char *word) {
    const char *names[COMMANDS_MAX];
    size_t count = 0;
    for (; count < group->count && count < COMMANDS_MAX; count++)
        names[count] = group->commands[count].name;
    const char *nearest = suggest_nearest(str_from(word), names, count);
    if (nearest != NULL)
        fprintf(stderr, "abide: there is no command %s; did you mean %s %s? See %s --help\n", word,
                path, nearest, path);
    else fprintf(stderr, "abide: there is no command %s; see %s --help\n", word, path);
    return EXIT_CODE_USAGE;
}

static bool is_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

int cli_command_run(const CliCommand *command, int argument_count, char **arguments) {
    if (command->verb != NULL) return verb_run(command->verb, argument_count, arguments);
    return command->run(argument_count, arguments);
}

int cli_main(int argument_count, char **arguments) {
    const CliGroup *group = &cli_root;
    char path[128] = "abide", help_word[] = "--help";
    char *help_arguments[] = {help_word, NULL};
    bool wants_help = false;
    for (int i = 1; i < argument_count; i++) {
        const char *word = arguments[i];
        bool is_leading = strcmp(word, "help") == 0 && i + 1 < argument_count;
        if (is_leading) { // "help wf start" is "wf start --help"
            wants_help = true;
            continue;
        }
        if (is_help(word)) {
            print_help(stdout, path, group);
            return EXIT_CODE_OK;
        }
        if (group == &cli_root && strcmp(word, "--version") == 0) return cli_version(0, NULL);
        const CliCommand *command = find(group, word);
        if (command == NULL) return no_command(group, path, word);
        bool is_command = command->group == NULL;
        if (is_command && wants_help) return cli_command_run(command, 1, help_arguments);
        if (is_command) return cli_command_run(command, argument_count - i - 1, arguments + i + 1);
        group = command->group;
        size_t len = strlen(path);
        snprintf(path + len, sizeof path - len, " %s", command->name);
    }
    print_help(wants_help ? stdout : stderr, path, group);
    return wants_help ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}
