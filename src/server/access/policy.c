// Publishing a server's policy.
//
// One pointer is swapped; requests load it once. Replaced versions hang in a chain behind the
// current one and go with the server. Invariants [policy-1] and [policy-2] are in policy.h.
//
// Not here: what the settings mean (auth.c, http/http.c), where they come from (cli/settings).
#include "server/access/policy.h"
#include "base/memory.h"

typedef struct PolicyVersion {
    ServerPolicy policy;
    Arena arena; // of the origins
    struct PolicyVersion *before;
} PolicyVersion;

void policy_publish(PolicyHolder *holder, const ServerPolicy *policy) {
    PolicyVersion *version = mem_zalloc(sizeof *version);
    arena_init(&version->arena);
    version->policy = *policy;
    Str *origins = ARENA_ARRAY(&version->arena, Str, policy->origin_count + 1);
    for (size_t i = 0; i < policy->origin_count; i++)
        origins[i] = arena_str(&version->arena, policy->origins[i]);
    version->policy.origins = origins;
    version->before = atomic_load(&holder->current);
    atomic_store(&holder->current, version); // [policy-1]
}

void policy_init(PolicyHolder *holder, const ServerPolicy *policy) {
    atomic_init(&holder->current, NULL);
    policy_publish(holder, policy);
}

void policy_done(PolicyHolder *holder) {
    PolicyVersion *version = atomic_exchange(&holder->current, NULL);
    while (version != NULL) {
        PolicyVersion *before = version->before;
        arena_done(&version->arena);
        mem_free(version);
        version = before;
    }
}

const ServerPolicy *policy_get(PolicyHolder *holder) {
    return &atomic_load(&holder->current)->policy;
}

bool policy_has_origin(const ServerPolicy *policy, Str origin) {
    for (size_t i = 0; i < policy->origin_count; i++)
        if (str_equal(policy->origins[i], STR("*")) || str_equal(policy->origins[i], origin))
            return true;
    return false;
}
