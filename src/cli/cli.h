// The commands of the abide program. Each is a file; main.c finds it by name.
#pragma once
#include <stddef.h>

typedef enum ExitCode {
    EXIT_CODE_OK = 0,
    EXIT_CODE_FAILED = 1, // the work was tried and went wrong: findings, a script error
    EXIT_CODE_USAGE = 2,  // nothing was tried: bad arguments, a file that cannot be loaded
} ExitCode;

// What a command does with the arguments after its name; answers an ExitCode.
typedef int (*CliFunction)(int argument_count, char **arguments);

typedef struct CliCommand {
    const char *name;
    const char *summary; // one line for `abide --help`
    CliFunction run;
} CliCommand;

int cli_check(int argument_count, char **arguments);
int cli_run(int argument_count, char **arguments);
int cli_serve(int argument_count, char **arguments);
int cli_disasm(int argument_count, char **arguments);
