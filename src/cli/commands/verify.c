// abide verify: reads a whole store and checks it against its own rules.
//
// The store is opened for reading only, so this works beside a server that owns it, and changes
// nothing. Exit code 1 when something is wrong with it, 4 when there is none.
//
// Not here: the rules (store/verify/verify.c).
#include "cli/commands/verify.h"
#include "base/array.h"
#include "cli/client/local.h"
#include "cli/client/session.h"
#include "json/write.h"
#include "store/store.h"

Status verify_store(Str url, Logger *logger, int64_t *ret_row_count, Diag *diag) {
    TRY(local_check_exists(url, diag));
    bool is_read_only = local_file(url).len > 0 || store_url_is_shared(url);
    const StoreConfig config = {.logger = logger, .is_read_only = is_read_only};
    Store *store;
    TRY(store_open(url, &config, &store, diag));
    Status status = store_verify(store, ret_row_count, diag);
    store_close(store);
    return status;
}

static void print_json(Str shown, int64_t row_count, const Diag *diag) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 1 << 16);
    json_writer_init(&json, &text, STR("  "));
    json_write_object_begin(&json);
    json_put_string(&json, "store", shown);
    json_put_bool(&json, "ok", diag == NULL);
    if (diag == NULL) {
        json_put_i64(&json, "rows", row_count);
    } else {
        json_write_key(&json, STR("error"));
        json_write_object_begin(&json);
        json_put_cstr(&json, "code", diag->code);
        json_put_cstr(&json, "detail", diag->message);
        json_write_object_end(&json);
    }
    json_write_object_end(&json);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

int cli_verify(int argument_count, char **arguments) {
    Str output = STR("text");
    const Option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "text|json", "form of the output"},
    };
    const OptionTable table = {
        .usage = "abide verify STORE [-o text|json]",
        .about = "Checks the whole content of a store; also beside a server that has it.",
        .example = "abide verify sqlite:orders.db\nabide verify orders.db -o json",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands operands;
    OptionsResult result = options_parse(&table, argument_count, arguments, &operands);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    bool is_json = str_equal(output, STR("json"));
    if (!is_json && !str_equal(output, STR("text"))) {
        fprintf(stderr, "abide: -o takes text or json, not %.*s\n", STR_ARG(output));
        return EXIT_CODE_USAGE;
    }
    Str url = str_from(operands.items[0]);
    int64_t row_count = 0;
    Diag diag;
    Status status = verify_store(url, NULL, &row_count, &diag);
    Arena arena;
    arena_init(&arena);
    Str shown = store_url_shown(url, &arena);
    if (is_json) print_json(shown, row_count, status == OK ? NULL : &diag);
    else if (status == OK)
        printf("%.*s: %lld rows, all in order\n", STR_ARG(shown), (long long)row_count);
    if (status != OK) fprintf(stderr, "abide: %s (%s)\n", diag.message, diag.code);
    arena_done(&arena);
    return session_exit_code(status, &diag, 0);
}
