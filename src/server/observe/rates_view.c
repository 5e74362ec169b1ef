// Rates of all processes, added up.
//
// Counts are added. What is queued and suspended is the same for everybody, so the last who said it
// counts; what is in memory is added. Of latencies the highest is taken: quantiles cannot be added.
//
// Invariants [observe-rates-1]-[observe-rates-3] are in rates.h.
#include "base/memory.h"
#include "server/exchange/render.h"
#include "server/server.h"
#include "store/reads.h"

// All steps for which there may be rows, in the resolution of the rows.
typedef struct Sum {
    Server *server;
    Arena *arena;
    Diag *diag;
    int64_t step_ms, from_ms;
    size_t count;
    int64_t now_ms;
    bool *is_known;
    RatePoint *points; // is_there: gauges of the store were said in this step
    int64_t node_count;
} Sum;

// A process: its rows, and until when it is known to have been up.
typedef struct Process {
    int64_t source;
    int64_t up_ms, until_ms;
} Process;

typedef struct Processes {
    Process *items;
    size_t count;
} Processes;

static int64_t highest(int64_t a, int64_t b) { return a > b ? a : b; }

static size_t place_of(const Sum *sum, int64_t at_ms) { // of a moment, or the end
    if (at_ms <= sum->from_ms) return 0;
    size_t place = (size_t)((at_ms - sum->from_ms) / sum->step_ms);
    return place < sum->count ? place : sum->count;
}

static void point_add(RatePoint *to, const RatePoint *from) {
    for (int i = 0; i < RATE_COUNTS; i++) to->values[i] += from->values[i];
    for (int i = RATE_QUEUED; i < RATE_SERIES_COUNT; i++)
        if (i != RATE_RESIDENT) to->values[i] = highest(to->values[i], from->values[i]);
    to->is_there = true;
}

// The steps of one process: its points in order, and between them what stayed as it was.
static void process_add(Sum *sum, const Process *process, const RatePoint *const *steps) {
    size_t first = place_of(sum, process->up_ms);
    size_t end = place_of(sum, process->until_ms + sum->step_ms - 1);
    int64_t resident = RATE_UNKNOWN;
    for (size_t i = first; i < end; i++) {
        sum->is_known[i] = true; // [observe-rates-3]
        if (steps[i] != NULL) {
            point_add(&sum->points[i], steps[i]);
            resident = steps[i]->values[RATE_RESIDENT];
        }
        if (resident == RATE_UNKNOWN) continue;
        int64_t *total = &sum->points[i].values[RATE_RESIDENT];
        *total = highest(*total, 0) + resident;
    }
}

// Gauges of the store stay until somebody says otherwise.
static void carry_gauges(Sum *sum) {
    for (size_t i = 1; i < sum->count; i++) {
        if (sum->points[i].is_there || !sum->is_known[i]) continue;
        for (int j = RATE_QUEUED; j <= RATE_SUSPENDED; j++)
            sum->points[i].values[j] = sum->points[i - 1].values[j];
    }
}

// ---- reading ----

static Process *process_get(Processes *processes, int64_t source) {
    for (size_t i = 0; i < processes->count; i++)
        if (processes->items[i].source == source) return &processes->items[i];
    Process *process = &processes->items[processes->count++];
    *process = (Process){.source = source, .up_ms = INT64_MAX};
    return process;
}

static void process_stretch(Process *process, int64_t up_ms, int64_t until_ms) {
    if (up_ms < process->up_ms) process->up_ms = up_ms;
    if (until_ms > process->until_ms) process->until_ms = until_ms;
}

typedef struct Row {
    RateRow row;
    RatePoints points;
} Row;

typedef struct Rows {
    Row *items;
    size_t count;
} Rows;

static Status rows_read(const Sum *sum, Rows *ret_rows) {
    Server *server = sum->server;
    Arena *arena = sum->arena;
    const RateFilter filter = {.step_ms = sum->step_ms, .from_ms = sum->from_ms};
    RateList list;
    Row *present = ARENA_NEW(arena, Row);
    TRY(store_list_rates(engine_store(server->engine), arena, &filter, &list, sum->diag));
    rates_present(server, sum->step_ms, &present->row, &present->points);
    ret_rows->items = ARENA_ARRAY(arena, Row, list.count + 1);
    ret_rows->items[0] = *present;
    ret_rows->count = 1;
    for (size_t i = 0; i < list.count; i++) {
        Row *row = &ret_rows->items[ret_rows->count];
        bool is_present = list.rows[i].source == present->row.source &&
                          list.rows[i].from_ms == present->row.from_ms;
        if (is_present || !rates_read_row(arena, list.rows[i].points, &row->points)) continue;
        row->row = list.rows[i];
        ret_rows->count++;
    }
    return OK;
}

static void process_meet(const Sum *sum, Processes *processes, const Row *row) {
    int last = RATE_ROW_STEPS - 1;
    while (last > 0 && !row->points.steps[last].is_there) last--;
    process_stretch(process_get(processes, row->row.source), row->points.up_ms,
                    row->row.from_ms + (last + 1) * sum->step_ms);
}

// Nodes that are alive are up until now, whether they have said anything or not.
static Status nodes_meet(Sum *sum, Processes *processes) {
    const PageSpec all = {.limit = LIMIT_LIST_PAGE};
    NodePage nodes;
    TRY(store_list_nodes(engine_store(sum->server->engine), sum->arena, &all, &nodes, sum->diag));
    Process *items = ARENA_ARRAY(sum->arena, Process, processes->count + nodes.count + 1);
    memcpy(items, processes->items, processes->count * sizeof *items);
    processes->items = items;
    for (size_t i = 0; i < nodes.count; i++) {
        const NodeRow *node = &nodes.rows[i].row;
        if (node->lease_until_ms <= sum->now_ms) continue;
        sum->node_count++;
        process_stretch(process_get(processes, node->key), node->started_at_ms, sum->now_ms);
    }
    return OK;
}

static Status processes_find(Sum *sum, const Rows *rows, Processes *ret_processes) {
    *ret_processes = (Processes){.items = ARENA_ARRAY(sum->arena, Process, rows->count + 1)};
    for (size_t i = 0; i < rows->count; i++) process_meet(sum, ret_processes, &rows->items[i]);
    Process *own = process_get(ret_processes, rows->items[0].row.source);
    process_stretch(own, sum->server->started_at_ms, sum->now_ms);
    return nodes_meet(sum, ret_processes);
}

static void rows_place(const Sum *sum, const Rows *rows, int64_t source, const RatePoint **steps) {
    memset(steps, 0, sum->count * sizeof *steps);
    for (size_t i = 0; i < rows->count; i++) {
        const Row *row = &rows->items[i];
        if (row->row.source != source) continue;
        for (int j = 0; j < RATE_ROW_STEPS; j++) {
            int64_t at_ms = row->row.from_ms + j * sum->step_ms;
            if (!row->points.steps[j].is_there || at_ms < sum->from_ms) continue;
            size_t place = place_of(sum, at_ms);
            if (place < sum->count) steps[place] = &row->points.steps[j];
        }
    }
}

static Status sum_up(Sum *sum) {
    Rows rows;
    Processes processes;
    TRY(rows_read(sum, &rows));
    TRY(processes_find(sum, &rows, &processes));
    const RatePoint **steps = ARENA_ARRAY(sum->arena, const RatePoint *, sum->count + 1);
    for (size_t i = 0; i < processes.count; i++) {
        rows_place(sum, &rows, processes.items[i].source, steps);
        process_add(sum, &processes.items[i], steps);
    }
    carry_gauges(sum);
    return OK;
}

// ---- writing ----

// The value of a series over several steps: counts together, the last of a gauge, the highest of a
// latency; RATE_UNKNOWN when nothing is known.
static int64_t value_over(const Sum *sum, size_t from, size_t to, int series) {
    int64_t value = RATE_UNKNOWN;
    for (size_t i = from; i < to && i < sum->count; i++) {
        int64_t one = sum->points[i].values[series];
        if (!sum->is_known[i] || one == RATE_UNKNOWN) continue;
        if (series < RATE_COUNTS) value = highest(value, 0) + one;
        else if (series <= RATE_RESIDENT) value = one;
        else value = highest(value, one);
    }
    return value;
}

static void put_series(JsonWriter *json, const Sum *sum, const RateSpan *span, int series) {
    json_write_key(json, str_from(rate_series_name(series)));
    json_write_array_begin(json);
    size_t width = (size_t)(span->step_ms / sum->step_ms);
    for (int64_t at_ms = span->from_ms; at_ms < span->to_ms; at_ms += span->step_ms) {
        size_t place = place_of(sum, at_ms);
        int64_t value = value_over(sum, place, place + width, series);
        if (value == RATE_UNKNOWN) json_write_null(json);
        else if (series < RATE_RESUME_P50) json_write_i64(json, value);
        else json_write_number(json, (double)value / 1000); // ms
    }
    json_write_array_end(json);
}

Status rates_write(Server *server, Arena *arena, const RateSpan *span, JsonWriter *json,
                   Diag *diag) {
    int64_t step_ms = span->step_ms % RATE_COARSE_MS == 0 ? RATE_COARSE_MS : RATE_FINE_MS;
    int64_t from_ms = span->from_ms - rate_keep_ms(step_ms);
    Sum sum = {.server = server,
               .arena = arena,
               .diag = diag,
               .step_ms = step_ms,
               .from_ms = from_ms - from_ms % rate_row_ms(step_ms),
               .now_ms = server_clock_ms()};
    sum.count = (size_t)((span->to_ms - sum.from_ms) / step_ms);
    sum.is_known = ARENA_ARRAY(arena, bool, sum.count);
    sum.points = ARENA_ARRAY(arena, RatePoint, sum.count);
    for (size_t i = 0; i < sum.count; i++)
        for (int j = RATE_QUEUED; j < RATE_SERIES_COUNT; j++)
            sum.points[i].values[j] = RATE_UNKNOWN;
    TRY(sum_up(&sum));
    json_write_object_begin(json);
    json_put_i64(json, "step_ms", span->step_ms);
    render_instant(json, "from", span->from_ms);
    render_instant(json, "to", span->to_ms);
    json_write_key(json, STR("series"));
    json_write_object_begin(json);
    for (int i = 0; i < RATE_SERIES_COUNT; i++) put_series(json, &sum, span, i);
    json_write_object_end(json);
    json_put_i64(json, "nodes", highest(sum.node_count, 1));
    json_write_object_end(json);
    return OK;
}
