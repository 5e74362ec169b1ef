// Batch: programs in, answers out, one after the other (batch.h has the format).
//
// Written for harnesses that compare thousands of small programs with another engine: starting a
// process for each would cost more than running it.
//   [run-batch-1] What belongs to one program is gone before the next is read.
//   [run-batch-2] An answer is written and flushed before the next program is read, so that a
//        harness knows which program a crash belongs to.
//   [run-batch-3] A program is compiled, kept as an image and read back before it is run, so the
//        harness sees what a run sees that is taken up later.

#include "cli/run/batch.h"
#include "cli/cli.h"
#include "flow/code/image.h"
#include "flow/lexer/report.h"
#include "json/write.h"
#include <stdio.h>

enum { ANSWER_MAX = 256 << 20 };

// Reads "LENGTH\n". Answers false at the end of the input.
static bool read_length(size_t *ret_length) {
    size_t length = 0;
    int digits = 0;
    int c;
    while ((c = getchar()) >= '0' && c <= '9' && digits < 12) {
        length = length * 10 + (size_t)(c - '0');
        digits++;
    }
    *ret_length = length;
    return digits > 0 && c == '\n' && length <= FLOW_SOURCE_MAX;
}

static void append_error(Buf *answer, const RunAnswer *error, const char *phase) {
    JsonWriter json;
    json_writer_init(&json, answer, STR_NULL);
    json_write_object_begin(&json);
    json_put_bool(&json, "ok", false);
    json_write_key(&json, STR("error"));
    json_write_object_begin(&json);
    json_put_string(&json, "name", error->error_name);
    json_put_string(&json, "message", error->error_message);
    json_put_string(&json, "stack", error->error_stack);
    json_write_object_end(&json);
    json_put_cstr(&json, "phase", phase);
    json_write_object_end(&json);
}

static void append_load_error(Buf *answer, const char *message) {
    RunAnswer error = {.error_name = STR("SyntaxError"),
                       .error_message = str_from(message),
                       .error_stack = STR("")};
    append_error(answer, &error, "load");
}

// What is executed has been written and read back, as by an engine. [run-batch-3]
static Status pass_through_image(FlowModule **module, Diag *diag) {
    Buf image;
    FlowModule *back = NULL;
    buf_init(&image, FLOW_IMAGE_SIZE_MAX);
    Status status = flow_image_write(*module, &image, diag);
    if (status == OK)
        status = flow_image_read(buf_str(&image), flow_module_file_name(*module),
                                 flow_module_source(*module), &back, diag);
    flow_module_release(*module);
    *module = back;
    buf_done(&image);
    return status;
}

static void run_one(Str text, const RunRequest *limits, Arena *arena, Buf *answer) {
    RunRequest request = *limits;
    request.source = text;
    RunAnswer outcome;
    Diag diag;
    if (flow_compile(STR("program.flow"), text, &request.module, NULL, &diag) != OK ||
        pass_through_image(&request.module, &diag) != OK) {
        append_load_error(answer, diag.message);
        return;
    }
    if (run_program(&request, arena, &outcome, &diag) != OK) {
        append_load_error(answer, diag.message);
    } else if (outcome.is_completed) {
        JsonWriter json;
        json_writer_init(&json, answer, STR_NULL);
        json_write_object_begin(&json);
        json_put_bool(&json, "ok", true);
        json_put_raw(&json, "result", outcome.result_json);
        json_write_object_end(&json);
    } else {
        append_error(answer, &outcome, "run");
    }
    flow_module_release(request.module);
}

int batch_run(const RunRequest *limits) {
    size_t length;
    Arena arena;
    Buf text;
    Buf answer;
    arena_init(&arena);
    buf_init(&text, FLOW_SOURCE_MAX);
    buf_init(&answer, ANSWER_MAX);
    bool is_complete = true;
    while (is_complete && read_length(&length)) {
        buf_clear(&text);
        buf_clear(&answer);
        buf_reserve(&text, length + 1);
        text.len = fread(text.data, 1, length, stdin);
        is_complete = text.len == length;
        if (!is_complete) break;
        run_one(buf_str(&text), limits, &arena, &answer);
        printf("%zu\n", answer.len);
        fwrite(answer.data, 1, answer.len, stdout);
        fflush(stdout);
        arena_reset(&arena);
    }
    buf_done(&text);
    buf_done(&answer);
    arena_done(&arena);
    return is_complete ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}
