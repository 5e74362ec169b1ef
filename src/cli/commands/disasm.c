// abide disasm: the bytecode of a workflow file, with its source lines.
//
// For people who work on the compiler, or who want to see why a script is slow. The listing is
// made by flow/code/disasm.c; its format may change from version to version.
// Exit code 0, or 2 when the file cannot be loaded.

#include "flow/code/disasm.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/run/files.h"
#include "cli/run/load.h"
#include "flow/flow.h"
#include <stdio.h>

enum { LISTING_MAX = 1 << 30 };

int cli_disasm(int argument_count, char **arguments) {
    const OptionTable table = {
        .usage = "abide disasm FILE",
        .about = "Shows the bytecode that a workflow file compiles to.",
        .example = "abide disasm order.flow",
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands files;
    OptionsResult result = options_parse(&table, argument_count, arguments, &files);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    FlowModule *module = load_module(files.items[0], LOAD_ANY, NULL, NULL);
    if (!module) return EXIT_CODE_USAGE;
    Buf listing;
    buf_init(&listing, LISTING_MAX);
    flow_disassemble(module, &listing);
    if (listing.len) fwrite(listing.data, 1, listing.len, stdout);
    buf_done(&listing);
    flow_module_release(module);
    return EXIT_CODE_OK;
}
