// JSON: revivers, and stringify where script code has to run or something is wrong.

// Data that leaves the run: its result, what tasks, children, events, streams and state get. Plain
// data by the fast path in C. One difference from JSON.stringify: an error stays readable.
function stringify(value) { return %dataStringify(value, undefined, undefined); }

function dataStringify(value) { return stringifyWith(value, undefined, undefined, true); }

// What an error is as data. `name` is usually inherited, `message`, `cause` and `errors` are not
// enumerable: JSON.stringify would lose them all. The stack stays here.
function errorData(error) {
  const data = %bareObject();
  data.name = error.name;
  data.message = error.message;
  const keys = %enumerableKeys(error);
  for (let i = 0; i < keys.length; i++) data[keys[i]] = error[keys[i]];
  const cause = error.cause;
  if (cause !== undefined) data.cause = cause;
  const errors = error.errors;
  if (errors !== undefined) data.errors = errors;
  return data;
}

function jsonRevive(value, reviver) {
  const root = {};
  %put(root, "", value);
  return reviveProperty(root, "", reviver);
}

function reviveProperty(holder, name, reviver) {
  const value = holder[name];
  if (%isObject(value)) {
    if (%isArray(value)) {
      const length = %length(+value.length);
      for (let i = 0; i < length; i++) reviveInto(value, `${i}`, reviver);
    } else {
      const keys = %enumerableKeys(value);
      for (let i = 0; i < keys.length; i++) reviveInto(value, keys[i], reviver);
    }
  }
  return %call(reviver, holder, name, value);
}

function reviveInto(object, key, reviver) {
  const element = reviveProperty(object, key, reviver);
  // Refusals (a frozen object) are passed over, as the specification has it.
  if (element === undefined) %tryDelete(object, key);
  else %tryPut(object, key, element);
}

function JSON_stringify(value, replacer, space) {
  return stringifyWith(value, replacer, space, false);
}

function stringifyWith(value, replacer, space, isData) {
  const state = %bareObject();
  state.isData = isData;
  state.replacer = undefined;
  state.list = undefined;
  if (%isCallable(replacer)) state.replacer = replacer;
  else if (%isArray(replacer)) state.list = replacerList(replacer);
  state.gap = gapText(space);
  state.indent = "";
  state.stack = [];
  state.keys = [];
  const holder = {};
  %put(holder, "", value);
  return serializeProperty(state, holder, "", value);
}

function replacerList(replacer) {
  const list = [];
  const seen = %bareObject();
  const length = %length(+replacer.length);
  for (let i = 0; i < length; i++) {
    let item = replacer[i];
    const kind = %boxedKind(item);
    if (typeof item === "number" || kind === "Number" || kind === "String") item = `${item}`;
    if (typeof item !== "string" || item in seen) continue;
    seen[item] = true;
    %put(list, list.length, item);
  }
  return list;
}

function gapText(space) {
  const kind = %boxedKind(space);
  if (kind === "Number") space = +space;
  else if (kind === "String") space = `${space}`;
  if (typeof space === "number") {
    const count = %integer(space);
    let gap = "";
    for (let i = 0; i < count && i < 10; i++) gap += " ";
    return gap;
  }
  if (typeof space !== "string") return "";
  let gap = "";
  for (let i = 0; i < space.length && i < 10; i++) gap += space[i];
  return gap;
}

// The text of a property, or undefined when it has none.
function serializeProperty(state, holder, key, value) {
  if (%isObject(value) || typeof value === "bigint") {
    const toJSON = value.toJSON;
    if (%isCallable(toJSON)) value = %call(toJSON, value, `${key}`);
  }
  if (state.replacer !== undefined) value = %call(state.replacer, holder, `${key}`, value);
  const kind = %boxedKind(value);
  if (kind === "Number") value = +value;
  else if (kind === "String") value = `${value}`;
  else if (kind !== "") value = %boxedValue(value);
  if (value === null) return "null";
  switch (typeof value) {
    case "string": return %jsonQuote(value);
    case "number": return value - value === 0 ? `${value}` : "null";
    case "boolean": return value ? "true" : "false";
    case "bigint": return %typeError("Do not know how to serialize a BigInt");
    case "object": break;
    default: return undefined;
  }
  const stack = state.stack;
  for (let i = 0; i < stack.length; i++) {
    if (stack[i] === value) throwCycle(state, i, key);
  }
  %put(stack, stack.length, value);
  %put(state.keys, state.keys.length, key);
  const outer = state.indent;
  state.indent = outer + state.gap;
  if (state.isData && %isError(value)) value = errorData(value);
  const text = %isArray(value)
    ? serializeArray(state, value, outer)
    : serializeObject(state, value, outer);
  state.indent = outer;
  stack.length = stack.length - 1;
  state.keys.length = state.keys.length - 1;
  return text;
}

function serializeObject(state, object, outer) {
  const keys = state.list === undefined ? %enumerableKeys(object) : state.list;
  const colon = state.gap === "" ? ":" : ": ";
  const comma = state.gap === "" ? "," : `,\n${state.indent}`;
  let text = "";
  for (let i = 0; i < keys.length; i++) {
    const part = serializeProperty(state, object, keys[i], object[keys[i]]);
    if (part === undefined) continue;
    if (text !== "") text += comma;
    text += %jsonQuote(keys[i]) + colon + part;
  }
  if (text === "") return "{}";
  return state.gap === "" ? `{${text}}` : `{\n${state.indent}${text}\n${outer}}`;
}

function serializeArray(state, array, outer) {
  const length = %length(+array.length);
  const comma = state.gap === "" ? "," : `,\n${state.indent}`;
  let text = "";
  for (let i = 0; i < length; i++) {
    if (i > 0) text += comma;
    const part = serializeProperty(state, array, i, array[i]);
    text += part === undefined ? "null" : part;
  }
  if (length === 0) return "[]";
  return state.gap === "" ? `[${text}]` : `[\n${state.indent}${text}\n${outer}]`;
}

function cycleKey(key) { return typeof key === "number" ? `index ${key}` : `property '${key}'`; }

// The path from where the cycle begins: the first steps, that there are more, and the last one.
function throwCycle(state, start, key) {
  const stack = state.stack;
  let text = "Converting circular structure to JSON\n" +
    `    --> starting at object with constructor '${%constructorName(stack[start])}'`;
  for (let i = start + 1; i < stack.length; i++) {
    if (i === start + 3 && i < stack.length - 1) {
      text += "\n    |     ...";
      i = stack.length - 1;
    }
    const name = %constructorName(stack[i]);
    text += `\n    |     ${cycleKey(state.keys[i])} -> object with constructor '${name}'`;
  }
  %typeError(`${text}\n    --- ${cycleKey(key)} closes the circle`);
}
