// Completions for zsh: each offer with its description.
//
// The function finds the command as the one for bash does; zsh's own helpers show the
// descriptions. Works as a file _abide in fpath, and sourced.
//
// Not here: where names come from (completion.c).
#include "cli/shell/completion.h"

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
    case COMPLETE_WORDS: fprintf(file, "compadd -- %s", source->text); break;
    case COMPLETE_ASK: fprintf(file, "_abide_names %s", source->text); break;
    }
}

static void print_step(void *context, const Page *page) {
    if (page->path[0]) fprintf(context, "|' %s'", page->path);
}

static void print_option_names(FILE *file, const Page *page, const Option *option) {
    fprintf(file, "    ' %s --%s'", page->path, option->name);
    if (option->letter) fprintf(file, "|' %s -%c'", page->path, option->letter);
    fputs(") ", file);
}

static void print_values(void *context, const Page *page) {
    FILE *file = context;
    const Option *option;
    for (size_t i = 0; page->table && (option = options_at(page->table, i)) != NULL; i++) {
        if (option->value == NULL) continue;
        CompletionSource source;
        print_option_names(file, page, option);
        if (completion_source(str_from(option->value), &source)) {
            print_source(file, &source);
        } else {
            fputs("_message '", file);
            completion_quote(file, option->help);
            fputc('\'', file);
        }
        fputs("; return ;;\n", file);
    }
}

static void print_takes(void *context, const Page *page) {
    const Option *option;
    for (size_t i = 0; page->table && (option = options_at(page->table, i)) != NULL; i++) {
        if (option->value == NULL) continue;
        print_option_names(context, page, option);
        fputs("return 0 ;;\n", context);
    }
}

static void print_operands(void *context, const Page *page) {
    completion_cases(context, page, print_source, "; return ;;\n");
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
    fputs("        ) ;;\n", file);
}

void completion_zsh(FILE *file) {
    fputs("#compdef abide\n"
          "# Completions of abide for zsh: abide completion zsh > \"${fpath[1]}/_abide\"\n"
          "_abide_names() {\n" // [completion-1] compadd quotes them
          "    local -a names\n"
          "    names=(\"${(@f)$(abide \"$@\" 2>/dev/null)}\")\n"
          "    names=(\"${(@)names:#(-*|)}\")\n" // [completion-2]
          "    (($#names)) && compadd -a names\n"
          "}\n"
          "# Does the option take a value?\n"
          "_abide_takes() {\n"
          "    case \"$1\" in\n",
          file);
    pages_walk(print_takes, file);
    fputs("    esac\n"
          "    return 1\n"
          "}\n"
          "_abide() {\n"
          "    local command='' current=${words[CURRENT]} previous=${words[CURRENT-1]} i at=1\n"
          "    local operand=0 skip=''\n"
          "    local -a offers\n"
          "    for ((i = 2; i < CURRENT; i++)); do\n"
          "        case \"$command ${words[i]}\" in\n"
          "        ''",
          file);
    pages_walk(print_step, file);
    fputs(") command=\"$command ${words[i]}\" at=$i ;;\n"
          "        esac\n"
          "    done\n"
          "    for ((i = at + 1; i < CURRENT; i++)); do\n"
          "        if [[ -n $skip ]]; then skip=''\n"
          "        elif [[ ${words[i]} == -?* ]]; then\n"
          "            _abide_takes \"$command ${words[i]}\" && skip=1\n"
          "        else operand=$((operand + 1))\n"
          "        fi\n"
          "    done\n"
          "    case \"$command $previous\" in\n",
          file);
    pages_walk(print_values, file);
    fputs("    esac\n"
          "    if [[ $current != -* ]]; then\n"
          "        case \"$command $operand\" in\n",
          file);
    pages_walk(print_operands, file);
    fputs("        esac\n"
          "    fi\n"
          "    case \"$command\" in\n",
          file);
    pages_walk(print_offers, file);
    fputs("    esac\n"
          "    _describe 'abide' offers\n"
          "}\n"
          "if [[ ${funcstack[1]} == _abide ]]; then _abide \"$@\"; else compdef _abide abide; fi\n",
          file);
}
