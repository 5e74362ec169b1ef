// abide serve: an engine with its HTTP server in the foreground, until it is told to end.
//
// Log lines go to stderr. Exit code 0 after an orderly end, 1 when it could not start, 2 for bad
// arguments.
//
// Not here: what serving is (server/serve.c).
#include "cli/cli.h"
#include "cli/options.h"
#include "server/serve.h"
#include <stdio.h>

static void write_line(void *context, LogLevel level, const char *line) {
    (void)context;
    fprintf(stderr, "%s %s\n", log_level_name(level), line);
}

int cli_serve(int argument_count, char **arguments) {
    Logger logger = {.least = LOG_INFO, .write = write_line};
    ServeConfig config = {
        .store = STR("sqlite:abide.db"), .listen = STR("127.0.0.1:7433"), .logger = &logger};
    uint64_t threads = 2;
    const Option options[] = {
        {"store", 's', OPTION_TEXT, &config.store, "URL", "where everything is kept"},
        {"listen", 'l', OPTION_TEXT, &config.listen, "HOST:PORT", "where to listen"},
        {"threads", 0, OPTION_COUNT, &threads, "N", "threads that read and write HTTP"},
        {"tls-cert", 0, OPTION_TEXT, &config.tls_certificate_file, "FILE", "certificate, PEM"},
        {"tls-key", 0, OPTION_TEXT, &config.tls_key_file, "FILE", "its key, PEM"},
        {"require-tokens", 0, OPTION_FLAG, &config.is_token_required, NULL,
         "ask for tokens also on loopback"},
        {"insecure", 0, OPTION_FLAG, &config.is_insecure, NULL, "no tokens, wherever it listens"},
        {"allow-exec", 0, OPTION_FLAG, &config.is_exec_allowed, NULL,
         "the task exec may run programs"},
        {"allow-private", 0, OPTION_FLAG, &config.is_private_allowed, NULL,
         "the task http may reach private addresses"},
    };
    const OptionTable table = {
        .usage = "abide serve [options]",
        .about = "Serves workflows over HTTP until it gets SIGTERM or SIGINT.",
        .example = "abide serve --store sqlite:orders.db --listen 127.0.0.1:7433",
        .options = options,
        .option_count = sizeof options / sizeof *options,
    };
    Operands none;
    OptionsResult result = options_parse(&table, argument_count, arguments, &none);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    config.threads = threads < 64 ? (int)threads : 64;
    Diag diag;
    if (serve(&config, &diag) == OK) return EXIT_CODE_OK;
    fprintf(stderr, "abide: %s (%s)\n", diag.message, diag.code);
    return EXIT_CODE_FAILED;
}
