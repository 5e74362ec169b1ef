// Fields of a request: typed, optional, with messages that name the field.
//
// A handler reads its fields with one TRY each into variables that hold the defaults:
//
//   TRY(json_allow_only(body, (const char *const[]){"name", "delay", NULL}, diag));
//   int64_t delay_ms = 0;
//   TRY(json_get_duration_ms(body, "delay", &delay_ms, diag));
//
//   [value-get-1] A getter writes its answer only when it answers OK and the field is there.
//   [value-get-2] null and absent mean the same, except to json_get_raw: payloads may be null.
#include "base/limits.h"
#include "base/text/suggest.h"
#include "base/time/duration.h"
#include "json/read.h"
#include "json/value.h"

static Status bad_field(const JsonValue *value, const char *name, const char *wanted, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                    "field \"%s\" must be %s, not a value of type %s", name, wanted,
                    json_kind_name(value->kind));
}

// The member, or NULL when it counts as absent [value-get-2].
static const JsonValue *present(const JsonValue *object, const char *name) {
    const JsonValue *value = json_member(object, str_from(name));
    return value && value->kind != JSON_KIND_NULL ? value : NULL;
}

bool json_has(const JsonValue *object, const char *name) { return present(object, name) != NULL; }

Status json_get_string(const JsonValue *object, const char *name, Str *ret_value, Diag *diag) {
    const JsonValue *value = present(object, name);
    if (!value) return OK;
    if (value->kind != JSON_KIND_STRING) return bad_field(value, name, "a string", diag);
    *ret_value = value->string;
    return OK;
}

Status json_get_bool(const JsonValue *object, const char *name, bool *ret_value, Diag *diag) {
    const JsonValue *value = present(object, name);
    if (!value) return OK;
    if (value->kind != JSON_KIND_BOOL) return bad_field(value, name, "true or false", diag);
    *ret_value = value->boolean;
    return OK;
}

Status json_get_i64(const JsonValue *object, const char *name, int64_t *ret_value, Diag *diag) {
    const JsonValue *value = present(object, name);
    if (!value) return OK;
    if (value->kind != JSON_KIND_NUMBER) return bad_field(value, name, "an integer", diag);
    if (!json_number_to_i64(value->raw, ret_value)) {
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "field \"%s\" must be an integer of 64 bits, not %.*s", name,
                        STR_ARG(value->raw));
    }
    return OK;
}

Status json_get_number(const JsonValue *object, const char *name, double *ret_value, Diag *diag) {
    const JsonValue *value = present(object, name);
    if (!value) return OK;
    if (value->kind != JSON_KIND_NUMBER) return bad_field(value, name, "a number", diag);
    *ret_value = value->number;
    return OK;
}

// Puts the field's name before what the parser of its content said.
static Status name_field(Status status, const char *name, const Diag *inner, Diag *diag) {
    return diag_set(diag, status, inner->code, "field \"%s\": %s", name, inner->message);
}

static Status seconds_to_ms(double seconds, const char *name, int64_t *ret_ms, Diag *diag) {
    double ms = seconds * 1000;
    if (!(ms >= 0 && ms <= (double)LIMIT_DURATION_MS)) {
        return diag_set(diag, ERR_INVALID, "BAD_DURATION",
                        "field \"%s\": a duration is 0 to 100 years, in seconds", name);
    }
    int64_t whole = (int64_t)ms;
    *ret_ms = whole + ((double)whole < ms); // never early
    return OK;
}

Status json_get_duration_ms(const JsonValue *object, const char *name, int64_t *ret_ms,
                            Diag *diag) {
    const JsonValue *value = present(object, name);
    if (!value) return OK;
    Diag inner;
    if (value->kind == JSON_KIND_NUMBER) {
        // The literal itself when it is plain digits: exact where 1000 x a double is not.
        if (duration_parse(value->raw, ret_ms, &inner) == OK) return OK;
        return seconds_to_ms(value->number, name, ret_ms, diag);
    }
    if (value->kind != JSON_KIND_STRING) {
        return bad_field(value, name, "a duration (text as in 15m, or seconds)", diag);
    }
    Status status = duration_parse(value->string, ret_ms, &inner);
    return status == OK ? OK : name_field(status, name, &inner, diag);
}

Status json_get_instant_ms(const JsonValue *object, const char *name, int64_t *ret_ms, Diag *diag) {
    const JsonValue *value = present(object, name);
    if (!value) return OK;
    if (value->kind != JSON_KIND_STRING) return bad_field(value, name, "a time (RFC 3339)", diag);
    Diag inner;
    Status status = instant_parse(value->string, ret_ms, &inner);
    return status == OK ? OK : name_field(status, name, &inner, diag);
}

Status json_get_array(const JsonValue *object, const char *name, const JsonValue **ret_value,
                      Diag *diag) {
    const JsonValue *value = present(object, name);
    if (!value) return OK;
    if (value->kind != JSON_KIND_ARRAY) return bad_field(value, name, "an array", diag);
    *ret_value = value;
    return OK;
}

Status json_get_object(const JsonValue *object, const char *name, const JsonValue **ret_value,
                       Diag *diag) {
    const JsonValue *value = present(object, name);
    if (!value) return OK;
    if (value->kind != JSON_KIND_OBJECT) return bad_field(value, name, "an object", diag);
    *ret_value = value;
    return OK;
}

void json_get_raw(const JsonValue *object, const char *name, Str *ret_raw) {
    const JsonValue *value = json_member(object, str_from(name));
    if (value) *ret_raw = value->raw;
}

Status json_require(const JsonValue *object, const char *const *names, Diag *diag) {
    for (; *names; names++) {
        if (present(object, *names)) continue;
        return diag_set(diag, ERR_INVALID, "MISSING_FIELD", "field \"%s\" is required", *names);
    }
    return OK;
}

static bool is_named(Str key, const char *const *names) {
    for (; *names; names++) {
        if (str_equal(key, str_from(*names))) return true;
    }
    return false;
}

Status json_allow_only(const JsonValue *object, const char *const *names, Diag *diag) {
    if (object->kind != JSON_KIND_OBJECT) {
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST", "the body must be a JSON object, not %s",
                        json_kind_name(object->kind));
    }
    JSON_EACH (member, object) {
        if (is_named(member->key, names)) continue;
        Suggestion guess = {.wanted = member->key};
        for (size_t i = 0; names[i] != NULL; i++) suggest(&guess, names[i]);
        bool is_near = guess.best != NULL;
        return diag_set(diag, ERR_INVALID, "UNKNOWN_FIELD",
                        "field \"%.*s\" is not known here%s%s%s", STR_ARG(member->key),
                        is_near ? "; did you mean \"" : "", is_near ? guess.best : "",
                        is_near ? "\"?" : "");
    }
    return OK;
}
