// When a schedule ticks: in words, and the next times. The server decides; this is for people, and follows its rules
// (docs/schedules.md): a local time that the clocks skip becomes the end of the gap, and an expression that names all
// hours follows the clock.

import type { Schedule } from "./types"

const SHORT: Record<string, string> = { "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *" }
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const MINUTE_MS = 60_000, HOUR_MS = 3_600_000, DAY_MS = 86_400_000
const DAYS_LOOKED_AT = 3000, STEPS_MAX = 60_000

export interface Cron { minutes: number[]; hours: number[]; days: number[]; months: number[]; weekdays: number[]; isDayFree: boolean; isWeekdayFree: boolean }

function field(text: string, from: number, to: number, names: string[]): number[] | null {
  const number = (word: string): number => {
    const named = names.findIndex(name => name.slice(0, 3).toUpperCase() === word.toUpperCase())
    return named >= 0 ? named + from : /^\d+$/.test(word) ? Number(word) : NaN
  }
  const found = new Set<number>()
  for (const part of text.split(",")) {
    const [range = "", step = "1"] = part.split("/"), [first = "", second] = range.split("-")
    const begin = range === "*" ? from : number(first), end = range === "*" ? to : second !== undefined ? number(second) : part.includes("/") ? to : begin
    if (!(begin >= from && end <= to && begin <= end && Number(step) >= 1)) return null
    for (let value = begin; value <= end; value += Number(step)) found.add(value)
  }
  return [...found].sort((a, b) => a - b)
}

// Null: nothing this page understands.
export function parseCron(text: string): Cron | null {
  const words = (SHORT[text.trim().toLowerCase()] ?? text).trim().split(/\s+/)
  if (words.length !== 5) return null
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = words
  const minutes = field(minute, 0, 59, []), hours = field(hour, 0, 23, []), days = field(day, 1, 31, []), months = field(month, 1, 12, MONTHS), week = field(weekday, 0, 7, DAYS)
  if (!minutes || !hours || !days || !months || !week) return null
  return { minutes, hours, days, months, weekdays: [...new Set(week.map(each => each % 7))].sort(), isDayFree: day.startsWith("*"), isWeekdayFree: weekday.startsWith("*") }
}

// ---- words ----

const two = (n: number): string => String(n).padStart(2, "0")
const list = (words: string[]): string => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`
function evenly(values: number[], size: number): number {
  const step = (values[1] ?? 0) - (values[0] ?? 0)
  return values.length > 1 && values[0] === 0 && size % step === 0 && values.length === size / step && values.every((value, at) => value === at * step) ? step : 0
}
function runsOf(values: number[], name: (value: number) => string): string {
  const isRow = values.length > 2 && values.every((value, at) => at === 0 || value === (values[at - 1] ?? 0) + 1)
  return isRow ? `${name(values[0] ?? 0)} to ${name(values.at(-1) ?? 0)}` : list(values.map(name))
}

function timeWords(it: Cron): string {
  const step = evenly(it.minutes, 60), hourStep = evenly(it.hours, 24)
  const at = it.minutes.length === 1 ? `:${two(it.minutes[0] ?? 0)}` : ""
  if (it.hours.length === 24) return it.minutes.length === 60 ? "every minute" : step ? `every ${step} minutes` : at ? `every hour at ${at}` : `every hour at minutes ${list(it.minutes.map(String))}`
  if (at && hourStep) return `every ${hourStep} hours at ${at}`
  if (at && it.hours.length <= 4) return `at ${list(it.hours.map(hour => `${two(hour)}${at}`))}`
  const hours = runsOf(it.hours, hour => `${two(hour)}:00`)
  if (at) return `at ${at} of the hours ${hours}`
  return `${it.minutes.length === 60 ? "every minute" : step ? `every ${step} minutes` : `at minutes ${list(it.minutes.map(String))}`} of the hours ${hours}`
}
function dayWords(it: Cron): string {
  const days = it.days.length === 31 ? "" : `on day ${runsOf(it.days, String)} of the month`, week = it.weekdays.length === 7 ? "" : `on ${runsOf(it.weekdays, day => DAYS[day] ?? "")}`
  const both = !days && !week ? (it.hours.length === 24 ? "" : "every day") : [days, week].filter(Boolean).join(it.isDayFree || it.isWeekdayFree ? " and " : " or ")
  return `${both}${it.months.length === 12 ? "" : `${both ? " " : ""}in ${runsOf(it.months, month => MONTHS[month - 1] ?? "")}`}`
}
export function cronWords(text: string): string {
  const it = parseCron(text)
  return it ? [timeWords(it), dayWords(it)].filter(Boolean).join(", ") : text
}

// ---- the next times ----

interface Local { year: number; month: number; day: number; hour: number; minute: number }

function clockOf(zone: string): (ms: number) => Local {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" })
  return ms => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(part => [part.type, Number(part.value)]))
    return { year: parts["year"] ?? 0, month: parts["month"] ?? 0, day: parts["day"] ?? 0, hour: parts["hour"] ?? 0, minute: parts["minute"] ?? 0 }
  }
}
const asUtc = (it: Local): number => Date.UTC(it.year, it.month - 1, it.day, it.hour, it.minute)

export function isDay(it: Cron, date: { month: number; day: number; weekday: number }): boolean {
  const isMonthDay = it.days.includes(date.day), isWeekday = it.weekdays.includes(date.weekday)
  return it.months.includes(date.month) && (it.isDayFree || it.isWeekdayFree ? isMonthDay && isWeekday : isMonthDay || isWeekday)
}

// The moment of a local time; where the clocks skip it, the end of the gap.
function momentOf(local: Local, clock: (ms: number) => Local): number {
  const wanted = asUtc(local), offset = (ms: number): number => asUtc(clock(ms)) - ms
  const before = wanted - offset(wanted - DAY_MS), after = wanted - offset(wanted + DAY_MS)
  for (const guess of [before, after].sort((a, b) => a - b)) if (asUtc(clock(guess)) === wanted) return guess
  let end = Math.max(before, after)
  for (let step = 0; step < 24 * 60 && offset(end - MINUTE_MS) === offset(end); step++) end -= MINUTE_MS
  return end
}

function byClock(it: Cron, clock: (ms: number) => Local, from: number, wanted: number): number[] {
  const found: number[] = []
  let ms = Math.floor(from / MINUTE_MS + 1) * MINUTE_MS
  for (let step = 0; step < STEPS_MAX && found.length < wanted; step++) {
    const local = clock(ms)
    const weekday = new Date(Date.UTC(local.year, local.month - 1, local.day)).getUTCDay()
    if (!isDay(it, { ...local, weekday })) {
      ms = Math.floor(ms / HOUR_MS + 1) * HOUR_MS
      continue
    }
    if (it.minutes.includes(local.minute)) found.push(ms)
    ms += MINUTE_MS
  }
  return found
}

function byDay(it: Cron, clock: (ms: number) => Local, from: number, wanted: number): number[] {
  const found = new Set<number>(), today = clock(from)
  for (let day = 0; day < DAYS_LOOKED_AT && found.size < wanted; day++) {
    const date = new Date(Date.UTC(today.year, today.month - 1, today.day + day)), local = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
    if (!isDay(it, { ...local, weekday: date.getUTCDay() })) continue
    for (const hour of it.hours) for (const minute of it.minutes) {
      const ms = momentOf({ ...local, hour, minute }, clock)
      if (ms > from && found.size < wanted) found.add(ms)
    }
  }
  return [...found].sort((a, b) => a - b)
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }
const durationOf = (text: string): number => [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)].reduce((sum, [, number, unit]) => sum + Number(number) * (UNITS[unit ?? ""] ?? 0), 0)

export function nextTicks(it: Pick<Schedule, "cron" | "every" | "at" | "timezone">, wanted: number, from = Date.now()): number[] {
  if (it.at) return Date.parse(it.at) > from ? [Date.parse(it.at)] : []
  const period = it.every ? durationOf(it.every) : 0
  if (it.every) return period ? Array.from({ length: wanted }, (_, at) => (Math.floor(from / period) + 1 + at) * period) : []
  const cron = parseCron(it.cron ?? "")
  if (!cron) return []
  try {
    const clock = clockOf(it.timezone || "UTC")
    return cron.hours.length === 24 ? byClock(cron, clock, from, wanted) : byDay(cron, clock, from, wanted)
  } catch {
    return [] // a zone that this browser does not know
  }
}

export const timing = (it: Schedule): string => it.cron ? `${cronWords(it.cron)}${it.timezone === "UTC" ? " UTC" : `, ${it.timezone}`}` : it.every ? `every ${it.every}` : `once, at ${it.at ?? ""}`
