// Reads of places: where the runs of a version stand, and how many.
//
// A version has as many places as it has awaits, and where branches wait beside each other their
// combinations: one page holds them, and says when it does not.
//
// Not here: counting them (kernel/runs/places.c).
#include "store/reads/internal.h"

Status read_places(Reads *reads, int64_t definition, PlaceList *ret_list) {
    PlaceRow wanted = {.definition = definition};
    Scan scan = scan_of(TABLE_PLACES, SCAN_PRIMARY, &wanted, LIMIT_LIST_PAGE + 1);
    TRY(rows_scan(reads->rows, &scan, reads->arena, &ret_list->rows, &ret_list->count));
    ret_list->is_cut = ret_list->count > LIMIT_LIST_PAGE;
    if (ret_list->is_cut) ret_list->count = LIMIT_LIST_PAGE;
    return OK;
}
