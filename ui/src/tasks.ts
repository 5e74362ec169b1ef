// Tasks, the queues they wait in, and the workers that ask for them.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, get, query, seg } from "./api"
import { act, getOrNull, keysOf, reload, type View } from "./app"
import { tells } from "./changes"
import { ask } from "./dialog"
import { cli, count, curl, sdk, segment, short, span, unservedText } from "./format"
import { acting, card, empty, errorBlock, facts, small, table, value, when, type Piece } from "./parts"
import { href, type Place } from "./route"
import type { Json, Page, Queue, Task, Unserved, Worker } from "./types"

const LISTED = 100, STATUSES = ["queued", "leased", "completed", "failed", "cancelled"]

const limit = (n: number): string => n ? count(n) : "none"
const rate = (queue: Queue): string => queue.rate_count ? `${count(queue.rate_count)} per ${queue.rate_period}` : "none"
const isRetryable = (task: Task): boolean => (task.status === "queued" && task.next_at !== null && Date.parse(task.next_at) > Date.now()) || task.status === "failed" || task.status === "cancelled"
const retryMeans = (id: string): string[] => [cli("task", "retry", id), curl("POST", `/v1/tasks/${segment(id)}/retry`), sdk("tasks.retry", id)]
const retry = (task: Task): Promise<boolean> => act(`${task.name}: due now.`, () => call("POST", `/v1/tasks/${seg(task.id)}/retry`))

function change(queue: Queue): void {
  const limitsOf = (values: Record<string, string>): Record<string, unknown> => ({ max_running: Number(values["max_running"] || 0), max_per_key: Number(values["max_per_key"] || 0),
    rate_count: Number(values["rate_count"] || 0), ...(Number(values["rate_count"] || 0) ? { rate_period: values["rate_period"] || "1s" } : {}) })
  const bodyOf = (values: Record<string, string>): string => JSON.stringify(limitsOf(values))
  ask({
    title: `Limits of the queue ${queue.name}`, button: "Set", text: "0 means no limit.",
    fields: [{ name: "max_running", label: "Most tasks at a time", kind: "number", value: String(queue.max_running) }, { name: "max_per_key", label: "Most tasks at a time of one concurrency key", kind: "number", value: String(queue.max_per_key) },
      { name: "rate_count", label: "Most tasks handed out …", kind: "number", value: String(queue.rate_count) }, { name: "rate_period", label: "… in this time", value: queue.rate_period ?? "1s" }],
    commands: values => [cli("queue", "set", queue.name, "--max-running", values["max_running"] || "0", "--max-per-key", values["max_per_key"] || "0", "--rate", Number(values["rate_count"] || 0) ? `${values["rate_count"]}/${values["rate_period"] || "1s"}` : "0"),
      curl("PATCH", `/v1/queues/${segment(queue.name)}`, bodyOf(values)), sdk("queues.change", queue.name, { maxRunning: Number(values["max_running"] || 0), maxPerKey: Number(values["max_per_key"] || 0), ...(Number(values["rate_count"] || 0) ? { rateCount: Number(values["rate_count"]), ratePeriod: values["rate_period"] || "1s" } : { rateCount: 0 }) })],
    action: async values => {
      await call("PATCH", `/v1/queues/${seg(queue.name)}`, bodyOf(values))
      reload()
    },
  })
}

export function tasksView(place: Place): View {
  if (place.name) return taskView(place.name)
  const wanted = place.options.get("status") ?? ""
  let queues: Queue[] = [], workers: Worker[] = [], unserved: Unserved[] = [], tasks: Task[] = [], isLoaded = false
  const load = async (): Promise<void> => {
    const [q, w, t] = await Promise.all([get<Page<Queue>>("/v1/queues?limit=1000"), get<Page<Worker> & { unserved: Unserved[] }>("/v1/workers"), get<Page<Task>>(`/v1/tasks${query({ status: wanted, limit: LISTED })}`)])
    queues = q.items
    workers = w.items
    unserved = w.unserved
    tasks = t.items
    isLoaded = true
  }
  const pause = (queue: Queue): unknown => queue.paused
    ? act(`${queue.name}: hands out tasks again.`, () => call("POST", `/v1/queues/${seg(queue.name)}/resume`))
    : ask({
      title: `Pause the queue ${queue.name}?`, text: "Its tasks stay, and none is handed out until it is resumed.", button: "Pause the queue", isDanger: true,
      commands: () => [cli("queue", "pause", queue.name), curl("POST", `/v1/queues/${segment(queue.name)}/pause`), sdk("queues.pause", queue.name)],
      action: async () => {
        await call("POST", `/v1/queues/${seg(queue.name)}/pause`)
        reload()
      },
    })
  const queueRow = (queue: Queue): unknown[] => [html`<b>${queue.name}</b>${queue.paused ? html` <span class="state paused">paused</span>` : nothing}`, html`${count(queue.queued)}${queue.blocked ? html` <span class="soft">${count(queue.blocked)} held back</span>` : nothing}`, count(queue.running),
    queue.oldest_at ? span(queue.oldest_age_seconds * 1000) : "", limit(queue.max_running), rate(queue), html`${small("Limits…", `of ${queue.name}`, () => change(queue))}${small(queue.paused ? "Resume" : "Pause", queue.name, () => pause(queue))}`]
  // Of the last five minutes where the server counts them, otherwise since it began to ask.
  const workerRow = (worker: Worker): unknown[] => {
    const figures = worker.recent ?? { completed: worker.completed ?? 0, failed: worker.failed ?? 0 }
    return [html`<b>${worker.id}</b>${worker.library ? html`<br><span class="soft small">${worker.library}</span>` : nothing}`, worker.present ? html`<span class="state completed">present</span>` : html`<span class="state cancelled">silent</span>`, worker.queues.join(", "),
      worker.names?.join(", ") ?? "any task", ...(worker.recent ? [count(worker.held ?? 0), worker.recent.per_minute] : []), count(figures.completed), figures.failed ? html`<span class="failed">${count(figures.failed)}</span>` : "0", when(worker.last_seen_at ?? worker.last_claim_at)]
  }
  const taskRow = (task: Task): unknown[] => [html`<a class="mono" href=${href("tasks", task.id)}>${task.name}</a>`, taskState(task), task.queue, `${task.attempt} of ${task.max_attempts}`, task.error ? short(task.error.message ?? "", 60) : "",
    when(task.created_at), isRetryable(task) ? small("Retry", task.name, () => retry(task)) : nothing]
  return {
    title: "Tasks", load, pauseMs: 15_000, // workers come and go unsaid
    follows: news => tells(news, "tasks") || tells(news, "queues"),
    means: () => [cli("queue", "ls"), cli("workers"), cli("task", "ls", ...(wanted ? ["--status", wanted] : [])), curl("GET", "/v1/queues"), curl("GET", "/v1/workers"), curl("GET", `/v1/tasks${query({ status: wanted })}`), sdk("server.workers"),
      ...queues.filter(each => each.paused).flatMap(each => [cli("queue", "resume", each.name), curl("POST", `/v1/queues/${segment(each.name)}/resume`), sdk("queues.resume", each.name)]), ...tasks.filter(isRetryable).slice(0, 5).flatMap(task => retryMeans(task.id))],
    view: () => html`<h1>Tasks and queues</h1>${isLoaded ? html`
      ${unserved.map(one => html`<p class="warn">${unservedText(one)} <a href=${href("tasks", one.task_id)}>One of them</a></p>`)}
      ${card("Queues", table("List of queues", ["Queue", "Waiting", "Running", "Oldest", "Most at a time", "Rate", ""], queues.map(queueRow), "No task has been queued yet."))}
      ${card("Workers", table("List of workers", ["Worker", "State", "Queues", "Asks for", ...(workers.some(each => each.recent) ? ["Has", "Per minute"] : []), "Completed", "Failed", "Seen"], workers.map(workerRow), "No worker has asked for tasks lately."), workers.some(each => each.recent) ? html`<span class="soft small">figures of the last five minutes</span>` : nothing)}
      ${card("Tasks", table("List of tasks", ["Task", "State", "Queue", "Attempt", "Error", "Made", ""], tasks.map(taskRow), wanted ? "None is like that." : "None."),
        html`<nav class="chips" aria-label="Tasks by state">${STATUSES.map(each => html`<a class="chip" href=${href("tasks", "", { status: each === wanted ? "" : each })} aria-current=${each === wanted ? "true" : nothing}>${each}</a>`)}</nav>`)}
      ${tasks.length === LISTED ? html`<p class="soft small">The newest ${LISTED} are shown.</p>` : nothing}` : nothing}`,
  }
}

const taskState = (task: Task): Piece => html`<span class="state ${{ queued: "pending", leased: "running", completed: "completed", failed: "failed", cancelled: "cancelled" }[task.status] ?? ""}">${task.status}</span>`

function taskView(id: string): View {
  let task: (Task & { unserved?: Unserved | null; run_id?: string | null }) | null = null, isMissing = false
  const block = (title: string, json: Json): Piece => json === null ? nothing : card(title, html`<div class="pad">${value(json)}</div>`)
  const view = (): TemplateResult => {
    if (isMissing) return html`<h1>There is no such task</h1><div class="card">${empty(html`There is no task <code>${id}</code>. <a href=${href("tasks")}>All tasks</a>`)}</div>`
    const it = task
    if (!it) return html`<h1 class="wrapping">${id}</h1>`
    return html`<p class="crumbs"><a href=${href("tasks")}>Tasks</a></p><div class="title"><h1 class="wrapping">${it.name}</h1>${taskState(it)}</div>
      ${isRetryable(it) ? acting(html`<div class="row actions"><button class="primary" @click=${() => retry(it)}>Retry now</button></div>`) : nothing}
      ${it.unserved ? html`<p class="warn">${unservedText(it.unserved)}</p>` : nothing}
      ${it.error ? card("Error", html`<div class="pad">${errorBlock(it.error)}</div>`, nothing, "alert") : nothing}
      ${card("About", facts([["Id", html`<code>${it.id}</code>`], ["Queue", it.queue], ["Attempt", `${it.attempt} of ${it.max_attempts}`], ["Worker", it.worker], ["Made", when(it.created_at)], ["Begun", when(it.started_at)], ["Ended", when(it.finished_at)],
        ["Next", when(it.next_at)], ["Concurrency key", it.concurrency_key], ["Priority", it.priority ? String(it.priority) : null]]))}
      ${block("Input", it.input)}${block("Progress", it.progress)}${block("Result", it.result)}`
  }
  return {
    title: id, view,
    means: () => [cli("task", "show", id), curl("GET", `/v1/tasks/${segment(id)}`), sdk("tasks.show", id), ...(task && isRetryable(task) ? retryMeans(id) : [])],
    get keys() {
      return keysOf({ r: ["retry now", () => task && isRetryable(task) && void retry(task)] })
    },
    follows: news => tells(news, "tasks", one => !one.id || one.id === id),
    load: async () => {
      task = await getOrNull(`/v1/tasks/${seg(id)}`)
      isMissing = task === null
    },
  }
}
