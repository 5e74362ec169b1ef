// The table as JSON, for editors, their type declarations and the tests of both.
//
//   {"objects": [{"name", "members": [{"name", "returns", "parameters": [FIELD…]}…]}…],
//    "functions": [{"name", "returns", "parameters": [FIELD…]}…],
//    "config": [FIELD…], "builtins": [{"name", "members": [text…]}…], "globals": [text…]}
//   FIELD: {"name", "type", "required", "min", "max", "choices", "options": [FIELD…]}
//
// `builtins` and `globals` come from the tables that the realm is made of.
#include "flow/check/api.h"
#include "flow/check/config.h"
#include "flow/realm/tables.h"
#include "flow/vm/native.h"
#include "json/write.h"

static void print_fields(JsonWriter *json, const char *key, const FlowApiField *fields);

static void print_field(JsonWriter *json, const FlowApiField *field) {
    json_write_object_begin(json);
    json_put_cstr(json, "name", field->name);
    json_put_cstr(json, "type", flow_api_type_name(field->type));
    json_put_bool(json, "required", field->is_required);
    if (field->type == API_INTEGER || field->type == API_NUMBER) {
        json_put_i64(json, "min", spec_rules[field->spec].min);
        json_put_i64(json, "max", spec_rules[field->spec].max);
    }
    if (field->choices != NULL) {
        json_write_key(json, STR("choices"));
        json_write_array_begin(json);
        for (const char *const *choice = field->choices; *choice; choice++)
            json_write_cstr(json, *choice);
        json_write_array_end(json);
    }
    if (field->fields != NULL) print_fields(json, "options", field->fields);
    json_write_object_end(json);
}

// Recursion is as deep as the table.
static void print_fields(JsonWriter *json, const char *key, const FlowApiField *fields) {
    json_write_key(json, str_from(key));
    json_write_array_begin(json);
    for (const FlowApiField *field = fields; field && field->name; field++)
        print_field(json, field);
    json_write_array_end(json);
}

static void print_members(JsonWriter *json, const char *key, const FlowApiMember *members) {
    static const char *const results[] = {[API_RESULT_NONE] = "undefined",
                                          [API_RESULT_VALUE] = "value",
                                          [API_RESULT_HANDLE] = "handle",
                                          [API_RESULT_PROMISE] = "promise",
                                          [API_RESULT_PROPERTY] = "property"};
    json_write_key(json, str_from(key));
    json_write_array_begin(json);
    for (const FlowApiMember *member = members; member->name; member++) {
        json_write_object_begin(json);
        json_put_cstr(json, "name", member->name);
        json_put_cstr(json, "returns", results[member->result]);
        if (member->result != API_RESULT_PROPERTY)
            print_fields(json, "parameters", member->parameters);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void print_objects(JsonWriter *json) {
    json_write_key(json, STR("objects"));
    json_write_array_begin(json);
    for (const FlowApiObject *object = flow_api_objects; object->name; object++) {
        json_write_object_begin(json);
        json_put_cstr(json, "name", object->name);
        print_members(json, "members", object->members);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

// ---- config ----

static void print_keys(JsonWriter *json, const char *key, const ConfigKey *keys, size_t count) {
    static const char *const types[] = {
        [CONFIG_DURATION] = "duration", [CONFIG_DURATION_OFF] = "duration|off",
        [CONFIG_INTEGER] = "integer",   [CONFIG_FACTOR] = "number",
        [CONFIG_NAME] = "name",         [CONFIG_NAMES] = "names",
        [CONFIG_SCHEMA] = "schema",     [CONFIG_RETRY] = "options",
        [CONFIG_PATHS] = "paths"};
    json_write_key(json, str_from(key));
    json_write_array_begin(json);
    for (size_t i = 0; i < count; i++) {
        json_write_object_begin(json);
        json_put_cstr(json, "name", keys[i].name);
        json_put_cstr(json, "type", types[keys[i].type]);
        json_put_bool(json, "required", false);
        if (keys[i].type == CONFIG_RETRY)
            print_keys(json, "options", config_retry_keys, config_retry_key_count);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

// ---- JavaScript ----

static void print_names(JsonWriter *json, const FlowNativeEntry *entries) {
    for (const FlowNativeEntry *entry = entries; entry && entry->name; entry++)
        if (entry->name[0] != '@') json_write_cstr(json, entry->name);
}

static void print_builtins(JsonWriter *json) {
    json_write_key(json, STR("builtins"));
    json_write_array_begin(json);
    for (size_t i = 0; flow_realm_classes[i]; i++) {
        const FlowClassEntry *entry = flow_realm_classes[i];
        if (entry->name[0] == '%' || flow_api_object(str_from(entry->name))) continue;
        json_write_object_begin(json);
        json_put_cstr(json, "name", entry->name);
        json_write_key(json, STR("members"));
        json_write_array_begin(json);
        print_names(json, entry->statics);
        json_write_array_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_key(json, STR("globals"));
    json_write_array_begin(json);
    for (size_t i = 0; flow_realm_globals[i]; i++) print_names(json, flow_realm_globals[i]);
    json_write_array_end(json);
}

void flow_api_print(Buf *ret_json) {
    JsonWriter writer;
    json_writer_init(&writer, ret_json, STR("  "));
    json_write_object_begin(&writer);
    print_objects(&writer);
    print_members(&writer, "functions", flow_api_functions);
    print_keys(&writer, "config", config_keys, config_key_count);
    print_builtins(&writer);
    json_write_object_end(&writer);
}
