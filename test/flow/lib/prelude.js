// Prelude: put in front of every corpus and generated program, so that both engines describe an
// outcome with the same JavaScript and the harness has to compare two strings only.
//
// It is written in the everyday part of the language on purpose: it must load before classes,
// symbols and the rest do.  __show tells apart everything JSON folds together (undefined, NaN, -0,
// holes, BigInt, Date, Map, prototypes); the three helpers below it keep the cases short.

function __quote(text) { return JSON.stringify(text); }

function __key(key) { return /^[A-Za-z_$][\w$]*$/.test(key) ? key : __quote(key); }

function __entries(value, keys, seen) {
  const parts = [];
  for (const key of keys) parts.push(__key(key) + ": " + __show(value[key], seen));
  return parts;
}

function __showArray(value, seen) {
  const parts = [];
  for (let i = 0; i < value.length && i < 10000; i++) {
    parts.push(Object.hasOwn(value, i) ? __show(value[i], seen) : "<hole>");
  }
  const extra = Object.keys(value).filter(key => !/^\d+$/.test(key));
  return "[" + parts.concat(__entries(value, extra, seen)).join(", ") + "]";
}

function __showError(value, seen) {
  const parts = [__show(value.message, seen)];
  if (Object.hasOwn(value, "cause")) parts.push("cause: " + __show(value.cause, seen));
  if (Object.hasOwn(value, "errors")) parts.push("errors: " + __show(value.errors, seen));
  const extra = Object.keys(value).filter(key => key !== "cause" && key !== "errors" && key !== "message");
  return String(value.name) + "(" + parts.concat(__entries(value, extra, seen)).join(", ") + ")";
}

function __showObject(value, seen) {
  if (seen.includes(value)) return "<cycle>";
  if (seen.length > 40) return "<deep>";
  seen = [...seen, value];
  if (value instanceof Error) return __showError(value, seen);
  const proto = Object.getPrototypeOf(value);
  const maker = proto === null ? "null" : typeof proto.constructor === "function" ? proto.constructor.name : "?";
  if (Array.isArray(value)) return (maker === "Array" ? "" : maker + " ") + __showArray(value, seen);
  const fields = __entries(value, Object.keys(value), seen);
  let head = maker === "Object" ? "" : maker + " ";
  if (value instanceof Date) head += "<" + (Number.isNaN(value.getTime()) ? "invalid" : value.toISOString()) + "> ";
  else if (value instanceof RegExp) head += "<" + String(value) + " at " + value.lastIndex + "> ";
  else if (value instanceof Map) head += "<" + [...value].map(([k, v]) => __show(k, seen) + " => " + __show(v, seen)).join(", ") + "> ";
  else if (value instanceof Set) head += "<" + [...value].map(v => __show(v, seen)).join(", ") + "> ";
  else if (value instanceof Promise) return "Promise";
  else if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return "[" + maker + ": " + __show(value.valueOf(), seen) + "]";
  }
  return head + "{" + fields.join(", ") + "}";
}

function __show(value, seen = []) {
  if (value === null) return "null";
  switch (typeof value) {
    case "undefined": return "undefined";
    case "boolean": return value ? "true" : "false";
    case "number": return Object.is(value, -0) ? "-0" : String(value);
    case "bigint": return String(value) + "n";
    case "string": return __quote(value);
    case "symbol": return String(value);
    case "function": return "<function " + String(value.name) + ">";
    default: return __showObject(value, seen);
  }
}

// What a thrown value looks like: everyday messages are part of the contract, stacks are not.
function __thrown(error) {
  if (error instanceof Error) return String(error.name) + ": " + String(error.message);
  return "thrown " + __show(error);
}

// attempt(f): the value of f(), or "Name: message" of what it threw.  kind(f): the name only, for
// errors whose wording is an engine's own business.  attemptAsync: the same for async functions.
function attempt(action) { try { return action(); } catch (error) { return __thrown(error); } }
function kind(action) { try { return action(); } catch (error) { return error instanceof Error ? error.name : __thrown(error); } }
async function attemptAsync(action) { try { return await action(); } catch (error) { return __thrown(error); } }

async function __outcome(action) {
  try { return "returns " + __show(await action()); } catch (error) { return "throws " + __thrown(error); }
}
