// The realm from the inside: its tables and its bookkeeping.
#pragma once
#include "base/containers/map.h"
#include "flow/realm/realm.h"

extern const FlowClassEntry *const flow_realm_classes[]; // realm/tables.c; end with NULL
extern const FlowNativeEntry *const flow_realm_globals[];
extern const FlowNativeEntry *const flow_realm_intrinsics[];

// The text of all prelude/*.js files, one after the other (made by prelude/embed.py).
extern const char flow_prelude_source[];
extern const size_t flow_prelude_source_len;

// realm.c: remembers the path of an object, symbol or function made while building.
void flow_realm_name(FlowVm *vm, const void *object, const char *prefix, const char *name);
// realm/build.c: fills the realm of the bootstrap VM.
void flow_realm_build(FlowVm *vm);
