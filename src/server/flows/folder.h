// FlowFolder: the flow files of a folder, deployed, and deployed again whenever they change.
//
//   [folder-1] A file is deployed as a whole or not at all: with errors in it the version before
//        stays current, and the log says what is wrong.
//   [folder-2] A workflow belongs to the file that has had it longest: a second file with the same
//        name is refused instead of taking turns with the first.
//   [folder-3] Deleting a file removes no workflow, because runs finish on the version they began
//        with; the log says so.
//   [folder-4] A file is read when its stamp has changed; nothing is deployed that is deployed
//        already.
#pragma once
#include "api/engine.h"
#include "base/log.h"

typedef struct FlowFolder FlowFolder;

// Deploys what is there and goes on watching on a thread of its own. Broken files are logged, not
// fatal. Codes: FOLDER_NOT_READ, WATCH_FAILED.
MUST_CHECK Status flow_folder_open(abide_engine *engine, Str path, const Logger *logger,
                                   FlowFolder **ret_folder, Diag *diag);
// Before the engine stops. NULL is fine.
void flow_folder_close(FlowFolder *folder);
