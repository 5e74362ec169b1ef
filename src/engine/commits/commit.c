// Commits: the pool they come from, and how operations enter one.
//
// Two are out at a time at most, so a few spare ones are all there can be; they are kept because
// their arenas have grown to what a batch needs.
//
// Invariants [commit-1]-[commit-3] are in commit.h.
//
// Not here: what goes into one (coordinator/gather.c), what comes of it (coordinator/apply.c,
// coordinator/failed.c).
#include "engine/commits/commit.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/memory.h"

size_t commit_room(const Commit *commit) { return commit->most - commit->batch.count; }

static Op *add(Commit *commit, CommitItem item) {
    vec_push(&commit->items, item);
    ASSERT(commit->items.count == commit->batch.count &&
           commit->batch.ops[commit->batch.count - 1] == item.op); // [commit-2]
    return item.op;
}

Op *commit_add_own(Commit *commit, OpKind kind) { return commit_add_result(commit, kind, NULL); }

Op *commit_add_result(Commit *commit, OpKind kind, Execution *execution) {
    ASSERT(commit_room(commit) > 0); // [commit-1]
    return add(commit, (CommitItem){.op = batch_add(&commit->batch, kind), .execution = execution});
}

void commit_add_request(Commit *commit, Request *request) {
    ASSERT(commit_room(commit) > 0); // [commit-1]
    batch_add_op(&commit->batch, &request->op);
    (void)add(commit, (CommitItem){.op = &request->op, .request = request});
}

void commits_init(Commits *self, Env *env) {
    *self = (Commits){.env = env};
    for (int i = 0; i < 4; i++) self->secret.words[i] = env_random_u64(env);
    list_init(&self->spare);
}

void commits_done(Commits *self) {
    LIST_EACH_SAFE (node, after, &self->spare) {
        Commit *commit = container_of(node, Commit, link);
        vec_free(&commit->items);
        arena_done(&commit->arena);
        mem_free(commit);
    }
}

Commit *commits_get(Commits *self, WorkflowSet *executes) {
    List *node = list_first(&self->spare);
    Commit *commit;
    if (node != NULL) {
        list_remove(node);
        commit = container_of(node, Commit, link);
    } else {
        commit = mem_zalloc(sizeof(Commit));
        list_init(&commit->link);
        arena_init(&commit->arena);
    }
    batch_init(&commit->batch, &commit->arena, env_now_ms(self->env));
    commit->most = LIMIT_BATCH_OPS;
    commit->batch.secret = self->secret;
    commit->executes = workflow_set_retain(executes);
    commit->batch.executes = commit->executes;
    return commit;
}

void commits_put(Commits *self, Commit *commit) {
    vec_clear(&commit->items);
    commit->made_tasks = commit->foreseen_count = 0;
    workflow_set_release(commit->executes);
    commit->executes = NULL;
    arena_reset(&commit->arena);
    list_append(&self->spare, &commit->link);
}

void commits_sign(Commits *self, Commit *commit) {
    commit->batch.node = self->node;
    commit->batch.number = ++self->last_number;
}

Commit *commits_hand_out(Commits *self, Commit *commit) {
    ASSERT(self->out_count < COMMITS_OUT_MAX); // [commit-3]
    self->out_count++;
    return commit;
}

void commits_came_back(Commits *self) {
    ASSERT(self->out_count > 0);
    self->out_count--;
}
