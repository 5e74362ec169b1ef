// Config: the literal of `export const config` as JSON text.
//
// A workflow's settings are read without running it, so they are data by construction.
//
// The parser accepted literals only: objects, arrays, strings, numbers, booleans, null and signs.
//
// Not here: which keys there are and what they take (config.c).

#include "base/text/number.h"
#include "flow/check/config.h"
#include "flow/compile/nodes.h"
#include "flow/lexer/report.h"

enum { CONFIG_SIZE_MAX = 1 << 20 };

static void json_string(Buf *out, Str text) {
    buf_append_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = (uint8_t)text.data[i];
        if (byte == '"' || byte == '\\') buf_printf(out, "\\%c", byte);
        else if (byte == '\n') buf_append_cstr(out, "\\n");
        else if (byte == '\t') buf_append_cstr(out, "\\t");
        else if (byte < 0x20) buf_printf(out, "\\u%04x", byte);
        else if (byte == 0xED && i + 2 < text.len && (uint8_t)text.data[i + 1] >= 0xA0) {
            // A lone surrogate in three bytes [ast.h N6]: JSON text has it as an escape.
            unsigned unit = 0xD000u | ((uint8_t)text.data[i + 1] & 0x3Fu) << 6 |
                            ((uint8_t)text.data[i + 2] & 0x3Fu);
            buf_printf(out, "\\u%04x", unit);
            i += 2;
        } else buf_append_char(out, text.data[i]);
    }
    buf_append_char(out, '"');
}

static void json_number(Buf *out, double number) {
    char text[NUMBER_TEXT_MAX];
    if (number != number || number > 1.7976931348623157e308 || number < -1.7976931348623157e308) {
        buf_append_cstr(out, "null");
        return;
    }
    buf_append(out, text, number_format(number, text));
}

static void json_value(Buf *out, const FlowNode *node);

static void json_object(Buf *out, const FlowNode *node) {
    buf_append_char(out, '{');
    for (uint32_t i = 0; i < node->list.count; i++) {
        const FlowNode *item = node->list.items[i];
        if (item->kind != NODE_PROPERTY) continue;
        if (i > 0) buf_append_char(out, ',');
        const FlowNode *key = item->property.key;
        if (key->kind == NODE_NUMBER) {
            char text[NUMBER_TEXT_MAX];
            json_string(out, (Str){text, number_format(key->number, text)});
        } else {
            json_string(out, key->string.text);
        }
        buf_append_char(out, ':');
        json_value(out, item->property.value);
    }
    buf_append_char(out, '}');
}

static void json_array(Buf *out, const FlowNode *node) {
    buf_append_char(out, '[');
    for (uint32_t i = 0; i < node->list.count; i++) {
        if (i > 0) buf_append_char(out, ',');
        if (node->list.items[i]) json_value(out, node->list.items[i]);
        else buf_append_cstr(out, "null");
    }
    buf_append_char(out, ']');
}

// Recursion is as deep as the literal is nested, which the parser limits.
static void json_value(Buf *out, const FlowNode *node) {
    switch (node->kind) {
    case NODE_TRUE: buf_append_cstr(out, "true"); break;
    case NODE_FALSE: buf_append_cstr(out, "false"); break;
    case NODE_NUMBER: json_number(out, node->number); break;
    case NODE_STRING: json_string(out, node->string.text); break;
    case NODE_TEMPLATE: json_string(out, node->template.parts[0].cooked); break;
    case NODE_UNARY: {
        const FlowNode *operand = node->unary.operand;
        bool is_negative = node->op == OPERATOR_NEGATE;
        if (operand->kind != NODE_NUMBER) buf_append_cstr(out, "null");
        else json_number(out, is_negative ? -operand->number : operand->number);
        break;
    }
    case NODE_OBJECT: json_object(out, node); break;
    case NODE_ARRAY: json_array(out, node); break;
    default: buf_append_cstr(out, "null"); break;
    }
}

Str config_json(Arena *arena, const FlowNode *object) {
    Buf out;
    buf_init(&out, CONFIG_SIZE_MAX);
    json_value(&out, object);
    Str json = arena_str(arena, buf_str(&out));
    buf_done(&out);
    return json;
}

// ---- what is wrong with it, at its place in the file

// The part of the literal that became `wanted`, which lies at or below `value`; its property when
// it is a member of an object. NULL when it lies elsewhere. Text and tree have the same order.
static const FlowNode *find_node(const FlowNode *node, const JsonValue *value,
                                 const JsonValue *wanted) {
    if (value == wanted) return node;
    const JsonValue *child = value->first;
    bool is_container = value->kind == JSON_KIND_OBJECT || value->kind == JSON_KIND_ARRAY;
    for (uint32_t i = 0; is_container && child != NULL; i++, child = child->next) {
        const FlowNode *item = node->list.items[i];
        if (child == wanted) return item;
        const FlowNode *inner = item->kind == NODE_PROPERTY ? item->property.value : item;
        const FlowNode *found = find_node(inner, child, wanted);
        if (found != NULL) return found;
    }
    return NULL;
}

typedef struct ConfigReport {
    FlowReport *report;
    const FlowNode *node;
    const JsonValue *config;
} ConfigReport;

static void report_fault(void *context, const JsonFault *fault) {
    const ConfigReport *self = context;
    const FlowNode *node = find_node(self->node, self->config, fault->at);
    ASSERT(node != NULL);
    if (node->kind == NODE_PROPERTY)
        node = fault->is_key ? node->property.key : node->property.value;
    flow_report_add(self->report,
                    &(FlowFinding){.code = FLOW_ERROR_CONFIG,
                                   .start = node->start,
                                   .end = node->end,
                                   .hint = str_is_null(fault->hint) ? NULL : fault->hint.data},
                    "%.*s", STR_ARG(fault->message));
}

void config_check(const FlowNode *object, Arena *arena, FlowReport *report) {
    JsonValue *config;
    Diag diag;
    Status status = json_parse(arena, config_json(arena, object), &config, &diag);
    if (status != OK) { // nested too deep to be JSON
        flow_report_add(
            report,
            &(FlowFinding){.code = FLOW_ERROR_CONFIG, .start = object->start, .end = object->end},
            "`config` cannot be read: %s", diag.message);
        return;
    }
    ConfigReport context = {report, object, config};
    flow_config_check(config, arena, report_fault, &context);
}
