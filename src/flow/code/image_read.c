// Reading images: see image.h for the form.
//
// Nothing is trusted: every count is checked against the bytes that are left before memory is taken
// for it, every number against its range, and the verifier sees the result. [image-3] A reader that
// has met something wrong goes on with zeros until it is asked.
//
// Not here: what code may do (verify.c).
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "base/memory.h"
#include "flow/code/code.h"
#include "flow/code/fuse.h"
#include "flow/code/image_format.h"
#include "flow/code/opcodes.h"
#include "flow/code/verify.h"
#include <zstd.h>

typedef struct ImageReader {
    ByteReader in;
    FlowModule *module;
    FlowValue *strings;
    uint32_t string_count;
    uint16_t *ops; // this build's number of each opcode of the image
    uint32_t op_count;
    bool is_newer; // an opcode is not known here
} ImageReader;

static void spoil(ImageReader *r) { r->in.is_bad = true; }

// A number of things that take at least `size` bytes each; 0 when there cannot be so many.
static uint32_t get_count(ImageReader *r, size_t size) {
    uint64_t count = bytes_get_varint(&r->in);
    if (count <= bytes_left(&r->in) / size) return (uint32_t)count;
    spoil(r);
    return 0;
}

static uint32_t get_number(ImageReader *r, uint32_t max) {
    uint64_t value = bytes_get_varint(&r->in);
    if (value <= max) return (uint32_t)value;
    spoil(r);
    return 0;
}

#define GET_ARRAY(r, type, count) ARENA_ARRAY(&(r)->module->arena, type, (size_t)(count) + 1)

// ---- opcodes and strings ----

static bool find_op(Str name, uint16_t *ret_op) {
    for (uint16_t op = 0; op < OP_COUNT; op++) {
        if (!str_equal(name, str_from(flow_op_info[op].name))) continue;
        *ret_op = op;
        return true;
    }
    return false;
}

static void read_opcodes(ImageReader *r) {
    r->op_count = get_count(r, 1);
    r->ops = GET_ARRAY(r, uint16_t, r->op_count);
    for (uint32_t i = 0; i < r->op_count; i++)
        if (!find_op(bytes_get_str(&r->in), &r->ops[i])) r->is_newer = true; // [image-2]
}

static FlowValue read_text(ImageReader *r) {
    uint64_t head = bytes_get_varint(&r->in);
    bool is_wide = head & 1;
    if (head >> 1 > bytes_left(&r->in) / (is_wide ? 2 : 1)) {
        spoil(r);
        return flow_module_string(r->module, STR(""));
    }
    size_t length = (size_t)(head >> 1);
    uint16_t *units = mem_alloc((length + 1) * sizeof *units);
    for (size_t i = 0; i < length; i++) {
        units[i] = bytes_get_u8(&r->in);
        if (is_wide) units[i] |= (uint16_t)(bytes_get_u8(&r->in) << 8);
    }
    FlowValue value = flow_module_string_utf16(r->module, units, length);
    mem_free(units);
    return value;
}

static void read_strings(ImageReader *r) {
    r->string_count = get_count(r, 1);
    r->strings = GET_ARRAY(r, FlowValue, r->string_count);
    for (uint32_t i = 0; i < r->string_count; i++) r->strings[i] = read_text(r);
}

static FlowValue read_string(ImageReader *r) {
    uint32_t number = get_number(r, r->string_count);
    return number == 0 ? read_text(r) : r->strings[number - 1];
}

static FlowValue read_bigint(ImageReader *r) {
    uint32_t count = get_count(r, 4);
    uint32_t *digits = mem_alloc(((size_t)count + 1) * sizeof *digits);
    for (uint32_t i = 0; i < count; i++) digits[i] = bytes_get_u32(&r->in);
    if (count > 0 && digits[count - 1] == 0) spoil(r); // it would have been left out
    FlowValue value = flow_module_bigint(r->module, digits, count);
    mem_free(digits);
    return value;
}

static FlowValue read_int(ImageReader *r) {
    int64_t value = bytes_get_zigzag(&r->in);
    if (value < INT32_MIN || value > INT32_MAX) spoil(r);
    return flow_int((int32_t)value);
}

static FlowValue read_value(ImageReader *r) {
    switch (bytes_get_u8(&r->in)) {
    case IMAGE_UNDEFINED: return FLOW_UNDEFINED;
    case IMAGE_NULL: return FLOW_NULL;
    case IMAGE_FALSE: return FLOW_FALSE;
    case IMAGE_TRUE: return FLOW_TRUE;
    case IMAGE_HOLE: return FLOW_HOLE;
    case IMAGE_INT: return read_int(r);
    case IMAGE_DOUBLE: return flow_double(bytes_get_f64(&r->in));
    case IMAGE_STRING: return read_string(r);
    case IMAGE_BIGINT: return read_bigint(r);
    default: spoil(r); return FLOW_UNDEFINED;
    }
}

// ---- routines ----

static void read_code(ImageReader *r, FlowRoutine *routine) {
    routine->code_count = get_count(r, 6);
    FlowInstruction *code = GET_ARRAY(r, FlowInstruction, routine->code_count);
    for (uint32_t i = 0; i < routine->code_count; i++) {
        uint32_t op = get_number(r, r->op_count);
        if (op < r->op_count) code[i].op = r->ops[op];
        else spoil(r);
        code[i].a = (uint16_t)get_number(r, UINT16_MAX);
        code[i].wide = (int32_t)bytes_get_u32(&r->in);
    }
    routine->code = code;
}

static void read_template(ImageReader *r, FlowTemplate *ret_site) {
    ret_site->count = get_count(r, 2);
    FlowValue *cooked = GET_ARRAY(r, FlowValue, ret_site->count);
    FlowValue *raw = GET_ARRAY(r, FlowValue, ret_site->count);
    for (uint32_t i = 0; i < ret_site->count; i++) cooked[i] = read_value(r);
    for (uint32_t i = 0; i < ret_site->count; i++) {
        raw[i] = read_value(r);
        bool is_good =
            flow_is_string(raw[i]) && (flow_is_string(cooked[i]) || flow_is_undefined(cooked[i]));
        if (!is_good) spoil(r);
    }
    ret_site->cooked = cooked;
    ret_site->raw = raw;
}

static void read_values(ImageReader *r, FlowRoutine *routine) {
    routine->constant_count = get_count(r, 1);
    FlowValue *constants = GET_ARRAY(r, FlowValue, routine->constant_count);
    for (uint32_t i = 0; i < routine->constant_count; i++) constants[i] = read_value(r);
    routine->constants = constants;
    uint32_t site_count = get_count(r, 1);
    if (site_count > UINT16_MAX) spoil(r);
    routine->site_count = (uint16_t)site_count;
    FlowSite *sites = GET_ARRAY(r, FlowSite, routine->site_count);
    for (uint32_t i = 0; i < routine->site_count; i++) sites[i].key = read_string(r);
    routine->sites = sites;
    routine->template_count = get_count(r, 1);
    FlowTemplate *templates = GET_ARRAY(r, FlowTemplate, routine->template_count);
    for (uint32_t i = 0; i < routine->template_count; i++) read_template(r, &templates[i]);
    routine->templates = templates;
}

static void read_tables(ImageReader *r, FlowRoutine *routine) {
    uint32_t upvalue_count = get_count(r, 3);
    if (upvalue_count > UINT16_MAX) spoil(r);
    routine->upvalue_count = (uint16_t)upvalue_count;
    FlowUpvalue *upvalues = GET_ARRAY(r, FlowUpvalue, routine->upvalue_count);
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        upvalues[i].index = (uint16_t)get_number(r, UINT16_MAX);
        uint8_t bits = bytes_get_u8(&r->in);
        upvalues[i].is_local = bits & 1;
        upvalues[i].is_box = bits >> 1 & 1;
        upvalues[i].is_settable = bits >> 2 & 1;
        upvalues[i].name = read_value(r);
    }
    routine->upvalues = upvalues;
    routine->handler_count = get_count(r, 5);
    FlowHandler *handlers = GET_ARRAY(r, FlowHandler, routine->handler_count);
    for (uint32_t i = 0; i < routine->handler_count; i++) {
        handlers[i].start = get_number(r, UINT32_MAX);
        handlers[i].end = get_number(r, UINT32_MAX);
        handlers[i].target = get_number(r, UINT32_MAX);
        handlers[i].reg = (uint16_t)get_number(r, UINT16_MAX);
        handlers[i].live = (uint16_t)get_number(r, UINT16_MAX);
    }
    routine->handlers = handlers;
}

static void read_notes(ImageReader *r, FlowRoutine *routine) {
    routine->position_count = get_count(r, 3);
    FlowLine *positions = GET_ARRAY(r, FlowLine, routine->position_count);
    for (uint32_t i = 0; i < routine->position_count; i++) {
        positions[i].pc = get_number(r, UINT32_MAX);
        positions[i].line = get_number(r, UINT32_MAX);
        positions[i].column = get_number(r, UINT32_MAX);
    }
    routine->positions = positions;
    routine->description_count = get_count(r, 2);
    FlowDescription *descriptions = GET_ARRAY(r, FlowDescription, routine->description_count);
    for (uint32_t i = 0; i < routine->description_count; i++) {
        descriptions[i].pc = get_number(r, UINT32_MAX);
        descriptions[i].text = read_string(r);
    }
    routine->descriptions = descriptions;
    routine->variable_count = get_count(r, 5);
    FlowLocalName *variables = GET_ARRAY(r, FlowLocalName, routine->variable_count);
    for (uint32_t i = 0; i < routine->variable_count; i++) {
        variables[i].name = read_string(r);
        variables[i].start = get_number(r, UINT32_MAX);
        variables[i].end = get_number(r, UINT32_MAX);
        variables[i].reg = (uint16_t)get_number(r, UINT16_MAX);
        uint8_t bits = bytes_get_u8(&r->in);
        variables[i].is_box = bits & 1;
        variables[i].is_settable = bits >> 1 & 1;
        if (variables[i].reg >= routine->register_count) spoil(r);
    }
    routine->variables = variables;
}

static void read_routine(ImageReader *r, FlowRoutine *routine) {
    uint32_t source_size = (uint32_t)r->module->source.len;
    routine->name = read_string(r);
    routine->flags = get_number(r, UINT32_MAX) & ~(uint32_t)ROUTINE_PRELUDE;
    routine->source_start = get_number(r, source_size);
    routine->source_end = get_number(r, source_size);
    if (routine->source_end < routine->source_start) spoil(r);
    routine->register_count = (uint16_t)get_number(r, UINT16_MAX);
    routine->parameter_count = (uint16_t)get_number(r, UINT16_MAX);
    routine->length = (uint16_t)get_number(r, UINT16_MAX);
    read_code(r, routine);
    read_values(r, routine);
    read_tables(r, routine);
    read_notes(r, routine);
}

// ---- the whole ----

static void read_workflows(ImageReader *r) {
    FlowModule *module = r->module;
    module->workflow_count = get_count(r, 3);
    module->workflows = GET_ARRAY(r, FlowWorkflow, module->workflow_count);
    for (uint32_t i = 0; i < module->workflow_count; i++) {
        module->workflows[i].name = arena_str(&module->arena, bytes_get_str(&r->in));
        module->workflows[i].config_json = arena_str(&module->arena, bytes_get_str(&r->in));
        module->workflows[i].line = get_number(r, UINT32_MAX);
    }
    if (module->workflow_count == 0) spoil(r);
}

static void read_routines(ImageReader *r) {
    FlowModule *module = r->module;
    module->routine_count = get_count(r, 14);
    module->routines = GET_ARRAY(r, FlowRoutine, module->routine_count);
    for (uint32_t i = 0; i < module->routine_count && !r->in.is_bad; i++)
        read_routine(r, &module->routines[i]);
    if (module->routine_count == 0 || bytes_left(&r->in) != 0) spoil(r);
}

static Status corrupt(Diag *diag, const char *why) {
    return diag_set(diag, ERR_CORRUPT, "IMAGE_CORRUPT",
                    "the compiled form of a workflow cannot be used: %s", why);
}

static Status newer(Diag *diag) {
    return diag_set(diag, ERR_UNSUPPORTED, "IMAGE_NEWER",
                    "the workflow was compiled by a newer version of abide than this one");
}

static Status read_payload(ImageReader *r, Diag *diag) {
    FlowModule *module = r->module;
    char hash[SHA256_HEX_SIZE];
    for (size_t i = 0; i < sizeof hash; i++) hash[i] = (char)bytes_get_u8(&r->in);
    if (memcmp(hash, module->hash, sizeof hash) != 0)
        return corrupt(diag, "it belongs to another source");
    uint32_t checksum = bytes_get_u32(&r->in);
    read_opcodes(r);
    if (r->is_newer && !r->in.is_bad) return newer(diag);
    read_strings(r);
    read_workflows(r);
    read_routines(r);
    if (r->in.is_bad) return corrupt(diag, "it is damaged");
    flow_module_seal(module);
    if (module->code_checksum != checksum) return corrupt(diag, "its code has another checksum");
    TRY(flow_verify(module, diag));
    flow_fuse(module);
    return OK;
}

static Status unpack(Str image, char **ret_bytes, Str *ret_payload, Diag *diag) {
    ByteReader in = bytes_reader(image);
    char magic[IMAGE_MAGIC_SIZE];
    for (size_t i = 0; i < sizeof magic; i++) magic[i] = (char)bytes_get_u8(&in);
    uint8_t version = bytes_get_u8(&in);
    if (in.is_bad || memcmp(magic, IMAGE_MAGIC, sizeof magic) != 0 ||
        bytes_left(&in) < IMAGE_CRC_SIZE)
        return corrupt(diag, "it is none");
    if (version != FLOW_IMAGE_VERSION) return newer(diag);
    size_t size = image.len - IMAGE_CRC_SIZE;
    ByteReader tail = bytes_reader((Str){image.data + size, IMAGE_CRC_SIZE});
    if (crc32c(0, image.data, size) != bytes_get_u32(&tail))
        return corrupt(diag, "its checksum is wrong");
    uint64_t raw_size = bytes_get_varint(&in);
    if (in.is_bad || raw_size > FLOW_IMAGE_RAW_MAX || bytes_left(&in) < IMAGE_CRC_SIZE)
        return corrupt(diag, "its size is wrong");
    char *bytes = mem_alloc((size_t)raw_size + 1);
    size_t got = ZSTD_decompress(bytes, (size_t)raw_size, in.at, bytes_left(&in) - IMAGE_CRC_SIZE);
    if (ZSTD_isError(got) || got != raw_size) {
        mem_free(bytes);
        return corrupt(diag, "it does not decompress");
    }
    *ret_bytes = bytes;
    *ret_payload = (Str){bytes, (size_t)raw_size};
    return OK;
}

Status flow_image_read(Str image, Str file_name, Str source, FlowModule **ret_module, Diag *diag) {
    char *bytes = NULL;
    Str payload = STR_NULL;
    TRY(unpack(image, &bytes, &payload, diag));
    ImageReader reader = {.in = bytes_reader(payload),
                          .module = flow_module_new(file_name, source, false)};
    Status status = read_payload(&reader, diag);
    mem_free(bytes);
    if (status != OK) flow_module_release(reader.module);
    else *ret_module = reader.module;
    return status;
}
