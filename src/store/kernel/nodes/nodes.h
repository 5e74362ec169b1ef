// Nodes: who is alive, who executes what, and who is asked first.
#pragma once
#include "store/kernel/runs/runs.h"

// ---- nodes/nodes.c: leases, claims, taking over ----
MUST_CHECK Status apply_join(Kernel *kernel, Op *op);
MUST_CHECK Status apply_renew(Kernel *kernel, Op *op);
MUST_CHECK Status apply_describe_node(Kernel *kernel, Op *op);
MUST_CHECK Status apply_leave(Kernel *kernel, Op *op);
MUST_CHECK Status apply_claim(Kernel *kernel, Op *op);
MUST_CHECK Status nodes_sweep(Kernel *kernel, int64_t max, int64_t *ret_reclaimed);
bool run_is_executable(const Kernel *kernel, const RunRow *row); // by the batch's node
// The row of the batch's own node; refused when it names none, or was fenced off.
MUST_CHECK Status node_get_own(Kernel *kernel, NodeRow *ret_node);

// ---- nodes/rates.c: what they have counted ----
MUST_CHECK Status apply_note_rates(Kernel *kernel, Op *op);

// ---- nodes/heartbeats.c ----
// When the lease of a node ends, or ended; 0 = it was fenced off.
MUST_CHECK Status node_lease(Kernel *kernel, const NodeRow *node, int64_t *ret_until_ms);
// As that, from memory alone: good enough to tell whether there are other members.
int64_t node_lease_known(const Kernel *kernel, const NodeRow *node);
// A batch that does nothing but renew the node's lease needs no transaction.
bool batch_is_heartbeat(const Kernel *kernel, const Batch *batch);
MUST_CHECK Status batch_heartbeat(Kernel *kernel, Batch *batch, Diag *diag);
// The batch is committed: leases it gave are also said outside of transactions.
void heartbeats_follow(Kernel *kernel, const Batch *batch);
MUST_CHECK Status node_refuse_fenced(Diag *diag);

// ---- nodes/affinity.c ----
// Whether a ready run is left to the node that has it in memory.
MUST_CHECK Status run_is_left(Kernel *kernel, const RunRow *row, bool *ret_is_it);
// Who gets a run that has become ready: the batch's node if that has its workflow and room, unless
// another one has it in memory; otherwise nobody yet. Counts the epoch of a claim.
MUST_CHECK Status node_assign(Kernel *kernel, RunRow *row);
// For a run that is claimed by the node that has it in memory: what was delivered while nobody
// owned it. Otherwise none.
MUST_CHECK Status affinity_deliveries(Kernel *kernel, Run *run, Resolved *ret_resolved);
