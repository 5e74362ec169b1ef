// Plans as text: what becomes of the runs of each version, by the line where they stand.
//
//   order: version 1f2e3d4c5b6a is current, new is 6a5b4c3d2e1f
//        3 move     1f2e3d4c5b6a line 2  const approval = await Signal.when("approval")
//        1 refused  …                    and below it why, with a run as an example
//
// Not here: the command (commands/workflow.c).
#include "cli/runs/plan.h"
#include "cli/output/output.h"

enum { VERSION_SHOWN = 12 };

static Str shortened(Str version) {
    if (version.len > VERSION_SHOWN) version.len = VERSION_SHOWN;
    return version;
}

static void print_line(Buf *line) {
    output_json_line(stdout, buf_str(line));
    buf_clear(line);
}

static void print_group(const JsonValue *group, Buf *line) {
    Str version = shortened(field_text(group, "version")), reason = field_text(group, "reason");
    int64_t failed = field_count(group, "failed"), count = field_count(group, "count");
    buf_printf(line, "%9lld %-8.*s %.*s ", (long long)count, STR_ARG(field_text(group, "verdict")),
               STR_ARG(version));
    if (str_is_null(field_text(group, "source"))) buf_append_cstr(line, "at the start, or unknown");
    else buf_printf(line, "line %lld: ", (long long)field_count(group, "line"));
    output_clean(line, field_text(group, "source"), 0);
    if (failed > 0) buf_printf(line, " (%lld failed)", (long long)failed);
    print_line(line);
    if (str_is_null(reason)) return;
    buf_printf(line, "%19s", "");
    output_clean(line, reason, 0);
    Str example = field_text(group, "example");
    if (!str_is_null(example)) {
        buf_append_cstr(line, " (");
        output_clean(line, example, 0);
        buf_append_char(line, ')');
    }
    print_line(line);
}

static void print_one(const JsonValue *plan, Buf *line) {
    Str current = shortened(field_text(plan, "current"));
    output_clean(line, field_text(plan, "workflow"), 0);
    if (field_flag(plan, "is_same"))
        buf_printf(line, ": %.*s is current already", STR_ARG(current));
    else if (str_is_null(current)) buf_append_cstr(line, ": new");
    else
        buf_printf(line, ": %.*s is current, new is %.*s", STR_ARG(current),
                   STR_ARG(shortened(field_text(plan, "new"))));
    print_line(line);
    const JsonValue *groups = json_member(plan, STR("groups"));
    if (groups == NULL) return;
    JSON_EACH (group, groups) {
        print_group(group, line);
    }
    buf_printf(line, "%lld can go on in it, %lld cannot, %lld have it, %lld unknown",
               (long long)field_count(plan, "moves"), (long long)field_count(plan, "refused"),
               (long long)field_count(plan, "stays"), (long long)field_count(plan, "unknown"));
    print_line(line);
}

void plan_print(const JsonValue *plan) {
    Buf line;
    buf_init(&line, 1 << 20);
    print_one(plan, &line);
    const JsonValue *others = json_member(plan, STR("others"));
    if (others != NULL)
        JSON_EACH (other, others) {
            print_one(other, &line);
        }
    buf_done(&line);
}
