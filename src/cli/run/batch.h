// Batch: `abide run --batch`, many programs through one process.
//
// Frames are "LENGTH\n" and that many bytes, on stdin a program each, on stdout a JSON object each:
// {"ok":true,"result":…} or {"ok":false,"error":{"name","message","stack"},"phase":"load"|"run"}.
#pragma once
#include "cli/run/program.h"

// Runs until stdin ends; answers an ExitCode. `limits` gives max_steps and memory_bytes.
int batch_run(const RunRequest *limits);
