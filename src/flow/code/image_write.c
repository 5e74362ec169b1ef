// Writing images: see image.h for the form.
//
// Tables are written as they stand in memory, one after the other; zstd finds what repeats. Strings
// that the code mentions are numbers here as in snapshots, so both stay small.
//
// Not here: reading (image_read.c).
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "base/memory.h"
#include "flow/code/code.h"
#include "flow/code/image_format.h"
#include "flow/code/opcodes.h"
#include "flow/value/string.h"
#include <zstd.h>

typedef struct ImageWriter {
    const FlowModule *module;
    Buf *out;
    uint32_t op_numbers[OP_COUNT]; // 1 + its number in the image; 0 = not used
} ImageWriter;

// ---- opcodes and strings ----

static void write_opcodes(ImageWriter *w) { // in the order of first use
    uint16_t used[OP_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->module->routine_count; i++) {
        const FlowRoutine *routine = &w->module->routines[i];
        for (uint32_t pc = 0; pc < routine->code_count; pc++) {
            uint16_t op = flow_op_base(routine->code[pc].op);
            if (w->op_numbers[op] != 0) continue;
            used[count++] = op;
            w->op_numbers[op] = count;
        }
    }
    bytes_put_varint(w->out, count);
    for (uint32_t i = 0; i < count; i++)
        bytes_put_str(w->out, str_from(flow_op_info[used[i]].name));
}

static void write_text(ImageWriter *w, const FlowString *s) {
    bool is_wide = flow_string_is_wide(s);
    uint32_t length = flow_string_length(s);
    bytes_put_varint(w->out, (uint64_t)length << 1 | is_wide);
    for (uint32_t i = 0; i < length && is_wide; i++) {
        bytes_put_u8(w->out, (uint8_t)s->wide[i]);
        bytes_put_u8(w->out, (uint8_t)(s->wide[i] >> 8));
    }
    if (!is_wide) buf_append(w->out, s->latin1, length);
}

// A string by its number, or itself when only people see it (descriptions, names of variables).
static void write_string(ImageWriter *w, FlowValue value) {
    uint32_t number = flow_module_string_number(w->module, flow_as_string(value));
    bytes_put_varint(w->out, number == UINT32_MAX ? 0 : (uint64_t)number + 1);
    if (number == UINT32_MAX) write_text(w, flow_as_string(value));
}

static void write_number(ImageWriter *w, FlowValue value) {
    if (flow_is_int(value)) {
        bytes_put_u8(w->out, IMAGE_INT);
        bytes_put_zigzag(w->out, flow_as_int(value));
    } else {
        bytes_put_u8(w->out, IMAGE_DOUBLE);
        bytes_put_f64(w->out, flow_as_double(value));
    }
}

static void write_bigint(ImageWriter *w, const FlowBigInt *bigint) {
    bytes_put_u8(w->out, IMAGE_BIGINT);
    bytes_put_varint(w->out, bigint->cell.aux);
    for (uint32_t i = 0; i < bigint->cell.aux; i++) bytes_put_u32(w->out, bigint->digits[i]);
}

static void write_value(ImageWriter *w, FlowValue value) {
    if (flow_is_string(value)) {
        bytes_put_u8(w->out, IMAGE_STRING);
        write_string(w, value);
    } else if (flow_is_number(value)) {
        write_number(w, value);
    } else if (flow_is_bigint(value)) {
        write_bigint(w, flow_as_bigint(value));
    } else {
        ASSERT(flow_is_undefined(value) || flow_is_null(value) || flow_is_boolean(value) ||
               flow_is_hole(value));
        bytes_put_u8(w->out, flow_is_undefined(value) ? IMAGE_UNDEFINED
                             : flow_is_null(value)    ? IMAGE_NULL
                             : flow_is_hole(value)    ? IMAGE_HOLE
                             : flow_is_true(value)    ? IMAGE_TRUE
                                                      : IMAGE_FALSE);
    }
}

// ---- routines ----

static void write_code(ImageWriter *w, const FlowRoutine *routine) {
    bytes_put_varint(w->out, routine->code_count);
    for (uint32_t i = 0; i < routine->code_count; i++) {
        const FlowInstruction *in = &routine->code[i];
        bytes_put_varint(w->out, w->op_numbers[flow_op_base(in->op)] - 1);
        bytes_put_varint(w->out, in->a);
        bytes_put_u32(w->out, (uint32_t)in->wide);
    }
}

static void write_values(ImageWriter *w, const FlowRoutine *routine) {
    bytes_put_varint(w->out, routine->constant_count);
    for (uint32_t i = 0; i < routine->constant_count; i++) write_value(w, routine->constants[i]);
    bytes_put_varint(w->out, routine->site_count);
    for (uint32_t i = 0; i < routine->site_count; i++) write_string(w, routine->sites[i].key);
    bytes_put_varint(w->out, routine->template_count);
    for (uint32_t i = 0; i < routine->template_count; i++) {
        const FlowTemplate *site = &routine->templates[i];
        bytes_put_varint(w->out, site->count);
        for (uint32_t k = 0; k < site->count; k++) write_value(w, site->cooked[k]);
        for (uint32_t k = 0; k < site->count; k++) write_value(w, site->raw[k]);
    }
}

static void write_tables(ImageWriter *w, const FlowRoutine *routine) {
    bytes_put_varint(w->out, routine->upvalue_count);
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        const FlowUpvalue *upvalue = &routine->upvalues[i];
        bytes_put_varint(w->out, upvalue->index);
        bytes_put_u8(w->out, (uint8_t)(upvalue->is_local | upvalue->is_box << 1 |
                                       upvalue->is_settable << 2));
        write_value(w, upvalue->name);
    }
    bytes_put_varint(w->out, routine->handler_count);
    for (uint32_t i = 0; i < routine->handler_count; i++) {
        const FlowHandler *handler = &routine->handlers[i];
        bytes_put_varint(w->out, handler->start);
        bytes_put_varint(w->out, handler->end);
        bytes_put_varint(w->out, handler->target);
        bytes_put_varint(w->out, handler->reg);
        bytes_put_varint(w->out, handler->live);
    }
}

static void write_notes(ImageWriter *w, const FlowRoutine *routine) { // for people
    bytes_put_varint(w->out, routine->position_count);
    for (uint32_t i = 0; i < routine->position_count; i++) {
        bytes_put_varint(w->out, routine->positions[i].pc);
        bytes_put_varint(w->out, routine->positions[i].line);
        bytes_put_varint(w->out, routine->positions[i].column);
    }
    bytes_put_varint(w->out, routine->description_count);
    for (uint32_t i = 0; i < routine->description_count; i++) {
        bytes_put_varint(w->out, routine->descriptions[i].pc);
        write_string(w, routine->descriptions[i].text);
    }
    bytes_put_varint(w->out, routine->variable_count);
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        const FlowLocalName *variable = &routine->variables[i];
        write_string(w, variable->name);
        bytes_put_varint(w->out, variable->start);
        bytes_put_varint(w->out, variable->end);
        bytes_put_varint(w->out, variable->reg);
        bytes_put_u8(w->out, (uint8_t)(variable->is_box | variable->is_settable << 1));
    }
}

static void write_routine(ImageWriter *w, const FlowRoutine *routine) {
    write_string(w, routine->name);
    bytes_put_varint(w->out, routine->flags);
    bytes_put_varint(w->out, routine->source_start);
    bool has_text = routine->source_end > routine->source_start; // not of field initialisers
    bytes_put_varint(w->out, has_text ? routine->source_end : routine->source_start);
    bytes_put_varint(w->out, routine->register_count);
    bytes_put_varint(w->out, routine->parameter_count);
    bytes_put_varint(w->out, routine->length);
    write_code(w, routine);
    write_values(w, routine);
    write_tables(w, routine);
    write_notes(w, routine);
}

// ---- the whole ----

static void write_payload(ImageWriter *w) {
    const FlowModule *module = w->module;
    buf_append(w->out, module->hash, SHA256_HEX_SIZE);
    bytes_put_u32(w->out, module->code_checksum);
    write_opcodes(w);
    bytes_put_varint(w->out, module->string_count);
    for (uint32_t i = 0; i < module->string_count; i++) write_text(w, module->strings[i]);
    bytes_put_varint(w->out, module->workflow_count);
    for (uint32_t i = 0; i < module->workflow_count; i++) {
        bytes_put_str(w->out, module->workflows[i].name);
        bytes_put_str(w->out, module->workflows[i].config_json);
        bytes_put_varint(w->out, module->workflows[i].line);
    }
    bytes_put_varint(w->out, module->routine_count);
    for (uint32_t i = 0; i < module->routine_count; i++) write_routine(w, &module->routines[i]);
}

static void compress_payload(const Buf *payload, Buf *ret_image) {
    size_t bound = ZSTD_compressBound(payload->len);
    char *packed = mem_alloc(bound);
    size_t size = ZSTD_compress(packed, bound, payload->data, payload->len, 3);
    ASSERT(!ZSTD_isError(size));
    buf_append(ret_image, IMAGE_MAGIC, IMAGE_MAGIC_SIZE);
    bytes_put_u8(ret_image, FLOW_IMAGE_VERSION);
    bytes_put_varint(ret_image, payload->len);
    buf_append(ret_image, packed, size);
    bytes_put_u32(ret_image, crc32c(0, ret_image->data, ret_image->len));
    mem_free(packed);
}

Status flow_image_write(const FlowModule *module, Buf *ret_image, Diag *diag) {
    ASSERT(module->is_sealed && !module->is_prelude);
    Buf payload;
    buf_init(&payload, FLOW_IMAGE_RAW_MAX);
    write_payload(&(ImageWriter){.module = module, .out = &payload});
    if (!payload.is_overflown) compress_payload(&payload, ret_image);
    bool is_too_large =
        payload.is_overflown || ret_image->is_overflown || ret_image->len > FLOW_IMAGE_SIZE_MAX;
    buf_done(&payload);
    if (!is_too_large) return OK;
    return diag_set(diag, ERR_LIMIT, "IMAGE_TOO_LARGE",
                    "the compiled workflow has more than %d bytes; split it", FLOW_IMAGE_SIZE_MAX);
}
