// Config: the keys, and how each type of value is taken. Checking and reading are one walk: who
// checks hears of the faults, who reads keeps what was taken.
//
// Not here: the literal in the file and its places (compile/config_literal.c), what the settings do
// (engine/).
#include "flow/check/config.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/text/name.h"
#include "base/text/suggest.h"
#include "base/time/duration.h"
#include <math.h>

#define MEMBER(field)      (uint16_t) offsetof(FlowConfig, field), CONFIG_NO_FLAG, SPEC_NONE
#define RULED(field, spec) (uint16_t) offsetof(FlowConfig, field), CONFIG_NO_FLAG, (spec)
#define FLAGGED(field, flag, spec)                                                                 \
    (uint16_t) offsetof(FlowConfig, field), (uint16_t)offsetof(FlowConfig, flag), (spec)

const ConfigKey config_keys[] = {
    // [config-1]
    {"timeout", CONFIG_DURATION, 1, LIMIT_DURATION_MS, MEMBER(timeout_ms)},
    {"retry", CONFIG_RETRY, 0, 0, MEMBER(retry)},
    {"idleTimeout", CONFIG_DURATION_OFF, 1, LIMIT_DURATION_MS, MEMBER(idle_timeout_ms)},
    {"keepSnapshots", CONFIG_INTEGER, 0, SNAPSHOTS_KEPT_MAX, MEMBER(keep_snapshots)},
    {"events", CONFIG_NAMES, 1, LIMIT_NAME_SIZE_MAX, MEMBER(events)},
    {"queue", CONFIG_NAME, 0, 0, RULED(queue, SPEC_QUEUE)},
    {"priority", CONFIG_INTEGER, 0, 0, FLAGGED(priority, has_priority, SPEC_PRIORITY)},
    {"ttl", CONFIG_DURATION, 0, LIMIT_DURATION_MS, FLAGGED(keep_ms, has_keep, SPEC_NONE)},
    {"tags", CONFIG_NAMES, 0, 0, RULED(tags, SPEC_TAG)},
    {"input", CONFIG_SCHEMA, 0, 0, MEMBER(input)},
    {"output", CONFIG_SCHEMA, 0, 0, MEMBER(output)},
    {"secret", CONFIG_PATHS, 0, 0, MEMBER(secret)},
};
const size_t config_key_count = COUNT_OF(config_keys);

const ConfigKey config_retry_keys[] = {
    {"attempts", CONFIG_INTEGER, 1, LIMIT_RUN_ATTEMPTS_MAX, MEMBER(retry.attempts)},
    {"delay", CONFIG_DURATION, 0, LIMIT_DURATION_MS, MEMBER(retry.delay_ms)},
    {"factor", CONFIG_FACTOR, 100, 100 * 1000, MEMBER(retry.factor_pct)},
    {"maxDelay", CONFIG_DURATION, 0, LIMIT_DURATION_MS, MEMBER(retry.max_delay_ms)},
};
const size_t config_retry_key_count = COUNT_OF(config_retry_keys);

static const FlowRetry retry_default = { // of one that says anything
    .attempts = 3,
    .delay_ms = 1000,
    .factor_pct = 200,
    .max_delay_ms = 3600 * 1000};

typedef struct Walk {
    Arena *arena;
    void (*report)(void *context, const JsonFault *fault); // NULL: nobody listens
    void *context;
    FlowConfig *config;
} Walk;

typedef struct KeyList {
    const ConfigKey *keys;
    size_t count;
    const char *owner; // "config", "retry"
} KeyList;

static void tell(const Walk *walk, JsonFault fault) {
    if (walk->report != NULL) walk->report(walk->context, &fault);
}

static void say(const Walk *walk, const JsonValue *at, Str message, Str hint) {
    tell(walk, (JsonFault){.at = at, .message = message, .hint = hint});
}

static void say_key(const Walk *walk, const JsonValue *at, Str message, Str hint) {
    tell(walk, (JsonFault){.at = at, .is_key = true, .message = message, .hint = hint});
}

static void *member_of(const Walk *walk, const ConfigKey *key) {
    return (char *)walk->config + key->offset;
}

// ---- values ----

static void wrong_type(const Walk *walk, const ConfigKey *key, const JsonValue *value,
                       const char *wanted) {
    say(walk, value,
        arena_printf(walk->arena, "`%s` takes %s, not %s", key->name, wanted,
                     json_kind_name(value->kind)),
        STR_NULL);
}

static Str amount_text(const Walk *walk, ConfigType type, int64_t amount) {
    char text[INSTANT_TEXT_MAX];
    if (type == CONFIG_INTEGER) return arena_printf(walk->arena, "%lld", (long long)amount);
    if (type == CONFIG_FACTOR) return arena_printf(walk->arena, "%lld", (long long)amount / 100);
    return arena_str(walk->arena, (Str){text, duration_format(amount, text)});
}

static void take_amount(const Walk *walk, const ConfigKey *key, const JsonValue *value,
                        int64_t amount) {
    Diag diag = {0};
    const char *called = arena_printf(walk->arena, "`%s`", key->name).data;
    bool is_good = key->spec != SPEC_NONE
                       ? spec_check_number(key->spec, called, (double)amount, &diag) == OK
                       : amount >= key->min && amount <= key->max;
    if (is_good) {
        *(int64_t *)member_of(walk, key) = amount;
        if (key->flag != CONFIG_NO_FLAG) *(bool *)((char *)walk->config + key->flag) = true;
        return;
    }
    if (key->spec != SPEC_NONE) {
        say(walk, value, arena_str(walk->arena, str_from(diag.message)), STR_NULL);
        return;
    }
    say(walk, value,
        arena_printf(walk->arena, "`%s` lies between %.*s and %.*s", key->name,
                     STR_ARG(amount_text(walk, key->type, key->min)),
                     STR_ARG(amount_text(walk, key->type, key->max))),
        STR_NULL);
}

static void take_duration(const Walk *walk, const ConfigKey *key, const JsonValue *value) {
    bool may_be_off = key->type == CONFIG_DURATION_OFF;
    int64_t ms = 0;
    if (value->kind == JSON_KIND_STRING) {
        if (may_be_off && str_equal(value->string, STR("off"))) {
            *(int64_t *)member_of(walk, key) = -1;
        } else if (duration_parse(value->string, &ms, NULL) == OK) {
            take_amount(walk, key, value, ms);
        } else {
            say(walk, value,
                arena_printf(walk->arena, "`%s` is no duration%s", key->name,
                             may_be_off ? ", and not \"off\"" : ""),
                STR("Write \"500ms\", \"2s\", \"15m\", \"24h\", \"30d\", \"PT15M\", or a number "
                    "of seconds"));
        }
    } else if (value->kind == JSON_KIND_NUMBER) {
        double scaled = value->number * 1000;
        bool is_near = scaled > -1 && scaled < 2.0 * (double)LIMIT_DURATION_MS;
        take_amount(walk, key, value, is_near ? (int64_t)scaled : -1);
    } else {
        wrong_type(walk, key, value, "a duration such as \"30s\", or a number of seconds");
    }
}

static void take_number(const Walk *walk, const ConfigKey *key, const JsonValue *value) {
    bool is_integer = key->type == CONFIG_INTEGER;
    bool is_good =
        value->kind == JSON_KIND_NUMBER && (!is_integer || floor(value->number) == value->number);
    if (!is_good) {
        wrong_type(walk, key, value, is_integer ? "a whole number" : "a number");
        return;
    }
    double scaled = is_integer ? value->number : value->number * 100;
    bool is_near = fabs(scaled) < 1e9;
    int64_t far = scaled < 0 ? INT32_MIN : INT32_MAX;
    take_amount(walk, key, value, is_near ? (int64_t)scaled : far);
}

// True when it can stand for a name in a list that '\n' joins.
static bool check_name(const Walk *walk, const ConfigKey *key, const JsonValue *value) {
    Diag diag;
    if (value->kind != JSON_KIND_STRING) {
        wrong_type(walk, key, value, key->type == CONFIG_NAME ? "a string" : "strings");
        return false;
    }
    Status status = key->spec != SPEC_NONE
                        ? spec_check_name(key->spec, key->name, value->string, &diag)
                        : name_check(value->string, key->name, "BAD_NAME", (size_t)key->max, &diag);
    if (status == OK) return true;
    say(walk, value, arena_str(walk->arena, str_from(diag.message)), STR_NULL);
    return false;
}

static void take_names(const Walk *walk, const ConfigKey *key, const JsonValue *value) {
    if (value->kind != JSON_KIND_ARRAY) {
        wrong_type(walk, key, value, "an array of strings");
        return;
    }
    bool is_tags = key->spec == SPEC_TAG;
    if (value->count == 0 || (is_tags && value->count > LIMIT_TAG_COUNT)) {
        say(walk, value,
            is_tags
                ? arena_printf(walk->arena, "`%s` has 1 to %u entries", key->name, LIMIT_TAG_COUNT)
                : arena_printf(walk->arena, "`%s` is empty", key->name),
            STR("Leave the key out to say nothing"));
        return;
    }
    Str joined = STR_NULL;
    JSON_EACH (item, value) {
        if (!check_name(walk, key, item)) return;
        joined = str_is_null(joined) ? item->string
                                     : arena_printf(walk->arena, "%.*s\n%.*s", STR_ARG(joined),
                                                    STR_ARG(item->string));
    }
    *(Str *)member_of(walk, key) = arena_str(walk->arena, joined);
}

// The paths go into a mask, and so into its limits.
static bool check_path(const Walk *walk, const ConfigKey *key, const JsonValue *value, Mask *mask) {
    Diag diag;
    if (value->kind != JSON_KIND_STRING) {
        wrong_type(walk, key, value, "paths, which are strings");
        return false;
    }
    if (mask_add(mask, value->string, &diag) == OK) return true;
    say(walk, value, arena_printf(walk->arena, "`%s`: %s", key->name, diag.message),
        STR("Write \"password\" for all that is called so, or \"card.number\""));
    return false;
}

static void take_paths(const Walk *walk, const ConfigKey *key, const JsonValue *value) {
    if (value->kind != JSON_KIND_ARRAY) {
        wrong_type(walk, key, value, "an array of paths such as \"card.number\"");
        return;
    }
    if (value->count == 0) {
        say(walk, value, arena_printf(walk->arena, "`%s` is empty", key->name),
            STR("Leave the key out to say nothing"));
        return;
    }
    Mask mask = {0};
    Str joined = STR_NULL;
    JSON_EACH (item, value) {
        if (!check_path(walk, key, item, &mask)) return;
        joined = str_is_null(joined) ? item->string
                                     : arena_printf(walk->arena, "%.*s\n%.*s", STR_ARG(joined),
                                                    STR_ARG(item->string));
    }
    *(Str *)member_of(walk, key) = arena_str(walk->arena, joined);
}

static void take_schema(const Walk *walk, const ConfigKey *key, const JsonValue *value) {
    JsonFault fault;
    if (schema_check(value, walk->arena, &fault)) *(const JsonValue **)member_of(walk, key) = value;
    else tell(walk, fault);
}

static void take_object(const Walk *walk, const KeyList *list, const JsonValue *object);

static void take_retry(const Walk *walk, const ConfigKey *key, const JsonValue *value) {
    const KeyList list = {config_retry_keys, config_retry_key_count, "retry"};
    if (value->kind != JSON_KIND_OBJECT) {
        wrong_type(walk, key, value, "an object such as { attempts: 5, delay: \"1s\" }");
        return;
    }
    FlowRetry *retry = &walk->config->retry;
    *retry = retry_default;
    take_object(walk, &list, value);
    bool has_delay = json_member(value, STR("delay")) != NULL;
    const JsonValue *most = json_member(value, STR("maxDelay"));
    if (retry->delay_ms <= retry->max_delay_ms) return;
    if (most == NULL) retry->max_delay_ms = retry->delay_ms;
    else if (!has_delay) retry->delay_ms = retry->max_delay_ms;
    else say(walk, most, STR("`maxDelay` is shorter than `delay`"), STR_NULL);
}

// ---- keys ----

static const ConfigKey *key_find(const KeyList *list, Str name) {
    for (size_t i = 0; i < list->count; i++)
        if (str_equal(name, str_from(list->keys[i].name))) return &list->keys[i];
    return NULL;
}

static void unknown_key(const Walk *walk, const KeyList *list, const JsonValue *member) {
    Suggestion guess = {.wanted = member->key};
    Str all = STR_NULL;
    for (size_t i = 0; i < list->count; i++) {
        const ConfigKey *key = &list->keys[i];
        all = str_is_null(all) ? str_from(key->name)
                               : arena_printf(walk->arena, "%.*s, %s", STR_ARG(all), key->name);
        suggest(&guess, key->name);
    }
    say_key(
        walk, member,
        arena_printf(walk->arena, "`%s` has no key \"%.*s\"", list->owner, STR_ARG(member->key)),
        guess.best != NULL ? arena_printf(walk->arena, "Did you mean \"%s\"?", guess.best)
                           : arena_printf(walk->arena, "The keys are %.*s", STR_ARG(all)));
}

static void take_value(const Walk *walk, const ConfigKey *key, const JsonValue *value) {
    switch (key->type) {
    case CONFIG_DURATION:
    case CONFIG_DURATION_OFF: take_duration(walk, key, value); break;
    case CONFIG_INTEGER:
    case CONFIG_FACTOR: take_number(walk, key, value); break;
    case CONFIG_NAME:
        if (check_name(walk, key, value))
            *(Str *)member_of(walk, key) = arena_str(walk->arena, value->string);
        break;
    case CONFIG_NAMES: take_names(walk, key, value); break;
    case CONFIG_SCHEMA: take_schema(walk, key, value); break;
    case CONFIG_RETRY: take_retry(walk, key, value); break;
    case CONFIG_PATHS: take_paths(walk, key, value); break;
    }
}

static void take_object(const Walk *walk, const KeyList *list, const JsonValue *object) {
    JSON_EACH (member, object) {
        const ConfigKey *key = key_find(list, member->key);
        if (key == NULL) {
            unknown_key(walk, list, member);
        } else if (json_member(object, member->key) != member) {
            say_key(walk, member, arena_printf(walk->arena, "`%s` is given twice", key->name),
                    STR_NULL);
        } else {
            take_value(walk, key, member);
        }
    }
}

static void walk_config(const Walk *walk, const JsonValue *config) {
    const KeyList list = {config_keys, config_key_count, "config"};
    if (config->kind == JSON_KIND_OBJECT) take_object(walk, &list, config);
}

void flow_config_check(const JsonValue *config, Arena *arena,
                       void (*report)(void *context, const JsonFault *fault), void *context) {
    FlowConfig ignored = {0};
    Walk walk = {.arena = arena, .report = report, .context = context, .config = &ignored};
    walk_config(&walk, config);
}

void flow_config_read(Arena *arena, Str config_json, FlowConfig *config) {
    JsonValue *value;
    Walk walk = {.arena = arena, .config = config};
    if (str_is_null(config_json)) return;
    if (json_parse(arena, arena_str(arena, config_json), &value, NULL) == OK)
        walk_config(&walk, value);
}

const Mask *flow_config_mask(Arena *arena, Str config_json) {
    FlowConfig config = {0};
    flow_config_read(arena, config_json, &config);
    if (str_is_null(config.secret)) return NULL;
    Mask *mask = ARENA_NEW(arena, Mask);
    for (Str left = config.secret, path; str_split(&left, '\n', &path);)
        if (mask_add(mask, path, NULL) != OK) break; // it was checked when the text was read
    return mask->count > 0 ? mask : NULL;
}
