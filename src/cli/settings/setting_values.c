// The table of settings, and how a value of each kind is read.
//
// Whatever a value came from, it is text first and is read here, so that the file, the environment
// and the flags mean the same. Invariants [settings-1] and [settings-2] are in settings.h.
//
// Not here: where values come from (settings.c), what they do (server/serve.h).
#include "base/array.h"
#include "base/text/number.h"
#include "base/text/suggest.h"
#include "base/time/duration.h"
#include "cli/settings/settings.h"
#include <stdio.h>

#define KIB     ((int64_t)1 << 10)
#define MIB     ((int64_t)1 << 20)
#define SECOND  ((int64_t)1000)
#define DAY     (24 * 3600 * SECOND)
#define FOREVER (36500 * DAY)

// "https://app.example:8443", or "*".
static bool is_origin(Str text) {
    if (str_equal(text, STR("*"))) return true;
    size_t scheme = str_starts_with(text, STR("https://"))  ? 8
                    : str_starts_with(text, STR("http://")) ? 7
                                                            : 0;
    if (scheme == 0 || text.len == scheme) return false;
    for (size_t i = scheme; i < text.len; i++)
        if (text.data[i] == '/' || (unsigned char)text.data[i] <= ' ') return false;
    return true;
}

const SettingInfo setting_infos[SETTINGS_COUNT] = {
    [SET_STORE] = {"store", SETTING_TEXT, "sqlite:abide.db", "URL", "where everything is kept",
                   false, 0, 0, NULL},
    [SET_LISTEN] = {"listen", SETTING_TEXT, "127.0.0.1:7433", "HOST:PORT", "where to listen", false,
                    0, 0, NULL},
    [SET_THREADS] = {"threads", SETTING_COUNT, "2", "N", "threads that read and write HTTP", false,
                     1, 64, NULL},
    [SET_TASK_THREADS] = {"task-threads", SETTING_COUNT, "4", "N",
                          "threads that execute flows and built-in tasks", false, 1, 1024, NULL},
    [SET_TLS_CERT] = {"tls-cert", SETTING_TEXT, "", "FILE", "certificate chain, PEM", true, 0, 0,
                      NULL},
    [SET_TLS_KEY] = {"tls-key", SETTING_TEXT, "", "FILE", "its key, PEM", true, 0, 0, NULL},
    [SET_REQUIRE_TOKENS] = {"require-tokens", SETTING_FLAG, "false", NULL,
                            "ask for tokens also on loopback", true, 0, 0, NULL},
    [SET_INSECURE] = {"insecure", SETTING_FLAG, "false", NULL,
                      "ask for no tokens, wherever it listens", false, 0, 0, NULL},
    [SET_CORS_ORIGINS] = {"cors-origins", SETTING_LIST, "", "ORIGIN",
                          "pages that may call, as in https://app.example; * is any", true, 0, 0,
                          NULL},
    [SET_ALLOW_EXEC] = {"allow-exec", SETTING_FLAG, "false", NULL, "the task exec may run programs",
                        false, 0, 0, NULL},
    [SET_ALLOW_PRIVATE] = {"allow-private", SETTING_FLAG, "false", NULL,
                           "the task http may reach private addresses", false, 0, 0, NULL},
    [SET_LOG_LEVEL] = {"log-level", SETTING_CHOICE, "info", "debug|info|warn|error",
                       "the least that is logged", true, 0, 0, NULL},
    [SET_LOG_FORMAT] = {"log-format", SETTING_CHOICE, "text", "text|json", "form of the log lines",
                        true, 0, 0, NULL},
    [SET_SLOW_REQUEST] = {"slow-request", SETTING_DURATION, "1s", "DURATION",
                          "requests that take longer are logged as warnings; 0 is none", true, 0,
                          FOREVER, NULL},
    [SET_DRAIN_TIMEOUT] = {"drain-timeout", SETTING_DURATION, "30s", "DURATION",
                           "how long running tasks are awaited at the end", true, 1, DAY, NULL},
    [SET_RUN_RETENTION] = {"run-retention", SETTING_DURATION, "30d", "DURATION",
                           "how long ended runs are kept, or forever", false, SECOND, FOREVER,
                           "forever"},
    [SET_EVENT_RETENTION] = {"event-retention", SETTING_DURATION, "7d", "DURATION",
                             "how long events that nobody took are kept", false, SECOND, FOREVER,
                             NULL},
    [SET_EVENT_CONSUME] = {"event-consume", SETTING_CHOICE, "one", "one|all",
                           "who gets an event of a topic that has no policy: one waiter, or all",
                           false, 0, 0, NULL},
    [SET_MAX_PENDING_EVENTS] = {"max-pending-events-per-topic", SETTING_COUNT, "10000", "N",
                                "events kept that nobody took, unless the topic says otherwise",
                                false, 1, 1000000000, NULL},
    [SET_CANCEL_GRACE] = {"cancel-grace", SETTING_DURATION, "10s", "DURATION",
                          "time a cancelled run has for cleanup", false, 0, FOREVER, NULL},
    [SET_KEEP_SNAPSHOTS] = {"keep-snapshots", SETTING_COUNT, "10", "N",
                            "beginnings of turns kept per run, to rewind to", false, 1, 1000, NULL},
    [SET_MAX_CRASHES] = {"max-crashes", SETTING_COUNT, "10", "N",
                         "processes a run may end in a row before it is paused; 0 is any number",
                         false, 0, 1000000, NULL},
    [SET_MAX_RESIDENT_RUNS] = {"max-resident-runs", SETTING_COUNT, "10000", "N",
                               "parked runs kept in memory", false, 1, 100000000, NULL},
    [SET_MAX_RESIDENT_MEMORY] = {"max-resident-memory", SETTING_SIZE, "256M", "SIZE",
                                 "of all runs in memory; the oldest parked ones leave", false, MIB,
                                 1024LL * 1024 * MIB, NULL},
    [SET_IDLE_RELEASE_TIMEOUT] = {"idle-release-timeout", SETTING_DURATION, "60s", "DURATION",
                                  "idle runs leave memory after so long, or off", false, 1, FOREVER,
                                  "off"},
    [SET_IDLE_TIMEOUTS] = {"idle-timeouts", SETTING_TEXT, "", "WORKFLOW=DURATION,...",
                           "the same for single workflows, before their own config", false, 0, 0,
                           NULL},
    [SET_MAX_ACTIVE_RUNS] = {"max-active-runs", SETTING_COUNT, "4096", "N",
                             "runs executing at a time", false, 1, 1000000, NULL},
    [SET_NODE_LEASE] = {"node-lease", SETTING_DURATION, "10s", "DURATION",
                        "how long a node may be silent before others take over its runs", false,
                        SECOND, DAY, NULL},
    [SET_TIMER_RESOLUTION] = {"timer-resolution", SETTING_DURATION, "1ms", "DURATION",
                              "timers due within such a span fire together at its end", false, 1,
                              60 * SECOND, NULL},
    [SET_ISOLATE_CHILD_FAILURES] = {"isolate-child-failures", SETTING_FLAG, "false", NULL,
                                    "a child's failure is a value for its parent, not an error",
                                    false, 0, 0, NULL},
    [SET_STORE_RETRY_ATTEMPTS] = {"store-retry-attempts", SETTING_COUNT, "10", "N",
                                  "before callers whose outcome is unknown are told so", false, 1,
                                  1000000, NULL},
    [SET_STORE_RETRY_DELAY] = {"store-retry-delay", SETTING_DURATION, "50ms", "DURATION",
                               "first pause when the store does not answer; then twice as long",
                               false, 1, 60 * SECOND, NULL},
    [SET_STORE_RETRY_MAX_DELAY] = {"store-retry-max-delay", SETTING_DURATION, "5s", "DURATION",
                                   "longest of these pauses", false, 1, 3600 * SECOND, NULL},
    [SET_PLUGIN] = {"plugin", SETTING_LIST, "", "FILE",
                    "a shared object with tasks and workflows in C; may be repeated", false, 0, 0,
                    NULL},
    [SET_MAX_BODY_SIZE] = {"max-body-size", SETTING_SIZE, "4160K", "SIZE", "body of a request",
                           true, KIB, 64 * MIB, NULL},
    [SET_MAX_HEADER_SIZE] = {"max-header-size", SETTING_SIZE, "7K", "SIZE",
                             "all headers of a request", false, 4 * KIB, MIB, NULL},
    [SET_MAX_CONNECTIONS] = {"max-connections", SETTING_COUNT, "20000", "N", "open at a time",
                             false, 4, 1000000, NULL},
    [SET_MAX_CONNECTIONS_PER_ADDRESS] = {"max-connections-per-address", SETTING_COUNT, "10000", "N",
                                         "of one client, at most half of all; 0 is any number",
                                         false, 0, 1000000, NULL},
    [SET_IDLE_TIMEOUT] = {"idle-timeout", SETTING_DURATION, "60s", "DURATION",
                          "silent connections are closed after so long", false, SECOND, DAY, NULL},
    [SET_REQUEST_TIMEOUT] = {"request-timeout", SETTING_DURATION, "60s", "DURATION",
                             "a client may take so long to send a request or take its answer", true,
                             100, DAY, NULL},
    [SET_MAX_WAIT] = {"max-wait", SETTING_DURATION, "60s", "DURATION", "longest long poll", true, 0,
                      DAY, NULL},
    [SET_MAX_SPILL_SIZE] = {"max-spill-size", SETTING_SIZE, "1G", "SIZE",
                            "of all long answers under way, in temporary files", true, KIB,
                            1024LL * 1024 * MIB, NULL},
    [SET_VIRTUAL_TIME] = {"virtual-time", SETTING_FLAG, "false", NULL,
                          "for tests: the clock stands still until it is moved; memory: only",
                          false, 0, 0, NULL},
};

// ---- kinds ----

static Status refuse(const SettingInfo *info, Str text, const char *what, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_SETTING", "%s: \"%.*s\" is not %s", info->name,
                    STR_ARG(text), what);
}

static Status check_range(const SettingInfo *info, SettingValue *value, Diag *diag) {
    if (value->number >= info->min && value->number <= info->max) return OK;
    char min[INSTANT_TEXT_MAX], max[INSTANT_TEXT_MAX];
    if (info->kind == SETTING_DURATION) {
        duration_format(info->min, min);
        duration_format(info->max, max);
    } else {
        snprintf(min, sizeof min, "%lld", (long long)info->min);
        snprintf(max, sizeof max, "%lld", (long long)info->max);
    }
    return diag_set(diag, ERR_INVALID, "BAD_SETTING", "%s: \"%.*s\" is not between %s and %s",
                    info->name, STR_ARG(value->text), min, max);
}

static Status read_flag(const SettingInfo *info, SettingValue *value, Diag *diag) {
    static const struct {
        const char *word;
        int64_t number;
    } words[] = {{"true", 1}, {"false", 0}, {"1", 1},  {"0", 0},
                 {"yes", 1},  {"no", 0},    {"on", 1}, {"off", 0}};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (!str_equal(value->text, str_from(words[i].word))) continue;
        value->number = words[i].number;
        return OK;
    }
    return refuse(info, value->text, "true or false", diag);
}

static Status read_size(const SettingInfo *info, SettingValue *value, Arena *arena, Diag *diag) {
    uint64_t size = 0;
    if (!options_parse_size(arena_cstr(arena, value->text), &size) || size > INT64_MAX)
        return refuse(info, value->text, "a size such as 65536, 512K or 8M", diag);
    value->number = (int64_t)size;
    return check_range(info, value, diag);
}

static Status read_duration(const SettingInfo *info, SettingValue *value, Diag *diag) {
    value->number = -1;
    if (info->word != NULL && str_equal(value->text, str_from(info->word))) return OK;
    if (duration_parse(value->text, &value->number, NULL) != OK)
        return refuse(info, value->text, "a duration such as 500ms, 30s, 15m or 7d", diag);
    return check_range(info, value, diag);
}

static Status read_choice(const SettingInfo *info, SettingValue *value, Diag *diag) {
    int64_t number = 0;
    for (const char *at = info->value; *at != 0; number++) { // "text|json"
        size_t len = strcspn(at, "|");
        value->number = number;
        if (str_equal(value->text, (Str){at, len})) return OK;
        at += len + (at[len] == '|');
    }
    char what[96];
    snprintf(what, sizeof what, "one of %s", info->value);
    return refuse(info, value->text, what, diag);
}

static Status read_list(const SettingInfo *info, SettingValue *value, Arena *arena, Diag *diag) {
    Str text = value->text;
    size_t capacity = 1;
    for (size_t i = 0; i < text.len; i++) capacity += text.data[i] == ',';
    Str *items = ARENA_ARRAY(arena, Str, capacity);
    for (size_t from = 0; from < text.len;) {
        size_t to = from;
        while (to < text.len && text.data[to] != ',') to++;
        Str item = str_trim((Str){text.data + from, to - from});
        from = to + 1;
        if (item.len == 0) continue;
        bool is_fit = info != &setting_infos[SET_CORS_ORIGINS] || is_origin(item);
        if (!is_fit)
            return refuse(info, item, "an origin such as https://app.example (no path), or *",
                          diag);
        items[value->count++] = item;
    }
    value->items = items;
    return OK;
}

Status setting_read(SettingId id, Str text, Arena *arena, SettingValue *ret_value, Diag *diag) {
    const SettingInfo *info = &setting_infos[id];
    SettingValue value = {.text = arena_str(arena, text)};
    Status status = OK;
    switch (info->kind) {
    case SETTING_TEXT: break;
    case SETTING_FLAG: status = read_flag(info, &value, diag); break;
    case SETTING_COUNT:
        if (!number_parse_count(text, INT64_MAX, &value.number))
            status = refuse(info, text, "a whole number", diag);
        else status = check_range(info, &value, diag);
        break;
    case SETTING_SIZE: status = read_size(info, &value, arena, diag); break;
    case SETTING_DURATION: status = read_duration(info, &value, diag); break;
    case SETTING_CHOICE: status = read_choice(info, &value, diag); break;
    case SETTING_LIST: status = read_list(info, &value, arena, diag); break;
    }
    if (status == OK) *ret_value = value;
    return status;
}

// ---- names ----

const char *setting_nearest(Str name) {
    char plain[64];
    size_t len = name.len < sizeof plain ? name.len : sizeof plain;
    for (size_t i = 0; i < len; i++) plain[i] = name.data[i] == '_' ? '-' : name.data[i];
    Suggestion guess = {.wanted = {plain, len}};
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        const char *candidate = setting_infos[i].name;
        if (str_equal(guess.wanted, str_from(candidate))) return candidate; // but for its dashes
        suggest(&guess, candidate);
    }
    return guess.best;
}
