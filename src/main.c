// abide: the program. Finds the command and hands it the rest of the arguments.
//
// Wires the layers together; the only file that may know every one of them.
//
// Not here: which commands there are (cli/commands.c), what a command does (cli/), what a request
// does (server/), what a run does (engine/).

#include "cli/cli.h"
#include "store/store.h"

int main(int argument_count, char **arguments) {
    store_own_process();
    return cli_main(argument_count, arguments);
}
