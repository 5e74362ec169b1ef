// Changes by filter: pages of POST /v1/runs/bulk until there is no next one.
//
// Counts of all pages are added up, and so are the reasons, each with one run as an example: what
// a million runs have in common is a few lines.
//
// Invariant [filtered-1] is in filtered.h. Not here: changes by id (verbs/bulk.c).
#include "cli/verbs/filtered.h"
#include "cli/output/output.h"
#include "cli/verbs/body.h"

enum { PAGE_RUNS = 200, REASONS_MAX = 100 };

typedef struct Reason {
    Str code, detail, example; // in the arena of the session
    int64_t count;
} Reason;

typedef struct Sums {
    int64_t changed, unchanged, refused;
    Reason reasons[REASONS_MAX];
    size_t count;
} Sums;

static Str page_body(Session *session, const Filtered *filtered, Str cursor) {
    Body body;
    body_begin(&body, session);
    body_put_text(&body, "verb", str_from(filtered->verb));
    body_put_text(&body, "q", filtered->filter);
    body_put_text(&body, "version", filtered->version);
    body_put_text(&body, "step", filtered->step);
    body_put_raw(&body, "iteration", filtered->iteration);
    body_put_text(&body, "cursor", cursor);
    body_put_raw(&body, "limit", arena_printf(&session->arena, "%d", PAGE_RUNS));
    body_put_raw(&body, "dry_run", filtered->is_dry ? STR("true") : STR("false"));
    return body_end(&body);
}

static void add_reason(Arena *arena, Sums *sums, const JsonValue *reason) {
    Str code = field_text(reason, "code"), detail = field_text(reason, "detail");
    int64_t count = field_count(reason, "count");
    for (size_t i = 0; i < sums->count; i++) {
        if (!str_equal(sums->reasons[i].detail, detail)) continue;
        sums->reasons[i].count += count;
        return;
    }
    if (sums->count == REASONS_MAX) return;
    sums->reasons[sums->count++] = (Reason){arena_str(arena, code), arena_str(arena, detail),
                                            arena_str(arena, field_text(reason, "example")), count};
}

static void add_page(Session *session, Sums *sums) {
    const JsonValue *answer = session->answer.json;
    sums->changed += field_count(answer, "changed");
    sums->unchanged += field_count(answer, "unchanged");
    sums->refused += field_count(answer, "refused");
    const JsonValue *reasons = json_member(answer, STR("reasons"));
    if (reasons != NULL)
        JSON_EACH (reason, reasons) {
            add_reason(&session->arena, sums, reason);
        }
    const JsonValue *results = json_member(answer, STR("results"));
    if (session->format != OUTPUT_IDS || results == NULL) return;
    JSON_EACH (result, results) {
        if (str_equal(field_text(result, "status"), STR("changed")))
            output_id(stdout, field_text(result, "id"));
    }
}

static void print_json(const Sums *sums, bool is_dry) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 1 << 20);
    json_writer_init(&json, &text, STR("  "));
    json_write_object_begin(&json);
    json_put_bool(&json, "dry_run", is_dry);
    json_put_i64(&json, "changed", sums->changed);
    json_put_i64(&json, "unchanged", sums->unchanged);
    json_put_i64(&json, "refused", sums->refused);
    json_write_key(&json, STR("reasons"));
    json_write_array_begin(&json);
    for (size_t i = 0; i < sums->count; i++) {
        json_write_object_begin(&json);
        json_put_string(&json, "code", sums->reasons[i].code);
        json_put_string(&json, "detail", sums->reasons[i].detail);
        json_put_i64(&json, "count", sums->reasons[i].count);
        json_put_string(&json, "example", sums->reasons[i].example);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

static void print_words(const Sums *sums, const Filtered *filtered) {
    printf("%lld %s%s, %lld unchanged, %lld refused\n", (long long)sums->changed,
           filtered->is_dry ? "would be " : "", filtered->done, (long long)sums->unchanged,
           (long long)sums->refused);
    for (size_t i = 0; i < sums->count; i++) {
        Buf line;
        buf_init(&line, 1 << 16);
        buf_printf(&line, "  %lld: ", (long long)sums->reasons[i].count);
        output_clean(&line, sums->reasons[i].detail, 0);
        buf_append_cstr(&line, " (");
        output_clean(&line, sums->reasons[i].example, 0);
        buf_append_cstr(&line, ")");
        output_json_line(stdout, buf_str(&line));
        buf_done(&line);
    }
}

bool filtered_run(Session *session, const Filtered *filtered) {
    Sums sums = {0};
    Str cursor = STR_NULL;
    do {
        Str body = page_body(session, filtered, cursor);
        if (!session_post(session, STR("/v1/runs/bulk"), body)) return false;
        add_page(session, &sums);
        session_progress(session, "%lld runs", (long long)(sums.changed + sums.refused));
        cursor = arena_str(&session->arena, field_text(session->answer.json, "next"));
    } while (!str_is_null(cursor) && !session_is_stopped());
    session_clear_progress(session);
    if (session->format == OUTPUT_JSON) print_json(&sums, filtered->is_dry);
    if (session->format == OUTPUT_TABLE) print_words(&sums, filtered);
    return true;
}
