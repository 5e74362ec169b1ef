// View: a value of a script as JSON that a person or a page can show, as deep as asked.
//
//   {"type":"object","text":"{id, total}","size":2,"items":[{"key":"id","type":"number",…}…]}
//
//   [view-1] Nothing here runs script code or changes what a script can see.
//   [view-2] Texts are cut and items left out beyond a limit; `size` says how much there is.
#pragma once
#include "base/containers/buf.h"
#include "flow/value/object.h"
#include "json/write.h"

enum {
    VIEW_TEXT_MAX = 60,       // units of a string among others
    VIEW_WHOLE_MAX = 1 << 16, // … and of one that was asked for
    VIEW_LONG_MAX = 1000,
    VIEW_ITEMS_MAX = 100,
    VIEW_NODES_MAX = 20000
};

typedef struct FlowViewer {
    FlowVm *vm;
    JsonWriter *json;
    Buf *scratch;
    uint32_t nodes_left; // VIEW_NODES_MAX at first
    uint32_t text_max;   // units of a string that are shown
} FlowViewer;

// Writes the members of the view into the object that is open.
void flow_view_members(FlowViewer *viewer, FlowValue value, uint32_t depth);
// One line of it, as text and not as JSON.
void flow_view_text(FlowVm *vm, FlowValue value, uint32_t text_max, Buf *out);
// No function, promise or the like, but what people mean by a variable's content.
bool flow_view_is_data(FlowValue value);
