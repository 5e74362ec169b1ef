// Schedules: when they tick next, and what became of the last ticks.

import { html, nothing } from "lit-html"
import { call, get, seg } from "./api"
import { act, reload, type View } from "./app"
import { tells } from "./changes"
import { ask } from "./dialog"
import { cli, count, curl, pretty, segment } from "./format"
import { acting, card, runLink, small, table, when, workflowLink } from "./parts"
import { go, href } from "./route"
import type { Page, Run, Schedule, WorkflowItem } from "./types"

const KINDS = ["cron", "every", "at"] as const
const timing = (it: Schedule): string => it.cron ? `${it.cron} (${it.timezone})` : it.every ? `every ${it.every}` : `at ${it.at ?? ""}`

export function schedulesView(): View {
  let items: Schedule[] | null = null, workflows: string[] = []
  const path = (it: Schedule): string => `/v1/schedules/${seg(it.name)}`

  function edit(it?: Schedule): void {
    const kind = it?.every ? "every" : it?.at ? "at" : "cron"
    const bodyOf = (values: Record<string, string>): string => {
      const rest = JSON.stringify({ workflow: values["workflow"], [values["kind"] ?? "cron"]: values["time"], timezone: values["timezone"] || "UTC", overlap: values["overlap"], ...(it ? { jitter: it.jitter, catch_up: it.catch_up, tags: it.tags } : {}) })
      const input = (values["input"] ?? "").trim()
      return input ? `${rest.slice(0, -1)},"input":${input}}` : rest
    }
    ask({
      title: it ? `Change ${it.name}` : "New schedule", button: it ? "Change" : "Create",
      fields: [...(it ? [] : [{ name: "name", label: "Name", required: true }]), { name: "workflow", label: "Workflow", value: it?.workflow ?? workflows[0] ?? "", required: true, list: workflows },
        { name: "kind", label: "Kind", kind: "choice", choices: [...KINDS], value: kind }, { name: "time", label: "When", value: it?.[kind] ?? "0 3 * * *", required: true, hint: "cron: 0 3 * * *; every: 15m; at: 2030-01-01T00:00:00Z" },
        { name: "timezone", label: "Time zone", value: it?.timezone ?? "UTC" }, { name: "overlap", label: "If the last run goes on", kind: "choice", choices: ["skip", "queue", "allow", "cancel-old"], value: it?.overlap ?? "skip" },
        { name: "input", label: "Input (JSON)", kind: "json", value: it && it.input !== null ? pretty(it.input) : "" }],
      commands: values => [curl("PUT", `/v1/schedules/${segment(it?.name ?? values["name"] ?? "")}`, bodyOf(values))],
      action: async values => {
        await call("PUT", `/v1/schedules/${seg(it?.name ?? values["name"] ?? "")}`, bodyOf(values))
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
    commands: values => [curl("POST", `/v1/schedules/${segment(it.name)}/backfill`, JSON.stringify({ from: values["from"], to: values["to"] }))],
    action: async values => {
      const done = await call<{ started: number; existing: number }>("POST", `${path(it)}/backfill`, JSON.stringify({ from: values["from"], to: values["to"] }))
      reload()
      return html`<p>${count(done.started)} runs started; ${count(done.existing)} ticks had theirs.</p>`
    },
  })
  const remove = (it: Schedule): void => ask({
    title: `Remove the schedule ${it.name}?`, button: "Remove the schedule", isDanger: true, text: "Its runs stay.",
    commands: () => [cli("schedule", "rm", it.name), curl("DELETE", `/v1/schedules/${segment(it.name)}`)],
    action: async () => {
      await call("DELETE", path(it))
      reload()
    },
  })
  const row = (it: Schedule): unknown[] => [html`<b>${it.name}</b>${it.paused ? html` <span class="state paused">paused</span>` : nothing}`, workflowLink(it.workflow), html`<code>${timing(it)}</code>`, it.paused ? nothing : when(it.next_at),
    html`${it.last_run_id ? runLink(it.last_run_id) : nothing} <span class="soft">${when(it.last_at)}</span>`,
    html`${count(it.started)} started${it.skipped ? `, ${count(it.skipped)} skipped` : ""}${it.missed ? `, ${count(it.missed)} missed` : ""}${it.failed ? html`, <span class="failed" title=${it.last_error ?? ""}>${count(it.failed)} failed</span>` : nothing}`,
    html`<span class="nowrap">${small("Trigger", it.name, () => trigger(it))}${small("Edit…", it.name, () => edit(it))}${small(it.paused ? "Resume" : "Pause", it.name, () => act(`${it.name}: ${it.paused ? "ticks again" : "paused"}.`, () => call("POST", `${path(it)}/${it.paused ? "resume" : "pause"}`)))}${small("Backfill…", it.name, () => backfill(it))}${small("Remove…", it.name, () => remove(it), "danger")}</span>`]

  return {
    title: "Schedules", // a tick shows as the run that it starts
    follows: news => tells(news, "schedules") || tells(news, "workflows") || tells(news, "runs", one => !one.workflow || !!items?.some(it => it.workflow === one.workflow)),
    load: async () => {
      const [all, flows] = await Promise.all([get<Page<Schedule>>("/v1/schedules?limit=1000"), get<Page<WorkflowItem>>("/v1/workflows?limit=1000")])
      items = all.items
      workflows = flows.items.filter(each => each.current).map(each => each.name).sort()
    },
    view: () => html`<div class="title"><h1>Schedules</h1>${acting(html`<button @click=${() => edit()}>New schedule…</button>`)}</div>
      ${items === null ? nothing : card("Schedules", table("List of schedules", ["Schedule", "Workflow", "When", "Next", "Last run", "Ticks", ""], items.map(row), "There are none yet."))}`,
  }
}
