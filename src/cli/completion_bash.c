// Completions for bash, 3.2 and later: one function, made of case statements.
//
// The words before the cursor name the command; the option just before it says what its value may
// be; otherwise commands, options or names are offered.
//
// Not here: where names come from (completion.c).
#include "cli/completion.h"

static void print_words(FILE *file, const char *choice) { // "a|b|c" as words
    for (; *choice; choice++) fputc(*choice == '|' ? ' ' : *choice, file);
}

static void print_source(FILE *file, const CompletionSource *source) {
    switch (source->kind) {
    case COMPLETE_FILES: fputs("files=1", file); break;
    case COMPLETE_FOLDERS: fputs("folders=1", file); break;
    case COMPLETE_ASK: fprintf(file, "words=$(abide %s 2>/dev/null)", source->command); break;
    }
}

// Which words name commands: "'' wf" …
static void print_step(void *context, const Page *page) {
    if (page->path[0]) fprintf(context, "%s' %s'", "|", page->path);
}

static void print_option_names(FILE *file, const Page *page, const Option *option) {
    fprintf(file, "        '%s%s --%s'", page->path[0] ? " " : "", page->path, option->name);
    if (option->letter)
        fprintf(file, "|'%s%s -%c'", page->path[0] ? " " : "", page->path, option->letter);
}

static void print_values(void *context, const Page *page) {
    FILE *file = context;
    if (page->table == NULL) return;
    const Option *option;
    for (size_t i = 0; (option = options_at(page->table, i)) != NULL; i++) {
        if (option->value == NULL) continue;
        const CompletionSource *source = completion_source(str_from(option->value));
        print_option_names(file, page, option);
        fputs(") ", file);
        if (pages_is_choice(option->value)) {
            fputs("words='", file);
            print_words(file, option->value);
            fputc('\'', file);
        } else if (source != NULL) {
            print_source(file, source);
        } else {
            fputc(':', file);
        }
        fputs("; values=1 ;;\n", file);
    }
}

static void print_offers(void *context, const Page *page) {
    FILE *file = context;
    fprintf(file, "        '%s%s') ", page->path[0] ? " " : "", page->path);
    if (page->group != NULL) {
        fputs("words='", file);
        for (size_t i = 0; i < page->group->count; i++)
            fprintf(file, "%s ", page->group->commands[i].name);
        fputs("--help'", file);
    } else {
        const Option *option;
        fputs("options='", file);
        for (size_t i = 0; (option = options_at(page->table, i)) != NULL; i++)
            fprintf(file, "--%s ", option->name);
        fputs("--help'", file);
        Str operand = pages_operand(page, 0);
        const CompletionSource *source = completion_source(operand);
        char choice[128];
        snprintf(choice, sizeof choice, "%.*s", STR_ARG(operand));
        if (pages_is_choice(choice)) {
            fputs("; words='", file);
            print_words(file, choice);
            fputc('\'', file);
        } else if (source != NULL) {
            fputs("; [[ $current != -* ]] && ", file);
            print_source(file, source);
        }
    }
    fputs(" ;;\n", file);
}

void completion_bash(FILE *file) {
    fputs("# Completions of abide for bash: source <(abide completion bash)\n"
          "_abide() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local path='' words='' options='' files='' folders='' values='' i\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case \"$path ${COMP_WORDS[i]}\" in\n"
          "        ''",
          file);
    pages_walk(print_step, file);
    fputs(") path=\"$path ${COMP_WORDS[i]}\" ;;\n"
          "        esac\n"
          "    done\n"
          "    case \"$path $previous\" in\n",
          file);
    pages_walk(print_values, file);
    fputs("    esac\n"
          "    if [[ -z $values ]]; then\n"
          "        case \"$path\" in\n",
          file);
    pages_walk(print_offers, file);
    fputs("        esac\n"
          "        [[ $current == -* ]] && words=$options\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    [[ -n $files ]] && COMPREPLY+=($(compgen -f -- \"$current\"))\n"
          "    [[ -n $folders ]] && COMPREPLY+=($(compgen -d -- \"$current\"))\n"
          "    [[ -n $files$folders ]] && compopt -o filenames 2>/dev/null\n"
          "    return 0\n"
          "}\n"
          "complete -F _abide abide\n",
          file);
}
