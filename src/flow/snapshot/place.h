// Places: where a parked script stands, as one number.
//
// All functions in flight count, each once, so that runs that stand alike have the same number;
// the first one that waits is in it in the clear, so that its line is known without a snapshot.
//
//   16 bits: number of the function | 21 bits: its instruction | 25 bits: a digest of all of them
//
// Numbers are stored (model/snapshot.h): the form is part of the file format. A number is of one
// version of a script: 0 and 1 are never made.
#pragma once
#include "flow/flow.h"
#include <stdint.h>

enum { FLOW_PLACE_FUNCTIONS_MAX = 32 }; // more different ones in flight are not told apart

typedef struct FlowPlaceSet { // while a snapshot is written
    uint32_t count;
    bool has_first;
    uint64_t first;
    uint64_t seen[FLOW_PLACE_FUNCTIONS_MAX];
} FlowPlaceSet;

void flow_place_add(FlowPlaceSet *set, uint32_t routine, uint32_t pc, bool is_waiting);
int64_t flow_place_number(const FlowPlaceSet *set);

typedef struct FlowPlace {
    uint32_t line, column;
    Str function; // in the arena; empty = the workflow itself, or one without a name
    Str source;   // the line, trimmed; of the module
} FlowPlace;

// Of the snapshot that was written last; 0 = none was.
int64_t flow_vm_place(const FlowVm *vm);
// What such a number says of the code it belongs to. False: it is not of this code.
bool flow_module_place(const FlowModule *module, int64_t place, Arena *arena, FlowPlace *ret_place);
