// What can be done to a run: each asks once where something is lost, and says how to do it by other means.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, get, may, query, runPath, seg } from "./api"
import { act, reason, reload, say } from "./app"
import { ask, type Field } from "./dialog"
import { featuresKnown, has } from "./features"
import { cli, curl, parsed, sdk, segment, version, waitName } from "./format"
import { openMove } from "./move"
import { when } from "./parts"
import { go, href } from "./route"
import { isOver, type Entry, type Page, type Pending, type Run, type Task, type WorkflowItem } from "./types"

const VERSIONS_MAX = 100
type Values = Record<string, string>
const given = (values: Values, ...names: string[]): Values => Object.fromEntries(names.flatMap(name => values[name] ? [[name, values[name]]] : []))
const words = (values: Values, names: string[]): string[] => names.flatMap(name => values[name] ? [`--${name}`, values[name]] : [])

export const versionsOf = async (workflow: string): Promise<WorkflowItem[]> =>
  (await get<Page<WorkflowItem>>(`/v1/workflows${query({ name: workflow, limit: VERSIONS_MAX })}`)).items

// Which version the new run has, where the server lets one choose.
async function versionField(route: string, run: Run): Promise<Field[]> {
  await featuresKnown()
  if (run.kind !== "flow" || !has("POST", `/v1/runs/{id}/${route}`, "version")) return []
  const versions = await versionsOf(run.workflow).catch(() => [])
  const text = (each: WorkflowItem): string => `${version(each.version)}${each.current ? " (current)" : ""}${each.version === run.version ? " (of this run)" : ""}`
  return [{ name: "version", label: "Version", kind: "choice", choices: [["", "the one of this run"], ...versions.map((each): [string, string] => [each.version, text(each)])] }]
}

export const stepText = (entry: Entry): string => `${entry.name}${entry.iteration ? ` [${entry.iteration}]` : ""}`
const stepWords = (entry: Entry | null): string[] => entry ? [entry.name ?? "", "--iteration", String(entry.iteration ?? 0)] : []
const stepOf = (entry: Entry | null): { step?: string | null; iteration?: number } => entry ? { step: entry.name, iteration: entry.iteration ?? 0 } : {}

export class RunActions {
  private readonly path: string
  private readonly url: string

  constructor(private readonly id: string) {
    this.path = runPath(id)
    this.url = `/v1/runs/${segment(id)}`
  }

  // ---- without a question ----

  simple(word: string, said: string, back?: string): void {
    const undo = back ? async (): Promise<void> => {
      await call("POST", `${this.path}/${back}`)
      say(`${this.id}: undone.`)
      reload()
    } : undefined
    call("POST", `${this.path}/${word}`).then(() => say(`${this.id}: ${said}.`, false, undo), error => say(reason(error), true)).then(reload)
  }
  retryTask(task: Task): void {
    void act(`${task.name}: due now.`, () => call("POST", `/v1/tasks/${seg(task.id)}/retry`))
  }

  // ---- with one ----

  cancel(): void {
    ask({
      title: `Cancel ${this.id}?`, text: "Its script gets a CancelledError where it waits; tasks and children are cancelled with it.", button: "Cancel the run", isDanger: true,
      fields: [{ name: "reason", label: "Reason (kept with the run)" }, { name: "grace", label: "Time for cleanup", hint: "Such as 30s; empty: the server's setting." }],
      commands: values => [cli("wf", "cancel", this.id, ...words(values, ["reason", "grace"])), curl("POST", `${this.url}/cancel`, JSON.stringify(given(values, "reason", "grace"))), sdk("cancel", this.id, given(values, "reason", "grace"))],
      action: async values => {
        await call("POST", `${this.path}/cancel`, JSON.stringify(given(values, "reason", "grace")))
        reload()
      },
    })
  }

  remove(): void {
    ask({
      title: `Remove ${this.id}?`, text: "The run, its history and its tasks are gone for good.", button: "Remove the run", isDanger: true,
      commands: () => [cli("wf", "rm", this.id), curl("DELETE", this.url), sdk("remove", this.id)],
      action: async () => {
        await call("DELETE", this.path)
        go(href("runs"))
      },
    })
  }

  signal(run: Run): void {
    ask({
      title: `Send a signal to ${this.id}`, button: "Send",
      fields: [{ name: "name", label: "Signal", required: true, list: run.waits.filter(wait => wait.on === "signal").map(waitName) },
        { name: "payload", label: "Payload (JSON)", kind: "json", value: "{}" }],
      commands: ({ name, payload }) => [cli("signal", this.id, name ?? "", ...(payload ? [payload] : [])), curl("POST", `${this.url}/signals/${segment(name ?? "")}`, payload || undefined), sdk("signal", this.id, name, parsed(payload))],
      action: async ({ name, payload }) => {
        await call("POST", `${this.path}/signals/${seg(name ?? "")}`, payload || undefined)
        reload()
      },
    })
  }

  removeSignal(one: Pending): void {
    ask({
      title: `Remove the signal ${one.name}?`, button: "Remove the signal", isDanger: true, text: "The run has not taken it, and will not see it.",
      commands: () => [cli("wf", "rm-signals", this.id, "--id", one.id), curl("DELETE", `${this.url}/signals?id=${segment(one.id)}`), sdk("removeSignals", this.id, { id: one.id })],
      action: async () => {
        await call("DELETE", `${this.path}/signals${query({ id: one.id })}`)
        reload()
      },
    })
  }

  rewind(entry: Entry): void {
    const body = JSON.stringify(stepOf(entry))
    ask({
      title: `Rewind ${this.id} to ${stepText(entry)}?`, button: "Rewind the run", isDanger: true,
      text: "It goes back to the beginning of the turn that began this step. Tasks and children begun since are cancelled; events sent and signals taken since are not undone.",
      commands: () => [cli("wf", "rewind", this.id, ...stepWords(entry)), curl("POST", `${this.url}/rewind`, body), sdk("rewind", this.id, entry.name, { iteration: entry.iteration ?? 0 })],
      action: async () => {
        await call("POST", `${this.path}/rewind`, body)
        reload()
      },
    })
  }

  async fork(run: Run, entry: Entry | null): Promise<void> {
    const versions = await versionField("fork", run)
    const bodyOf = (values: Values): string => JSON.stringify({ ...stepOf(entry), ...given(values, "id", "version") })
    ask({
      title: entry ? `Fork ${this.id} from ${stepText(entry)}` : `Fork ${this.id} from its start`, button: "Fork",
      text: "A new run begins there, with the results of what came before. This run stays as it is.",
      fields: [{ name: "id", label: "Id of the new run", hint: "Empty: one is made." }, ...versions],
      commands: values => [cli("wf", "fork", this.id, ...stepWords(entry), ...words(values, ["id", "version"])), curl("POST", `${this.url}/fork`, bodyOf(values)), sdk("fork", this.id, { ...stepOf(entry), ...given(values, "id", "version") })],
      action: async values => go(href("runs", (await call<Run>("POST", `${this.path}/fork`, bodyOf(values))).id)),
    })
  }

  async retry(run: Run): Promise<void> {
    const versions = await versionField("retry", run)
    const bodyOf = (values: Values): string => JSON.stringify(given(values, "id", "version"))
    ask({
      title: `Retry ${this.id}`, button: "Retry", text: "A new run goes on at the last place where this one was well. This one stays as it is. If the cause is in the source, deploy first.",
      fields: [{ name: "id", label: "Id of the new run", hint: "Empty: one is made." }, ...versions],
      commands: values => [cli("wf", "retry", this.id, ...words(values, ["id", "version"])), curl("POST", `${this.url}/retry`, bodyOf(values)), sdk("retry", this.id, given(values, "id", "version"))],
      action: async values => go(href("runs", (await call<Run>("POST", `${this.path}/retry`, bodyOf(values))).id)),
    })
  }

  canSet(run: Run): boolean {
    return may("client") && run.kind === "flow" && (run.status === "suspended" || run.status === "paused") && has("POST", "/v1/runs/{id}/set")
  }
  setVariable(path: string, names: string[], now: string): void {
    // The value is sent as it was written.
    const bodyOf = (values: Values): string => `{"values":[{"path":${JSON.stringify(values["path"] ?? "")},"value":${(values["value"] ?? "").trim() || "null"}}]}`
    ask({
      title: `Set a variable of ${this.id}`, button: "Set it", text: "The run goes on with this value from where it waits. What it has done stays done.",
      fields: [{ name: "path", label: "Variable", value: path, required: true, list: names, hint: "A name, or a path into it: order.lines[0].price" }, { name: "value", label: "Value (JSON)", kind: "json", required: true, value: now }],
      commands: values => [cli("wf", "set", this.id, `${values["path"] ?? ""}=${values["value"] ?? ""}`), curl("POST", `${this.url}/set`, bodyOf(values)), sdk("set", this.id, [{ path: values["path"], value: parsed(values["value"]) }])],
      action: async values => {
        await call("POST", `${this.path}/set`, bodyOf(values))
        say(`${this.id}: ${values["path"] ?? ""} is set.`)
        reload()
      },
    })
  }

  // ---- the row of buttons ----

  means(run: Run): string[] {
    const verb = run.status === "paused" ? "resume" : "pause"
    return [cli("wf", "show", this.id), cli("wf", "watch", this.id), cli("wf", "result", this.id, "--wait"), curl("GET", this.url), curl("GET", `${this.url}/log`), sdk("show", this.id), sdk("result", this.id),
      ...(isOver(run.status) ? [] : [cli("wf", verb, this.id), curl("POST", `${this.url}/${verb}`), sdk(verb, this.id)]),
      ...(run.status === "suspended" ? [cli("wf", run.released ? "load" : "release", this.id), curl("POST", `${this.url}/${run.released ? "load" : "release"}`), sdk(run.released ? "load" : "release", this.id)] : []),
      ...run.waits.filter(wait => wait.on === "task" && wait.name).flatMap(wait => [cli("task", "retry", wait.name ?? ""), curl("POST", `/v1/tasks/${segment(wait.name ?? "")}/retry`), sdk("tasks.retry", wait.name)])]
  }

  view(run: Run): TemplateResult {
    const isLive = !isOver(run.status)
    if (!may("client")) return html``
    return html`<div class="row actions">
      ${isLive && run.status !== "paused" ? html`<button @click=${() => this.simple("pause", "paused", "resume")}>Pause</button>` : nothing}
      ${run.status === "paused" ? html`<button class="primary" @click=${() => this.simple("resume", "goes on", "pause")}>Resume</button>` : nothing}
      ${run.status === "failed" ? html`<button class="primary" @click=${() => this.retry(run)}>Retry…</button>` : nothing}
      ${isLive ? html`<button @click=${() => this.signal(run)}>Signal…</button>` : nothing}
      ${run.status === "suspended" && run.idle_since && !run.released ? html`<button @click=${() => this.simple("release", "released from memory")}>Release</button>` : nothing}
      ${run.status === "suspended" && run.released ? html`<button @click=${() => this.simple("load", "loaded into memory")}>Load</button>` : nothing}
      <button @click=${() => this.fork(run, null)}>Fork…</button>
      ${run.kind === "flow" && (run.status === "suspended" || run.status === "paused") ? html`<button @click=${() => openMove(run)}>Move…</button>` : nothing}
      <button @click=${() => print()}>Print…</button>
      ${isLive ? html`<button class="danger" ?disabled=${run.cancel_requested} @click=${() => this.cancel()}>${run.cancel_requested ? "Cancelling" : "Cancel…"}</button>` : html`<button class="danger" @click=${() => this.remove()}>Remove…</button>`}
      ${run.status === "pending" && run.attempt > 1 && run.next_wake_at ? html`<span class="soft">the next attempt begins ${when(run.next_wake_at)}</span>` : nothing}
    </div>`
  }
}
