// Completions for bash, 3.2 and later: one function, made of case statements.
//
// The words before the cursor name the command; the option just before it says what its value may
// be; otherwise commands, options, or what stands at that place behind the command are offered.
//
// Names never pass through `compgen -W`, which would evaluate them [completion-1]: a function of
// the script compares them with what was typed, taken out of its quotes by hand, and quotes them
// again. Files and folders are left to the shell itself, which knows how to quote them.
//
// Not here: where names come from (completion.c).
#include "cli/shell/completion.h"

static void print_source(FILE *file, const CompletionSource *source) {
    switch (source->kind) {
    case COMPLETE_FILES: fputs("files=1", file); break;
    case COMPLETE_FOLDERS: fputs("folders=1", file); break;
    case COMPLETE_WORDS: fprintf(file, "words='%s'", source->text); break;
    case COMPLETE_ASK: fprintf(file, "ask=(%s)", source->text); break;
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
        CompletionSource source;
        print_option_names(file, page, option);
        fputs(") ", file);
        if (completion_source(str_from(option->value), &source)) print_source(file, &source);
        else fputc(':', file);
        fputs(" ;;\n", file);
    }
}

static void print_offers(void *context, const Page *page) {
    FILE *file = context;
    fprintf(file, "        '%s%s') ", page->path[0] ? " " : "", page->path);
    fputs(page->group != NULL ? "words='" : "options='", file);
    const Option *option;
    for (size_t i = 0; page->group != NULL && i < page->group->count; i++)
        fprintf(file, "%s ", page->group->commands[i].name);
    for (size_t i = 0; page->table && (option = options_at(page->table, i)) != NULL; i++)
        fprintf(file, "--%s ", option->name);
    fputs("--help' ;;\n", file);
}

// What stands at which place behind the command: "' wf start 1'".
static void print_operands(void *context, const Page *page) {
    completion_cases(context, page, print_source, " ;;\n");
}

// [completion-1] Reads names, one per line. $1 is what the shell will replace: the end of the word
//      that is
// being typed, behind the last of COMP_WORDBREAKS and without an opening quote.
static const char offer_function[] =
    "_abide_offer() {\n"
    "    local typed=${COMP_LINE:0:COMP_POINT} plain='' stem='' quote='' escaped='' c i name\n"
    "    local replaced_from=$((${#typed} - ${#1}))\n"
    "    for ((i = 0; i < ${#typed}; i++)); do\n"
    "        ((i == replaced_from)) && stem=$plain\n"
    "        c=${typed:i:1}\n"
    "        if [[ -n $escaped ]]; then plain+=$c escaped=''\n"
    "        elif [[ $c == \\\\ && $quote != \\' ]]; then escaped=1\n"
    "        elif [[ -n $quote && $c == \"$quote\" ]]; then quote=''\n"
    "        elif [[ -n $quote ]]; then plain+=$c\n"
    "        elif [[ $c == [\\\"\\'] ]]; then quote=$c\n"
    "        elif [[ $c == [[:blank:]] ]]; then plain='' stem=''\n"
    "        else plain+=$c\n"
    "        fi\n"
    "    done\n"
    "    ((replaced_from == ${#typed})) && stem=$plain\n"
    "    while IFS= read -r name; do\n"
    "        [[ $name != -* && $name == \"$plain\"* ]] || continue\n"
    "        name=${name:${#stem}}\n"
    "        case $quote in\n"
    "        \\') [[ $name != *\\'* ]] || continue ;;\n"
    "        \\\") [[ $name != *[\\\"\\$\\`\\\\!]* ]] || continue ;;\n"
    "        *) [[ -n $name ]] || continue; printf -v name %q \"$name\" ;;\n"
    "        esac\n"
    "        COMPREPLY+=(\"$name\")\n"
    "    done\n"
    "}\n";

// Counts the operands before the cursor. The shell takes words apart at ":" and "=", which stand
// between two words that are one.
static const char count_loop[] =
    "    for ((i++; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $word == [:=]* ]]; then skip=1\n"
    "        elif [[ -n $skip ]]; then skip=''\n"
    "        elif [[ $word == -?* ]]; then _abide_value \"$path $word\" && skip=1\n"
    "        else operand=$((operand + 1))\n"
    "        fi\n"
    "    done\n"
    "    if [[ $operand -gt 0 && ( $current == [:=]* || $previous == [:=]* ) ]]; then\n"
    "        operand=$((operand - 1))\n"
    "    fi\n";

void completion_bash(FILE *file) {
    fputs("# Completions of abide for bash: source <(abide completion bash)\n", file);
    fputs(offer_function, file);
    fputs("# What may stand behind an option; false: it takes no value.\n"
          "_abide_value() {\n"
          "    case \"$1\" in\n",
          file);
    pages_walk(print_values, file);
    fputs("        *) return 1 ;;\n"
          "    esac\n"
          "}\n"
          "_abide() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local path='' words='' options='' files='' folders=''\n"
          "    local word skip='' operand=0 i at=0\n"
          "    local -a ask=()\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case \"$path ${COMP_WORDS[i]}\" in\n"
          "        ''",
          file);
    pages_walk(print_step, file);
    fputs(") path=\"$path ${COMP_WORDS[i]}\" at=$i ;;\n"
          "        esac\n"
          "    done\n"
          "    i=$at\n",
          file);
    fputs(count_loop, file);
    fputs("    words='' files='' folders='' ask=()\n"
          "    if ! _abide_value \"$path $previous\"; then\n"
          "        case \"$path\" in\n",
          file);
    pages_walk(print_offers, file);
    fputs("        esac\n"
          "        if [[ $current == -* ]]; then words=\"$words $options\"\n"
          "        else case \"$path $operand\" in\n",
          file);
    pages_walk(print_operands, file);
    fputs("        esac; fi\n"
          "    fi\n"
          "    COMPREPLY=()\n"
          "    if ((${#ask[@]} > 0)); then\n"
          "        _abide_offer \"$2\" < <(abide \"${ask[@]}\" 2>/dev/null)\n"
          "    elif [[ -n $files ]]; then compopt -o default 2>/dev/null\n"
          "    elif [[ -n $folders ]]; then compopt -o dirnames 2>/dev/null\n"
          "    else COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    fi\n"
          "    return 0\n"
          "}\n"
          "# Before bash 4 nothing but this says that file names may be meant.\n"
          "if type compopt >/dev/null 2>&1; then complete -F _abide abide\n"
          "else complete -o default -F _abide abide; fi\n",
          file);
}
