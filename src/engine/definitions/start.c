// Starting runs: see start.h.
//
// The store calls this wherever a run is created - by a caller, a parent, a schedule - inside the
// transaction that pins the run to the definition; so there is one way in, and no moment at which
// the input is held to one version and executed by another.
//
// Not here: what a config may say (flow/check/config.c), what a schema may say (json/schema.c).
#include "engine/definitions/start.h"
#include "engine/runners/runner.h"
#include "flow/check/config.h"
#include "model/trace.h"

// The trace that a run belongs to is kept among its tags, and is none.
static Str tags_or(Arena *arena, Str tags, Str others) {
    TraceParent trace;
    if (!str_is_null(tags_without_trace(tags)) || str_is_null(others)) return tags;
    if (!trace_parent_parse(tags_trace(tags), &trace)) return others;
    return tags_with_trace(arena, others, &trace, tags_trace_state(tags));
}

static void fill_in(const FlowConfig *config, RunSpec *spec, Arena *arena) {
    bool has_priority = (spec->given & GIVEN_PRIORITY) != 0;
    bool has_keep = (spec->given & GIVEN_KEEP) != 0;
    if (spec->timeout_ms == 0) spec->timeout_ms = config->timeout_ms;
    if (!has_priority && config->has_priority) spec->priority = config->priority;
    if (!has_keep && config->has_keep) spec->keep_ms = config->keep_ms;
    if (str_is_null(spec->queue)) spec->queue = config->queue;
    spec->tags = tags_or(arena, spec->tags, config->tags);
}

static Status check_input(const JsonValue *schema, Str input, Arena *arena, Diag *diag) {
    JsonValue absent = {.kind = JSON_KIND_NULL, .raw = STR("null")}, *value = &absent;
    if (!str_is_null(input)) {
        Diag found;
        if (json_parse(arena, input, &value, &found) != OK)
            return diag_set(diag, ERR_INVALID, "BAD_INPUT", "it is not JSON: %s", found.message);
    }
    return schema_validate(schema, value, "BAD_INPUT", diag);
}

Status start_prepare(const DefinitionRow *definition, RunSpec *spec, Arena *arena, Str *ret_error,
                     Diag *diag) {
    FlowConfig config = {0};
    Diag found;
    flow_config_read(arena, definition->config, &config);
    fill_in(&config, spec, arena);
    if (config.input == NULL) return OK;
    if (check_input(config.input, spec->input, arena, &found) == OK) return OK;
    Status status = diag_set(diag, ERR_INVALID, "BAD_INPUT",
                             "the input does not fit config.input of workflow \"%.*s\": %s",
                             STR_ARG(definition->name), found.message);
    *ret_error = error_object(arena, STR("InputError"), str_from(diag->message));
    return status;
}
