// abide lsp: the language server, over standard input and output.
//
//   initialize -> initialized -> didOpen, didChange, didClose | requests … -> shutdown -> exit
//
// One message at a time, in the order they come, so there is nothing to cancel. Diagnostics are
// sent whenever a text was opened or changed.
//
//   [lsp-server-1] Every request is answered once, with a result or an error; a notification never
//        is.
//   [lsp-server-2] A message that is no JSON, or no message, is answered with an error without an
//        id, and the next one is read. Only a broken frame ends the server (protocol/frame.h).
//   [lsp-server-3] Exit code 0 after shutdown and exit, 1 when the client left without.
#include "base/array.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/lsp/lsp.h"
#include "cli/options.h"
#include "cli/protocol/frame.h"
#include <stdio.h>
#include <unistd.h>

enum { // of JSON-RPC and the protocol
    ERROR_PARSE = -32700,
    ERROR_INVALID_REQUEST = -32600,
    ERROR_METHOD = -32601,
    ERROR_PARAMETERS = -32602,
    ERROR_NOT_INITIALIZED = -32002,
};
enum { ANSWER_MAX = 64 << 20 };

typedef struct Server {
    Documents documents;
    Arena arena; // of one message
    bool is_initialized;
    bool is_shut_down;
    bool is_left;
} Server;

typedef struct Message {
    Str id; // raw JSON; null: a notification
    Str method;
    const JsonValue *params; // NULL: none
} Message;

// ---- sending ----

static void begin(JsonWriter *json, Buf *body) {
    buf_init(body, ANSWER_MAX);
    json_writer_init(json, body, STR_NULL);
    json_write_object_begin(json);
    json_put_cstr(json, "jsonrpc", "2.0");
}

static void end(JsonWriter *json, Buf *body) {
    json_write_object_end(json);
    ASSERT(!body->is_overflown); // a text has at most FLOW_SOURCE_MAX bytes, findings are few
    frame_write(buf_str(body));
    buf_done(body);
}

static void send_error(Str id, int code, const char *message) {
    Buf body;
    JsonWriter json;
    begin(&json, &body);
    json_put_raw(&json, "id", id);
    json_write_key(&json, STR("error"));
    json_write_object_begin(&json);
    json_put_i64(&json, "code", code);
    json_put_cstr(&json, "message", message);
    json_write_object_end(&json);
    end(&json, &body);
}

static void publish(Server *server, const Document *document, bool is_closed) {
    Buf body;
    JsonWriter json;
    begin(&json, &body);
    json_put_cstr(&json, "method", "textDocument/publishDiagnostics");
    json_write_key(&json, STR("params"));
    json_write_object_begin(&json);
    json_put_cstr(&json, "uri", document->uri);
    if (!is_closed) json_put_i64(&json, "version", document->version);
    json_write_key(&json, STR("diagnostics"));
    LspRequest request = {document, 0, &server->arena};
    if (is_closed) json_write_raw(&json, STR("[]"));
    else lsp_diagnose(&request, &json);
    json_write_object_end(&json);
    end(&json, &body);
}

// ---- life ----

static void answer_initialize(JsonWriter *json) {
    static const Str capabilities =
        STR("{\"positionEncoding\":\"utf-16\",\"textDocumentSync\":{\"openClose\":true,"
            "\"change\":2},\"completionProvider\":{\"triggerCharacters\":[\".\",\"{\",\",\"]},"
            "\"hoverProvider\":true,\"definitionProvider\":true,\"documentSymbolProvider\":true,"
            "\"codeActionProvider\":{\"codeActionKinds\":[\"quickfix\"]}}");
    json_write_object_begin(json);
    json_put_raw(json, "capabilities", capabilities);
    json_write_key(json, STR("serverInfo"));
    json_write_object_begin(json);
    json_put_cstr(json, "name", "abide");
    json_put_cstr(json, "version", program_version);
    json_write_object_end(json);
    json_write_object_end(json);
}

// ---- texts ----

static Status read_uri(const Message *message, Str *ret_uri, Diag *diag) {
    const JsonValue *document = NULL;
    TRY(json_get_object(message->params, "textDocument", &document, diag));
    if (document) TRY(json_get_string(document, "uri", ret_uri, diag));
    if (str_is_null(*ret_uri))
        return diag_set(diag, ERR_INVALID, "MISSING_FIELD", "textDocument.uri is missing");
    return OK;
}

static Status read_version(const Message *message, Document *document, Diag *diag) {
    return json_get_i64(json_member(message->params, STR("textDocument")), "version",
                        &document->version, diag);
}

static Status text_opened(Server *server, const Message *message, Diag *diag) {
    Str uri = STR_NULL, text = STR_NULL;
    Document *document;
    TRY(read_uri(message, &uri, diag));
    const JsonValue *opened = json_member(message->params, STR("textDocument"));
    TRY(json_get_string(opened, "text", &text, diag));
    if (str_is_null(text))
        return diag_set(diag, ERR_INVALID, "MISSING_FIELD", "textDocument.text is missing");
    TRY(documents_open(&server->documents, uri, text, &document, diag));
    TRY(read_version(message, document, diag));
    publish(server, document, false);
    return OK;
}

static Status find_document(Server *server, const Message *message, Document **ret, Diag *diag) {
    Str uri = STR_NULL;
    TRY(read_uri(message, &uri, diag));
    *ret = documents_find(&server->documents, uri);
    if (*ret == NULL)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "%.*s is not open", STR_ARG(uri));
    return OK;
}

static Status text_changed(Server *server, const Message *message, Diag *diag) {
    Document *document;
    const JsonValue *changes = NULL;
    TRY(find_document(server, message, &document, diag));
    TRY(json_get_array(message->params, "contentChanges", &changes, diag));
    TRY(read_version(message, document, diag));
    if (changes)
        JSON_EACH (change, changes) TRY(document_change(document, change, diag));
    publish(server, document, false);
    return OK;
}

static Status text_closed(Server *server, const Message *message, Diag *diag) {
    Document *document;
    TRY(find_document(server, message, &document, diag));
    publish(server, document, true);
    documents_close(document);
    return OK;
}

// ---- requests ----

static void answer_actions(const LspRequest *request, const Message *message, JsonWriter *json) {
    lsp_actions(request, json_member(message->params, STR("context")), json);
}

static void answer_shutdown(Server *server, JsonWriter *json) {
    server->is_shut_down = true;
    json_write_null(json);
}

typedef struct Question { // a request about a text
    const char *method;
    bool has_position;
    void (*answer)(const LspRequest *request, JsonWriter *json); // NULL: actions
} Question;

static const Question questions[] = {
    {"textDocument/completion", true, lsp_complete},
    {"textDocument/hover", true, lsp_hover},
    {"textDocument/definition", true, lsp_definition},
    {"textDocument/documentSymbol", false, lsp_symbols},
    {"textDocument/codeAction", false, NULL},
};

static const Question *find_question(Str method) {
    for (size_t i = 0; i < COUNT_OF(questions); i++)
        if (str_equal(method, str_from(questions[i].method))) return &questions[i];
    return NULL;
}

static Status prepare(Server *server, const Message *message, const Question *question,
                      LspRequest *ret_request, Diag *diag) {
    Document *document;
    TRY(find_document(server, message, &document, diag));
    *ret_request = (LspRequest){document, 0, &server->arena};
    if (!question->has_position) return OK;
    Position position;
    TRY(position_read(json_member(message->params, STR("position")), &position, diag));
    ret_request->offset = position_offset(document, position);
    return OK;
}

static void answer_request(Server *server, const Message *message) {
    const Question *question = find_question(message->method);
    bool is_initialize = str_equal(message->method, STR("initialize"));
    bool is_shutdown = str_equal(message->method, STR("shutdown"));
    LspRequest request;
    Diag diag;
    if (!is_initialize && !server->is_initialized) {
        send_error(message->id, ERROR_NOT_INITIALIZED, "initialize comes first");
        return;
    }
    if (server->is_shut_down) {
        send_error(message->id, ERROR_INVALID_REQUEST, "the server is shut down");
        return;
    }
    if (!is_initialize && !is_shutdown && !question) {
        send_error(message->id, ERROR_METHOD, "there is no such method");
        return;
    }
    if (question && prepare(server, message, question, &request, &diag) != OK) {
        send_error(message->id, ERROR_PARAMETERS, diag.message);
        return;
    }
    Buf body;
    JsonWriter json;
    begin(&json, &body);
    json_put_raw(&json, "id", message->id);
    json_write_key(&json, STR("result"));
    if (is_initialize) answer_initialize(&json);
    else if (is_shutdown) answer_shutdown(server, &json);
    else if (question->answer) question->answer(&request, &json);
    else answer_actions(&request, message, &json);
    if (is_initialize) server->is_initialized = true;
    end(&json, &body);
}

// ---- notifications ----

static void take_notification(Server *server, const Message *message) {
    static const struct {
        const char *method;
        Status (*take)(Server *server, const Message *message, Diag *diag);
    } known[] = {
        {"textDocument/didOpen", text_opened},
        {"textDocument/didChange", text_changed},
        {"textDocument/didClose", text_closed},
    };
    if (str_equal(message->method, STR("exit"))) server->is_left = true;
    if (!server->is_initialized) return;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        Diag diag;
        if (!str_equal(message->method, str_from(known[i].method))) continue;
        if (known[i].take(server, message, &diag) != OK) // nobody can be answered [lsp-server-1]
            fprintf(stderr, "abide: %s: %s\n", known[i].method, diag.message);
    }
}

static void take_message(Server *server, Str body) {
    JsonValue *value;
    Diag diag;
    if (json_parse(&server->arena, body, &value, &diag) != OK) {
        send_error(STR_NULL, ERROR_PARSE, diag.message); // [lsp-server-2]
        return;
    }
    Message message = {.id = STR_NULL, .method = STR_NULL};
    const JsonValue *id = json_member(value, STR("id"));
    const JsonValue *method = json_member(value, STR("method"));
    bool is_answer = value->kind == JSON_KIND_OBJECT && id && !method;
    if (is_answer) return; // we ask for nothing
    if (!method || method->kind != JSON_KIND_STRING ||
        (id && id->kind != JSON_KIND_STRING && id->kind != JSON_KIND_NUMBER)) {
        send_error(STR_NULL, ERROR_INVALID_REQUEST, "a message has a method and perhaps an id");
        return;
    }
    message.method = method->string;
    message.params = json_member(value, STR("params"));
    if (id) message.id = id->raw;
    if (id) answer_request(server, &message);
    else take_notification(server, &message);
}

static int serve(Server *server) {
    FrameReader reader;
    Str body;
    FrameResult result = FRAME_MESSAGE;
    frame_reader_init(&reader, STDIN_FILENO);
    while (!server->is_left) {
        result = frame_read(&reader, FRAME_WAIT, &body);
        if (result == FRAME_TOO_LARGE)
            send_error(STR_NULL, ERROR_INVALID_REQUEST, "the message is too large");
        else if (result == FRAME_MESSAGE) take_message(server, body);
        else break;
        arena_reset(&server->arena);
    }
    frame_reader_done(&reader);
    if (result == FRAME_BROKEN) {
        fprintf(stderr, "abide: standard input is not the Language Server Protocol: a message "
                        "begins with Content-Length\n");
        return EXIT_CODE_USAGE;
    }
    return server->is_left && server->is_shut_down ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}

int cli_lsp(int argument_count, char **arguments) {
    bool is_stdio = false;
    const Option options[] = {
        {"stdio", 0, OPTION_FLAG, &is_stdio, NULL,
         "speak over standard input and output (there is nothing else)"},
    };
    const OptionTable table = {
        .usage = "abide lsp [--stdio]",
        .about = "The language server: tells an editor what `abide check` says, completes and "
                 "explains the workflow API.",
        .example = "abide lsp --stdio",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_max = 0,
    };
    Operands operands;
    OptionsResult parsed = options_parse(&table, argument_count, arguments, &operands);
    if (parsed != OPTIONS_OK) return parsed == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    Server server = {0};
    documents_init(&server.documents);
    arena_init(&server.arena);
    int code = serve(&server);
    arena_done(&server.arena);
    documents_done(&server.documents);
    return code;
}
