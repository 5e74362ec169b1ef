// How tracing is set up: the environment variables that every OpenTelemetry program heeds.
//
// They are read here and not with the server's own settings, because operators set them for all
// their programs alike, and because the standard says what they mean, down to the empty text.
//
// Not here: sending (trace.c).
#include "base/text/hex.h"
#include "base/text/number.h"
#include "server/observe/trace.h"
#include <stdlib.h>

enum { TIMEOUT_MS = 10000, DELAY_MS = 1000, MILLISECONDS_MAX = 3600 * 1000 };

static Str setting(const char *name) {
    Str text = str_from(getenv(name));
    return text.len > 0 ? text : STR_NULL; // the standard: empty is as good as absent
}

static Str first_of(const char *special, const char *general) {
    Str text = setting(special);
    return str_is_null(text) ? setting(general) : text;
}

static Status read_ms(const char *name, int64_t *ret_ms, Diag *diag) {
    Str text = setting(name);
    if (str_is_null(text) || number_parse_count(text, MILLISECONDS_MAX, ret_ms)) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_OTEL", "%s: \"%.*s\" is not a number of milliseconds",
                    name, STR_ARG(text));
}

static Str join_url(Arena *arena, Str base) {
    while (base.len > 0 && base.data[base.len - 1] == '/') base.len--;
    return arena_printf(arena, "%.*s/v1/traces", STR_ARG(base));
}

static Status read_url(Arena *arena, TraceConfig *config, Diag *diag) {
    Str own = setting("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    Str base = setting("OTEL_EXPORTER_OTLP_ENDPOINT");
    if (str_equal(setting("OTEL_SDK_DISABLED"), STR("true"))) return OK;
    if (str_equal(setting("OTEL_TRACES_EXPORTER"), STR("none"))) return OK;
    if (!str_is_null(own)) config->url = arena_str(arena, own); // as it is
    else if (!str_is_null(base)) config->url = join_url(arena, base);
    else return OK;
    if (str_starts_with(config->url, STR("http://")) ||
        str_starts_with(config->url, STR("https://")))
        return OK;
    return diag_set(diag, ERR_INVALID, "BAD_OTEL",
                    "the OTLP endpoint \"%.*s\" must begin with http:// or https://",
                    STR_ARG(config->url));
}

static Str decode(Arena *arena, Str text) {
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool has_room = text.data[i] == '%' && i + 2 < text.len;
        int byte = has_room ? hex_byte(text.data + i + 1) : -1;
        out[len++] = byte < 0 ? text.data[i] : (char)byte;
        if (byte >= 0) i += 2;
    }
    out[len] = 0;
    return (Str){out, len};
}

// "name=value,name=value"; values may be percent-encoded.
static Status add_header(Arena *arena, TraceConfig *config, Str pair, Diag *diag) {
    pair = str_trim(pair);
    if (pair.len == 0) return OK;
    const char *equals = memchr(pair.data, '=', pair.len);
    size_t len = equals == NULL ? 0 : (size_t)(equals - pair.data);
    Str name = str_trim((Str){pair.data, len});
    if (name.len == 0 || config->header_count == TRACE_HEADERS_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_OTEL",
                        "OTEL_EXPORTER_OTLP_HEADERS: write name=value,name=value, at most %d",
                        TRACE_HEADERS_MAX);
    Str value = decode(arena, str_trim((Str){equals + 1, pair.len - len - 1}));
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.data[i] < ' ')
            return diag_set(diag, ERR_INVALID, "BAD_OTEL",
                            "OTEL_EXPORTER_OTLP_HEADERS: the value of %.*s has a control character",
                            STR_ARG(name));
    config->headers[config->header_count++] =
        arena_printf(arena, "%.*s: %.*s", STR_ARG(name), STR_ARG(value));
    return OK;
}

static Status read_headers(Arena *arena, TraceConfig *config, Diag *diag) {
    Str text = first_of("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS");
    size_t from = 0;
    for (size_t i = 0; !str_is_null(text) && i <= text.len; i++) {
        if (i < text.len && text.data[i] != ',') continue;
        TRY(add_header(arena, config, (Str){text.data + from, i - from}, diag));
        from = i + 1;
    }
    return OK;
}

Status trace_config_read(Arena *arena, TraceConfig *ret_config, Diag *diag) {
    *ret_config = (TraceConfig){.timeout_ms = TIMEOUT_MS, .delay_ms = DELAY_MS};
    TRY(read_url(arena, ret_config, diag));
    if (str_is_null(ret_config->url)) return OK;
    Str name = setting("OTEL_SERVICE_NAME");
    ret_config->service_name = str_is_null(name) ? STR("abide") : arena_str(arena, name);
    TRY(read_ms("OTEL_EXPORTER_OTLP_TIMEOUT", &ret_config->timeout_ms, diag));
    TRY(read_ms("OTEL_BSP_SCHEDULE_DELAY", &ret_config->delay_ms, diag));
    return read_headers(arena, ret_config, diag);
}
