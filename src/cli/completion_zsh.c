// Completions for zsh: each offer with its description.
//
// The function finds the command as the one for bash does; zsh's own helpers show the
// descriptions. Works as a file _abide in fpath, and sourced.
//
// Not here: where names come from (completion.c).
#include "cli/completion.h"

// 'name:description', in which a colon of the name would be the separator.
static void print_offer(FILE *file, const char *dashes, const char *name, const char *help) {
    fprintf(file, "            '%s%s:", dashes, name);
    completion_quote(file, help);
    fputs("'\n", file);
}

static void print_source(FILE *file, const CompletionSource *source) {
    switch (source->kind) {
    case COMPLETE_FILES: fputs("_files", file); break;
    case COMPLETE_FOLDERS: fputs("_files -/", file); break;
    case COMPLETE_ASK:
        fprintf(file, "compadd -- ${(f)\"$(abide %s 2>/dev/null)\"}", source->command);
        break;
    }
}

static void print_choice(FILE *file, const char *choice) {
    fputs("compadd -- ", file);
    for (; *choice; choice++) fputc(*choice == '|' ? ' ' : *choice, file);
}

static void print_step(void *context, const Page *page) {
    if (page->path[0]) fprintf(context, "|' %s'", page->path);
}

static void print_values(void *context, const Page *page) {
    FILE *file = context;
    const Option *option;
    for (size_t i = 0; page->table && (option = options_at(page->table, i)) != NULL; i++) {
        if (option->value == NULL) continue;
        const CompletionSource *source = completion_source(str_from(option->value));
        fprintf(file, "    ' %s --%s'", page->path, option->name);
        if (option->letter) fprintf(file, "|' %s -%c'", page->path, option->letter);
        fputs(") ", file);
        if (pages_is_choice(option->value)) print_choice(file, option->value);
        else if (source != NULL) print_source(file, source);
        else {
            fputs("_message '", file);
            completion_quote(file, option->help);
            fputc('\'', file);
        }
        fputs("; return ;;\n", file);
    }
}

static void print_offers(void *context, const Page *page) {
    FILE *file = context;
    fprintf(file, "    '%s%s')\n        offers=(\n", page->path[0] ? " " : "", page->path);
    const Option *option;
    for (size_t i = 0; page->group != NULL && i < page->group->count; i++)
        print_offer(file, "", page->group->commands[i].name, page->group->commands[i].summary);
    for (size_t i = 0; page->table && (option = options_at(page->table, i)) != NULL; i++)
        print_offer(file, "--", option->name, option->help);
    print_offer(file, "--", "help", "show help");
    fputs("        )\n", file);
    Str operand = pages_operand(page, 0);
    const CompletionSource *source = completion_source(operand);
    char choice[128];
    snprintf(choice, sizeof choice, "%.*s", STR_ARG(operand));
    if (page->table != NULL && (source != NULL || pages_is_choice(choice))) {
        fputs("        if [[ $current != -* ]]; then ", file);
        if (source != NULL) print_source(file, source);
        else print_choice(file, choice);
        fputs("; return; fi\n", file);
    }
    fputs("        ;;\n", file);
}

void completion_zsh(FILE *file) {
    fputs("#compdef abide\n"
          "# Completions of abide for zsh: abide completion zsh > \"${fpath[1]}/_abide\"\n"
          "_abide() {\n"
          "    local command='' current=${words[CURRENT]} previous=${words[CURRENT-1]} i\n"
          "    local -a offers\n"
          "    for ((i = 2; i < CURRENT; i++)); do\n"
          "        case \"$command ${words[i]}\" in\n"
          "        ''",
          file);
    pages_walk(print_step, file);
    fputs(") command=\"$command ${words[i]}\" ;;\n"
          "        esac\n"
          "    done\n"
          "    case \"$command $previous\" in\n",
          file);
    pages_walk(print_values, file);
    fputs("    esac\n    case \"$command\" in\n", file);
    pages_walk(print_offers, file);
    fputs("    esac\n"
          "    _describe 'abide' offers\n"
          "}\n"
          "if [[ ${funcstack[1]} == _abide ]]; then _abide \"$@\"; else compdef _abide abide; fi\n",
          file);
}
