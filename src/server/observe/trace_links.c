// What the span of a turn is linked with: the turn before the suspension, and what ended it.
//
// Nothing is kept for it. Before its own entries a turn finds in the log what woke the run, and
// before that the last entry of the turn that parked it, from which that turn's id is derived:
//
//     … 5 task   6 idle   7 released   8 wait        9 reloaded  10 waiting …
//       the turn that     out of the   what woke     the turn itself: before_seq 6, start_seq 8
//       parked (5)        turns' hands the run
//
//   [trace-links-1] A turn that goes on without having been suspended has no links.
//   [trace-links-2] A link names a span that this or another node has made; whether it has been
//        sent, or has been sent and is gone, is not known.
//
// Not here: how spans are sent (trace.c), where the numbers come from (TurnCommit).
#include "server/observe/trace.h"
#include "store/reads.h"

enum { ENTRIES_READ = 64 }; // of the log before a turn; whoever was woken by more has fewer links

typedef struct History { // the last entries before a turn
    const LogRow *rows;
    size_t count;
} History;

// Of the entry with that number; 0 = it is not there.
static int64_t kind_at(const History *history, int64_t seq) {
    for (size_t i = history->count; i > 0; i--)
        if (history->rows[i - 1].seq == seq) return history->rows[i - 1].kind;
    return 0;
}

static bool is_waker(int64_t kind) {
    return kind == LOG_WAIT || kind == LOG_CANCEL_REQUESTED || kind == LOG_RESUMED;
}

// Written about a run while no turn of it is under way.
static bool is_between_turns(int64_t kind) {
    return is_waker(kind) || kind == LOG_IDLE || kind == LOG_PAUSED || kind == LOG_RELEASED ||
           kind == LOG_RELOADED;
}

static void add_link(Span *span, const char *what, const TraceParent *to) {
    if (span->link_count == SPAN_LINKS_MAX) return;
    span->links[span->link_count++] = (SpanLink){.to = *to, .what = what};
}

// The task or the child whose end the entry tells. Signals, events and timers have no spans.
static void link_waker(Tracer *tracer, Arena *arena, Span *span, const LogRow *entry) {
    TraceParent to;
    Str target = log_entry_target(entry);
    if (str_is_null(target)) return;
    if (entry->attempt > 0) {
        to = trace_of_attempt(&span->self, target, entry->attempt);
        add_link(span, "task", &to);
        return;
    }
    Diag diag;
    RunRow run;
    if (!str_starts_with(target, STR("run_")) ||
        store_run_by_id(engine_store(tracer->engine), arena, target, &run, &diag) != OK ||
        run.parent != span->run)
        return;
    (void)trace_of_run(run.id, run.tags, &to, NULL);
    add_link(span, "run", &to);
}

// Where the turn that parked the run ended; 0 = it was not parked, or set back since.
static int64_t parked_at(const Span *span, const History *history) {
    int64_t seq = span->start_seq;
    bool is_woken = false;
    for (; seq > span->before_seq && is_between_turns(kind_at(history, seq)); seq--)
        is_woken = is_woken || is_waker(kind_at(history, seq));
    int64_t kind = kind_at(history, seq);
    if (kind == LOG_CONTINUED) return seq - 1;      // the last thing a turn leaves to the next one
    if (!is_woken || kind == LOG_REWOUND) return 0; // [trace-links-1]
    return kind == LOG_IDLE ? seq - 1 : seq;
}

void trace_link_turn(Tracer *tracer, Arena *arena, const TraceParent *run, Span *span) {
    int64_t from = span->before_seq - 1;
    if (from < span->start_seq - ENTRIES_READ) from = span->start_seq - ENTRIES_READ;
    const LogFilter filter = {
        .run = run_of_id(span->id),
        .page = {.after = from > 0 ? from - 1 : 0, .limit = span->start_seq - from + 1}};
    LogPage page;
    Diag diag;
    if (store_read_log(engine_store(tracer->engine), arena, &filter, &page, &diag) != OK) return;
    History history = {page.rows, page.count};
    int64_t parked_seq = parked_at(span, &history);
    if (parked_seq <= 0) return;
    TraceParent turn = trace_of_turn(run, span->id, parked_seq);
    add_link(span, "turn", &turn);
    for (size_t i = 0; i < page.count; i++) {
        const LogRow *entry = &page.rows[i];
        if (entry->seq > parked_seq && entry->seq <= span->start_seq)
            link_waker(tracer, arena, span, entry);
    }
}
