// Options: parsing and help, from the table of the command.
//
// Complaints name the option and show the usage line, on stderr; the command then answers
// EXIT_CODE_USAGE.
//   [options-1] Operands are moved to the front of the arguments in their order; nothing is
//        allocated.
//   [options-2] --help wins over everything behind it and prints to stdout.
//   [options-3] While a table is only asked for (options_observe) nothing is parsed or printed.

#include "cli/options.h"
#include "base/text/suggest.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 128 }; // options of a command, among which a mistyped one is looked for

static OptionsObserver observer;
static void *observer_context;
static char complaint[512];

void options_observe(OptionsObserver function, void *context) {
    observer = function;
    observer_context = context;
}

const Option *options_at(const OptionTable *table, size_t index) {
    if (index < table->option_count) return &table->options[index];
    index -= table->option_count;
    return index < table->shared_count ? &table->shared[index] : NULL;
}

static void print_options(const Option *options, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const Option *option = &options[i];
        char left[64];
        char letter[8] = "    ";
        if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        printf("  %-28s %s\n", left, option->help);
    }
}

static void print_help(const OptionTable *table) {
    printf("Usage: %s\n\n%s\n", table->usage, table->about);
    printf("\nOptions:\n");
    print_options(table->options, table->option_count);
    print_options(table->shared, table->shared_count);
    printf("  %-28s %s\n", "-h, --help", "show this text");
    printf("\nExamples:\n");
    for (const char *line = table->example; *line;) {
        size_t len = strcspn(line, "\n");
        printf("  %.*s\n", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

__attribute__((format(printf, 2, 3))) static OptionsResult complain(const OptionTable *table,
                                                                    const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint, sizeof complaint, format, arguments);
    va_end(arguments);
    fprintf(stderr, "abide: %s\nusage: %s\n", complaint, table->usage);
    return OPTIONS_BAD;
}

const char *options_complaint(void) { return complaint; }

static bool parse_count(const char *text, uint64_t *ret_value, const char **ret_rest) {
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *ret_value = value;
    *ret_rest = at;
    return at != text;
}

bool options_parse_size(const char *text, uint64_t *ret_size) {
    const char *rest;
    uint64_t value;
    unsigned shift = 0;
    if (!parse_count(text, &value, &rest)) return false;
    switch (*rest) {
    case 'k':
    case 'K': shift = 10; break;
    case 'm':
    case 'M': shift = 20; break;
    case 'g':
    case 'G': shift = 30; break;
    default: break;
    }
    if (shift) rest++;
    if (shift && strcmp(rest, "iB") == 0) rest += 2;
    if (*rest == 'B') rest++;
    if (*rest || value > UINT64_MAX >> shift) return false;
    *ret_size = value << shift;
    return true;
}

static bool store_value(const Option *option, const char *text) {
    const char *rest;
    switch (option->kind) {
    case OPTION_NUMBER:
    case OPTION_TEXT: *(Str *)option->target = str_from(text); return true;
    case OPTION_COUNT: return parse_count(text, option->target, &rest) && *rest == 0;
    case OPTION_SIZE: return options_parse_size(text, option->target);
    case OPTION_TEXTS: {
        OptionTexts *texts = option->target;
        if (texts->count == OPTION_TEXTS_MAX) return false;
        texts->items[texts->count++] = text;
        return true;
    }
    case OPTION_FLAG: break;
    }
    return false;
}

static const Option *find_option(const OptionTable *table, const char *argument) {
    const char *name = argument + 2;
    size_t len = argument[1] == '-' ? strcspn(name, "=") : 0;
    const Option *option;
    for (size_t i = 0; (option = options_at(table, i)) != NULL; i++) {
        if (argument[1] != '-') {
            if (option->letter && option->letter == argument[1]) return option;
        } else if (strlen(option->name) == len && memcmp(option->name, name, len) == 0) {
            return option;
        }
    }
    return NULL;
}

static OptionsResult no_option(const OptionTable *table, const char *argument) {
    const char *names[NAMES_MAX] = {"help"};
    size_t count = 1;
    const Option *option;
    for (size_t i = 0; count < NAMES_MAX && (option = options_at(table, i)) != NULL; i++)
        names[count++] = option->name;
    char name[64] = "";
    if (argument[1] == '-')
        snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    const char *nearest = suggest_nearest(str_from(name), names, count);
    if (nearest == NULL) return complain(table, "unknown option %s; see --help", argument);
    return complain(table, "unknown option %s; did you mean --%s? See --help", argument, nearest);
}

// Handles the option at arguments[*at]; moves *at over a value in the next argument.
static OptionsResult take_option(const OptionTable *table, int count, char **arguments, int *at) {
    const char *argument = arguments[*at];
    const Option *option = find_option(table, argument);
    if (!option) return no_option(table, argument);
    const char *value = NULL;
    if (argument[1] == '-') value = strchr(argument, '=');
    else if (argument[2]) value = argument + 1; // -oVALUE
    if (value) value++;
    if (option->kind == OPTION_FLAG) {
        if (value) return complain(table, "option %s takes no value", argument);
        *(bool *)option->target = true;
        return OPTIONS_OK;
    }
    if (!value && *at + 1 < count) value = arguments[++*at];
    if (!value) return complain(table, "option %s needs a value", argument);
    if (!store_value(option, value)) return complain(table, "bad value of option %s", argument);
    return OPTIONS_OK;
}

OptionsResult options_parse(const OptionTable *table, int argument_count, char **arguments,
                            Operands *ret_operands) {
    size_t operand_count = 0;
    bool is_ended = false;
    if (observer != NULL) {
        observer(observer_context, table);
        return OPTIONS_HELP;
    }
    for (int i = 0; i < argument_count; i++) {
        const char *argument = arguments[i];
        if (is_ended || argument[0] != '-' || argument[1] == 0) {
            arguments[operand_count++] = arguments[i];
        } else if (strcmp(argument, "--") == 0) {
            is_ended = true;
        } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help(table);
            return OPTIONS_HELP;
        } else {
            OptionsResult result = take_option(table, argument_count, arguments, &i);
            if (result != OPTIONS_OK) return result;
        }
    }
    if (operand_count < table->operand_min) return complain(table, "%s", "an argument is missing");
    if (operand_count > table->operand_max)
        return complain(table, "unexpected argument %s", arguments[table->operand_max]);
    *ret_operands = (Operands){arguments, operand_count};
    return OPTIONS_OK;
}
