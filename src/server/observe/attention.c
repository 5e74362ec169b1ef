// Looking for what needs a person.
//
// The newest rows of each kind are read, put into groups by what is the matter with them, and
// written once for everybody who asks within a second.
//
// Not here: how groups are told (attention_text.c).
#include "server/observe/attention.h"
#include "base/time/duration.h"
#include "model/marks.h"
#include "server/filter/filter.h"
#include "server/observe/attention_groups.h"

void attention_init(Attention *attention) {
    pthread_mutex_init(&attention->lock, NULL);
    buf_init(&attention->text, ATTENTION_SIZE_MAX);
}

void attention_done(Attention *attention) {
    buf_done(&attention->text);
    pthread_mutex_destroy(&attention->lock);
}

// ---- groups ----

static bool is_like(const AttentionGroup *a, const AttentionGroup *b) {
    return strcmp(a->kind, b->kind) == 0 && str_same(a->workflow, b->workflow) &&
           str_same(a->error_name, b->error_name) && str_same(a->error_message, b->error_message) &&
           str_same(a->place, b->place) && str_same(a->queue, b->queue) &&
           str_same(a->name, b->name);
}

// Adds one thing to the group that is like `wanted` in all texts; makes it if there is none.
// NULL: there are too many groups.
static AttentionGroup *attention_add(AttentionGroups *groups, const AttentionGroup *wanted,
                                     Str example, int64_t at_ms) {
    size_t i = 0;
    while (i < groups->count && !is_like(&groups->groups[i], wanted)) i++;
    if (i == ATTENTION_GROUPS_MAX) return NULL;
    AttentionGroup *group = &groups->groups[i];
    if (i == groups->count) {
        *group = *wanted;
        groups->count++;
    }
    group->count++;
    if (group->example_count < ATTENTION_EXAMPLES)
        group->examples[group->example_count++] = example;
    if (group->since_ms == 0 || at_ms < group->since_ms) group->since_ms = at_ms;
    if (at_ms > group->latest_ms) group->latest_ms = at_ms;
    return group;
}

// Groups of that kind may have more than was counted.
static void mark_more(AttentionGroups *groups, const char *kind, bool is_more) {
    for (size_t i = 0; i < groups->count; i++)
        if (strcmp(groups->groups[i].kind, kind) == 0) groups->groups[i].is_more = is_more;
}

// The place in the first frame of a stack, "order.flow:3:9"; null = none.
static Str attention_place(Str stack) {
    for (Str left = stack, line; str_split(&left, '\n', &line);) {
        line = str_trim(line);
        if (!str_starts_with(line, STR("at "))) continue;
        Str place = {line.data + 3, line.len - 3};
        const char *open = memchr(place.data, '(', place.len);
        if (open == NULL) return place;
        size_t skipped = (size_t)(open - place.data) + 1;
        place = (Str){open + 1, place.len - skipped};
        if (place.len > 0 && place.data[place.len - 1] == ')') place.len--;
        return place;
    }
    return STR_NULL;
}

static Str cut(Str text) {
    if (text.len <= ATTENTION_TEXT_SIZE) return text;
    size_t len = ATTENTION_TEXT_SIZE;
    while (len > 0 && ((unsigned char)text.data[len] & 0xC0) == 0x80) len--; // whole characters
    return (Str){text.data, len};
}

// ---- what is looked for ----

static Status look_at_runs(AttentionGroups *groups, int64_t state, const char *kind, int64_t *seen,
                           Diag *diag) {
    abide_engine *engine = groups->server->engine;
    const RunFilter filter = {.states = 1u << state, .limit = ATTENTION_RUNS};
    RunPage page;
    TRY(store_list_runs(engine_store(engine), groups->arena, &filter, &page, diag));
    for (size_t i = 0; i < page.count; i++) {
        const RunRow *run = &page.rows[i];
        RunErrorText error;
        TRY(filter_read_error(engine, groups->arena, run, &error, diag));
        Str message = str_is_null(error.cause) ? error.message : error.cause;
        const AttentionGroup wanted = {.kind = kind,
                                       .workflow = run->workflow,
                                       .error_name = error.name,
                                       .error_message = cut(message),
                                       .place = attention_place(error.stack)};
        attention_add(groups, &wanted, run->id, run->updated_at_ms);
    }
    *seen = (int64_t)page.count;
    mark_more(groups, kind, page.next != 0);
    return OK;
}

// Runs whose version nobody has, for longer than it takes to deploy one.
static Status look_at_reserved(AttentionGroups *groups, Diag *diag) {
    Store *store = engine_store(groups->server->engine);
    const RunFilter filter = {.states = 1u << RUN_RUNNING, .limit = ATTENTION_RUNS};
    RunPage page;
    TRY(store_list_runs(store, groups->arena, &filter, &page, diag));
    for (size_t i = 0; i < page.count; i++) {
        const RunRow *run = &page.rows[i];
        bool is_new = groups->now_ms - run->updated_at_ms < UNSERVED_MS;
        if (!run_is_reserved(run) || is_new) continue;
        AttentionGroup wanted = {.kind = "unserved_runs", .workflow = run->workflow};
        DefinitionRow definition;
        Status status =
            store_definition_by_key(store, groups->arena, run->definition, &definition, diag);
        if (status == OK) wanted.name = definition.version;
        else if (status != ERR_NOT_FOUND) return status; // one in C has none
        attention_add(groups, &wanted, run->id, run->updated_at_ms);
    }
    mark_more(groups, "unserved_runs", page.next != 0);
    return OK;
}

static void look_at_unserved(AttentionGroups *groups) {
    Unserved *found;
    size_t count = workers_get_unserved(&groups->server->workers, groups->arena, &found);
    for (size_t i = 0; i < count; i++) {
        const AttentionGroup wanted = {
            .kind = "unserved_tasks", .queue = found[i].queue, .name = found[i].name};
        AttentionGroup *group = attention_add(groups, &wanted, found[i].task_id, found[i].since_ms);
        if (group != NULL) group->is_more = true; // one task stands for all of the pair
    }
}

static Status look_at_retries(AttentionGroups *groups, Diag *diag) {
    const TaskFilter filter = {.states = 1u << TASK_QUEUED, .page = {.limit = ATTENTION_TASKS}};
    Store *store = engine_store(groups->server->engine);
    TaskPage page;
    TRY(store_list_tasks(store, groups->arena, &filter, &page, diag));
    for (size_t i = 0; i < page.count; i++) {
        const TaskRow *task = &page.rows[i];
        if (task->attempt < ATTENTION_RETRIES || str_is_null(task->error)) continue;
        RunErrorText error;
        filter_parse_error(groups->arena, task->error, &error);
        const AttentionGroup wanted = {.kind = "failing_retries",
                                       .queue = task->queue,
                                       .name = task->name,
                                       .error_name = error.name,
                                       .error_message = cut(error.message)};
        attention_add(groups, &wanted, task->id, task->created_at_ms);
    }
    groups->tasks_seen = (int64_t)page.count;
    mark_more(groups, "failing_retries", page.next != 0);
    return OK;
}

static Status look_at_letters(AttentionGroups *groups, Diag *diag) {
    const PageSpec newest = {.limit = ATTENTION_LETTERS};
    DeadLetterPage page;
    Store *store = engine_store(groups->server->engine);
    TRY(store_list_dead_letters(store, groups->arena, &newest, &page, diag));
    for (size_t i = 0; i < page.count; i++) {
        const DeadLetterRow *letter = &page.rows[i];
        const AttentionGroup wanted = {.kind = "dead_letters",
                                       .name = str_is_null(letter->topic) ? letter->name
                                                                          : letter->topic,
                                       .error_message = letter->reason};
        Str id = arena_printf(groups->arena, "%lld", (long long)letter->key);
        attention_add(groups, &wanted, id, letter->created_at_ms);
    }
    mark_more(groups, "dead_letters", page.next != 0);
    return OK;
}

static Status look_at_topics(AttentionGroups *groups, Diag *diag) {
    const NamePageSpec first = {.limit = LIMIT_LIST_PAGE};
    TopicPage page;
    Store *store = engine_store(groups->server->engine);
    TRY(store_list_topics(store, groups->arena, &first, &page, diag));
    for (size_t i = 0; i < page.count; i++) {
        if (!page.rows[i].is_full) continue;
        const AttentionGroup wanted = {.kind = "full_topics", .name = page.rows[i].row.name};
        attention_add(groups, &wanted, page.rows[i].row.name, 0);
    }
    return OK;
}

static Status look_at_schedules(AttentionGroups *groups, Diag *diag) {
    const PageSpec newest = {.limit = LIMIT_LIST_PAGE};
    SchedulePage page;
    Store *store = engine_store(groups->server->engine);
    TRY(store_list_schedules(store, groups->arena, &newest, &page, diag));
    for (size_t i = 0; i < page.count; i++) {
        const ScheduleRow *schedule = &page.rows[i];
        bool is_late =
            schedule->next_at_ms != 0 && schedule->is_paused == 0 &&
            schedule->next_at_ms + schedule->jitter_ms + ATTENTION_LATE_MS < groups->now_ms;
        if (!is_late) continue;
        const AttentionGroup wanted = {
            .kind = "late_schedules", .name = schedule->name, .workflow = schedule->workflow};
        attention_add(groups, &wanted, schedule->name, schedule->next_at_ms);
    }
    return OK;
}

// Of a store that only one process may open, the dead one is the one before this.
static Status look_at_nodes(AttentionGroups *groups, Diag *diag) {
    if (!engine_is_shared(groups->server->engine)) return OK;
    const PageSpec all = {.limit = LIMIT_LIST_PAGE};
    NodePage page;
    Store *store = engine_store(groups->server->engine);
    TRY(store_list_nodes(store, groups->arena, &all, &page, diag));
    for (size_t i = 0; i < page.count; i++) {
        const NodeRow *node = &page.rows[i].row;
        if (node->lease_until_ms > groups->now_ms) continue;
        const AttentionGroup wanted = {.kind = "dead_nodes", .name = node->name};
        attention_add(groups, &wanted, node->name, node_end_ms(node));
    }
    return OK;
}

// In the order in which they are told: the most pressing first.
static Status look(AttentionGroups *groups, Diag *diag) {
    Store *store = engine_store(groups->server->engine);
    TRY(store_stats(store, groups->arena, &groups->stats, diag));
    TRY(look_at_nodes(groups, diag));
    TRY(look_at_runs(groups, RUN_PAUSED, "paused_runs", &groups->paused_seen, diag));
    TRY(look_at_runs(groups, RUN_FAILED, "failed_runs", &groups->failed_seen, diag));
    TRY(look_at_reserved(groups, diag));
    look_at_unserved(groups);
    TRY(look_at_retries(groups, diag));
    TRY(look_at_topics(groups, diag));
    TRY(look_at_schedules(groups, diag));
    return look_at_letters(groups, diag);
}

static Status look_again(Server *server, Attention *attention, int64_t now_ms, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    AttentionGroups groups = {.server = server,
                              .arena = &arena,
                              .now_ms = now_ms,
                              .groups =
                                  ARENA_ARRAY(&arena, AttentionGroup, ATTENTION_GROUPS_MAX + 1)};
    Status status = look(&groups, diag);
    if (status == OK) {
        JsonWriter json;
        buf_clear(&attention->text);
        json_writer_init(&json, &attention->text, STR_NULL);
        attention_render(&json, &groups);
        attention->made_at_ms = now_ms;
    }
    arena_done(&arena);
    return status;
}

Status attention_write(Server *server, JsonWriter *json, Diag *diag) {
    Attention *attention = &server->attention;
    int64_t now_ms = engine_now_ms(server->engine);
    pthread_mutex_lock(&attention->lock); // [attention-2] whoever comes meanwhile waits for it
    bool is_fresh = attention->text.len > 0 &&
                    now_ms - attention->made_at_ms < ATTENTION_FRESH_MS &&
                    now_ms >= attention->made_at_ms;
    Status status = is_fresh ? OK : look_again(server, attention, now_ms, diag);
    if (status == OK && attention->text.is_overflown)
        status = diag_set(diag, ERR_LIMIT, "ANSWER_TOO_LARGE", "there is too much to tell");
    if (status == OK) json_write_raw(json, buf_str(&attention->text));
    pthread_mutex_unlock(&attention->lock);
    return status;
}
