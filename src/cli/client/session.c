// Sessions: options that all commands share, the connection, and the end.
//
// Where a command goes: --server, else --store, else ABIDE_SERVER, else ABIDE_STORE, else the
// default address. Flags win over the environment whichever of the two they name.
//
// Invariants [client-session-1]-[client-session-4] are in session.h.
//
// Not here: lists and bulk changes (list.c, bulk.c), what is asked for (the commands).
#include "cli/client/session.h"
#include "base/array.h"
#include "base/env.h"
#include "base/time/duration.h"
#include "cli/output/advice.h"
#include "cli/run/files.h"
#include "json/validate.h"
#include "json/write.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAYLOAD_MAX = 64 << 20 };

// ---- signals ----

static atomic_bool stop_flag; // lock-free: the handler runs on whichever thread gets the signal

static void note_signal(int number) {
    (void)number;
    if (atomic_exchange(&stop_flag, true)) _exit(EXIT_CODE_INTERRUPTED); // [client-session-4]
}

static void catch_signals(void) {
    struct sigaction action = {.sa_handler = note_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); // [client-session-3]
}

bool session_is_stopped(void) { return atomic_load(&stop_flag); }
const atomic_bool *session_stop_flag(void) { return &stop_flag; }

// ---- saying what went wrong ----

int session_exit_code(Status status, const Diag *diag, int http_status) {
    if (status == OK) return EXIT_CODE_OK;
    if (status == ERR_INTERRUPTED) return EXIT_CODE_INTERRUPTED;
    if (http_status == 401 || http_status == 403) return EXIT_CODE_AUTH;
    // What the server refuses because of how it is written was not tried.
    if (http_status == 400 || http_status == 413) return EXIT_CODE_USAGE;
    if (advice_is_misuse(diag, http_status != 0)) return EXIT_CODE_USAGE;
    return status == ERR_NOT_FOUND ? EXIT_CODE_NOT_FOUND : EXIT_CODE_FAILED;
}

static void print_error_json(const Diag *diag, int http_status) {
    Buf text;
    JsonWriter writer;
    buf_init(&text, 1 << 20);
    json_writer_init(&writer, &text, STR_NULL); // one line: streams are read line by line
    json_write_object_begin(&writer);
    json_write_key(&writer, STR("error"));
    json_write_object_begin(&writer);
    json_put_cstr(&writer, "code", diag->code);
    json_put_cstr(&writer, "detail", diag->message);
    if (http_status != 0) json_put_i64(&writer, "status", http_status);
    json_write_object_end(&writer);
    json_write_object_end(&writer);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

bool session_complain(Session *session, Status status, const Diag *diag) {
    session_clear_progress(session);
    int http_status = session->answer.http_status;
    if (session->exit_code == EXIT_CODE_OK)
        session->exit_code = session_exit_code(status, diag, http_status);
    fflush(stdout);
    Buf line;
    buf_init(&line, 1 << 16);
    output_clean(&line, str_from(diag->message), 0);
    fprintf(stderr, "abide: %s (%s)\n", buf_cstr(&line), diag->code);
    if (http_status == 401) fprintf(stderr, "abide: give a token with --token or ABIDE_TOKEN\n");
    buf_done(&line);
    return false;
}

bool session_fail(Session *session, Status status, const Diag *diag) {
    if (session->format == OUTPUT_JSON) print_error_json(diag, session->answer.http_status);
    return session_complain(session, status, diag);
}

bool session_misuse(Session *session, const char *format, ...) {
    Diag diag;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diag.message, sizeof diag.message, format, arguments);
    va_end(arguments);
    memcpy(diag.code, "BAD_ARGUMENT", sizeof "BAD_ARGUMENT");
    session->answer = (ClientAnswer){0};
    return session_fail(session, ERR_INVALID, &diag);
}

// ---- progress ----

void session_clear_progress(Session *session) {
    if (!session->is_progress_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    session->is_progress_shown = false;
}

void session_progress(Session *session, const char *format, ...) {
    if (!session->progress.is_terminal) return;
    ArenaMark mark = arena_mark(&session->arena);
    va_list arguments;
    va_start(arguments, format);
    Str text = arena_vprintf(&session->arena, format, arguments);
    va_end(arguments);
    Buf line;
    buf_init(&line, 1 << 16);
    output_clean(&line, text, session->progress.width > 1 ? session->progress.width - 1 : 0);
    fprintf(stderr, "\r\033[K%s", buf_cstr(&line));
    fflush(stderr);
    buf_done(&line);
    arena_rewind(&session->arena, mark);
    session->is_progress_shown = true;
}

// [client-session-3] A pipe without a reader says so, whatever became of errno since the write that
//      failed.
static bool has_reader_left(void) {
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

bool session_flush(Session *session) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    int error = errno;
    if (error != EPIPE && !has_reader_left() && session->exit_code == EXIT_CODE_OK) {
        fprintf(stderr, "abide: cannot write the output: %s\n",
                error != 0 ? strerror(error) : "an earlier write failed");
        session->exit_code = EXIT_CODE_FAILED;
    }
    return false;
}

// ---- beginning and end ----

void session_init(Session *session, SessionUse use) {
    *session = (Session){.use = use, .output = STR("table")};
    const Option options[SESSION_OPTIONS] = {
        {"output", 'o', OPTION_TEXT, &session->output, "table|json|ids", "form of the output"},
        {"server", 0, OPTION_TEXT, &session->server, "URL",
         "the server; ABIDE_SERVER, or " CLIENT_DEFAULT_SERVER},
        {"token", 0, OPTION_TEXT, &session->token, "TOKEN", "for the server; ABIDE_TOKEN"},
        {"ca-file", 0, OPTION_TEXT, &session->ca_file, "FILE",
         "certificates to trust, PEM; ABIDE_CA_FILE"},
        {"store", 0, OPTION_TEXT, &session->store, "URL",
         "open this store, which no server has; ABIDE_STORE"},
    };
    memcpy(session->options, options, sizeof options);
}

void session_has_no_ids(Session *session) { session->options[0].value = "table|json"; }

void session_init_bare(Session *session) {
    session_init(session, SESSION_READS);
    memset(session->options + 1, 0, sizeof session->options - sizeof *session->options);
    session_has_no_ids(session);
}

static Str from_environment(Str given, const char *name) {
    const char *text = getenv(name);
    return str_is_null(given) && text != NULL && text[0] != 0 ? str_from(text) : given;
}

static bool read_format(Session *session) {
    static const char *const names[] = {"table", "json", "ids"};
    bool has_ids = strcmp(session->options[0].value, "table|json") != 0;
    for (size_t i = 0; i < (has_ids ? 3 : 2); i++) {
        if (!str_equal(session->output, str_from(names[i]))) continue;
        session->format = (OutputFormat)i;
        return true;
    }
    return session_misuse(session, "-o takes %s, not %.*s",
                          has_ids ? "table, json or ids" : "table or json",
                          STR_ARG(session->output));
}

static bool connect_session(Session *session) {
    if (str_is_null(session->server) && str_is_null(session->store)) {
        session->server = from_environment(session->server, "ABIDE_SERVER");
        if (str_is_null(session->server))
            session->store = from_environment(session->store, "ABIDE_STORE");
    } else if (!str_is_null(session->server) && !str_is_null(session->store)) {
        return session_misuse(session, "--server and --store exclude each other");
    } else if (!str_is_null(session->store) &&
               (!str_is_null(session->token) || !str_is_null(session->ca_file))) {
        return session_misuse(session, "--token and --ca-file are for a server, not for --store");
    }
    ClientConfig config = {
        .server = session->server,
        .token = from_environment(session->token, "ABIDE_TOKEN"),
        .ca_file = from_environment(session->ca_file, "ABIDE_CA_FILE"),
        .stop = &stop_flag,
    };
    Diag diag;
    Status status = OK;
    if (!str_is_null(session->store)) {
        bool is_change = session->use == SESSION_CHANGES;
        const LocalConfig local = {
            .store = session->store,
            .is_working = is_change,
            .is_create_allowed = session->use != SESSION_READS,
        };
        status = local_open(&local, &session->local, &diag);
        if (status == OK) config.socket_path = local_socket(session->local);
        config.server = STR("http://localhost");
        config.token = STR_NULL;
    }
    session->config = config;
    if (status == OK) status = client_open(&config, &session->client, &diag);
    return status == OK || session_fail(session, status, &diag);
}

// Whether JSON was asked for, as far as can be seen in a line that cannot be parsed
// [client-session-1].
static bool asks_for_json(int argument_count, char **arguments) {
    for (int i = 0; i < argument_count; i++) {
        const char *word = arguments[i];
        bool is_option = strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0;
        if (is_option && i + 1 < argument_count && strcmp(arguments[i + 1], "json") == 0)
            return true;
        if (strcmp(word, "-ojson") == 0 || strcmp(word, "--output=json") == 0) return true;
    }
    return false;
}

static int refuse_arguments(bool is_json) {
    Diag diag;
    (void)diag_set(&diag, ERR_INVALID, "BAD_ARGUMENT", "%s", options_complaint());
    if (is_json) print_error_json(&diag, 0);
    return EXIT_CODE_USAGE;
}

int session_parse(Session *session, OptionTable *table, int argument_count, char **arguments,
                  Operands *ret_operands) {
    size_t count = 0;
    while (count < SESSION_OPTIONS && session->options[count].name != NULL) count++;
    table->shared = session->options;
    table->shared_count = count;
    bool is_json = asks_for_json(argument_count, arguments);
    OptionsResult result = options_parse(table, argument_count, arguments, ret_operands);
    if (result == OPTIONS_HELP) return EXIT_CODE_OK;
    if (result != OPTIONS_OK) return refuse_arguments(is_json);
    arena_init(&session->arena);
    session->terminal = terminal_look(stdout);
    session->progress = terminal_look(stderr);
    session->now_ms = env_now_ms(env_system());
    catch_signals();
    return read_format(session) ? SESSION_GO_ON : session_end(session);
}

int session_connect(Session *session) {
    return connect_session(session) ? SESSION_GO_ON : session_end(session);
}

int session_begin(Session *session, OptionTable *table, int argument_count, char **arguments,
                  Operands *ret_operands) {
    int code = session_parse(session, table, argument_count, arguments, ret_operands);
    return code == SESSION_GO_ON ? session_connect(session) : code;
}

int session_end(Session *session) {
    session_clear_progress(session);
    (void)session_flush(session);
    client_close(session->client);
    local_close(session->local);
    arena_done(&session->arena);
    return session->exit_code;
}

// ---- calls ----

// What is taken apart by the commands is always an object; only a DELETE may answer nothing.
static bool is_well_formed(const ClientRequest *request, const ClientAnswer *answer) {
    if (answer->json == NULL)
        return answer->body.len == 0 && strcmp(request->method, "DELETE") == 0;
    return answer->json->kind == JSON_KIND_OBJECT;
}

Status session_try(Session *session, const ClientRequest *request, Diag *diag) {
    TRY(client_call(session->client, &session->arena, request, &session->answer, diag));
    if (is_well_formed(request, &session->answer)) return OK;
    return diag_set(diag, ERR_UNAVAILABLE, "BAD_ANSWER",
                    "the answer of %.*s is no JSON object; is it an abide server?",
                    STR_ARG(session->config.server));
}

bool session_call(Session *session, const ClientRequest *request) {
    Diag diag;
    Status status = session_try(session, request, &diag);
    if (status == OK) return true;
    return session_fail(session, status, &diag);
}

bool session_says_words(Session *session, Str id) {
    if (session->format == OUTPUT_JSON) output_json(stdout, session->answer.json);
    if (session->format == OUTPUT_IDS) output_id(stdout, id);
    return session->format == OUTPUT_TABLE;
}

bool session_get(Session *session, Str path) {
    const ClientRequest request = {.method = "GET", .path = path};
    return session_call(session, &request);
}

bool session_post(Session *session, Str path, Str body) {
    const ClientRequest request = {.method = "POST", .path = path, .body = body};
    return session_call(session, &request);
}

// ---- arguments ----

bool session_payload(Session *session, const char *operand, Str *ret_json) {
    *ret_json = STR_NULL;
    if (operand == NULL) return true;
    Diag diag;
    Status status = OK;
    Str text = str_from(operand);
    bool is_file = operand[0] == '@' || strcmp(operand, "-") == 0;
    if (is_file) {
        Buf buf;
        buf_init(&buf, PAYLOAD_MAX);
        status = file_read(operand[0] == '@' ? operand + 1 : operand, &buf, &diag);
        text = arena_str(&session->arena, buf_str(&buf));
        buf_done(&buf);
    }
    text = str_trim(text);
    if (status == OK) status = json_validate(text, &diag);
    session->answer = (ClientAnswer){0};
    if (status != OK) return session_fail(session, status, &diag);
    *ret_json = text;
    return true;
}

bool session_check_number(Session *session, const char *option, Str text) {
    size_t at = text.len > 1 && text.data[0] == '-';
    bool is_number = text.len > 0 && text.len <= 15;
    for (; at < text.len && is_number; at++)
        is_number = text.data[at] >= '0' && text.data[at] <= '9';
    if (str_is_null(text) || is_number) return true;
    return session_misuse(session, "--%s takes a whole number, not %.*s", option, STR_ARG(text));
}

bool session_past(Session *session, const char *option, Str text, Str *ret_instant) {
    *ret_instant = STR_NULL;
    if (str_is_null(text)) return true;
    int64_t value_ms;
    if (duration_parse(text, &value_ms, NULL) == OK) value_ms = session->now_ms - value_ms;
    else if (instant_parse(text, &value_ms, NULL) != OK)
        return session_misuse(session,
                              "--%s takes a time such as 2026-11-15T19:33:44Z, or how long ago, "
                              "such as 2h; not %.*s",
                              option, STR_ARG(text));
    char buffer[INSTANT_TEXT_MAX];
    size_t len = instant_format(value_ms, buffer);
    *ret_instant = arena_str(&session->arena, (Str){buffer, len});
    return true;
}

Str session_path(Session *session, const char *format, Str first, Str second) {
    Buf path;
    buf_init(&path, 1 << 16);
    const Str parts[] = {first, second};
    size_t part = 0;
    for (const char *at = format; *at; at++) {
        if (at[0] == '%' && at[1] == 's' && part < 2) {
            buf_append_str(&path, client_escape(&session->arena, parts[part++]));
            at++;
        } else {
            buf_append_char(&path, *at);
        }
    }
    Str answer = arena_str(&session->arena, buf_str(&path));
    buf_done(&path);
    return answer;
}
