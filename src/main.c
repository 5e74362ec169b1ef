// abide: the program. Finds the command and hands it the rest of the arguments.
//
// Wires the layers together; the only file that may know every one of them.
//
// Not here: what a command does (cli/), what a request does (server/), what a run does (engine/).

#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

static int command_version(int argument_count, char **arguments);

static const CliCommand commands[] = {
    {"check", "report what is wrong with workflow files", cli_check},
    {"run", "run a workflow in the foreground", cli_run},
    {"serve", "serve workflows over HTTP", cli_serve},
    {"disasm", "show the bytecode of a workflow file", cli_disasm},
    {"version", "show the version", command_version},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int command_version(int argument_count, char **arguments) {
    if (argument_count > 0) {
        fprintf(stderr, "abide: unexpected argument %s\nusage: abide version\n", arguments[0]);
        return EXIT_CODE_USAGE;
    }
    puts("abide " ABIDE_VERSION);
    return EXIT_CODE_OK;
}

static void print_help(FILE *out) {
    fputs("Usage: abide COMMAND [arguments]\n\nDurable workflows.\n\nCommands:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\nabide COMMAND --help says more.\n\nExamples:\n  abide check order.flow\n"
          "  abide run order.flow --input '{\"orderId\": 7}'\n",
          out);
}

int main(int argument_count, char **arguments) {
    if (argument_count < 2) {
        print_help(stderr);
        return EXIT_CODE_USAGE;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return EXIT_CODE_OK;
    }
    if (strcmp(name, "--version") == 0) return command_version(0, NULL);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argument_count - 2, arguments + 2);
    fprintf(stderr, "abide: there is no command %s; see abide --help\n", name);
    return EXIT_CODE_USAGE;
}
