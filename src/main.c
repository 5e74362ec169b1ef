// abide: the program.
//
// Wires the layers together; the only file that knows every one of them.
//
// Not here: what a command does (cli/), what a request does (server/), what a run does (engine/).
// For now it answers with its version.

#include <stdio.h>

int main(void) {
    puts("abide " ABIDE_VERSION);
    return 0;
}
