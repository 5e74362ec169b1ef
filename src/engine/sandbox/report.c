// Report: what a run did in the sandbox, as JSON.
//
// {"run_id","workflow","version","turn","status","result","error","reason","now","turns",
//  "effects":[{"at","kind","name","data"}],"state":{…},"waits":[{"on","name","until"}],
//  "variables":[{"function","name","before","after"}],"unused":["signal approval"]}
#include "engine/sandbox/internal.h"
#include "json/value.h"

static const char *end_name(SandboxEnd end) {
    static const char *const names[] = {
        [SANDBOX_WAITS] = "suspended",     [SANDBOX_COMPLETED] = "completed",
        [SANDBOX_FAILED] = "failed",       [SANDBOX_CANCELLED] = "cancelled",
        [SANDBOX_CONTINUED] = "continued", [SANDBOX_STOPPED] = "stopped",
    };
    return names[end];
}

static const char *effect_name(LogKind kind) {
    switch (kind) {
    case LOG_TASK: return "task";
    case LOG_CHILD: return "workflow";
    case LOG_EMIT: return "event";
    case LOG_STREAM: return "stream";
    default: return "log";
    }
}

static void put_json(JsonWriter *json, const char *key, Str value) {
    json_put_raw(json, key, str_is_null(value) ? STR("null") : value);
}

static void put_effects(const Sandbox *self, JsonWriter *json) {
    json_write_key(json, STR("effects"));
    json_write_array_begin(json);
    for (size_t i = 0; i < self->effects.count; i++) {
        const SandboxEffect *effect = &self->effects.data[i];
        json_write_object_begin(json);
        json_put_instant(json, "at", effect->at_ms);
        json_put_cstr(json, "kind", effect_name(effect->kind));
        json_put_string(json, "name", effect->name);
        put_json(json, "data", mask_json(self->mask, effect->name, effect->json, self->arena));
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_key(json, STR("state"));
    json_write_object_begin(json);
    for (size_t i = 0; i < self->states.count; i++) {
        bool is_last = true; // a key that was set again counts with its last value
        for (size_t k = i + 1; k < self->states.count; k++)
            is_last &= !str_equal(self->states.data[i].name, self->states.data[k].name);
        if (!is_last) continue;
        const StateSpec *state = &self->states.data[i];
        json_write_key(json, state->name);
        json_write_raw(json, mask_json(self->mask, state->name, state->value, self->arena));
    }
    json_write_object_end(json);
}

static void put_waits(const Sandbox *self, JsonWriter *json) {
    json_write_key(json, STR("waits"));
    json_write_array_begin(json);
    const WaitSet *set = &self->output.waits;
    for (size_t i = 0; self->end == SANDBOX_WAITS && i < set->count; i++) {
        const WaitItem *item = &set->items[i];
        bool is_named = item->kind != WAIT_TIMER && item->kind != WAIT_RETRY;
        json_write_object_begin(json);
        json_put_cstr(json, "on", wait_kind_name(item->kind));
        json_put_string(json, "name", is_named ? sandbox_wait_name(self, item) : STR_NULL);
        if (item->deadline_at_ms != 0) json_put_instant(json, "until", item->deadline_at_ms);
        else json_put_raw(json, "until", STR("null"));
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

// ---- variables ----

static const JsonValue *frames_of(Arena *arena, Str inspected) {
    JsonValue *value;
    Diag diag;
    if (str_is_null(inspected) || json_parse(arena, inspected, &value, &diag) != OK) return NULL;
    return json_member(value, STR("waitingAt"));
}

static const JsonValue *locals_of(const JsonValue *frames, Str function) {
    if (frames != NULL)
        JSON_EACH (frame, frames) {
            const JsonValue *name = json_member(frame, STR("function"));
            if (name != NULL && str_equal(name->string, function))
                return json_member(frame, STR("locals"));
        }
    return NULL;
}

static void put_changed(JsonWriter *json, const JsonValue *frame, const JsonValue *before) {
    const JsonValue *function = json_member(frame, STR("function"));
    const JsonValue *old = locals_of(before, function->string);
    JSON_EACH (local, json_member(frame, STR("locals"))) {
        const JsonValue *was = json_member(old, local->key);
        if (was != NULL && str_equal(was->string, local->string)) continue;
        json_write_object_begin(json);
        json_put_string(json, "function", function->string);
        json_put_string(json, "name", local->key);
        json_put_string(json, "before", was != NULL ? was->string : STR_NULL);
        json_put_string(json, "after", local->string);
        json_write_object_end(json);
    }
}

static void put_variables(const Sandbox *self, JsonWriter *json) {
    const JsonValue *before = frames_of(self->arena, self->before);
    const JsonValue *after = frames_of(self->arena, self->after);
    json_write_key(json, STR("variables"));
    json_write_array_begin(json);
    if (after != NULL)
        JSON_EACH (frame, after) put_changed(json, frame, before);
    json_write_array_end(json);
}

static void put_unused(const Sandbox *self, JsonWriter *json) {
    static const char *const kinds[] = {[ANSWER_TASK] = "task",
                                        [ANSWER_CHILD] = "child",
                                        [ANSWER_SIGNAL] = "signal",
                                        [ANSWER_EVENT] = "event"};
    json_write_key(json, STR("unused"));
    json_write_array_begin(json);
    for (size_t i = 0; i < self->what->answers->count; i++) {
        const SandboxAnswer *answer = &self->what->answers->items[i];
        if (answer->is_used) continue;
        json_write_string(
            json, arena_printf(self->arena, "%s %.*s", kinds[answer->kind], STR_ARG(answer->name)));
    }
    json_write_array_end(json);
}

Str sandbox_report(Sandbox *self) {
    Buf text;
    JsonWriter json;
    buf_init(&text, SANDBOX_REPORT_MAX);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "run_id", self->view.id);
    json_put_string(&json, "workflow", self->view.workflow);
    json_put_string(&json, "version", flow_module_hash(self->module));
    int64_t turn = self->what->answers->start.turn;
    if (turn == 0) json_put_null(&json, "turn");
    else json_put_i64(&json, "turn", turn);
    json_put_cstr(&json, "status", end_name(self->end));
    bool has_error = self->end == SANDBOX_FAILED || self->end == SANDBOX_CANCELLED;
    bool has_result = self->end == SANDBOX_COMPLETED || self->end == SANDBOX_CONTINUED;
    Str end =
        mask_json(self->mask, has_error ? STR("error") : STR("result"), self->result, self->arena);
    put_json(&json, "result", has_result ? end : STR_NULL);
    put_json(&json, "error", has_error ? end : STR_NULL);
    json_put_string(&json, "reason", self->reason != NULL ? str_from(self->reason) : STR_NULL);
    json_put_instant(&json, "now", self->env.now_ms);
    json_put_i64(&json, "turns", self->turns);
    put_effects(self, &json);
    put_waits(self, &json);
    put_variables(self, &json);
    put_unused(self, &json);
    json_write_object_end(&json);
    Str report = text.is_overflown ? STR_NULL : arena_str(self->arena, buf_str(&text));
    buf_done(&text);
    return report;
}
