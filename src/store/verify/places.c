// Verify: places of scripts count the runs that stand there ([verify-internal-7]).
//
// What the runs say is gathered while they are walked; then each row of the table must say the
// same, and nothing may be left. Places beyond a bound are not compared: memory is bounded.
//
// Not here: what counts as standing at a place (kernel/runs/places.c).
#include "store/verify/internal.h"

static PlaceRow *find(Verify *verify, int64_t definition, int64_t place, bool is_made) {
    uint64_t key = (uint64_t)place ^ (uint64_t)definition * UINT64_C(0x9E3779B97F4A7C15);
    PlaceRow *row;
    for (; (row = map_get(&verify->places, key)) != NULL; key++)
        if (row->definition == definition && row->place == place) return row;
    if (!is_made || verify->places.count >= VERIFY_NAMES_MAX) return NULL;
    row = ARENA_NEW(&verify->kept, PlaceRow);
    *row = (PlaceRow){.definition = definition, .place = place};
    map_put(&verify->places, key, row);
    return row;
}

void verify_run_place(Verify *verify, const RunRow *run) {
    PlaceCount what = place_count_of(run);
    PlaceRow *row =
        what != PLACE_NOT_COUNTED ? find(verify, run->definition, run->place, true) : NULL;
    if (row == NULL) return;
    row->waiting_count += what == PLACE_WAITING;
    row->failed_count += what == PLACE_FAILED;
}

static Status example_check(Verify *verify, const PlaceRow *stored) {
    if (stored->example == 0) return OK;
    RunRow run;
    Status status = verify_find_run(verify, stored->example, &run);
    bool is_there = status == OK && place_count_of(&run) != PLACE_NOT_COUNTED &&
                    run.definition == stored->definition && run.place == stored->place;
    if (is_there || (status != OK && status != ERR_NOT_FOUND)) return status;
    return verify_bad_key(verify, "the example of a place does not stand there", stored->example);
}

static Status row_check(Verify *verify, const PlaceRow *stored) {
    PlaceRow *counted = find(verify, stored->definition, stored->place, false);
    bool is_same = counted != NULL && counted->waiting_count == stored->waiting_count &&
                   counted->failed_count == stored->failed_count;
    bool is_bounded = verify->places.count >= VERIFY_NAMES_MAX;
    if (!is_same && !is_bounded)
        return verify_bad_key(verify, "a place counts other runs than stand there, of version",
                              stored->definition);
    if (counted != NULL) counted->waiting_count = counted->failed_count = 0;
    return example_check(verify, stored);
}

static Status rest_check(Verify *verify) {
    uint64_t key;
    void *entry;
    for (size_t at = 0; map_next(&verify->places, &at, &key, &entry);) {
        const PlaceRow *row = entry;
        if (row->waiting_count != 0 || row->failed_count != 0)
            return verify_bad_key(verify, "runs stand at a place that is not counted, of version",
                                  row->definition);
    }
    return OK;
}

Status verify_places(Verify *verify) {
    PlaceRow last;
    for (bool is_first = true;; is_first = false) {
        PlaceRow *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = TABLE_PLACES,
                     .index = SCAN_PRIMARY,
                     .after_row = is_first ? NULL : &last,
                     .limit = VERIFY_CHUNK};
        arena_reset(&verify->page);
        TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            arena_reset(&verify->scratch);
            TRY(row_check(verify, &rows[i]));
        }
        verify->row_count += (int64_t)count;
        if (count < VERIFY_CHUNK) return rest_check(verify);
        last = rows[count - 1];
    }
}
