// Resident runs: the table of what is in memory, by key and by phase.
//
// A run's checkpoints are kept as an array by position, so that replaying a function costs one
// index per durable call. Strings of a checkpoint share one block.
//
// Invariants [resident-1]-[resident-3] are in resident.h.
//
// Not here: when runs are executed, committed or dropped (coordinator/runs.c, idle.c).
#include "engine/residents/resident.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/memory.h"
#include "engine/runners/flow.h"
#include "engine/runners/journal_index.h"

void residents_init(Residents *residents) {
    *residents = (Residents){0};
    map_init(&residents->by_key);
    map_init(&residents->evicted);
    heap_init(&residents->releases);
    for (int i = 0; i < PHASE_COUNT; i++) list_init(&residents->phases[i]);
}

void residents_done(Residents *residents) {
    for (int i = 0; i < PHASE_COUNT; i++)
        LIST_EACH_SAFE (node, after, &residents->phases[i])
            residents_remove(residents, container_of(node, ResidentRun, link));
    map_done(&residents->by_key);
    map_done(&residents->evicted);
    heap_done(&residents->releases);
}

ResidentRun *residents_get(const Residents *residents, int64_t key) {
    return map_get(&residents->by_key, (uint64_t)key);
}

static Str own(Str s) { return str_is_null(s) ? STR_NULL : (Str){mem_copy(s.data, s.len), s.len}; }

static void disown(Str *s) {
    mem_free((void *)(uintptr_t)s->data);
    *s = STR_NULL;
}

ResidentRun *residents_add(Residents *residents, const RunRow *row, Str input, Str parent_id) {
    ASSERT(residents_get(residents, row->key) == NULL);
    ResidentRun *run = mem_zalloc(sizeof(ResidentRun));
    run->key = row->key;
    run->claim = run_claim_of(row);
    run->awaited_task = NO_POSITION;
    run->kind = row->kind;
    run->tags = own(row->tags);
    run->id = own(row->id);
    run->workflow = own(row->workflow);
    run->input = own(input);
    run->parent_id = own(parent_id);
    run->snapshot = own(row->snapshot);
    run->size = sizeof(ResidentRun) + row->id.len + row->workflow.len + input.len + parent_id.len +
                row->snapshot.len;
    residents->total_size += run->size;
    run->phase = PHASE_READY;
    list_append(&residents->phases[PHASE_READY], &run->link);
    residents->counts[PHASE_READY]++;
    map_put(&residents->by_key, (uint64_t)run->key, run);
    return run;
}

// Name and data of an entry share one block that begins with the name.
static void free_entry(LogRow *entry) { mem_free((void *)(uintptr_t)entry->name.data); }

static size_t entry_size(const LogRow *entry) {
    return sizeof(LogRow) + entry->name.len + entry->data.len;
}

static void clear_checkpoints(Residents *residents, ResidentRun *run) {
    for (size_t i = 0; i < run->checkpoints.count; i++) {
        size_t size = entry_size(&run->checkpoints.data[i]);
        run->size -= size;
        residents->total_size -= size;
        free_entry(&run->checkpoints.data[i]);
    }
    vec_clear(&run->checkpoints);
    if (run->index != NULL) journal_index_done(run->index);
    mem_free(run->index);
    run->index = NULL;
    run->next_attempts = 0;
}

void resident_clear_deliveries(Residents *residents, ResidentRun *run) {
    for (size_t i = 0; i < run->deliveries.count; i++) {
        size_t size = entry_size(&run->deliveries.data[i]);
        run->size -= size;
        residents->total_size -= size;
        free_entry(&run->deliveries.data[i]);
    }
    vec_clear(&run->deliveries);
}

static void tell_parked(const Residents *residents, const ResidentRun *run, bool is_parked) {
    if (residents->on_parked == NULL) return; // [resident-4]
    residents->on_parked(residents->on_parked_context, run->key, is_parked);
}

// It is about to leave its phase.
static void leave_phase(Residents *residents, ResidentRun *run) {
    heap_remove(&residents->releases, &run->release);
    if (run->phase == PHASE_RELEASING) residents->releasing_size -= run->size;
    list_remove(&run->link);
    ASSERT(residents->counts[run->phase] > 0); // [resident-2]
    residents->counts[run->phase]--;
}

void residents_remove(Residents *residents, ResidentRun *run) {
    leave_phase(residents, run);
    if (phase_is_parked(run->phase)) tell_parked(residents, run, false);
    clear_checkpoints(residents, run);
    vec_free(&run->checkpoints);
    resident_clear_deliveries(residents, run);
    vec_free(&run->deliveries);
    flow_runner_drop(run->machine);
    disown(&run->tags);
    ASSERT(residents->total_size >= run->size);
    residents->total_size -= run->size;
    map_remove(&residents->by_key, (uint64_t)run->key);
    disown(&run->id);
    disown(&run->workflow);
    disown(&run->input);
    disown(&run->parent_id);
    disown(&run->snapshot);
    mem_free(run);
}

void residents_evict(Residents *residents, ResidentRun *run) {
    ASSERT(run->phase == PHASE_PARKED);                   // [resident-3]
    if (residents->evicted.count >= LIMIT_EVICTED_RUNS) { // those that went on elsewhere stay in it
        map_done(&residents->evicted);
        map_init(&residents->evicted);
    }
    (void)map_put(&residents->evicted, (uint64_t)run->key, residents);
    residents_remove(residents, run);
}

bool residents_take_evicted(Residents *residents, int64_t key) {
    return map_remove(&residents->evicted, (uint64_t)key) != NULL;
}

void residents_move(Residents *residents, ResidentRun *run, Phase phase) {
    bool was_parked = phase_is_parked(run->phase), is_parked = phase_is_parked(phase);
    ASSERT(phase < PHASE_COUNT && run->phase < PHASE_COUNT); // [resident-2]
    leave_phase(residents, run);
    run->phase = phase;
    list_append(&residents->phases[phase], &run->link);
    residents->counts[phase]++;
    if (phase == PHASE_RELEASING) residents->releasing_size += run->size;
    if (was_parked != is_parked) tell_parked(residents, run, is_parked);
}

void residents_schedule(Residents *residents, ResidentRun *run, int64_t at_ms) {
    ASSERT(phase_is_parked(run->phase));
    heap_remove(&residents->releases, &run->release);
    run->release.at = at_ms;
    heap_push(&residents->releases, &run->release);
}

size_t residents_first(const Residents *residents, Phase phase, size_t max, int64_t *ret_keys) {
    size_t count = 0;
    LIST_EACH (node, &residents->phases[phase]) {
        if (count == max) break;
        ret_keys[count++] = container_of(node, ResidentRun, link)->key;
    }
    return count;
}

ResidentRun *residents_find_parked(const Residents *residents, Str id) {
    static const Phase phases[] = {PHASE_PARKED, PHASE_WATCHED, PHASE_RELEASING};
    for (size_t i = 0; i < 3; i++)
        LIST_EACH (node, &residents->phases[phases[i]]) {
            ResidentRun *run = container_of(node, ResidentRun, link);
            if (str_equal(run->id, id)) return run;
        }
    return NULL;
}

// A copy that owns its name and data.
static LogRow copy_entry(const LogRow *entry) {
    LogRow copy = *entry;
    size_t name_len = entry->name.len, data_len = entry->data.len;
    char *block = mem_alloc(name_len + data_len + 2);
    if (name_len > 0) memcpy(block, entry->name.data, name_len);
    block[name_len] = 0;
    if (data_len > 0) memcpy(block + name_len + 1, entry->data.data, data_len);
    block[name_len + 1 + data_len] = 0;
    copy.name = (Str){block, name_len};
    if (!str_is_null(entry->data)) copy.data = (Str){block + name_len + 1, data_len};
    return copy;
}

static void count_entry(Residents *residents, ResidentRun *run, const LogRow *entry) {
    run->size += entry_size(entry);
    residents->total_size += entry_size(entry);
}

// [journal-index-1]
static void index_last(ResidentRun *run) {
    size_t count = run->checkpoints.count, from = count - 1;
    if (count < JOURNAL_INDEX_FROM) return;
    if (run->index == NULL) {
        run->index = mem_alloc(sizeof(JournalIndex));
        journal_index_init(run->index);
        from = 0;
    }
    for (; from < count; from++) journal_index_add(run->index, &run->checkpoints.data[from], from);
}

void resident_add_entry(Residents *residents, ResidentRun *run, const LogRow *entry) {
    if (entry->seq > run->last_seq) run->last_seq = entry->seq;
    if (run->kind == RUN_FLOW) {
        if (entry->kind != LOG_WAIT) return;
        LogRow copy = copy_entry(entry);
        vec_push(&run->deliveries, copy);
        count_entry(residents, run, &copy);
        return;
    }
    if (!log_has_position(entry)) return;
    ASSERT(entry->position == (int64_t)run->checkpoints.count);
    if (entry->kind == LOG_STEP_ATTEMPT && run->kind != RUN_CODE) {
        run->next_attempts = entry->attempt;
        return;
    }
    LogRow copy = copy_entry(entry);
    vec_push(&run->checkpoints, copy);
    if (run->kind == RUN_CODE) index_last(run);
    run->next_attempts = 0;
    count_entry(residents, run, &copy);
}

void resident_restart(Residents *residents, ResidentRun *run, Str input) {
    ASSERT(run->phase == PHASE_COMMITTING);
    clear_checkpoints(residents, run);
    residents->total_size += input.len;
    residents->total_size -= run->input.len;
    run->size = run->size + input.len - run->input.len;
    disown(&run->input);
    run->input = own(input);
    run->claim.incarnation++;
    run->claim.retries = 0;
    resident_clear_deliveries(residents, run);
    resident_set_machine(residents, run, NULL);
}

static void count_machine(Residents *residents, ResidentRun *run, size_t size) {
    run->size = run->size + size - run->machine_size;
    residents->total_size = residents->total_size + size - run->machine_size;
    run->machine_size = size;
}

void resident_set_machine(Residents *residents, ResidentRun *run, void *machine) {
    ASSERT(machine == NULL || run->kind == RUN_FLOW);
    flow_runner_drop(run->machine);
    run->machine = machine;
    count_machine(residents, run, flow_runner_machine_size(machine));
    run->size -= run->snapshot.len;
    residents->total_size -= run->snapshot.len;
    disown(&run->snapshot);
}

void resident_view(ResidentRun *run, RunView *ret_view) {
    *ret_view = (RunView){
        .key = run->key,
        .id = run->id,
        .workflow = run->workflow,
        .definition = run->claim.definition,
        .input = run->input,
        .parent_id = run->parent_id,
        .incarnation = run->claim.incarnation,
        .attempts = run->claim.attempts,
        .retries = run->claim.retries,
        .started_at_ms = run->claim.started_at_ms,
        .is_cancel_wanted = run->claim.is_cancel_wanted,
        .checkpoints = run->checkpoints.data,
        .checkpoint_count = run->checkpoints.count,
        .index = run->index,
        .next_attempts = run->next_attempts,
        .snapshot = run->snapshot,
        .machine = run->machine,
        .tags = run->tags,
        .last_seq = run->last_seq,
        .deliveries = run->deliveries.data,
        .delivery_count = run->deliveries.count,
    };
    run->machine = NULL;
}
