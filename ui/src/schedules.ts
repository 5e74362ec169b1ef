// Schedules: when they tick, in words, and what became of the last ticks.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, get, query, seg } from "./api"
import { act, getOrNull, keysOf, reload, type View } from "./app"
import { tells } from "./changes"
import { cronWords, nextTicks, timing } from "./cron"
import { ask } from "./dialog"
import { cli, count, curl, parsed, pretty, sdk, segment } from "./format"
import { acting, card, empty, facts, runLink, small, state, table, value, when, workflowLink, type Piece } from "./parts"
import { go, href, type Place } from "./route"
import type { Page, Run, RunItem, Schedule, WorkflowItem } from "./types"

const KINDS = ["cron", "every", "at"] as const
const TICKS_SHOWN = 5, RUNS_SHOWN = 10
const path = (it: Schedule): string => `/v1/schedules/${seg(it.name)}`
// By the clock of the schedule's time zone.
function date(ms: number, it: { cron?: string; timezone: string } = { timezone: "" }): string {
  const how: Intl.DateTimeFormatOptions = { weekday: "short", year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }
  try {
    return new Date(ms).toLocaleString([], it.cron ? { ...how, timeZone: it.timezone, timeZoneName: "short" } : how)
  } catch {
    return new Date(ms).toLocaleString([], how) // a zone that the browser does not know
  }
}

const namesOf = async (): Promise<string[]> => (await get<Page<WorkflowItem>>("/v1/workflows?limit=1000")).items.filter(each => each.current).map(each => each.name).sort()

const zeroless = (text: string | undefined): string => text && !/^0/.test(text) ? text : ""

// What is being written, in words.
function ticksOf(values: Record<string, string>): string {
  const kind = values["kind"] ?? "cron", time = values["time"] ?? "", ticks = nextTicks({ [kind]: time, timezone: values["timezone"] || "UTC" }, 2)
  const words = kind === "cron" ? cronWords(time) : ""
  return ticks.length ? `${words && words !== time ? `${words}; ` : ""}next ${ticks.map(ms => date(ms)).join(", then ")}` : ""
}

// ---- what can be done ----

async function edit(it?: Schedule): Promise<void> {
  const workflows = await namesOf().catch(() => [])
  const kind = it?.every ? "every" : it?.at ? "at" : "cron"
  const optionsOf = (values: Record<string, string>): Record<string, unknown> => {
    const isCron = (values["kind"] ?? "cron") === "cron", tags = (values["tags"] ?? "").split(",").map(tag => tag.trim()).filter(Boolean)
    return { [values["kind"] ?? "cron"]: values["time"], ...(isCron ? { timezone: values["timezone"] || "UTC" } : {}), overlap: values["overlap"], ...(values["jitter"] ? { jitter: values["jitter"] } : {}), ...(values["catch_up"] ? { catch_up: values["catch_up"] } : {}), ...(tags.length ? { tags } : {}) }
  }
  const bodyOf = (values: Record<string, string>): string => {
    const rest = JSON.stringify({ workflow: values["workflow"], ...optionsOf(values) }), input = (values["input"] ?? "").trim()
    return input ? `${rest.slice(0, -1)},"input":${input}}` : rest
  }
  const nameOf = (values: Record<string, string>): string => it?.name ?? values["name"] ?? ""
  ask({
    title: it ? `Change ${it.name}` : "New schedule", button: it ? "Change" : "Create",
    fields: [...(it ? [] : [{ name: "name", label: "Name", required: true }]), { name: "workflow", label: "Workflow", value: it?.workflow ?? workflows[0] ?? "", required: true, list: workflows },
      { name: "kind", label: "Kind", kind: "choice", choices: [...KINDS], value: kind }, { name: "time", label: "When", value: it?.[kind] ?? "0 3 * * *", required: true, hint: "cron: 0 3 * * *; every: 15m; at: 2030-01-01T00:00:00Z", says: ticksOf },
      { name: "timezone", label: "Time zone", value: it?.timezone ?? "UTC", hint: "Of cron." }, { name: "overlap", label: "If the last run goes on", kind: "choice", choices: ["skip", "queue", "allow", "cancel-old"], value: it?.overlap ?? "skip" },
      { name: "catch_up", label: "Missed ticks still start if they are this late", value: zeroless(it?.catch_up), hint: "Such as 12h; empty: only the latest." }, { name: "jitter", label: "Start up to this much later", value: zeroless(it?.jitter), hint: "Such as 5m." },
      { name: "tags", label: "Tags of the runs, with commas", value: it?.tags.join(", ") ?? "" },
      { name: "input", label: "Input (JSON)", kind: "json", value: it && it.input !== null ? pretty(it.input) : "" }],
    commands: values => [cli("schedule", "set", nameOf(values), values["workflow"] ?? "", ...(values["input"] ? [values["input"]] : []), `--${values["kind"] ?? "cron"}`, values["time"] ?? "", ...((values["kind"] ?? "cron") === "cron" ? ["--timezone", values["timezone"] || "UTC"] : []), "--overlap", values["overlap"] ?? "skip"),
      curl("PUT", `/v1/schedules/${segment(nameOf(values))}`, bodyOf(values)), sdk("schedules.set", nameOf(values), values["workflow"], parsed(values["input"]) ?? null, optionsOf(values))],
    action: async values => {
      await call("PUT", `/v1/schedules/${seg(nameOf(values))}`, bodyOf(values))
      reload()
    },
  })
}

const trigger = async (it: Schedule): Promise<void> => {
  let run: Run | undefined
  if (await act(`${it.name}: a run has started.`, async () => {
    run = await call<Run>("POST", `${path(it)}/trigger`)
  }) && run) go(href("runs", run.id))
}
const backfill = (it: Schedule): void => ask({
  title: `Backfill ${it.name}`, button: "Start the runs", text: "Starts a run for each tick between these times that has none.",
  fields: [{ name: "from", label: "From", required: true, value: new Date(Date.now() - 86_400_000).toISOString() }, { name: "to", label: "To", required: true, value: new Date().toISOString() }],
  commands: values => [cli("schedule", "backfill", it.name, "--from", values["from"] ?? "", "--to", values["to"] ?? ""), sdk("schedules.backfill", it.name, values["from"], values["to"]), curl("POST", `/v1/schedules/${segment(it.name)}/backfill`, JSON.stringify({ from: values["from"], to: values["to"] }))],
  action: async values => {
    const done = await call<{ started: number; existing: number }>("POST", `${path(it)}/backfill`, JSON.stringify({ from: values["from"], to: values["to"] }))
    reload()
    return html`<p>${count(done.started)} runs started; ${count(done.existing)} ticks had theirs.</p>`
  },
})
const remove = (it: Schedule): void => ask({
  title: `Remove the schedule ${it.name}?`, button: "Remove the schedule", isDanger: true, text: "Its runs stay.",
  commands: () => [cli("schedule", "rm", it.name), sdk("schedules.remove", it.name), curl("DELETE", `/v1/schedules/${segment(it.name)}`)],
  action: async () => {
    await call("DELETE", path(it))
    if (location.hash === href("schedules", it.name)) go(href("schedules"))
    else reload()
  },
})
const pause = (it: Schedule): Promise<boolean> => act(`${it.name}: ${it.paused ? "ticks again" : "paused"}.`, () => call("POST", `${path(it)}/${it.paused ? "resume" : "pause"}`))
const buttons = (it: Schedule): TemplateResult => html`<span class="nowrap">${small("Trigger", it.name, () => trigger(it))}${small("Edit…", it.name, () => edit(it))}${small(it.paused ? "Resume" : "Pause", it.name, () => pause(it))}${small("Backfill…", it.name, () => backfill(it))}${small("Remove…", it.name, () => remove(it), "danger")}</span>`
const meansOf = (it: Schedule): string[] => ["trigger", it.paused ? "resume" : "pause"].flatMap(verb => [cli("schedule", verb, it.name), curl("POST", `/v1/schedules/${segment(it.name)}/${verb}`), sdk(`schedules.${verb}`, it.name)])

const ticked = (it: Schedule): Piece => html`${count(it.started)} started${it.skipped ? `, ${count(it.skipped)} skipped` : ""}${it.missed ? `, ${count(it.missed)} missed` : ""}${it.failed ? html`, <span class="failed" title=${it.last_error ?? ""}>${count(it.failed)} failed</span>` : nothing}`

// ---- all of them ----

export function schedulesView(place: Place): View {
  if (place.name) return scheduleView(place.name)
  let items: Schedule[] | null = null
  const row = (it: Schedule): unknown[] => [html`<a href=${href("schedules", it.name)}><b>${it.name}</b></a>${it.paused ? html` <span class="state paused">paused</span>` : nothing}`, workflowLink(it.workflow), html`${timing(it)}${it.cron ? html`<br><code class="soft">${it.cron}</code>` : nothing}`, it.paused ? nothing : when(it.next_at),
    html`${it.last_run_id ? runLink(it.last_run_id) : nothing} <span class="soft">${when(it.last_at)}</span>`, ticked(it), buttons(it)]
  return {
    title: "Schedules", // a tick shows as the run that it starts
    follows: news => tells(news, "schedules") || tells(news, "workflows") || tells(news, "runs", one => !one.workflow || !!items?.some(it => it.workflow === one.workflow)),
    load: async () => {
      items = (await get<Page<Schedule>>("/v1/schedules?limit=1000")).items
    },
    get keys() {
      return keysOf({ n: ["new schedule", () => void edit()] })
    },
    means: () => [cli("schedule", "ls"), curl("GET", "/v1/schedules"), "for await (const schedule of client.schedules.list()) console.log(schedule.name)", ...(items ?? []).slice(0, 5).flatMap(meansOf)],
    view: () => html`<div class="title"><h1>Schedules</h1>${acting(html`<button class="primary" @click=${() => edit()}>New schedule…</button>`)}</div>
      ${items === null ? nothing : card("Schedules", table("List of schedules", ["Schedule", "Workflow", "When", "Next", "Last run", "Ticks", ""], items.map(row), "There are none yet. A schedule starts runs of a workflow by the clock."))}`,
  }
}

// ---- one ----

function scheduleView(name: string): View {
  let it: Schedule | null = null, runs: RunItem[] = [], isMissing = false
  const view = (): TemplateResult => {
    if (isMissing) return html`<h1>There is no such schedule</h1><div class="card">${empty(html`There is no schedule <code>${name}</code>. <a href=${href("schedules")}>All schedules</a>`)}</div>`
    if (!it) return html`<h1 class="wrapping">${name}</h1>`
    return html`<p class="crumbs"><a href=${href("schedules")}>Schedules</a></p><div class="title"><h1 class="wrapping">${name}</h1>${it.paused ? state("paused") : nothing}</div>
      <div class="row actions">${buttons(it)}</div>
      ${it.last_error ? card("The last tick failed", html`<p class="pad error-text">${it.last_error}</p>`, nothing, "alert") : nothing}
      <div class="split"><div>${card("When", html`<p class="pad lead">${timing(it)}</p>`)}
        ${card("Next ticks", it.paused ? empty("It is paused: ticks pass.") : html`<ol class="ticks-list">${nextTicks(it, TICKS_SHOWN).map(ms => html`<li>${date(ms, it ?? undefined)} <span class="soft">${when(new Date(ms).toISOString())}</span></li>`)}</ol>`)}
        ${card("Its runs", runs.length ? html`<ul class="plain">${runs.map(run => html`<li>${runLink(run.id)} ${state(run.status)} <span class="soft">${when(run.created_at)}</span></li>`)}</ul>` : empty("None yet."))}</div>
      <div class="side">${card("About", facts([["Workflow", workflowLink(it.workflow)], ["Cron", it.cron ? html`<code>${it.cron}</code>` : null], ["Time zone", it.cron ? it.timezone : null], ["Next", it.paused ? null : when(it.next_at)], ["Last", when(it.last_at)], ["Ticks", ticked(it)], ["Overlap", it.overlap], ["Catch up", it.catch_up], ["Jitter", it.jitter], ["Tags", it.tags.join(", ")]]))}
        ${it.input === null ? nothing : card("Input", html`<div class="pad">${value(it.input)}</div>`)}</div></div>`
  }
  return {
    title: name, view,
    follows: news => tells(news, "schedules", one => !one.name || one.name === name) || tells(news, "runs", one => !one.workflow || one.workflow === it?.workflow),
    load: async () => {
      const [one, some] = await Promise.all([getOrNull<Schedule>(`/v1/schedules/${seg(name)}`), get<Page<RunItem>>(`/v1/runs${query({ q: `id~${JSON.stringify(`sched:${name}:`)}`, limit: RUNS_SHOWN })}`)])
      it = one
      runs = some.items
      isMissing = one === null
    },
    means: () => it ? [cli("schedule", "show", name), ...meansOf(it)] : [],
    get keys() {
      return keysOf({ e: ["edit", () => it && void edit(it)], t: ["trigger", () => it && void trigger(it)], p: ["pause or resume", () => it && void pause(it)], b: ["backfill", () => it && backfill(it)] })
    },
  }
}
