// The version of the program, as meson.build has it.
//
// Why a file of its own: nodes tell each other what they are, and the tests build a program that
// is one version ahead by compiling this file alone a second time.
//
// Not here: versions of schemas and formats, which change for other reasons (store/).
#include "base/version.h"

const char program_version[] = ABIDE_VERSION;
