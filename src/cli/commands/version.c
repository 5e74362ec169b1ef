// abide version: which version this program is.
//
// Asks nobody; `abide doctor` compares it with the server's.
//
// Not here: where the number comes from (meson.build).
#include "base/array.h"
#include "cli/cli.h"
#include "cli/options.h"
#include <stdio.h>

int cli_version(int argument_count, char **arguments) {
    Str output = STR("text");
    const Option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "text|json", "form of the output"},
    };
    const OptionTable table = {
        .usage = "abide version [-o text|json]",
        .about = "Shows the version of this program.",
        .example = "abide version\nabide version -o json",
        .options = options,
        .option_count = COUNT_OF(options),
    };
    Operands none;
    OptionsResult result = options_parse(&table, argument_count, arguments, &none);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (str_equal(output, STR("json"))) {
        puts("{\"version\":\"" ABIDE_VERSION "\"}");
    } else if (str_equal(output, STR("text"))) {
        puts("abide " ABIDE_VERSION);
    } else {
        fprintf(stderr, "abide: -o takes text or json, not %.*s\n", STR_ARG(output));
        return EXIT_CODE_USAGE;
    }
    return EXIT_CODE_OK;
}
