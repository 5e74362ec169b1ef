// Limits: every size a client controls has its ceiling here, and docs/limits.md lists them.
#pragma once

enum {
    LIMIT_RUN_ID_SIZE = 255,          // bytes of a caller's run id
    LIMIT_NAME_SIZE = 255,            // workflow, step, signal, task, queue names
    LIMIT_TOPIC_SIZE = 255,           // bytes of a topic
    LIMIT_KEY_SIZE = 255,             // idempotency keys, event ids
    LIMIT_SCHEDULE_NAME_SIZE = 200,   // a tick's run id holds it and the tick
    LIMIT_BACKFILL_TICKS = 1000,      // runs started by one backfill
    LIMIT_TAG_COUNT = 16,             // tags of a run
    LIMIT_TAG_SIZE = 128,             // bytes of one tag
    LIMIT_PAYLOAD_SIZE = 4 << 20,     // input, result, event and signal payloads, step results
    LIMIT_CODE_SIZE = 8 << 20,        // what one script is compiled to
    LIMIT_ERROR_SIZE = 64 << 10,      // error text kept with a run
    LIMIT_SNAPSHOT_SIZE = 1 << 20,    // default ceiling of a flow snapshot
    LIMIT_STATE_SIZE = 16 << 10,      // one value of State.set
    LIMIT_STATES_PER_RUN = 100,       // keys of State.set
    LIMIT_WAITS_PER_RUN = 10000,      // items in one wait set
    LIMIT_SIGNALS_PER_RUN = 10000,    // pending signals of one run
    LIMIT_EVENTS_PER_TOPIC = 10000,   // pending events of one topic, by default
    LIMIT_EFFECTS_PER_TURN = 20000,   // tasks, children, emits, log lines of one turn
    LIMIT_EARLIER_LOG = 1000,         // log entries kept from before a continue-as
    LIMIT_TOKEN_COUNT = 1000,         // tokens of a store
    LIMIT_LIST_PAGE = 1000,           // rows in one page of any listing
    LIMIT_BATCH_OPS = 4096,           // operations in one commit
    LIMIT_JSON_DEPTH = 512,           // nesting of JSON text that is accepted
    LIMIT_CHILD_DEPTH = 64,           // runs that start runs that start runs
};

#define LIMIT_DURATION_MS (100LL * 365 * 24 * 3600 * 1000) // a hundred years
