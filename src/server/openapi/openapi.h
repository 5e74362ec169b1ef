// The description of the API: an OpenAPI 3.1 document, written from the tables of routes.
#pragma once
#include "json/write.h"
#include "server/exchange/route.h"

void openapi_write(JsonWriter *json);

// ---- openapi/schemas.c: what answers look like ----
// Types of fields are those of route.h, and: "Name" another schema, "[Name]" a list of it; a "?"
// behind a type says that it may be null. Members that are not required may be absent.
typedef struct Schema {
    const char *name;
    const char *about;
    const char *base; // name of a schema whose fields it has too; NULL = none
    const Field *fields;
} Schema;
// schemas_workers.c
extern const Field schema_claimed_task[], schema_claimed[], schema_verdict[], schema_completed[],
    schema_renewed[], schema_registered_code[], schema_journal_entry[], schema_claimed_turn[],
    schema_claimed_turns[], schema_turn_verdict[], schema_committed_turns[], schema_renewed_turn[],
    schema_renewed_turns[];
// schemas_overview.c
extern const Field schema_trial[], schema_trial_effect[], schema_trial_wait[],
    schema_trial_variable[], schema_where_counts[], schema_copy[], schema_copy_delivery[];
extern const Field schema_set_value[], schema_variables_set[]; // schemas_repair.c
extern const Field schema_attention[], schema_attention_group[], schema_action[], schema_access[],
    schema_rates[], schema_time[], schema_advanced[], schema_setting[], schema_setting_list[],
    schema_worker_ask[], schema_worker[], schema_node_functions[], schema_worker_list[],
    schema_bulk[], schema_bulk_result[], schema_bulk_reason[], schema_place[], schema_places[],
    schema_plan_group[], schema_plan[], schema_deployed[], schema_deployed_workflow[];
const Schema *openapi_schemas(size_t *ret_count);
const Schema *openapi_schema(const char *name); // NULL = there is none
