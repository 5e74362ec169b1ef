// abide-sim: the deterministic simulator's command line.
//
// Reads the seed and the number of runs, drives sim/, prints what is needed to repeat a failure.
//
// Not here: the model of the world and the checkers, which are the other files of this folder.
// For now it answers with its version.

#include <stdio.h>

int main(void) {
    puts("abide-sim " ABIDE_VERSION);
    return 0;
}
