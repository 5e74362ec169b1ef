// Masks of a machine: the data that `config.secret` of its workflow names, found in its heap.
//
// Paths begin at any variable, any property and at Inputs (json/mask.h). What is found is hidden in
// three ways: by its place; wherever else the same object is; and wherever its texts stand in other
// texts, so that a copy under another name, or a message that was made of it, does not show them.
//
//   [mask-1] A machine that goes on is only looked at. flow_mask_hide changes values: it is for
//        copies, and for a run that has failed.
//   [mask-2] Texts of fewer than MASK_TEXT_MIN units, and texts after the first MASK_TEXTS_MAX, are
//        hidden by their places only: they would be found everywhere, or take too long.
#pragma once
#include "base/containers/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "flow/value/object.h"
#include "json/mask.h"

enum { MASK_TEXT_MIN = 4, MASK_TEXTS_MAX = 100, MASK_TEXT_MAX = 1024 };

typedef struct FlowMaskText {
    FlowString *text; // flat
    uint32_t path;    // index of a name of the path
} FlowMaskText;

typedef struct FlowMasked {
    FlowVm *vm;
    const Mask *mask;
    FlowString *names[MASK_NAMES_MAX];
    FlowKey keys[MASK_NAMES_MAX];
    VEC(FlowCell *) cells; // of the heap, as it was
    Map states;            // by cell: the ways that lead to it, as MaskState
    VEC(FlowCell *) todo;  // cells whose state has grown
    Map hidden;            // by cell: 1 + index of a name of the path
    VEC(FlowCell *) hidden_todo;
    VEC(FlowMaskText) texts;
    bool is_hiding;
    FlowValue secrets[MASK_NAMES_MAX]; // what is put in the place of values
} FlowMasked;

// What nobody is shown of this run; NULL: everything is shown.
const Mask *flow_vm_mask(const FlowVm *vm);
// Looks through the heap. flow_masked_done frees it.
void flow_masked_init(FlowMasked *masked, FlowVm *vm);
void flow_masked_done(FlowMasked *masked);
// The path that hides this property of an object; null: none does.
Str flow_masked_property(const FlowMasked *masked, const FlowObject *object, FlowKey key);
// Likewise an object as a whole.
Str flow_masked_object(const FlowMasked *masked, const FlowObject *object);
// Appends the text, with masks for what is hidden.
void flow_masked_text(const FlowMasked *masked, Str text, Buf *out);
// The same for one text, also where nothing is hidden.
void flow_mask_text(FlowVm *vm, Str text, Buf *out);
