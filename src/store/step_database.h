// StepDatabase: what a step that takes part in the store's transaction (P4) works with.
//
//   [step-database-1] The step runs on the thread that commits, inside the transaction of the
//        batch, after the store has made sure that nobody else writes: it is not called for a batch
//        that is then found to be out of date.
//   [step-database-2] What it wrote is kept with its checkpoint, or undone without touching what
//        other steps of the batch wrote.
//   [step-database-3] A step that ends the transaction, or leaves the connection in a state in
//        which nobody else can use it, is found out; nothing of the batch is kept then, and the
//        batch is done again without it.
#pragma once

typedef enum DatabaseKind {
    DATABASE_NONE,
    DATABASE_SQLITE,  // sqlite3 *
    DATABASE_POSTGRES // PGconn *, not in pipeline mode
} DatabaseKind;

typedef struct StepDatabase {
    DatabaseKind kind;
    void *handle; // NULL = none
} StepDatabase;
