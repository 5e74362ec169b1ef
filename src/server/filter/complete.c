// What may come next in a search box.
//
// The word before the cursor decides: without an operator it is the beginning of a field; behind
// the operator of a field whose values are known, the beginning of a value.
//
// Not here: which names exist (whoever asks).
#include "base/assert.h"
#include "server/filter/filter.h"

typedef struct Word {
    size_t from, to;   // without a "-" before it
    size_t value_from; // behind the operator or the last comma; 0 = there is no operator
    FilterField field;
} Word;

#define INSIDE_WHERE SIZE_MAX // of names in an expression nothing is known

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// At `i` stands a where(, as a term that begins at `from`.
static bool begins_where(Str text, size_t from, size_t i) {
    bool is_first = i == from || (i == from + 1 && text.data[from] == '-');
    Str left = {text.data + i, text.len - i};
    return is_first && str_starts_with(left, STR("where("));
}

static size_t word_begin(Str text, size_t at) {
    size_t from = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < at; i++) {
        if (!is_quoted && begins_where(text, from, i)) {
            size_t end = filter_close(text, i + strlen("where("));
            if (end == 0 || end > at) return INSIDE_WHERE;
            i = end - 1;
            continue;
        }
        if (is_quoted && text.data[i] == '\\') i++;
        else if (text.data[i] == '"') is_quoted = !is_quoted;
        else if (!is_quoted && is_blank(text.data[i])) from = i + 1;
    }
    return from;
}

static bool has_prefix(const char *name, Str prefix) {
    return str_starts_with(str_from(name), prefix);
}

static Word find_word(Str text, size_t at) {
    Word word = {.from = word_begin(text, at), .to = at, .field = FILTER_FIELD_COUNT};
    if (word.from == INSIDE_WHERE) return word;
    if (word.from < at && text.data[word.from] == '-') word.from++;
    for (size_t i = word.from; i < at; i++) {
        char c = text.data[i];
        if (word.value_from > 0) {
            if (c == ',') word.value_from = i + 1;
        } else if (c == ':' || c == '=' || c == '~') {
            word.value_from = i + 1;
            Str name = {text.data + word.from, i - word.from};
            for (int field = 0; field < FILTER_TEXT; field++)
                if (str_equal(name, str_from(filter_field_name((FilterField)field))))
                    word.field = (FilterField)field;
        }
    }
    return word;
}

static void add(FilterCompletions *list, FilterCompletion completion) {
    if (list->count < FILTER_COMPLETIONS_MAX) list->items[list->count++] = completion;
}

static const char *sign_after(FilterField field) {
    switch (field) {
    case FILTER_AGE:
    case FILTER_IDLE:
    case FILTER_CHANGED:
    case FILTER_CREATED:
    case FILTER_PRIORITY:
    case FILTER_ATTEMPT: return ">";
    case FILTER_STATE:
    case FILTER_WHERE: return "";
    case FILTER_ERROR: return "~";
    default: return ":";
    }
}

static void add_fields(Arena *arena, Str text, const Word *word, FilterCompletions *list) {
    Str prefix = {text.data + word->from, word->to - word->from};
    for (int i = 0; i < FILTER_TEXT; i++) {
        FilterField field = (FilterField)i;
        if (!has_prefix(filter_field_name(field), prefix)) continue;
        Str whole = arena_printf(arena, "%s%s", filter_field_name(field), sign_after(field));
        add(list, (FilterCompletion){word->from, word->to, whole, filter_field_about(field)});
    }
}

static void add_statuses(Str text, const Word *word, FilterCompletions *list) {
    Str prefix = {text.data + word->value_from, word->to - word->value_from};
    for (int64_t state = RUN_PENDING; state < RUN_STATE_COUNT; state++) {
        const char *name = run_state_name(state);
        if (has_prefix(name, prefix))
            add(list, (FilterCompletion){word->value_from, word->to, str_from(name), "status"});
    }
}

static bool needs_quotes(Str name) {
    for (size_t i = 0; i < name.len; i++)
        if (is_blank(name.data[i]) || strchr(",\"\\", name.data[i]) != NULL) return true;
    return name.len == 0;
}

static Str quoted(Arena *arena, Str name) {
    if (!needs_quotes(name)) return name;
    char *text = arena_alloc(arena, 2 * name.len + 2);
    size_t len = 0;
    text[len++] = '"';
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '"' || name.data[i] == '\\') text[len++] = '\\';
        text[len++] = name.data[i];
    }
    text[len++] = '"';
    return (Str){text, len};
}

bool filter_wants_workflows(Str text, size_t at) {
    return find_word(text, at).field == FILTER_WORKFLOW;
}

void filter_complete(Arena *arena, const FilterCursor *cursor, FilterCompletions *ret_completions) {
    Str text = cursor->text;
    ASSERT(cursor->at <= text.len);
    ret_completions->count = 0;
    Word word = find_word(text, cursor->at);
    if (word.from == INSIDE_WHERE) return;
    if (word.value_from == 0) add_fields(arena, text, &word, ret_completions);
    else if (word.field == FILTER_STATUS) add_statuses(text, &word, ret_completions);
    if (word.field != FILTER_WORKFLOW) return;
    Str prefix = {text.data + word.value_from, word.to - word.value_from};
    for (size_t i = 0; i < cursor->workflow_count; i++) {
        Str name = cursor->workflows[i];
        if (!str_starts_with(name, prefix)) continue;
        add(ret_completions,
            (FilterCompletion){word.value_from, word.to, quoted(arena, name), "workflow"});
    }
}
