// Variables of the environment that look like settings and are none.
//
// A mistyped name would otherwise be passed over in silence, and the setting have its default.
//
// Not here: reading the settings (settings.c).
#include "base/array.h"
#include "base/text/suggest.h"
#include "cli/settings/settings.h"
#include <stdio.h>
#include <unistd.h>

enum { VARIABLE_MAX = 64 };

// Variables of other commands and of tools.
static bool is_of_others(const char *name) {
    static const char *const others[] = {"ABIDE_CONFIG",     "ABIDE_SERVER",    "ABIDE_TOKEN",
                                         "ABIDE_CA_FILE",    "ABIDE_BUILD_DIR", "ABIDE_SOURCE_DIR",
                                         "ABIDE_MODULE_PATH"};
    if (strncmp(name, "ABIDE_TEST_", strlen("ABIDE_TEST_")) == 0) return true;
    if (strncmp(name, "ABIDE_SECRET_", strlen("ABIDE_SECRET_")) == 0) return true; // base/secret.h
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (strcmp(name, others[i]) == 0) return true;
    return false;
}

static void tell(const char *name, bool is_near_only, SettingStraySaid say, void *context) {
    char variables[SETTINGS_COUNT][VARIABLE_MAX], message[256];
    const char *names[SETTINGS_COUNT];
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        names[i] = setting_variable((SettingId)i, variables[i]);
        if (strcmp(name, names[i]) == 0) return;
    }
    const char *nearest = suggest_nearest(str_from(name), names, SETTINGS_COUNT);
    if (nearest == NULL && is_near_only) return;
    snprintf(message, sizeof message, "%s is set, but is no setting%s%s%s", name,
             nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
             nearest != NULL ? "?" : "");
    say(context, message);
}

void settings_tell_stray(bool is_near_only, SettingStraySaid say, void *context) {
    for (char **at = environ; *at != NULL; at++) {
        char name[2 * VARIABLE_MAX];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        bool is_ours = strncmp(name, "ABIDE_", 6) == 0 && !is_of_others(name);
        if (is_ours) tell(name, is_near_only, say, context);
    }
}
