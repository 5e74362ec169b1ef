// abide man: the manual pages, written from the tree of commands.
//
// abide.1 is the overview; each command and each group has a page of its own, abide-wf.1 with all
// of its commands. The macros are those of man(7), which every formatter knows.
//
//   [man-1] Text of ours never becomes a request: leading dots, backslashes, hyphens are escaped.
//
// Not here: where the texts come from (pages.c).
#include "base/array.h"
#include "base/text/utf.h"
#include "cli/cli.h"
#include "cli/shell/pages.h"
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

typedef struct Manual {
    const char *folder; // NULL: stdout
    const char *only;   // the page that is wanted, "abide-wf"; NULL: all
    FILE *file;         // of the page being written; NULL: it is not wanted
    bool has_failed;
    bool is_known; // `only` is there
} Manual;

// [man-1] A text, which may have several lines. What is not ASCII is written by its number.
static void put(FILE *file, const char *text) {
    const char *end = text + strlen(text);
    bool is_first = true;
    while (text < end) {
        uint32_t code = utf8_decode(&text, end);
        if (is_first && (code == '.' || code == '\'')) fputs("\\&", file);
        is_first = code == '\n';
        switch (code) {
        case '\\': fputs("\\e", file); break;
        case '-': fputs("\\-", file); break;
        case '\'': fputs("\\(aq", file); break;
        case '^': fputs("\\(ha", file); break;
        case '~': fputs("\\(ti", file); break;
        case '`': fputs("\\(ga", file); break;
        case '"': fputs("\\(dq", file); break;
        default:
            if (code < 0x80) fputc((int)code, file);
            else fprintf(file, "\\[u%04X]", code);
        }
    }
}

static void put_line(FILE *file, const char *text) {
    put(file, text);
    fputc('\n', file);
}

static void put_heading(FILE *file, const char *level, const char *text) {
    fprintf(file, ".%s \"", level);
    put(file, text);
    fputs("\"\n", file);
}

static void put_example(FILE *file, const char *example) {
    fputs(".nf\n.RS 4\n", file);
    put_line(file, example);
    fputs(".RE\n.fi\n", file);
}

static void put_options(FILE *file, const OptionTable *table) {
    const Option *option;
    for (size_t i = 0; (option = options_at(table, i)) != NULL; i++) {
        fputs(".TP\n", file);
        if (option->letter) fprintf(file, "\\fB\\-%c\\fR, ", option->letter);
        fputs("\\fB\\-\\-", file);
        put(file, option->name);
        fputs("\\fR", file);
        if (option->value != NULL) {
            fputs(" \\fI", file);
            put(file, option->value);
            fputs("\\fR", file);
        }
        fputc('\n', file);
        put_line(file, option->help);
    }
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow help\n", file);
}

static void put_commands(FILE *file, const CliGroup *group, const char *prefix) {
    for (size_t i = 0; i < group->count; i++) {
        fputs(".TP\n\\fB", file);
        put(file, prefix);
        put(file, group->commands[i].name);
        fputs("\\fR\n", file);
        put_line(file, group->commands[i].summary);
    }
}

static void put_end(FILE *file) {
    fputs(".SH EXIT STATUS\n", file);
    static const char *const codes[][2] = {
        {"0", "it worked"},
        {"1", "it was tried and went wrong"},
        {"2", "the command line, a file or an input is wrong; nothing was tried"},
        {"3", "the server asks for a token, or for another one"},
        {"4", "what was named does not exist"},
        {"130", "interrupted"},
    };
    for (size_t i = 0; i < COUNT_OF(codes); i++)
        fprintf(file, ".TP\n%s\n%s\n", codes[i][0], codes[i][1]);
    fputs(".SH ENVIRONMENT\n", file);
    static const char *const variables[][2] = {
        {"ABIDE_SERVER", "address of the server, as --server"},
        {"ABIDE_TOKEN", "token for the server, as --token"},
        {"ABIDE_CA_FILE", "certificates to trust, as --ca-file"},
        {"ABIDE_STORE", "store to open when no server is named, as --store"},
        {"ABIDE_MODULE_PATH", "folders where modules for stores on servers are looked for first"},
        {"NO_COLOR", "when set, no colours on terminals"},
    };
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        fprintf(file, ".TP\n\\fB%s\\fR\n", variables[i][0]);
        put_line(file, variables[i][1]);
    }
}

static void end_page(Manual *manual) {
    if (manual->file == NULL) return;
    put_end(manual->file);
    bool is_own = manual->folder != NULL;
    if ((is_own ? fclose(manual->file) : fflush(manual->file)) != 0) manual->has_failed = true;
    manual->file = NULL;
}

static void begin_page(Manual *manual, const char *name, const char *summary) {
    if (manual->only != NULL && strcmp(manual->only, name) != 0) return;
    manual->is_known = true;
    manual->file = stdout;
    if (manual->folder != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.1", manual->folder, name);
        manual->file = fopen(path, "w");
        if (manual->file == NULL) {
            fprintf(stderr, "abide: cannot write %s: %s\n", path, strerror(errno));
            manual->has_failed = true;
            return;
        }
    }
    fputs(".TH \"", manual->file);
    for (const char *at = name; *at; at++)
        fputc(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at, manual->file);
    fputs("\" \"1\" \"" ABIDE_VERSION_DATE "\" \"abide " ABIDE_VERSION "\" \"abide\"\n.SH NAME\n",
          manual->file);
    put(manual->file, name);
    fputs(" \\- ", manual->file);
    put_line(manual->file, summary);
}

static void put_group_page(Manual *manual, const Page *page) {
    FILE *file = manual->file;
    bool is_root = page->path[0] == 0;
    fputs(".SH SYNOPSIS\n\\fBabide", file);
    if (!is_root) fputc(' ', file);
    put(file, page->path);
    fputs("\\fR \\fICOMMAND\\fR [\\fIarguments\\fR]\n.SH DESCRIPTION\n", file);
    put_line(file, page->group->about);
    put_heading(file, "SH", "COMMANDS");
    put_commands(file, page->group, "");
    put_heading(file, "SH", "EXAMPLES");
    put_example(file, page->group->example);
    if (!is_root) return;
    put_heading(file, "SH", "SEE ALSO");
    for (size_t i = 0; i < page->group->count; i++)
        fprintf(file, "%s\\fBabide\\-%s\\fR(1)", i > 0 ? ",\n" : "", page->group->commands[i].name);
    fputc('\n', file);
}

static void put_command(FILE *file, const Page *page, bool is_section) {
    const char *level = is_section ? "SS" : "SH";
    if (is_section) {
        put_heading(file, "SH", page->path);
        put_line(file, page->table->usage);
        fputs(".PP\n", file);
    } else {
        put_heading(file, level, "SYNOPSIS");
        put_line(file, page->table->usage);
        put_heading(file, level, "DESCRIPTION");
    }
    put_line(file, page->table->about);
    put_heading(file, level, is_section ? "Options" : "OPTIONS");
    put_options(file, page->table);
    put_heading(file, level, is_section ? "Examples" : "EXAMPLES");
    put_example(file, page->table->example);
}

static void write_page(void *context, const Page *page) {
    Manual *manual = context;
    bool is_inside = strchr(page->path, ' ') != NULL;
    if (!is_inside) {
        end_page(manual);
        char name[64];
        snprintf(name, sizeof name, "abide%s%s", page->path[0] ? "-" : "", page->path);
        begin_page(manual, name, page->path[0] ? page->summary : "durable workflows");
    }
    if (manual->file == NULL) return;
    if (page->group != NULL) put_group_page(manual, page);
    else put_command(manual->file, page, is_inside);
}

int cli_man(int argument_count, char **arguments) {
    Str folder = STR_NULL;
    const Option options[] = {
        {"dir", 0, OPTION_TEXT, &folder, "DIR", "write every page into this folder"},
    };
    const OptionTable table = {
        .usage = "abide man [PAGE] [--dir DIR]",
        .about = "Prints a manual page, for man -l, or writes all of them into a folder.",
        .example = "abide man abide-wf | man -l -\nabide man --dir ~/.local/share/man/man1",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_max = 1,
    };
    Operands operands;
    OptionsResult result = options_parse(&table, argument_count, arguments, &operands);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    Manual manual = {.folder = folder.data};
    if (folder.data == NULL) manual.only = operands.count > 0 ? operands.items[0] : "abide";
    else if (mkdir(folder.data, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "abide: cannot make %s: %s\n", folder.data, strerror(errno));
        return EXIT_CODE_FAILED;
    }
    pages_walk(write_page, &manual);
    end_page(&manual);
    if (!manual.is_known) {
        fprintf(stderr, "abide: there is no page %s; they are abide, abide-wf and so on\n",
                manual.only);
        return EXIT_CODE_USAGE;
    }
    return manual.has_failed ? EXIT_CODE_FAILED : EXIT_CODE_OK;
}
