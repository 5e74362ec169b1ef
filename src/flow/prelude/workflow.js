// The workflow API: checks and converts, then asks the host. Numbers of kinds are those of host.h
// (FlowAwaitKind, FlowEffectKind).

function hostName(value, what) {
  if (typeof value !== "string" || value === "") {
    %typeError(what + " must be a non-empty string, not " + %describe(value));
  }
  return value;
}

function hostOptions(options, what) {
  if (options === undefined || options === null) return undefined;
  if (!%isObject(options)) %typeError("the options of " + what + " must be an object");
  return stringify(options);
}

function hostTimeout(options) {
  if (options === undefined || options === null) return undefined;
  const timeout = options.timeout;
  if (timeout === undefined || timeout === null) return undefined;
  return %durationMs(timeout);
}

function Task_run(name, input, options) {
  hostName(name, "the task's name");
  const text = hostOptions(options, "Task.run");
  const secrets = %secretPlaces(input);
  if (secrets === undefined) return %hostStart(1, name, stringify(input), text);
  return %hostStart(1, name, stringify(input), text, undefined, undefined, undefined, secrets);
}

function Secret_get(name, options) {
  return %secretNew(hostName(name, "the secret's name"), hostOptions(options, "Secret.get"));
}

function Task_all(items) { return promiseCombine(%promiseConstructor(), items, 0); }
function Task_any(items) { return promiseCombine(%promiseConstructor(), items, 4); }
function Task_race(items) { return promiseCombine(%promiseConstructor(), items, 5); }

function Timer_delay(duration) {
  return %hostStart(2, undefined, undefined, undefined, %durationMs(toPrimitive(duration, 0)));
}

function Timer_until(date) {
  let at = toPrimitive(date, 1);
  if (typeof at === "string") at = %instantMs(at);
  if (typeof at !== "number" || at !== at) %typeError("Timer.until needs a Date, a time in milliseconds or an ISO text");
  return %hostStart(2, undefined, undefined, undefined, undefined, at);
}

function Signal_next(name, options) {
  hostName(name, "the signal's name");
  if (options !== undefined) %typeError("Signal.next takes no options: Signal.when has a timeout");
  return %hostStart(3, name);
}

function Signal_when(name, options) {
  hostName(name, "the signal's name");
  return %hostStart(3, name, undefined, hostOptions(options, "Signal.when"), undefined, undefined, hostTimeout(options));
}

function Event_wait(topic, options) {
  hostName(topic, "the topic");
  return %hostStart(4, topic, undefined, hostOptions(options, "Event.wait"), undefined, undefined, hostTimeout(options));
}

function Event_emit(topic, payload) {
  hostName(topic, "the topic");
  %hostEffect(0, topic, stringify(payload));
}

function Workflow_run(name, input, options) {
  hostName(name, "the workflow's name");
  return %hostStart(5, name, stringify(input), hostOptions(options, "Workflow.run"));
}

function Workflow_start(name, input, options) {
  hostName(name, "the workflow's name");
  return %hostStartRun(5, name, stringify(input), hostOptions(options, "Workflow.start"));
}

function Workflow_continueAs(input) { %hostContinueAs(stringify(input)); }

function Stream_write(value, type) {
  let name = type;
  if (typeof type === "object" && type !== null) {
    const { type: own, types } = type;
    const keys = %enumerableKeys(type);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] !== "type" && keys[i] !== "types") {
        %typeError("Stream.write takes { type, types }, not " + %describe(keys[i]));
      }
    }
    name = hostName(own, "the type");
    if (types !== undefined) for (const parent of types) name += "\n" + hostName(parent, "a parent type");
  } else if (type !== undefined) {
    hostName(type, "the type");
  }
  %hostEffect(1, name, stringify(value));
}

function State_set(key, value) {
  hostName(key, "the key");
  %hostEffect(2, key, stringify(value));
}

function State_get(key) { return %hostStateGet(hostName(key, "the key")); }

// Conditions, for whoever looks (abide sim). Where nobody does nothing is kept of them. Numbers are
// those of FlowCheckKind.

function Invariant(name, condition) {
  hostName(name, "the name of an invariant");
  %hostCheck(0, name, !!condition);
}

function Always(name, condition) { checkWatch(1, name, condition); }
function Eventually(name, condition) { checkWatch(2, name, condition); }

function checkWatch(kind, name, condition) {
  hostName(name, "the name of a condition");
  if (!%isCallable(condition)) {
    %typeError("the condition must be a function, as in () => paid <= total, not " + %describe(condition));
  }
  if (%hostLooks()) checkLook(kind, name, condition, false);
}

// One that throws is not true.
function checkLook(kind, name, condition, isLast) {
  let isTrue = false;
  try {
    isTrue = !!condition();
  } catch (error) {
    isTrue = false;
  }
  %hostCheck(kind, name, isTrue);
  if (isLast || (kind === 2 && isTrue)) return;
  %performThen(%hostLook(), last => checkLook(kind, name, condition, last), undefined, %promiseNew(), undefined, undefined);
}
