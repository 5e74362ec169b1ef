// How console shows values.
#pragma once
#include "base/containers/buf.h"
#include "flow/value/object.h"

// Appends `value` in the style of Node's util.inspect with its defaults: strings in quotes,
// objects two levels deep, one line while it fits in 72 columns. Differences: long arrays are not
// put in columns, and nothing a script has defined is called.
void flow_console_inspect(FlowVm *vm, Buf *out, FlowValue value);
