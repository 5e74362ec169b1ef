// What happened in the last hours, as charts.

import { html, nothing } from "lit-html"
import { get, query } from "./api"
import { chartView, type Chart } from "./chart"
import { has } from "./features"
import { count, span } from "./format"
import type { Piece } from "./parts"
import { href } from "./route"

interface Rates { step_ms: number; from: string; to: string; series: { [name: string]: (number | null)[] }; nodes: number }

const HOURS = [1, 6, 24], STEPS = 120 // about as many as are drawn
const STEPS_MIN = 20 // are drawn of a server that is young
const OLD_MS = 5000 // what changes every moment is not asked for every moment

export class RatesView {
  private rates: Rates | null = null
  private lookedAt = 0
  private skipped = 0 // steps that are not drawn
  private readonly hours: number

  constructor(wanted: string | null) {
    this.hours = HOURS.find(each => String(each) === wanted) ?? 1
  }

  async load(): Promise<void> {
    if (!has("GET", "/v1/rates") || Date.now() - this.lookedAt < OLD_MS) return
    const seconds = this.hours * 3600 / STEPS // a multiple of ten seconds, and of a minute beyond an hour
    this.rates = await get<Rates>(`/v1/rates${query({ since: `${this.hours}h`, step: `${seconds}s` })}`)
    this.lookedAt = Date.now()
  }

  private line(name: string, label: string, tone: string, isArea = false): Chart["lines"][number] {
    return { name: label, tone, values: this.rates?.series[name]?.slice(this.skipped) ?? [], isArea }
  }

  view(): Piece {
    const it = this.rates
    if (!it) return nothing
    const all = Object.values(it.series), whole = Math.max(0, ...all.map(values => values.length))
    const first = Math.min(whole, ...all.map(values => values.findIndex(value => value !== null)).filter(at => at >= 0))
    this.skipped = Math.max(0, Math.min(first - 1, whole - STEPS_MIN)) // nothing is known of what was before
    const axis = { from: Date.parse(it.from) + this.skipped * it.step_ms, stepMs: it.step_ms, length: whole - this.skipped }
    const charts: Chart[] = [
      { title: "Runs", text: count, lines: [this.line("started", "started", "running", true), this.line("completed", "completed", "completed"), this.line("failed", "failed", "failed"), this.line("cancelled", "cancelled", "cancelled")] },
      { title: "Tasks", text: count, lines: [this.line("tasks_completed", "completed", "completed", true), this.line("tasks_failed", "failed", "failed")] },
      { title: "Waiting", text: count, lines: [this.line("queued", "tasks queued", "paused", true), this.line("suspended", "runs suspended", "suspended"), this.line("resident", "in memory", "running")] },
      { title: "From the answer to going on", text: span, lines: [this.line("resume_p50_ms", "half within", "completed", true), this.line("resume_p99_ms", "99 of 100 within", "paused")] },
    ]
    return html`<section class="card" aria-label="Rates"><div class="card-head"><h2>Rates</h2><span class="soft small">per ${span(it.step_ms)}${it.nodes > 1 ? `, of ${it.nodes} nodes` : ""}</span>
      <nav class="chips" aria-label="Time">${HOURS.map(each => html`<a class="chip" href=${href("now", "", { hours: each === 1 ? "" : String(each) })} aria-current=${each === this.hours ? "true" : nothing}>${each} h</a>`)}</nav></div>
      <div class="charts">${charts.map(chart => chartView(chart, axis))}</div></section>`
  }
}
