// Fields of requests: what each may hold, and how it is written.
//
// One field means the same in every request, so each is described once. An option that does not
// exist, or a value that the server would refuse for its kind, is refused here, by name and before
// anything is sent. Options are in camelCase, fields of requests in snake_case.

const UNITS = [604_800_000, 86_400_000, 3_600_000, 60_000, 1000, 1]
const amount = unit => `(?:(\\d+(?:\\.\\d+)?)${unit})?`
const PLAIN = new RegExp(`^${["w", "d", "h", "m", "s", "ms"].map(amount).join("")}$`)
const ISO = new RegExp(`^P${amount("W")}${amount("D")}(?:T${amount("H")}${amount("M")}${amount("S")})?$`)

/** Milliseconds of what the server takes as a duration; anything else is a TypeError. */
export function milliseconds(duration, name = "duration") {
  if (typeof duration === "number" && duration >= 0) return duration * 1000
  if (typeof duration === "string") {
    if (/^\d+(\.\d+)?$/.test(duration)) return Number(duration) * 1000
    const amounts = (PLAIN.exec(duration) ?? ISO.exec(duration))?.slice(1)
    if (amounts?.some(text => text !== undefined))
      return amounts.reduce((sum, text, index) => sum + Number(text ?? 0) * UNITS[index], 0)
  }
  throw new TypeError(`${name}: not a duration: ${show(duration)}; write a number of seconds, ` +
    `or text as in "500ms", "2s", "1h30m" or "PT15M"`)
}

export const inMilliseconds = (duration, name) => `${Math.round(milliseconds(duration, name))}ms`

function show(value) {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}

function refuse(name, wanted, value) {
  throw new TypeError(`${name}: must be ${wanted}, not ${show(value)}`)
}

// ---- kinds: each checks a value and answers it as it is sent ----

const any = (_name, value) => value
const text = (name, value) =>
  typeof value === "string" && value !== "" ? value : refuse(name, "a text that is not empty", value)
const list = (name, value) => Array.isArray(value) ? value : refuse(name, "a list", value)
const texts = (name, value) =>
  Array.isArray(value) ? value.map(item => text(name, item)) : refuse(name, "a list of texts", value)
const several = (name, value) => Array.isArray(value) ? texts(name, value) : [text(name, value)]
const integer = (name, value) => Number.isSafeInteger(value) ? value : refuse(name, "a whole number", value)
const number = (name, value) => Number.isFinite(value) ? value : refuse(name, "a number", value)
const flag = (name, value) => typeof value === "boolean" ? value : refuse(name, "true or false", value)
const oneOf = (...words) => (name, value) =>
  words.includes(value) ? value : refuse(name, `one of ${words.join(", ")}`, value)
function duration(name, value) {
  milliseconds(value, name)
  return value
}
function time(name, value) {
  if (!(value instanceof Date)) return text(name, value)
  return Number.isNaN(value.getTime()) ? refuse(name, "a time", value) : value.toISOString()
}

const RETRY = { attempts: positive, delay: duration, factor: number, maxDelay: duration, jitter: share, nonRetryable: texts }
function positive(name, value) {
  return integer(name, value) >= 1 ? value : refuse(name, "1 or more", value)
}
function share(name, value) {
  return number(name, value) >= 0 && value <= 1 ? value : refuse(name, "from 0 to 1", value)
}
function retry(name, policy) {
  allowOnly(name, policy, Object.keys(RETRY))
  for (const key of Object.keys(policy)) if (policy[key] !== undefined) RETRY[key](`${name}.${key}`, policy[key])
  return policy
}

const all = (kind, names) => names.split(" ").map(name => [name, kind])
const KINDS = Object.fromEntries([
  ...all(any, "claim event filter input kwargs start_event"),
  ...all(list, "children events results signals tasks turns values workflows"),
  ...all(flag, "current dry_run include_internal include_qualified_name paused purge secrets"),
  ...all(texts, "ids names queues scopes tags"),
  ...all(time, "at created_after created_before from idle_before start_at to"),
  ...all(integer, "after attempts cap depth iteration limit max max_per_key max_running priority rate_count turn"),
  ...all(duration, "by catch_up delay every expire expires grace heartbeat_timeout jitter lease rate_period " +
    "retry_delay retry_max_delay schedule_timeout time timeout ttl wait"),
  ...all(text, "concurrency_key cron cursor file handler_id id key leftover_topic name parent path q queue reason run " +
    "source state step tag timezone traceparent tracestate verb version waiting_on where worker workflow"),
  ["consume", oneOf("one", "all")],
  ["leftover_signals", oneOf("discard", "topic", "dead_letter")],
  ["overlap", oneOf("skip", "queue", "allow", "cancel-old")],
  ["parent_close", oneOf("abandon", "cancel")],
  ["retry", retry],
  ["retry_factor", number],
  ["visible", oneOf("all", "after-create", "after-wait")],
])

const toSnake = name => name.replace(/[A-Z]/g, letter => "_" + letter.toLowerCase())
const toCamel = field => field.replace(/_(\w)/g, (_all, letter) => letter.toUpperCase())

/**
 * The fields of a request from a call's options. `names` are the fields it has, separated by
 * spaces: "id start_at" takes { id, startAt }; "status[]" takes one text or many, and "limit" is
 * called pageSize. An option that is none of them is refused.
 */
export function fields(call, options, names) {
  const words = names.split(" ").filter(Boolean)
  const optionOf = word => word === "limit" ? "pageSize" : toCamel(word.replace("[]", ""))
  allowOnly(call, options, words.map(optionOf))
  const found = {}
  for (const word of words) {
    const option = optionOf(word)
    const field = word.replace("[]", "")
    const value = options[option]
    if (value === undefined) continue
    const kind = word.endsWith("[]") ? several : KINDS[field]
    found[field] = kind(`${call}: ${option}`, value)
  }
  return found
}

/** Refuses options that are not an object, or have members of other names. */
export function allowOnly(call, options, names) {
  if (options === null || typeof options !== "object" || Array.isArray(options))
    throw new TypeError(`${call}: options must be an object, not ${show(options)}`)
  for (const name of Object.keys(options)) {
    if (!names.includes(name))
      throw new TypeError(`${call}: there is no option ${show(name)}; there are ${names.join(", ") || "none"}`)
  }
}

/** The same options, checked as fields() does, but by the names they have in programs. */
export function options(call, given, names) {
  allowOnly(call, given, names.split(" "))
  const found = {}
  for (const [name, value] of Object.entries(given))
    if (value !== undefined) found[name] = KINDS[toSnake(name)](`${call}: ${name}`, value)
  return found
}

/** The value of a parameter, checked as the field of that name is. */
export function argument(call, field, value) {
  return KINDS[field](`${call}: ${toCamel(field)}`, value)
}

/**
 * A path whose values cannot be mistaken for other parts of it: path`/v1/runs/${id}/cancel`. An
 * empty value would lead to another route.
 */
export function path(parts, ...values) {
  return String.raw({ raw: parts }, ...values.map(value => {
    if (typeof value !== "string" || value === "")
      throw new TypeError(`${parts[0]}…: an id or a name is needed here, not ${show(value)}`)
    return encodeURIComponent(value)
  }))
}
