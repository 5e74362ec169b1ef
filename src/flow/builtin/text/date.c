// Date: constructor, getters, setters and text forms over the calendar of text/date.h.
//
// Local time is UTC [date-2], so each local method is the UTC one under another name.
//   [date-3] internal[0] of a KIND_DATE is its time value, a number [date-1].
//   [date-4] A setter converts all its arguments before it changes anything.
// Not here: conversions by script code and locale options (prelude/date.js).
#include "flow/builtin/text/date.h"
#include "base/memory.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

typedef enum DateField { // magic of getters and setters
    FIELD_YEAR,
    FIELD_MONTH,
    FIELD_DAY,
    FIELD_HOUR,
    FIELD_MINUTE,
    FIELD_SECOND,
    FIELD_MS,
    FIELD_WEEKDAY,
    FIELD_TIME,      // getTime, valueOf
    FIELD_OFFSET,    // getTimezoneOffset
    FIELD_SHORT_YEAR // getYear
} DateField;

static bool date_now(FlowVm *vm, double *ret_time) {
    if (!vm->host || !vm->host->ops->now_ms) {
        return flow_throw_error(vm, ERROR_KIND_ERROR, "The current time is not available here");
    }
    *ret_time = date_clip((double)vm->host->ops->now_ms(vm->host));
    return true;
}

static double parse_string(FlowVm *vm, FlowString *s) {
    FlowString *flat = flow_string_flat(vm, s);
    uint32_t length = flow_string_length(flat);
    flow_native_charge(vm, (uint64_t)length * 16);
    if (flow_string_is_wide(flat)) return date_parse(flat->wide, length);
    uint16_t short_text[64];
    uint16_t *units = length <= 64 ? short_text : mem_alloc(sizeof(uint16_t) * length);
    for (uint32_t i = 0; i < length; i++) units[i] = flat->latin1[i];
    double time = date_parse(units, length);
    if (units != short_text) mem_free(units);
    return time;
}

static FlowNativeResult return_latin1(FlowVm *vm, FlowNativeCall *call, const char *text,
                                      size_t length) {
    FlowString *s = flow_string_latin1(vm, (const uint8_t *)text, length);
    return flow_native_return(call, flow_from_string(s));
}

// year, month, … ms from the arguments, in order; what is missing takes the default.
static FlowNativeResult time_from_parts(FlowVm *vm, FlowNativeCall *call, double *ret_time) {
    double parts[7] = {NAN, 0, 1, 0, 0, 0, 0};
    for (uint32_t i = 0; i < 7 && i < call->count; i++) {
        TRY_NATIVE(flow_argument_number(vm, call, (int)i, &parts[i]));
    }
    double day = date_make_day(date_full_year(parts[0]), parts[1], parts[2]);
    *ret_time = date_clip(date_make(day, date_make_time(parts[3], parts[4], parts[5], parts[6])));
    return NATIVE_OK;
}

static FlowNativeResult date_constructor(FlowVm *vm, FlowNativeCall *call) {
    double time;
    if (flow_is_undefined(call->new_target)) {
        if (!date_now(vm, &time)) return NATIVE_THROW;
        char text[DATE_TEXT_MAX];
        return return_latin1(vm, call, text, date_format(time, DATE_STYLE_FULL, text));
    }
    FlowValue first = flow_argument(call, 0);
    if (call->count == 0) {
        if (!date_now(vm, &time)) return NATIVE_THROW;
    } else if (call->count > 1) {
        TRY_NATIVE(time_from_parts(vm, call, &time));
    } else if (flow_is_kind(first, KIND_DATE)) {
        time = flow_as_number(((FlowSlotObject *)flow_as_pointer(first))->internal[0]);
    } else if (flow_is_object(first)) {
        return flow_native_primitive(call, 0, HINT_DEFAULT);
    } else if (flow_is_string(first)) {
        time = parse_string(vm, flow_as_string(first));
    } else {
        if (!flow_to_number(vm, first, &time)) return NATIVE_THROW;
        time = date_clip(time);
    }
    FlowObject *proto = flow_constructor_prototype(vm, call, PROTO_DATE);
    FlowSlotObject *date = flow_slot_object_new(vm, KIND_DATE, proto);
    date->internal[0] = flow_number(time);
    return flow_native_return(call, flow_from_object(date));
}

static FlowNativeResult date_static_now(FlowVm *vm, FlowNativeCall *call) {
    double time;
    if (!date_now(vm, &time)) return NATIVE_THROW;
    return flow_native_return(call, flow_number(time));
}

static FlowNativeResult date_static_parse(FlowVm *vm, FlowNativeCall *call) {
    FlowString *s;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &s));
    return flow_native_return(call, flow_number(parse_string(vm, s)));
}

static FlowNativeResult date_static_utc(FlowVm *vm, FlowNativeCall *call) {
    double time;
    FlowNativeResult r = time_from_parts(vm, call, &time);
    return r == NATIVE_OK ? flow_native_return(call, flow_number(time)) : r;
}

// --- getters

static FlowNativeResult not_a_date(FlowVm *vm, const char *method, FlowValue value) {
    char text[FLOW_TEXT_MAX];
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "Method Date.prototype.%s called on incompatible receiver %s", method,
                             flow_describe(vm, value, text));
}

// NULL: exception pending.
static FlowSlotObject *this_date(FlowVm *vm, const FlowNativeCall *call) {
    FlowValue value = *call->this_value;
    if (flow_is_kind(value, KIND_DATE)) return flow_as_pointer(value);
    const FlowNativeEntry *entry =
        ((const FlowNativeFunction *)flow_as_pointer(call->function))->entry;
    not_a_date(vm, entry->name, value);
    return NULL;
}

static FlowNativeResult date_get(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_is_kind(*call->this_value, KIND_DATE)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "this is not a Date object.");
    }
    FlowSlotObject *date = flow_as_pointer(*call->this_value);
    double time = flow_as_number(date->internal[0]);
    DateField field = (DateField)flow_native_magic(call);
    if (isnan(time) || field == FIELD_TIME) return flow_native_return(call, date->internal[0]);
    DateFields f;
    date_split(time, &f);
    int32_t value = 0;
    switch (field) {
    case FIELD_YEAR: value = f.year; break;
    case FIELD_MONTH: value = f.month; break;
    case FIELD_DAY: value = f.day; break;
    case FIELD_HOUR: value = f.hour; break;
    case FIELD_MINUTE: value = f.minute; break;
    case FIELD_SECOND: value = f.second; break;
    case FIELD_MS: value = f.ms; break;
    case FIELD_WEEKDAY: value = f.weekday; break;
    case FIELD_OFFSET: value = 0; break;
    case FIELD_SHORT_YEAR: value = f.year - 1900; break;
    case FIELD_TIME: UNREACHABLE();
    }
    return flow_native_return(call, flow_int(value));
}

// --- setters

// The field and those after it, up to `limit`, from the arguments that are there.
static FlowNativeResult date_set(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *date = this_date(vm, call);
    if (!date) return NATIVE_THROW;
    DateField first = (DateField)flow_native_magic(call);
    DateField limit = first <= FIELD_DAY ? FIELD_DAY : FIELD_MS;
    double given[7] = {0};
    uint32_t count = 0;
    for (uint32_t field = first; field <= limit && (count < call->count || count == 0); field++) {
        TRY_NATIVE(flow_argument_number(vm, call, (int)count, &given[field]));
        count++;
    }
    double time = flow_as_number(date->internal[0]);
    if (isnan(time)) {
        if (first != FIELD_YEAR) return flow_native_return(call, FLOW_NAN);
        time = 0; // setting the year makes an invalid date valid
    }
    DateFields f;
    date_split(time, &f);
    double parts[7] = {f.year, f.month, f.day, f.hour, f.minute, f.second, f.ms};
    for (uint32_t i = 0; i < count; i++) parts[first + i] = given[first + i];
    double day = date_make_day(parts[0], parts[1], parts[2]);
    double result = date_make(day, date_make_time(parts[3], parts[4], parts[5], parts[6]));
    date->internal[0] = flow_number(date_clip(result));
    return flow_native_return(call, date->internal[0]);
}

static FlowNativeResult date_set_time(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *date = this_date(vm, call);
    if (!date) return NATIVE_THROW;
    double time;
    TRY_NATIVE(flow_argument_number(vm, call, 0, &time));
    date->internal[0] = flow_number(date_clip(time));
    return flow_native_return(call, date->internal[0]);
}

static FlowNativeResult date_set_year(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *date = this_date(vm, call);
    if (!date) return NATIVE_THROW;
    double year;
    TRY_NATIVE(flow_argument_number(vm, call, 0, &year));
    double time = flow_as_number(date->internal[0]);
    if (isnan(time)) time = 0;
    DateFields f;
    date_split(time, &f);
    double day = date_make_day(date_full_year(year), f.month, f.day);
    double result = date_make(day, date_make_time(f.hour, f.minute, f.second, f.ms));
    date->internal[0] = flow_number(date_clip(result));
    return flow_native_return(call, date->internal[0]);
}

// --- text

// magic: DateStyle.
static FlowNativeResult date_to_text(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *date = this_date(vm, call);
    if (!date) return NATIVE_THROW;
    double time = flow_as_number(date->internal[0]);
    DateStyle style = (DateStyle)flow_native_magic(call);
    if (isnan(time)) {
        if (style == DATE_STYLE_ISO) {
            return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid time value");
        }
        return return_latin1(vm, call, "Invalid Date", 12);
    }
    char text[DATE_TEXT_MAX];
    return return_latin1(vm, call, text, date_format(time, style, text));
}

// %dateLocale(this, style): the options were checked by the prelude.
static FlowNativeResult intrinsic_date_locale(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    if (!flow_is_kind(value, KIND_DATE)) {
        static const char *const names[] = {"toLocaleString", "toLocaleDateString",
                                            "toLocaleTimeString"};
        int32_t which = flow_as_int(flow_argument(call, 1)) - DATE_STYLE_LOCALE;
        return not_a_date(vm, names[which], value);
    }
    double time = flow_as_number(((FlowSlotObject *)flow_as_pointer(value))->internal[0]);
    if (isnan(time)) return return_latin1(vm, call, "Invalid Date", 12);
    char text[DATE_TEXT_MAX];
    DateStyle style = (DateStyle)flow_as_int(flow_argument(call, 1));
    return return_latin1(vm, call, text, date_format(time, style, text));
}

static const FlowNativeEntry date_statics[] = {
    NATIVE("now", date_static_now, 0),
    NATIVE("parse", date_static_parse, 1),
    NATIVE("UTC", date_static_utc, 7),
    NATIVE_END,
};

static const FlowNativeEntry date_members[] = {
    NATIVE_MAGIC("toString", date_to_text, 0, DATE_STYLE_FULL),
    NATIVE_MAGIC("toDateString", date_to_text, 0, DATE_STYLE_DATE),
    NATIVE_MAGIC("toTimeString", date_to_text, 0, DATE_STYLE_TIME),
    NATIVE_MAGIC("toISOString", date_to_text, 0, DATE_STYLE_ISO),
    NATIVE_MAGIC("toUTCString", date_to_text, 0, DATE_STYLE_UTC),
    NATIVE_MAGIC("getDate", date_get, 0, FIELD_DAY),
    NATIVE_MAGIC("setDate", date_set, 1, FIELD_DAY),
    NATIVE_MAGIC("getDay", date_get, 0, FIELD_WEEKDAY),
    NATIVE_MAGIC("getFullYear", date_get, 0, FIELD_YEAR),
    NATIVE_MAGIC("setFullYear", date_set, 3, FIELD_YEAR),
    NATIVE_MAGIC("getHours", date_get, 0, FIELD_HOUR),
    NATIVE_MAGIC("setHours", date_set, 4, FIELD_HOUR),
    NATIVE_MAGIC("getMilliseconds", date_get, 0, FIELD_MS),
    NATIVE_MAGIC("setMilliseconds", date_set, 1, FIELD_MS),
    NATIVE_MAGIC("getMinutes", date_get, 0, FIELD_MINUTE),
    NATIVE_MAGIC("setMinutes", date_set, 3, FIELD_MINUTE),
    NATIVE_MAGIC("getMonth", date_get, 0, FIELD_MONTH),
    NATIVE_MAGIC("setMonth", date_set, 2, FIELD_MONTH),
    NATIVE_MAGIC("getSeconds", date_get, 0, FIELD_SECOND),
    NATIVE_MAGIC("setSeconds", date_set, 2, FIELD_SECOND),
    NATIVE_MAGIC("getTime", date_get, 0, FIELD_TIME),
    NATIVE("setTime", date_set_time, 1),
    NATIVE_MAGIC("getTimezoneOffset", date_get, 0, FIELD_OFFSET),
    NATIVE_MAGIC("getYear", date_get, 0, FIELD_SHORT_YEAR),
    NATIVE("setYear", date_set_year, 1),
    NATIVE_MAGIC("getUTCDate", date_get, 0, FIELD_DAY),
    NATIVE_MAGIC("setUTCDate", date_set, 1, FIELD_DAY),
    NATIVE_MAGIC("getUTCDay", date_get, 0, FIELD_WEEKDAY),
    NATIVE_MAGIC("getUTCFullYear", date_get, 0, FIELD_YEAR),
    NATIVE_MAGIC("setUTCFullYear", date_set, 3, FIELD_YEAR),
    NATIVE_MAGIC("getUTCHours", date_get, 0, FIELD_HOUR),
    NATIVE_MAGIC("setUTCHours", date_set, 4, FIELD_HOUR),
    NATIVE_MAGIC("getUTCMilliseconds", date_get, 0, FIELD_MS),
    NATIVE_MAGIC("setUTCMilliseconds", date_set, 1, FIELD_MS),
    NATIVE_MAGIC("getUTCMinutes", date_get, 0, FIELD_MINUTE),
    NATIVE_MAGIC("setUTCMinutes", date_set, 3, FIELD_MINUTE),
    NATIVE_MAGIC("getUTCMonth", date_get, 0, FIELD_MONTH),
    NATIVE_MAGIC("setUTCMonth", date_set, 2, FIELD_MONTH),
    NATIVE_MAGIC("getUTCSeconds", date_get, 0, FIELD_SECOND),
    NATIVE_MAGIC("setUTCSeconds", date_set, 2, FIELD_SECOND),
    NATIVE_MAGIC("valueOf", date_get, 0, FIELD_TIME),
    PRELUDE("toJSON", "Date_prototype_toJSON", 1),
    PRELUDE("toLocaleString", "Date_prototype_toLocaleString", 0),
    PRELUDE("toLocaleDateString", "Date_prototype_toLocaleDateString", 0),
    PRELUDE("toLocaleTimeString", "Date_prototype_toLocaleTimeString", 0),
    ALIAS("toGMTString", "toUTCString"),
    PRELUDE("@@toPrimitive", "Date_prototype_toPrimitive", 1),
    NATIVE_END,
};

const FlowNativeEntry flow_intrinsics_date[] = {
    NATIVE("dateLocale", intrinsic_date_locale, 2),
    NATIVE_END,
};

const FlowClassEntry flow_class_date = {
    .name = "Date",
    .constructor = {"Date", date_constructor, NULL, 7, NATIVE_CONSTRUCTOR, 0},
    .statics = date_statics,
    .members = date_members,
    .kind = KIND_DATE,
    .proto_id = 1 + PROTO_DATE,
};
