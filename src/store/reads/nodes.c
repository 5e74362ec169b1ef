// Reads of nodes, and how many runs each has.
//
// Where leases are kept beside the rows (RowStoreOps.heartbeat), a node's row is what it said when
// it joined: what it has told since is looked up, and counts for more.
//
// Not here: joining and leaving (kernel/nodes/nodes.c), runs that a node owns (reads/runs.c).
#include "store/reads/internal.h"

// What a node says beside its row counts for more ([heartbeats-1] of nodes/heartbeats.c).
static void lease_fill(const Heartbeat *look, NodeRow *node) {
    for (size_t i = 0; i < look->count && !node_is_fenced(node); i++) {
        if (look->heartbeats[i].node != node->key) continue;
        node->lease_until_ms = look->heartbeats[i].until_ms;
        node->resident_count = look->heartbeats[i].resident_count;
        return;
    }
}

static Status leases_look(Reads *reads, Heartbeat *ret_look) {
    RowStore *rows = reads->rows;
    *ret_look = (Heartbeat){0};
    return rows->ops->heartbeat != NULL ? rows->ops->heartbeat(rows, ret_look, reads->arena) : OK;
}

Status read_node(Reads *reads, int64_t key, NodeRow *ret_node) {
    NodeRow wanted = {.key = key};
    Heartbeat look;
    Status status = rows_get(reads->rows, TABLE_NODES, &wanted, reads->arena, ret_node);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, status, "NODE_NOT_FOUND", "there is no node with key %lld",
                        (long long)key);
    }
    TRY(status);
    TRY(leases_look(reads, &look));
    lease_fill(&look, ret_node);
    return OK;
}

static Status node_runs_count(Reads *reads, int64_t node, int64_t *ret_count) {
    RunRow match = {.owner = node};
    Scan scan = {.table = TABLE_RUNS, .index = RUNS_BY_OWNER, .match = &match, .match_count = 1};
    int64_t *keys;
    size_t count;
    TRY(keys_collect(reads, &scan, NODE_RUNS_COUNTED, &keys, &count));
    *ret_count = (int64_t)count;
    return OK;
}

Status read_nodes(Reads *reads, const PageSpec *spec, NodePage *ret_page) {
    Walk walk;
    Heartbeat look;
    TRY(walk_newest(reads, TABLE_NODES, spec, &walk));
    TRY(leases_look(reads, &look));
    const NodeRow *rows = (const NodeRow *)(void *)walk.rows;
    NodeStat *nodes = ARENA_ARRAY(reads->arena, NodeStat, walk.count + 1);
    for (size_t i = 0; i < walk.count; i++) {
        nodes[i].row = rows[i];
        lease_fill(&look, &nodes[i].row);
        TRY(node_runs_count(reads, rows[i].key, &nodes[i].run_count));
    }
    *ret_page = (NodePage){nodes, walk.count, walk.next};
    return OK;
}
