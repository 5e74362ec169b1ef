// Words for times, sizes and values; commands to paste.

import type { Json, Problem, Unserved, Wait } from "./types"

export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const s = Math.round(ms / 1000), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24)
  if (s < 60) return `${s} s`
  if (m < 60) return s % 60 && m < 5 ? `${m} min ${s % 60} s` : `${m} min`
  if (h < 24) return m % 60 && h < 6 ? `${h} h ${m % 60} min` : `${h} h`
  return h % 24 && d < 10 ? `${d} d ${h % 24} h` : `${d} d`
}

export function ago(at: number, now = Date.now()): string {
  const ms = now - at
  if (Math.abs(ms) < 1000) return "now"
  const rounded = Math.abs(ms) < 60_000 ? `${Math.floor(Math.abs(ms) / 1000)} s` : span(Math.abs(ms))
  return ms < 0 ? `in ${rounded}` : `${rounded} ago`
}

// Until then, to the second.
export function countdown(at: number, now = Date.now()): string {
  const s = Math.max(0, Math.ceil((at - now) / 1000)), two = (n: number): string => String(n).padStart(2, "0")
  if (s >= 86_400) return `${Math.floor(s / 86_400)} d ${two(Math.floor(s / 3600) % 24)} h`
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`
}

export const bytes = (n: number): string =>
  n < 1024 ? `${n} B` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KB` : n < 1 << 30 ? `${(n / (1 << 20)).toFixed(1)} MB` : `${(n / (1 << 30)).toFixed(1)} GB`
export const count = (n: number): string => n.toLocaleString("en")
export const version = (text: string): string => text === "native" ? text : text.slice(0, 10)
export const pretty = (value: Json | undefined): string => value === undefined ? "" : JSON.stringify(value, null, 2)
export const short = (value: Json | undefined, max = 100): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? ""
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}
export const errorText = (error: Problem): string => `${error.type ?? error.name ?? "Error"}: ${error.message ?? ""}`

export const waitName = (wait: Wait): string => wait.label ?? wait.name ?? ""
export const waitText = (wait: Wait): string => wait.on === "timer" ? "a timer" : `${wait.on} ${waitName(wait)}`

export function unservedText(one: Unserved): string {
  return `No worker asks for the task “${one.name}” in the queue “${one.queue}”`
    + (one.other_queues.length ? `; it is asked for in ${one.other_queues.join(", ")}` : "")
    + (one.asked.length ? `; workers of that queue ask for ${one.asked.join(", ")}` : "")
    + (one.did_you_mean ? `. Did you mean “${one.did_you_mean}”?` : ".")
}

// Names come from others: what is offered for pasting into a shell must be nothing but a word there.
const WORD = /^[A-Za-z0-9_.:/@%+,=-]+$/
export const shellQuote = (text: string): string => WORD.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
export const segment = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*~]/g, c => `%${c.charCodeAt(0).toString(16)}`)

export function curl(method: string, path: string, body?: string): string {
  const verb = method === "GET" || (method === "POST" && body !== undefined) ? "" : ` -X ${method}`
  const data = body === undefined ? "" : ` -d ${shellQuote(body)}`
  return `curl${verb}${data} ${shellQuote(location.origin + path)}`
}
// A call of the library for Node; options that are empty are left out.
export function sdk(call: string, ...values: unknown[]): string {
  const isEmpty = (value: unknown): boolean => value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0)
  return `await client.${call}(${values.filter((value, at) => at < values.length - 1 || !isEmpty(value)).map(value => JSON.stringify(value) ?? "undefined").join(", ")})`
}
// A payload as a value for sdk(); text that is no JSON yet stays text.
export const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? "")
  } catch {
    return text || undefined
  }
}
export const cli = (...words: string[]): string => ["abide", ...words.map(shellQuote)].join(" ")
