// Schemas of the answers of what repairs runs.
//
// They say exactly what the routes write, as those in schemas.c do, which has them by name.
//
// Not here: what a run looks like (schemas.c).
#include "server/openapi/openapi.h"

const Field schema_set_value[] = {{"path", "string", true, "`order.items[3].price`"},
                                  {"old", "string?", true, "As text; null: it was not there."},
                                  {"new", "string", true, "As text."},
                                  {0}};
const Field schema_variables_set[] = {{"changed", "boolean", true, "False: a dry run."},
                                      {"values", "[SetValue]", true, "In the order asked for."},
                                      {0}};
