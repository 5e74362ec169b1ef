// VirtualEnv: a clock that stands still until it is moved, for abide_options.virtual_time_ms.
//
//   [clock-1] Read by every thread of the engine, moved on the coordinator's thread only, so that
//        no batch sees two times.
//   [clock-2] It does not go back.
#pragma once
#include "base/env.h"
#include <stdatomic.h>

typedef struct VirtualEnv {
    Env base;
    _Atomic int64_t now_ms;
} VirtualEnv;

void virtual_env_init(VirtualEnv *env, int64_t now_ms);
