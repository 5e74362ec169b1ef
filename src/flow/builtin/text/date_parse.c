// The calendar, and dates from text.
//
// Date.parse must know two families. The ISO forms are prescribed:
//     YYYY[-MM[-DD]][THH:mm[:ss[.sss]][Z|±hh:mm]]      years also as ±YYYYYY
// Everything else is left to engines; scripts rely on what browsers accept: words and numbers in
// nearly any order ("Dec 25, 1995", "25 Dec 1995 13:30:00 +0430", "12/25/1995 1:30 PM"), text in
// parentheses ignored. The rules for those, one token at a time:
//   [date-parse-1] number ':'            hours, minutes or seconds
//   [date-parse-2] '+' or '-' after a time or UTC, then hh, hhmm or hh:mm: the offset
//   [date-parse-3] other numbers         day, month, year by position and size (see day_finish)
//   [date-parse-4] words                 months by their first three letters, AM/PM, zones; other
//                              words are ignored before the first number and refused after it
#include "base/array.h"
#include "flow/builtin/text/date.h"
#include "flow/value/string.h"
#include <math.h>
#include <string.h>

enum { NONE = INT32_MAX, DIGITS_MAX = 9 };

// --- calendar

// Days from 1970-01-01 to the first of March of `year`, counted so that leap days come last.
static double days_to_march(double year) {
    return 365 * year + floor(year / 4) - floor(year / 100) + floor(year / 400) - 719468;
}

double date_make_day(double year, double month, double day) {
    if (!isfinite(year) || !isfinite(month) || !isfinite(day)) return NAN;
    year = trunc(year);
    month = trunc(month);
    day = trunc(day);
    double whole_year = year + floor(month / 12);
    if (fabs(whole_year) > 400000) return NAN; // far outside of what a time can be
    int32_t m = (int32_t)(month - floor(month / 12) * 12);
    // Months from March on: m' = 0 .. 11, and January and February belong to the year before.
    int32_t shifted = (m + 10) % 12;
    double march_year = m < 2 ? whole_year - 1 : whole_year;
    double first = days_to_march(march_year) + (153 * shifted + 2) / 5;
    return first + day - 1;
}

double date_make_time(double hour, double minute, double second, double ms) {
    if (!isfinite(hour) || !isfinite(minute) || !isfinite(second) || !isfinite(ms)) return NAN;
    return trunc(hour) * 3600000 + trunc(minute) * 60000 + trunc(second) * 1000 + trunc(ms);
}

double date_make(double day, double time) {
    if (!isfinite(day) || !isfinite(time)) return NAN;
    double result = day * DATE_MS_PER_DAY + time;
    return isfinite(result) ? result : NAN;
}

double date_clip(double time) {
    if (!isfinite(time) || fabs(time) > DATE_TIME_MAX) return NAN;
    return trunc(time) + 0.0; // never -0
}

double date_full_year(double year) {
    double whole = isnan(year) ? year : trunc(year);
    return whole >= 0 && whole <= 99 ? 1900 + whole : year;
}

void date_split(double time, DateFields *ret_fields) {
    int64_t t = (int64_t)time;
    int64_t day = t / 86400000 - (t % 86400000 < 0);
    int32_t ms = (int32_t)(t - day * 86400000);
    ret_fields->ms = ms % 1000;
    ret_fields->second = ms / 1000 % 60;
    ret_fields->minute = ms / 60000 % 60;
    ret_fields->hour = ms / 3600000;
    int64_t weekday = (day + 4) % 7;
    ret_fields->weekday = (int32_t)(weekday < 0 ? weekday + 7 : weekday);
    // Eras of 400 years that begin on the first of March.
    int64_t shifted = day + 719468;
    int64_t era = shifted / 146097 - (shifted % 146097 < 0);
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    ret_fields->day = (int32_t)(day_of_year - (153 * month + 2) / 5 + 1);
    ret_fields->month = (int32_t)(month < 10 ? month + 2 : month - 10);
    ret_fields->year = (int32_t)(year_of_era + era * 400 + (month >= 10));
}

// --- tokens

typedef enum TokenKind {
    TOKEN_KIND_END,
    TOKEN_KIND_NUMBER,
    TOKEN_KIND_SYMBOL, // one of : - + . )
    TOKEN_KIND_SPACE,
    TOKEN_KIND_WORD,
    TOKEN_KIND_OTHER,
    TOKEN_KIND_INVALID, // the text cannot be a date
} TokenKind;

typedef enum WordKind { WORD_UNKNOWN, WORD_MONTH, WORD_HALF, WORD_ZONE, WORD_TIME } WordKind;

typedef struct Token {
    TokenKind kind;
    WordKind word;
    int32_t value;  // number; month 1 .. 12; hours of AM/PM or zone
    int32_t length; // units
    char symbol;
} Token;

typedef struct Scanner {
    const uint16_t *at;
    const uint16_t *end;
    Token next; // always read ahead
} Scanner;

static const struct {
    char text[4];
    int8_t kind;
    int8_t value;
} known_words[] = {
    {"jan", WORD_MONTH, 1},  {"feb", WORD_MONTH, 2},  {"mar", WORD_MONTH, 3},
    {"apr", WORD_MONTH, 4},  {"may", WORD_MONTH, 5},  {"jun", WORD_MONTH, 6},
    {"jul", WORD_MONTH, 7},  {"aug", WORD_MONTH, 8},  {"sep", WORD_MONTH, 9},
    {"oct", WORD_MONTH, 10}, {"nov", WORD_MONTH, 11}, {"dec", WORD_MONTH, 12},
    {"am", WORD_HALF, 0},    {"pm", WORD_HALF, 12},   {"ut", WORD_ZONE, 0},
    {"utc", WORD_ZONE, 0},   {"z", WORD_ZONE, 0},     {"gmt", WORD_ZONE, 0},
    {"cdt", WORD_ZONE, -5},  {"cst", WORD_ZONE, -6},  {"edt", WORD_ZONE, -4},
    {"est", WORD_ZONE, -5},  {"mdt", WORD_ZONE, -6},  {"mst", WORD_ZONE, -7},
    {"pdt", WORD_ZONE, -7},  {"pst", WORD_ZONE, -8},  {"t", WORD_TIME, 0},
};

static bool is_digit(uint16_t unit) { return unit >= '0' && unit <= '9'; }
static bool is_letter(uint16_t unit) { return unit >= 'A' && !flow_is_space(unit); }

static Token scan_number(Scanner *s) {
    Token token = {.kind = TOKEN_KIND_NUMBER};
    const uint16_t *start = s->at;
    while (s->at < s->end && *s->at == '0') s->at++;
    for (int digits = 0; s->at < s->end && is_digit(*s->at); digits++, s->at++) {
        if (digits < DIGITS_MAX) token.value = token.value * 10 + (*s->at - '0');
    }
    token.length = (int32_t)(s->at - start);
    return token;
}

static Token scan_word(Scanner *s) {
    Token token = {.kind = TOKEN_KIND_WORD};
    char start[4] = {0};
    for (; s->at < s->end && is_letter(*s->at); s->at++, token.length++) {
        uint16_t unit = *s->at;
        if (unit >= 'A' && unit <= 'Z') unit |= 0x20;
        if (token.length < 3) start[token.length] = unit < 128 ? (char)unit : '?';
    }
    for (size_t i = 0; i < COUNT_OF(known_words); i++) {
        if (memcmp(known_words[i].text, start, 3) != 0) continue;
        if (token.length > 3 && known_words[i].kind != WORD_MONTH) continue;
        token.word = (WordKind)known_words[i].kind;
        token.value = known_words[i].value;
        break;
    }
    return token;
}

static void skip_parentheses(Scanner *s) {
    int32_t depth = 0;
    for (; s->at < s->end; s->at++) {
        if (*s->at == '(') depth++;
        if (*s->at == ')' && --depth == 0) {
            s->at++;
            return;
        }
    }
}

static Token scan(Scanner *s) {
    if (s->at == s->end) return (Token){.kind = TOKEN_KIND_END};
    uint16_t unit = *s->at;
    if (is_digit(unit)) return scan_number(s);
    if (unit && unit < 128 && strchr(":-+.)", unit)) {
        s->at++;
        return (Token){.kind = TOKEN_KIND_SYMBOL, .symbol = (char)unit, .length = 1};
    }
    if (is_letter(unit)) return scan_word(s);
    if (unit == '(') {
        skip_parentheses(s);
        return (Token){.kind = TOKEN_KIND_OTHER};
    }
    s->at++;
    return (Token){.kind = flow_is_space(unit) ? TOKEN_KIND_SPACE : TOKEN_KIND_OTHER};
}

static Token take(Scanner *s) {
    Token token = s->next;
    s->next = scan(s);
    return token;
}
static bool is_symbol(const Token *token, char symbol) {
    return token->kind == TOKEN_KIND_SYMBOL && token->symbol == symbol;
}
static bool is_sign(const Token *token) { return is_symbol(token, '+') || is_symbol(token, '-'); }
static bool is_digits(const Token *token, int32_t length) {
    return token->kind == TOKEN_KIND_NUMBER && token->length == length;
}
static bool is_word_z(const Token *token) {
    return token->kind == TOKEN_KIND_WORD && token->word == WORD_ZONE && token->length == 1;
}
static bool skip(Scanner *s, char symbol) {
    if (!is_symbol(&s->next, symbol)) return false;
    take(s);
    return true;
}

// --- what has been read so far

typedef struct DateReader {
    Scanner scanner;
    int32_t day[3]; // as written
    int32_t day_count;
    int32_t month_name; // NONE: no name was read
    int32_t time[4];    // hour, minute, second, millisecond
    int32_t time_count;
    int32_t half;      // 0 AM, 12 PM, NONE
    int32_t zone_sign; // NONE: no zone was read
    int32_t zone_hour;
    int32_t zone_minute;
    bool is_iso;
    bool has_number;
} DateReader;

static bool add_day(DateReader *r, int32_t number) {
    if (r->day_count == 3) return false;
    r->day[r->day_count++] = number;
    return true;
}
static bool add_time(DateReader *r, int32_t number) {
    if (r->time_count == 4) return false;
    r->time[r->time_count++] = number;
    return true;
}
static void end_time(DateReader *r, int32_t number) {
    add_time(r, number);
    while (r->time_count < 4) add_time(r, 0);
}
static bool expects_time(const DateReader *r, int32_t n) {
    return (r->time_count == 1 && n < 60) || (r->time_count == 2 && n < 60) ||
           (r->time_count == 3 && n < 1000);
}
static void set_zone(DateReader *r, int32_t hours) {
    r->zone_sign = hours < 0 ? -1 : 1;
    r->zone_hour = hours < 0 ? -hours : hours;
    r->zone_minute = 0;
}
static bool is_utc(const DateReader *r) { return r->zone_hour == 0 && r->zone_minute == 0; }

// The first three digits of a fraction, as many as there are.
static int32_t milliseconds_of(const Token *number) {
    int32_t value = number->value;
    int32_t length = number->length > DIGITS_MAX ? DIGITS_MAX : number->length;
    for (; length < 3; length++) value *= 10;
    for (; length > 3; length--) value /= 10;
    return value;
}

static const Token end_token = {.kind = TOKEN_KIND_END};
static const Token invalid_token = {.kind = TOKEN_KIND_INVALID};

// --- ISO

static bool iso_zone(DateReader *r) {
    Scanner *s = &r->scanner;
    if (is_word_z(&s->next)) {
        take(s);
        set_zone(r, 0);
        return true;
    }
    if (!is_sign(&s->next)) return true;
    r->zone_sign = take(s).symbol == '+' ? 1 : -1;
    if (is_digits(&s->next, 4)) {
        int32_t both = take(s).value;
        r->zone_hour = both / 100;
        r->zone_minute = both % 100;
        return r->zone_hour < 24 && r->zone_minute < 60;
    }
    if (!is_digits(&s->next, 2) || s->next.value > 23) return false;
    r->zone_hour = take(s).value;
    if (!skip(s, ':') || !is_digits(&s->next, 2) || s->next.value > 59) return false;
    r->zone_minute = take(s).value;
    return true;
}

static bool iso_time(DateReader *r) {
    Scanner *s = &r->scanner;
    take(s); // T
    if (!is_digits(&s->next, 2) || s->next.value > 24) return false;
    bool is_midnight = s->next.value == 24;
    int32_t limit = is_midnight ? 0 : 59;
    add_time(r, take(s).value);
    if (!skip(s, ':') || !is_digits(&s->next, 2) || s->next.value > limit) return false;
    add_time(r, take(s).value);
    if (skip(s, ':')) {
        if (!is_digits(&s->next, 2) || s->next.value > limit) return false;
        add_time(r, take(s).value);
        if (skip(s, '.')) {
            if (s->next.kind != TOKEN_KIND_NUMBER) return false;
            if (is_midnight && s->next.value > 0) return false;
            Token fraction = take(s);
            add_time(r, milliseconds_of(&fraction));
        }
    }
    return iso_zone(r) && s->next.kind == TOKEN_KIND_END;
}

// Reads an ISO date. Answers the first token that does not belong to one, for the other family to
// go on with (what was read of the day stays); END when all was read; INVALID for a bad time.
static Token iso_date(DateReader *r) {
    Scanner *s = &r->scanner;
    if (is_sign(&s->next)) {
        Token sign = take(s);
        if (!is_digits(&s->next, 6)) return sign;
        int32_t year = take(s).value;
        if (sign.symbol == '-' && year == 0) return sign;
        add_day(r, sign.symbol == '-' ? -year : year);
    } else if (is_digits(&s->next, 4)) {
        add_day(r, take(s).value);
    } else {
        return take(s);
    }
    if (skip(s, '-')) {
        if (!is_digits(&s->next, 2) || s->next.value < 1 || s->next.value > 12) return take(s);
        add_day(r, take(s).value);
        if (skip(s, '-')) {
            if (!is_digits(&s->next, 2) || s->next.value < 1 || s->next.value > 31) return take(s);
            add_day(r, take(s).value);
        }
    }
    if (s->next.kind == TOKEN_KIND_WORD && s->next.word == WORD_TIME) {
        if (!iso_time(r)) return invalid_token;
    } else if (s->next.kind != TOKEN_KIND_END) {
        return take(s);
    }
    if (r->zone_sign == NONE && r->time_count == 0) set_zone(r, 0);
    r->is_iso = true;
    return end_token;
}

// --- the other family

static bool legacy_number(DateReader *r, const Token *number) {
    Scanner *s = &r->scanner;
    int32_t n = number->value;
    r->has_number = true;
    if (is_symbol(&s->next, ':')) { // [date-parse-1]
        take(s);
        if (skip(s, ':')) {
            if (r->time_count) return false;
            add_time(r, n);
            add_time(r, 0);
            return true;
        }
        if (!add_time(r, n)) return false;
        skip(s, '.');
        return true;
    }
    if (is_symbol(&s->next, '.') && expects_time(r, n)) {
        take(s);
        add_time(r, n);
        if (s->next.kind != TOKEN_KIND_NUMBER) return false;
        Token fraction = take(s);
        end_time(r, milliseconds_of(&fraction));
        return true;
    }
    if (r->zone_hour != NONE && r->zone_minute == NONE && n < 60) {
        r->zone_minute = n;
        return true;
    }
    if (expects_time(r, n)) {
        end_time(r, n);
        return s->next.kind == TOKEN_KIND_END || s->next.kind == TOKEN_KIND_SPACE ||
               is_word_z(&s->next) || is_sign(&s->next);
    }
    if (!add_day(r, n)) return false;
    skip(s, '-');
    return true;
}

static bool legacy_word(DateReader *r, const Token *word) { // [date-parse-4]
    if (word->word == WORD_HALF && r->time_count) {
        r->half = word->value;
    } else if (word->word == WORD_MONTH) {
        r->month_name = word->value;
        skip(&r->scanner, '-');
    } else if (word->word == WORD_ZONE && r->has_number) {
        set_zone(r, word->value);
    } else {
        return !r->has_number && r->scanner.next.kind != TOKEN_KIND_NUMBER;
    }
    return true;
}

static bool legacy_offset(DateReader *r, const Token *sign) { // [date-parse-2]
    Scanner *s = &r->scanner;
    r->zone_sign = sign->symbol == '+' ? 1 : -1;
    Token number = {0};
    if (s->next.kind == TOKEN_KIND_NUMBER) number = take(s);
    r->has_number = true;
    if (is_symbol(&s->next, ':')) {
        r->zone_hour = number.value;
        r->zone_minute = NONE;
    } else if (number.length == 1 || number.length == 2) {
        r->zone_hour = number.value;
        r->zone_minute = 0;
    } else if (number.length == 3 || number.length == 4) {
        r->zone_hour = number.value / 100;
        r->zone_minute = number.value % 100;
    } else {
        return false;
    }
    return true;
}

static bool legacy_date(DateReader *r, Token token) {
    r->has_number = r->day_count > 0;
    if (token.kind == TOKEN_KIND_END) token = take(&r->scanner);
    for (; token.kind != TOKEN_KIND_END; token = take(&r->scanner)) {
        if (token.kind == TOKEN_KIND_NUMBER) {
            if (!legacy_number(r, &token)) return false;
        } else if (token.kind == TOKEN_KIND_WORD) {
            if (!legacy_word(r, &token)) return false;
        } else if (is_sign(&token) && (is_utc(r) || r->time_count)) {
            if (!legacy_offset(r, &token)) return false;
        } else if ((is_sign(&token) || is_symbol(&token, ')')) && r->has_number) {
            return false;
        }
    }
    return true;
}

// --- putting it together

static double day_finish(DateReader *r) { // [date-parse-3]
    if (r->day_count == 0) return NAN;
    while (r->day_count < 3) r->day[r->day_count++] = 1;
    const int32_t *n = r->day;
    bool is_first_day = n[0] >= 1 && n[0] <= 31;
    int32_t year;
    int32_t month = r->month_name;
    int32_t day;
    if (month == NONE) {
        bool is_year_first = r->is_iso || !is_first_day;
        year = is_year_first ? n[0] : n[2];
        month = is_year_first ? n[1] : n[0];
        day = is_year_first ? n[2] : n[1];
    } else {
        year = is_first_day ? n[1] : n[0];
        day = is_first_day ? n[0] : n[1];
    }
    if (!r->is_iso) {
        if (year >= 0 && year <= 49) year += 2000;
        else if (year >= 50 && year <= 99) year += 1900;
    }
    if (month < 1 || month > 12 || day < 1 || day > 31) return NAN;
    return date_make_day(year, month - 1, day);
}

static double time_finish(DateReader *r) {
    while (r->time_count < 4) r->time[r->time_count++] = 0;
    int32_t *t = r->time;
    if (r->half != NONE) {
        if (t[0] > 12) return NAN;
        t[0] = t[0] % 12 + r->half;
    }
    bool is_midnight = t[0] == 24 && t[1] == 0 && t[2] == 0 && t[3] == 0;
    if (!is_midnight && (t[0] > 23 || t[1] > 59 || t[2] > 59 || t[3] > 999)) return NAN;
    return date_make_time(t[0], t[1], t[2], t[3]);
}

double date_parse(const uint16_t *text, size_t length) {
    DateReader r = {.scanner = {.at = text, .end = text + length},
                    .month_name = NONE,
                    .half = NONE,
                    .zone_sign = NONE,
                    .zone_hour = NONE,
                    .zone_minute = NONE};
    r.scanner.next = scan(&r.scanner);
    Token rest = iso_date(&r);
    if (rest.kind == TOKEN_KIND_INVALID) return NAN;
    if (!r.is_iso && !legacy_date(&r, rest)) return NAN;
    double time = date_make(day_finish(&r), time_finish(&r));
    if (r.zone_sign != NONE) {
        double hours = r.zone_hour == NONE ? 0 : r.zone_hour;
        double minutes = r.zone_minute == NONE ? 0 : r.zone_minute;
        time -= r.zone_sign * (hours * 3600000 + minutes * 60000);
    }
    return date_clip(time);
}
