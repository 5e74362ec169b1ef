// Registering: the workflow and task functions that this process has.
//
// The coordinator learns of a function on its own thread; names are kept here as well, because
// other threads ask for them.
//
// Not here: calling the functions (engine/runners/native.c, context.c).
#include "api/api.h"
#include "base/memory.h"
#include "store/reads.h"

static void registered_free(Registered *entry) {
    arena_done(&entry->arena);
    mem_free((void *)(uintptr_t)entry->name.data);
    mem_free(entry);
}

void api_registered_init(abide_engine *engine) { strmap_init(&engine->registered); }

void api_registered_done(abide_engine *engine) {
    Str name;
    void *entry;
    for (size_t at = 0; strmap_next(&engine->registered, &at, &name, &entry);)
        registered_free(entry);
    strmap_done(&engine->registered);
    for (size_t i = 0; i < engine->task_names.count; i++)
        mem_free((void *)(uintptr_t)engine->task_names.data[i].data);
    vec_free(&engine->task_names);
}

typedef struct Registration {
    Str name;
    Runner *runner;
    abide_call_fn task;
    void *user;
    bool is_replacing;
    Status status;
} Registration;

static void register_here(Coordinator *coordinator, void *context) {
    Registration *r = context;
    if (r->is_replacing) {
        coordinator_replace_task(coordinator, r->name, r->task, r->user);
        return;
    }
    r->status = r->runner != NULL ? coordinator_add_runner(coordinator, r->name, r->runner)
                                  : coordinator_add_task(coordinator, r->name, r->task, r->user);
}

static int register_function(abide_engine *engine, Registration *registration, abide_error *error) {
    driver_control(&engine->driver, register_here, registration);
    if (registration->status != OK)
        return api_refuse(error, ABIDE_CONFLICT, "ALREADY_REGISTERED",
                          "\"%.*s\" is registered already", STR_ARG(registration->name));
    return api_answer(error, OK, NULL);
}

// The store knows the workflows in C by name, so that they can be listed, started and scheduled
// where they are not registered. Written when they appear for the first time.
static Status define_native(abide_engine *engine, Str name, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    DefinitionRow known;
    const DefinitionRef which = {.name = name, .version = VERSION_NATIVE};
    Status status = store_find_definition(engine->store, &arena, &which, &known, diag);
    arena_done(&arena);
    if (status != ERR_NOT_FOUND) return status;
    Request request = {.op.kind = OP_DEFINE};
    request.op.in.define.name = name;
    request.op.in.define.version = VERSION_NATIVE;
    request.op.in.define.kind = RUN_NATIVE;
    status = driver_request(&engine->driver, &request);
    if (status != OK) *diag = request.op.out.diag;
    return status;
}

static Status registered_new(const abide_engine *engine, const abide_workflow_options *options,
                             Registered **ret_entry, Diag *diag) {
    Registered *entry = mem_zalloc(sizeof(Registered));
    arena_init(&entry->arena);
    native_runner_init(&entry->runner, options->fn, options->user);
    entry->runner.is_child_failure_isolated = engine->is_child_failure_isolated;
    entry->runner.child_keep_ms = engine->run_retention_ms;
    Status status = OK;
    if (options->retry != NULL)
        status = api_check_retry(options->retry, &entry->arena, &entry->runner.retry, diag);
    if (status == OK) *ret_entry = entry;
    else registered_free(entry);
    return status;
}

// Takes the entry over.
static int register_entry(abide_engine *engine, Str name, Registered *entry, abide_error *error) {
    Registration registration = {.name = name, .runner = &entry->runner.base};
    int code = register_function(engine, &registration, error);
    if (code != ABIDE_OK) {
        registered_free(entry);
        return code;
    }
    entry->name = (Str){mem_copy(name.data, name.len), name.len};
    pthread_mutex_lock(&engine->lock);
    strmap_put(&engine->registered, entry->name, entry);
    pthread_mutex_unlock(&engine->lock);
    return ABIDE_OK;
}

static int register_workflow(abide_engine *engine, const char *name,
                             const abide_workflow_options *options, bool is_defined,
                             abide_error *error) {
    if (engine == NULL || options == NULL || options->fn == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and fn are required");
    Diag diag;
    Str checked;
    Registered *entry = NULL;
    Status status = api_check_name(name, "the workflow name", &checked, &diag);
    if (status == OK) status = registered_new(engine, options, &entry, &diag);
    if (status == OK && is_defined) status = define_native(engine, checked, &diag);
    if (status == OK) return register_entry(engine, checked, entry, error);
    if (entry != NULL) registered_free(entry);
    return api_answer(error, status, &diag);
}

int abide_register_workflow(abide_engine *engine, const char *name, abide_workflow_fn fn,
                            void *user, abide_error *error) {
    abide_workflow_options options = {.fn = fn, .user = user};
    return register_workflow(engine, name, &options, true, error);
}

int abide_register_workflow_with(abide_engine *engine, const char *name,
                                 const abide_workflow_options *options, abide_error *error) {
    return register_workflow(engine, name, options, true, error);
}

int abide_mock_workflow(abide_engine *engine, const char *name, abide_workflow_fn fn, void *user,
                        abide_error *error) {
    abide_workflow_options options = {.fn = fn, .user = user};
    return register_workflow(engine, name, &options, false, error);
}

bool engine_knows(abide_engine *engine, Str workflow) {
    pthread_mutex_lock(&engine->lock);
    bool answer = strmap_get(&engine->registered, workflow) != NULL;
    pthread_mutex_unlock(&engine->lock);
    return answer;
}

static void note_task(abide_engine *engine, Str name) {
    pthread_mutex_lock(&engine->lock);
    size_t place = 0;
    while (place < engine->task_names.count && !str_equal(engine->task_names.data[place], name))
        place++;
    if (place == engine->task_names.count)
        vec_push(&engine->task_names, (Str){mem_copy(name.data, name.len), name.len});
    pthread_mutex_unlock(&engine->lock);
}

size_t engine_task_names(abide_engine *engine, Arena *arena, Str **ret_names) {
    pthread_mutex_lock(&engine->lock);
    size_t count = engine->task_names.count;
    *ret_names = ARENA_ARRAY(arena, Str, count + 1);
    for (size_t i = 0; i < count; i++)
        (*ret_names)[i] = arena_str(arena, engine->task_names.data[i]);
    pthread_mutex_unlock(&engine->lock);
    return count;
}

static int register_task(abide_engine *engine, const char *name, Registration *registration,
                         abide_error *error) {
    if (engine == NULL || registration->task == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and fn are required");
    Diag diag;
    Status status = api_check_name(name, "the task name", &registration->name, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    int code = register_function(engine, registration, error);
    if (code == ABIDE_OK) note_task(engine, registration->name);
    return code;
}

int abide_register_task(abide_engine *engine, const char *name, abide_call_fn fn, void *user,
                        abide_error *error) {
    Registration registration = {.task = fn, .user = user};
    return register_task(engine, name, &registration, error);
}

int abide_replace_task(abide_engine *engine, const char *name, abide_call_fn fn, void *user,
                       abide_error *error) {
    Registration registration = {.task = fn, .user = user, .is_replacing = true};
    return register_task(engine, name, &registration, error);
}
