// The commands of the abide program. Each is a file or a small group of them; commands.c holds the
// tree, from which dispatch, help, completions and manual pages are made.
#pragma once
#include <stddef.h>

typedef enum ExitCode {
    EXIT_CODE_OK = 0,
    EXIT_CODE_FAILED = 1,       // the work was tried and went wrong: findings, a script error
    EXIT_CODE_USAGE = 2,        // nothing was tried: bad arguments, a file that cannot be loaded
    EXIT_CODE_AUTH = 3,         // the server asks for a token, or for another one
    EXIT_CODE_NOT_FOUND = 4,    // what was named does not exist
    EXIT_CODE_INTERRUPTED = 130 // Ctrl-C
} ExitCode;

// What a command does with the arguments after its name; answers an ExitCode.
typedef int (*CliFunction)(int argument_count, char **arguments);

typedef struct CliGroup CliGroup;
struct Verb;

typedef struct CliCommand { // one of the three is there
    const char *name;
    const char *summary; // one line for `--help` of what it belongs to
    CliFunction run;
    const CliGroup *group;
    const struct Verb *verb; // a command that is described as data (verb.h)
} CliCommand;

struct CliGroup {
    const char *about;   // a sentence or two
    const char *example; // complete command lines, one per line
    const CliCommand *commands;
    size_t count;
};

extern const CliGroup cli_root; // commands.c

int cli_command_run(const CliCommand *command, int argument_count, char **arguments);
// Finds the command and runs it; answers an ExitCode.
int cli_main(int argument_count, char **arguments);

int cli_check(int argument_count, char **arguments);
int cli_debug(int argument_count, char **arguments);
int cli_lsp(int argument_count, char **arguments);
int cli_run(int argument_count, char **arguments);
int cli_sim(int argument_count, char **arguments);
int cli_dev(int argument_count, char **arguments);
int cli_serve(int argument_count, char **arguments);
int cli_disasm(int argument_count, char **arguments);
int cli_version(int argument_count, char **arguments);
int cli_worker(int argument_count, char **arguments);
int cli_verify(int argument_count, char **arguments);
int cli_backup(int argument_count, char **arguments);
int cli_migrate(int argument_count, char **arguments);
int cli_config_print(int argument_count, char **arguments);
int cli_config_check(int argument_count, char **arguments);
int cli_completion(int argument_count, char **arguments);
int cli_man(int argument_count, char **arguments);
