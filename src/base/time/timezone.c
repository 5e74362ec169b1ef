// Time zones: reading zoneinfo files, and looking things up in them.
//
// A file holds a table of past changes and a line in the style of POSIX ("CET-1CEST,M3.5.0,
// M10.5.0/3") that says how it goes on from the last of them. Changes that leave the offset as it
// was (a new name for the same time) are dropped when the file is read, so a span is as long as
// its offset holds.
//
//   [timezone-4] The table ascends strictly, and no two neighbours have the same offset.
//   [timezone-5] Every number of the file is checked against its range before it is used, and every
//        read against the end of the file (ZoneReader).
//
// Not here: calendars (duration.c), schedules (cron.c).
#include "base/time/timezone.h"
#include "base/assert.h"
#include "base/containers/bytes.h"
#include "base/memory.h"
#include "base/time/duration.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZONEINFO_FOLDER "/usr/share/zoneinfo"

enum {
    DAY_S = 86400,
    FILE_SIZE_MAX = 256 << 10,
    CHANGES_MAX = 10000,
    OFFSET_MAX_S = 26 * 3600,
    RULE_TIME_MAX_S = 168 * 3600, // "M3.4.4/50" is three in the morning, two days later
    RULE_YEARS = 4                // looked at around an instant
};
#define INSTANT_MAX_S 1000000000000LL // what lies beyond was never, or will never be, changed

typedef struct Change { // of the offset
    int64_t at_s;
    int64_t offset_s; // from then on
} Change;

typedef enum RuleKind { RULE_JULIAN, RULE_DAY, RULE_MONTH } RuleKind;

typedef struct Rule { // when in a year
    RuleKind kind;
    int day;                  // RULE_JULIAN: 1-365, never 29 February; RULE_DAY: 0-365
    int month, week, weekday; // RULE_MONTH: week 5 is the last one, weekday 0 is Sunday
    int64_t time_s;           // after the local midnight
} Rule;

struct TimeZone {
    char name[TIMEZONE_NAME_MAX + 1];
    int64_t first_offset_s; // before all changes
    bool has_rules;         // after the table, the clocks go on changing twice a year
    int64_t standard_s, summer_s;
    Rule summer_begins, summer_ends;
    size_t change_count;
    Change changes[]; // [timezone-4]
};

// ---- names ----

static Status timezone_check_name(Str name, Diag *diag) {
    bool is_good = name.len > 0 && name.len <= TIMEZONE_NAME_MAX;
    char last = '/'; // so that no part is empty
    for (size_t i = 0; i < name.len && is_good; i++) {
        char c = name.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+';
        is_good = is_letter || (c == '/' && last != '/');
        last = c;
    }
    if (is_good && last != '/') return OK;
    int shown = name.len < TIMEZONE_NAME_MAX ? (int)name.len : TIMEZONE_NAME_MAX;
    return diag_set(diag, ERR_INVALID, "BAD_TIMEZONE",
                    "\"%.*s\" is not the name of a time zone; write it as in Europe/Berlin or UTC",
                    shown, name.data ? name.data : "");
}

static Status refuse(Str name, const char *why, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_TIMEZONE", "the time zone \"%.*s\" %s", STR_ARG(name),
                    why);
}

Str timezone_name(const TimeZone *zone) { return str_from(zone->name); }
void timezone_free(TimeZone *zone) { mem_free(zone); }

static TimeZone *zone_new(Str name, size_t change_count) {
    TimeZone *zone = mem_zalloc(sizeof(TimeZone) + change_count * sizeof(Change));
    ASSERT(name.len <= TIMEZONE_NAME_MAX);
    memcpy(zone->name, name.data, name.len);
    return zone;
}

// ---- the line that says how it goes on ----

typedef struct Text {
    const char *at, *end;
} Text;

static bool text_take(Text *text, char c) {
    if (text->at == text->end || *text->at != c) return false;
    text->at++;
    return true;
}

static bool text_number(Text *text, int max, int *ret_number) {
    int number = 0;
    const char *start = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
        number = number * 10 + (*text->at++ - '0');
        if (number > max) return false;
    }
    *ret_number = number;
    return text->at > start;
}

// "[+-]hh[:mm[:ss]]"
static bool text_time(Text *text, int max_hours, int64_t *ret_s) {
    int sign = text_take(text, '-') ? -1 : 1;
    if (sign == 1) (void)text_take(text, '+');
    int hours, minutes = 0, seconds = 0;
    if (!text_number(text, max_hours, &hours)) return false;
    if (text_take(text, ':')) {
        if (!text_number(text, 59, &minutes)) return false;
        if (text_take(text, ':') && !text_number(text, 59, &seconds)) return false;
    }
    *ret_s = sign * ((int64_t)hours * 3600 + minutes * 60 + seconds);
    return true;
}

// "CET" or "<+0530>"; the name itself is of no use here.
static bool text_skip_name(Text *text) {
    bool is_quoted = text_take(text, '<');
    const char *start = text->at;
    for (; text->at < text->end; text->at++) {
        char c = *text->at;
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_more = is_quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-');
        if (!is_letter && !is_more) break;
    }
    return text->at - start >= 3 && (!is_quoted || text_take(text, '>'));
}

static bool text_rule(Text *text, Rule *ret_rule) {
    Rule rule = {.kind = RULE_DAY, .time_s = 2 * 3600};
    bool is_good;
    if (text_take(text, 'M')) {
        rule.kind = RULE_MONTH;
        is_good = text_number(text, 12, &rule.month) && rule.month >= 1 && text_take(text, '.') &&
                  text_number(text, 5, &rule.week) && rule.week >= 1 && text_take(text, '.') &&
                  text_number(text, 6, &rule.weekday);
    } else if (text_take(text, 'J')) {
        rule.kind = RULE_JULIAN;
        is_good = text_number(text, 365, &rule.day) && rule.day >= 1;
    } else {
        is_good = text_number(text, 365, &rule.day);
    }
    if (is_good && text_take(text, '/')) {
        is_good = text_time(text, RULE_TIME_MAX_S / 3600 - 1, &rule.time_s);
    }
    *ret_rule = rule;
    return is_good;
}

// An offset in this line is what must be added to local time: "CET-1" is an hour ahead of UTC.
static bool rules_parse(TimeZone *zone, Str line) {
    Text text = {line.data, line.data + line.len};
    int64_t west_s;
    if (!text_skip_name(&text) || !text_time(&text, 24, &west_s)) return false;
    zone->standard_s = -west_s;
    if (text.at == text.end) return true;
    if (!text_skip_name(&text)) return false;
    zone->summer_s = zone->standard_s + 3600;
    if (text.at < text.end && *text.at != ',') {
        if (!text_time(&text, 24, &west_s)) return false;
        zone->summer_s = -west_s;
    }
    bool is_good = text_take(&text, ',') && text_rule(&text, &zone->summer_begins) &&
                   text_take(&text, ',') && text_rule(&text, &zone->summer_ends) &&
                   text.at == text.end;
    zone->has_rules = zone->summer_s != zone->standard_s;
    return is_good;
}

static bool is_leap_year(int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Seconds since 1970 as the clocks show them.
static int64_t rule_local_s(const Rule *rule, int64_t year) {
    int64_t day = 0;
    switch (rule->kind) {
    case RULE_DAY: day = civil_to_days(year, 1, 1) + rule->day; break;
    case RULE_JULIAN:
        day = civil_to_days(year, 1, 1) + rule->day - 1 + (is_leap_year(year) && rule->day >= 60);
        break;
    case RULE_MONTH: {
        int64_t first = civil_to_days(year, rule->month, 1);
        int64_t next = rule->month == 12 ? civil_to_days(year + 1, 1, 1)
                                         : civil_to_days(year, rule->month + 1, 1);
        int64_t weekday = ((first + 4) % 7 + 7) % 7; // 1970-01-01 was a Thursday
        day = first + (rule->weekday - weekday + 7) % 7 + 7 * (rule->week - 1);
        if (day >= next) day -= 7;
        break;
    }
    }
    return day * DAY_S + rule->time_s;
}

// ---- the file ----

typedef struct ZoneReader { // [timezone-5]; numbers are big-endian
    const uint8_t *at, *end;
    bool is_bad;
} ZoneReader;

static const uint8_t *reader_take(ZoneReader *reader, size_t size) {
    if (reader->is_bad || (size_t)(reader->end - reader->at) < size) {
        reader->is_bad = true;
        return NULL;
    }
    const uint8_t *taken = reader->at;
    reader->at += size;
    return taken;
}

static int64_t big_endian(const uint8_t *bytes, int size) {
    uint64_t value = bytes[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < size; i++) value = value << 8 | bytes[i];
    return (int64_t)value;
}

static uint32_t reader_u32(ZoneReader *reader) {
    const uint8_t *bytes = reader_take(reader, 4);
    return bytes ? (uint32_t)big_endian(bytes, 4) : 0;
}

typedef struct ZoneHeader {
    uint8_t version;
    uint32_t utc_count, standard_count, leap_count, change_count, type_count, name_size;
} ZoneHeader;

static bool header_read(ZoneReader *reader, ZoneHeader *ret_header) {
    const uint8_t *magic = reader_take(reader, 20);
    if (!magic || memcmp(magic, "TZif", 4) != 0) return false;
    ret_header->version = magic[4];
    ret_header->utc_count = reader_u32(reader);
    ret_header->standard_count = reader_u32(reader);
    ret_header->leap_count = reader_u32(reader);
    ret_header->change_count = reader_u32(reader);
    ret_header->type_count = reader_u32(reader);
    ret_header->name_size = reader_u32(reader);
    return !reader->is_bad;
}

// The size of all that follows a header; each count is below 2^32, so nothing overflows.
static size_t block_size(const ZoneHeader *header, size_t time_size) {
    return (size_t)header->change_count * (time_size + 1) + (size_t)header->type_count * 6 +
           header->name_size + (size_t)header->leap_count * (time_size + 4) +
           header->standard_count + header->utc_count;
}

// [timezone-4] Keeps what really changes something.
static void change_add(TimeZone *zone, int64_t at_s, int64_t offset_s) {
    if (at_s < -INSTANT_MAX_S) at_s = -INSTANT_MAX_S;
    if (at_s > INSTANT_MAX_S) return;
    size_t count = zone->change_count;
    if (count > 0 && zone->changes[count - 1].at_s == at_s) count--; // both were before our time
    int64_t present_s = count > 0 ? zone->changes[count - 1].offset_s : zone->first_offset_s;
    if (present_s != offset_s) zone->changes[count++] = (Change){at_s, offset_s};
    zone->change_count = count;
}

static bool changes_read(const ZoneHeader *header, const uint8_t *times, TimeZone *zone) {
    const uint8_t *places = times + (size_t)header->change_count * 8;
    const uint8_t *types = places + header->change_count;
    for (uint32_t i = 0; i < header->type_count; i++) {
        int64_t offset_s = big_endian(types + 6 * i, 4);
        if (offset_s < -OFFSET_MAX_S || offset_s > OFFSET_MAX_S) return false;
    }
    zone->first_offset_s = big_endian(types, 4);
    for (uint32_t i = 0; i < header->change_count; i++) {
        int64_t at_s = big_endian(times + 8 * (size_t)i, 8);
        if (i > 0 && at_s <= big_endian(times + 8 * (size_t)(i - 1), 8)) return false;
        if (places[i] >= header->type_count) return false;
        change_add(zone, at_s, big_endian(types + 6 * places[i], 4));
    }
    return true;
}

static bool footer_read(ZoneReader *reader, TimeZone *zone, bool has_changes) {
    if (!reader_take(reader, 1) || reader->at[-1] != '\n') return false;
    size_t left = (size_t)(reader->end - reader->at);
    const uint8_t *end = left > 0 ? memchr(reader->at, '\n', left) : NULL;
    if (!end) return false;
    Str line = {(const char *)reader->at, (size_t)(end - reader->at)};
    if (line.len == 0) return true; // nobody knows how it goes on: it stays as it is
    if (!rules_parse(zone, line)) return false;
    if (!has_changes) zone->first_offset_s = zone->standard_s;
    return true;
}

Status timezone_parse(Str name, Str content, TimeZone **ret_zone, Diag *diag) {
    TRY(timezone_check_name(name, diag));
    const uint8_t *bytes = (const uint8_t *)content.data;
    ZoneReader reader = {bytes, bytes + content.len, content.len == 0};
    ZoneHeader old, header;
    if (!header_read(&reader, &old)) return refuse(name, "is not in a zoneinfo file", diag);
    if (old.version < '2') {
        return refuse(name, "is in a file of version 1, which is too old; install tzdata", diag);
    }
    // The first block repeats the second one in 32 bits.
    (void)reader_take(&reader, block_size(&old, 4));
    if (!header_read(&reader, &header)) return refuse(name, "has a damaged file", diag);
    const uint8_t *block = reader_take(&reader, block_size(&header, 8));
    bool is_sane = block && header.type_count >= 1 && header.type_count <= 256 &&
                   header.change_count <= CHANGES_MAX;
    if (!is_sane) return refuse(name, "has a damaged file", diag);
    if (header.leap_count > 0) return refuse(name, "counts leap seconds; use the plain one", diag);
    TimeZone *zone = zone_new(name, header.change_count);
    if (!changes_read(&header, block, zone) ||
        !footer_read(&reader, zone, header.change_count > 0)) {
        timezone_free(zone);
        return refuse(name, "has a damaged file", diag);
    }
    *ret_zone = zone;
    return OK;
}

// ---- loading ----

static Status file_read(Str name, int file, Buf *content, Diag *diag) {
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        return refuse(name, "does not exist", diag);
    }
    char chunk[4096];
    for (;;) {
        ssize_t size = read(file, chunk, sizeof(chunk));
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return refuse(name, "has a file that cannot be read", diag);
        if (size == 0) break;
        buf_append(content, chunk, (size_t)size);
    }
    return content->is_overflown ? refuse(name, "has a file that is too large", diag) : OK;
}

Status timezone_load(Str name, TimeZone **ret_zone, Diag *diag) {
    TRY(timezone_check_name(name, diag));
    if (str_equal(name, STR("UTC")) || str_equal(name, STR("Etc/UTC"))) {
        *ret_zone = zone_new(name, 0);
        return OK;
    }
    char path[sizeof(ZONEINFO_FOLDER) + TIMEZONE_NAME_MAX + 2];
    snprintf(path, sizeof(path), ZONEINFO_FOLDER "/%.*s", STR_ARG(name));
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        bool has_folder = access(ZONEINFO_FOLDER, R_OK) == 0;
        return refuse(name,
                      has_folder ? "does not exist"
                                 : "cannot be looked up: the package tzdata is not installed",
                      diag);
    }
    Buf content;
    buf_init(&content, FILE_SIZE_MAX);
    Status status = file_read(name, file, &content, diag);
    close(file);
    if (status == OK) status = timezone_parse(name, buf_str(&content), ret_zone, diag);
    buf_done(&content);
    return status;
}

// ---- looking things up ----

static int64_t floor_divide(int64_t value, int64_t by) { return value / by - (value % by < 0); }

// How many changes of the table are past.
static size_t changes_until(const TimeZone *zone, int64_t at_s) {
    size_t low = 0, high = zone->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].at_s <= at_s) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Changes by the rules in the years around an instant, in order, those of the table left out.
typedef struct RuleChanges {
    Change list[2 * RULE_YEARS];
    size_t count;
} RuleChanges;

static void rule_changes_add(RuleChanges *changes, Change change) {
    size_t place = changes->count;
    while (place > 0 && changes->list[place - 1].at_s > change.at_s) place--;
    if (place > 0 && changes->list[place - 1].at_s == change.at_s) {
        changes->list[place - 1] = change; // what came first lasted for no time at all
        return;
    }
    memmove(&changes->list[place + 1], &changes->list[place],
            (changes->count - place) * sizeof(Change));
    changes->list[place] = change;
    changes->count++;
}

static RuleChanges rule_changes(const TimeZone *zone, int64_t at_s) {
    RuleChanges changes = {.count = 0};
    int64_t known_s =
        zone->change_count > 0 ? zone->changes[zone->change_count - 1].at_s : INT64_MIN;
    int64_t year = civil_from_days(floor_divide(at_s, DAY_S)).year - 1;
    for (int i = 0; i < RULE_YEARS; i++, year++) {
        // The end first: where it coincides with the next beginning, summer goes on.
        Change ends = {rule_local_s(&zone->summer_ends, year) - zone->summer_s, zone->standard_s};
        Change begins = {rule_local_s(&zone->summer_begins, year) - zone->standard_s,
                         zone->summer_s};
        if (ends.at_s > known_s) rule_changes_add(&changes, ends);
        if (begins.at_s > known_s) rule_changes_add(&changes, begins);
    }
    return changes;
}

typedef struct Walk { // through changes, up to the first past an instant that changes something
    int64_t at_s;
    Change present;   // the last that is not past it
    int64_t before_s; // the offset before that
    Change next;
    bool has_next;
} Walk;

static void walk_change(Walk *walk, Change change) {
    if (walk->has_next || change.offset_s == walk->present.offset_s) return;
    if (change.at_s > walk->at_s) {
        walk->next = change;
        walk->has_next = true;
        return;
    }
    walk->before_s = walk->present.offset_s;
    walk->present = change;
}

static int64_t to_ms(int64_t at_s) {
    if (at_s == INT64_MIN) return INT64_MIN;
    return at_s * 1000;
}

ZoneSpan timezone_span(const TimeZone *zone, int64_t at_ms) {
    int64_t at_s = floor_divide(at_ms, 1000);
    size_t past = changes_until(zone, at_s);
    Walk walk = {.at_s = at_s,
                 .present = {INT64_MIN, zone->first_offset_s},
                 .before_s = zone->first_offset_s};
    if (past > 1) walk.present = (Change){INT64_MIN, zone->changes[past - 2].offset_s};
    walk.before_s = walk.present.offset_s;
    if (past > 0) walk_change(&walk, zone->changes[past - 1]);
    if (past < zone->change_count) {
        walk_change(&walk, zone->changes[past]);
    } else if (zone->has_rules && at_s < INSTANT_MAX_S && at_s > -INSTANT_MAX_S) {
        RuleChanges changes = rule_changes(zone, at_s);
        for (size_t i = 0; i < changes.count; i++) walk_change(&walk, changes.list[i]);
    }
    return (ZoneSpan){.start_ms = to_ms(walk.present.at_s),
                      .end_ms = walk.has_next ? to_ms(walk.next.at_s) : INT64_MAX,
                      .offset_ms = walk.present.offset_s * 1000,
                      .before_ms = walk.before_s * 1000,
                      .after_ms = (walk.has_next ? walk.next : walk.present).offset_s * 1000};
}
