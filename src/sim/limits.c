// The limits of a history: those that were asked for, or drawn from its seed.
//
// One seed in three runs under the documented limits, one under a few that are lowered, one under
// many: so what happens at each of them is met by every run of many seeds.
//
// Not here: the table of limits (base/limits.h).
#include "base/limits.h"
#include "sim/sim.h"
#include <stdio.h>

// Small, so that runs also wait for room and are loaded again often.
const SimRoom sim_room_usual = {
    .active_runs = 16, .parked_runs = 4, .first_tasks = 2, .max_tasks = 8};

// Mostly the smallest, or a little more.
static uint32_t draw_value(Sim *sim, const LimitInfo *info) {
    uint64_t more = sim_random(sim, 2) == 0 ? 0 : sim_random(sim, 8 + info->least);
    uint64_t value = info->least + more;
    return value < info->most ? (uint32_t)value : info->most;
}

static void draw_limits(Sim *sim) {
    static const int64_t percents[] = {0, 10, 60};
    int64_t percent = percents[sim->options.seed % 3];
    for (size_t i = 0; i < limit_count; i++)
        if (sim_chance(sim, percent)) limits_set(&limit_infos[i], draw_value(sim, &limit_infos[i]));
    if (sim_chance(sim, percent)) sim->room.active_runs = 1 + (int64_t)sim_random(sim, 4);
    if (sim_chance(sim, percent)) sim->room.parked_runs = (int64_t)sim_random(sim, 3);
    if (sim_chance(sim, percent)) sim->room.first_tasks = sim->room.max_tasks = 1;
}

static void take_limits(Sim *sim) {
    bool is_understood = limits_read(str_from(sim->options.limits));
    ASSERT(is_understood);
    if (str_starts_with(str_from(sim->options.limits), STR("smallest")))
        sim->room = (SimRoom){.active_runs = 1, .parked_runs = 0, .first_tasks = 1, .max_tasks = 1};
}

void sim_limits_begin(Sim *sim) {
    limits_reset();
    sim->room = sim_room_usual;
    if (sim->options.limits == NULL) draw_limits(sim);
    else take_limits(sim);
    if (!sim->options.is_traced) return;
    printf("room: %lld active, %lld parked, %lld tasks\n", (long long)sim->room.active_runs,
           (long long)sim->room.parked_runs, (long long)sim->room.max_tasks);
    for (size_t i = 0; i < limit_count; i++)
        if (limits_get(&limit_infos[i]) < limit_infos[i].most)
            printf("limit %s=%u\n", limit_infos[i].name, limits_get(&limit_infos[i]));
}

void sim_limits_end(void) { limits_reset(); }
