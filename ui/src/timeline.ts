// What a run did and waited for, as bars over time; what its children did, below their bars. Long stretches in which
// nothing happened are folded. A part of it can be looked at closer.

import { html, nothing, type TemplateResult } from "lit-html"
import { get, query, runPath } from "./api"
import { draw } from "./app"
import { span } from "./format"
import { css, type Piece } from "./parts"
import { href } from "./route"
import type { Entry, Page, Run, Task } from "./types"

export interface Bar {
  kind: string; name: string; from: number; to: number | null; outcome: string; attempt: number
  child: string // id of the run that it stands for; empty: it is none
  parts: { from: number; to: number | null; isBad?: boolean }[] // of a task: the last attempt, from when a worker had it; of a step: all
}

const BARS_MAX = 300, FOLD_FACTOR = 3, FOLD_MS = 2000
const LOG_PAGE = 1000, DEPTH_MAX = 8
const OPENED = 3 // children that are unfolded unless somebody folds them
const ZOOM = 1.5, SPAN_MIN = 1e-4, PAN = 0.2

// Begun and ended entries of one thing have the same position, and those of tasks and children the same id.
// A step is noted when it has ended: it began when what was noted before it was there.
export function barsOf(entries: Entry[], tasks: Task[]): Bar[] {
  const bars: Bar[] = [], open = new Map<string, Bar>(), steps = new Map<string, Bar>()
  let before = Date.parse(entries[0]?.at ?? "")
  const byId = new Map(tasks.map(task => [task.id, task]))
  for (const entry of entries) {
    const at = Date.parse(entry.at), last = before
    before = at
    if (entry.kind === "task" || entry.kind === "child") {
      const id = String(entry.data ?? ""), task = byId.get(id)
      const begun = task?.started_at ? [{ from: Date.parse(task.started_at), to: task.finished_at ? Date.parse(task.finished_at) : null }] : []
      const bar: Bar = { kind: entry.kind, name: entry.name ?? id, from: at, to: null, outcome: "ok", attempt: task?.attempt ?? 1, child: entry.kind === "child" ? id : "", parts: begun }
      bars.push(bar)
      open.set(id, bar)
    } else if (entry.kind === "waiting") {
      const key = `${entry.name} ${entry.position}`
      if ([...open.values()].some(bar => bar.name === entry.name && bar.to === null && bar.kind !== "wait")) continue
      const bar: Bar = { kind: entry.name === "timer" ? "timer" : "wait", name: entry.name ?? "", from: at, to: null, outcome: "ok", attempt: 1, child: "", parts: [] }
      bars.push(bar)
      open.set(key, bar)
    } else if (entry.kind === "wait") {
      const key = entry.target ?? `${entry.name} ${entry.position}`
      const bar = open.get(key)
      if (!bar) { // a function's wait is noted when it has ended
        if (!byId.has(key)) bars.push({ kind: entry.name === "timer" || !entry.name ? "timer" : "wait", name: entry.name ?? "", from: last, to: at, outcome: entry.outcome, attempt: 1, child: "", parts: [] })
        continue
      }
      Object.assign(bar, { to: at, outcome: entry.outcome, attempt: entry.attempt ?? bar.attempt })
      open.delete(key)
    } else if (entry.kind === "step" || entry.kind === "step_attempt") {
      const isOver = entry.kind === "step", key = entry.name ?? ""
      const known = steps.get(key), bar: Bar = known ?? { kind: "step", name: entry.name ?? "step", from: last, to: null, outcome: "ok", attempt: 1, child: "", parts: [] }
      if (!known) bars.push(bar)
      bar.parts.push({ from: last, to: at, isBad: entry.outcome !== "ok" || !isOver })
      Object.assign(bar, { to: isOver ? at : null, outcome: isOver ? entry.outcome : "ok", attempt: entry.attempt ?? bar.parts.length })
      if (isOver) steps.delete(key)
      else steps.set(key, bar)
    } else if (entry.kind === "finished" || entry.kind === "retry" || entry.kind === "rewound" || entry.kind === "continued") {
      for (const bar of [...open.values(), ...steps.values()]) Object.assign(bar, { to: at, outcome: "cancelled" })
      open.clear()
      steps.clear()
    }
  }
  return bars
}

// What it waits for now and has not noted: functions of workers and of programs do not.
const openWaits = (run: Run, bars: Bar[]): Bar[] => run.waits.flatMap(wait => {
  const kind = wait.on === "timer" ? "timer" : "wait", name = wait.name ?? "", from = Date.parse(wait.since ?? "")
  if (wait.on === "task" || wait.on === "child" || !from || bars.some(bar => bar.to === null && (bar.kind === "timer" ? kind === "timer" : bar.name === name))) return []
  return [{ kind, name, from, to: null, outcome: "ok", attempt: 1, child: "", parts: [] }]
})

interface Scale { at: (ms: number) => number; time: (share: number) => number; folds: { from: number; to: number; ms: number }[] }

export function scaleOf(points: number[]): Scale {
  const sorted = [...new Set(points)].sort((a, b) => a - b)
  const gaps = sorted.slice(1).map((point, at) => ({ at, ms: point - (sorted[at] ?? 0), width: 0, isFolded: false }))
  let sum = 0
  for (const gap of [...gaps].sort((a, b) => a.ms - b.ms)) {
    gap.isFolded = sum > 0 && gap.ms > FOLD_MS && gap.ms > FOLD_FACTOR * sum
    gap.width = gap.isFolded ? sum / 4 : gap.ms
    sum += gap.width
  }
  const starts: number[] = [0]
  for (const gap of gaps) starts.push((starts.at(-1) ?? 0) + gap.width / (sum || 1))
  const at = (ms: number): number => {
    const index = sorted.findLastIndex(point => point <= ms)
    const gap = gaps[index], start = starts[index] ?? 0
    if (!gap) return index < 0 ? 0 : 1
    return start + (gap.ms ? (ms - (sorted[index] ?? 0)) / gap.ms : 0) * gap.width / (sum || 1)
  }
  const time = (share: number): number => {
    const index = Math.max(0, starts.findLastIndex(start => start <= share)), gap = gaps[index]
    if (!gap || gap.width === 0) return sorted[index] ?? 0
    return (sorted[index] ?? 0) + (share - (starts[index] ?? 0)) * (sum || 1) / gap.width * gap.ms
  }
  return { at, time, folds: gaps.filter(gap => gap.isFolded).map(gap => ({ from: starts[gap.at] ?? 0, to: starts[gap.at + 1] ?? 0, ms: gap.ms })) }
}

const clamp = (share: number): number => Math.max(0, Math.min(1, share))
const percent = (share: number): string => `${(share * 100).toFixed(3)}%`

interface Row { bar: Bar; depth: number; isOpen: boolean }
interface Child { entries: Entry[]; tasks: Task[] }

export class Timeline {
  private from = 0
  private to = 1 // the part that is shown, as shares of the whole
  private readonly children = new Map<string, Child>()
  private readonly touched = new Map<string, boolean>() // by child: whether somebody unfolded it, or folded it
  private known: { entries: Entry[]; tasks: Task[]; bars: Bar[] } = { entries: [], tasks: [], bars: [] }

  // ---- children ----

  private isOpen(id: string, number: number, depth: number): boolean {
    return this.touched.get(id) ?? (depth === 0 && number < OPENED)
  }
  private async loadChild(id: string): Promise<void> {
    const [log, tasks] = await Promise.all([get<Page<Entry>>(`${runPath(id)}/log${query({ limit: LOG_PAGE })}`), get<Page<Task>>(`/v1/tasks${query({ run: id, limit: 500 })}`)])
    this.children.set(id, { entries: log.items, tasks: tasks.items })
  }
  private toggle(id: string, isOpen: boolean): void {
    this.touched.set(id, !isOpen)
    draw()
    if (!isOpen) void this.loadChild(id).then(draw, () => {}) // a child that is gone has nothing to show
  }
  // Those that are unfolded, again: they go on while their parent waits.
  async load(entries: Entry[], tasks: Task[]): Promise<void> {
    const own = this.barsOf(entries, tasks).filter(bar => bar.child)
    const open = own.filter((bar, number) => this.isOpen(bar.child, number, 0)).map(bar => bar.child)
    const deeper = [...this.touched].filter(([, isOpen]) => isOpen).map(([id]) => id)
    await Promise.all([...new Set([...open, ...deeper])].map(id => this.loadChild(id).catch(() => {})))
  }

  private barsOf(entries: Entry[], tasks: Task[]): Bar[] {
    if (this.known.entries !== entries || this.known.tasks !== tasks) this.known = { entries, tasks, bars: barsOf(entries, tasks) }
    return this.known.bars
  }
  private rows(bars: Bar[], depth: number): Row[] {
    let number = 0
    return bars.flatMap(bar => {
      const child = bar.child ? this.children.get(bar.child) : undefined
      const isOpen = bar.child !== "" && this.isOpen(bar.child, number++, depth)
      return [{ bar, depth, isOpen }, ...(child && isOpen && depth < DEPTH_MAX ? this.rows(barsOf(child.entries, child.tasks), depth + 1) : [])]
    })
  }

  // ---- looking closer ----

  // The point at this share of what is shown stays where it is.
  private zoom(factor: number, at = 0.5): void {
    const middle = this.from + (this.to - this.from) * at, width = Math.max(SPAN_MIN, Math.min(1, (this.to - this.from) * factor))
    this.from = Math.max(0, Math.min(1 - width, middle - width * at))
    this.to = this.from + width
    draw()
  }
  private pan(by: number): void {
    const width = this.to - this.from
    this.from = Math.max(0, Math.min(1 - width, this.from + by * width))
    this.to = this.from + width
    draw()
  }
  private reset(): void {
    this.from = 0
    this.to = 1
    draw()
  }
  private readonly wheel = {
    handleEvent: (event: WheelEvent): void => {
      const track = (event.target as HTMLElement).closest(".tl-track")
      if (!event.ctrlKey || !track) return
      event.preventDefault()
      const box = track.getBoundingClientRect()
      this.zoom(event.deltaY < 0 ? 1 / ZOOM : ZOOM, clamp((event.clientX - box.left) / box.width))
    },
    passive: false,
  }
  private key(event: KeyboardEvent): void {
    const does: Record<string, () => void> = { "+": () => this.zoom(1 / ZOOM), "=": () => this.zoom(1 / ZOOM), "-": () => this.zoom(ZOOM), ArrowLeft: () => this.pan(-PAN), ArrowRight: () => this.pan(PAN), "0": () => this.reset() }
    if ((event.target as HTMLElement).closest("a, button") || !does[event.key]) return
    event.preventDefault()
    event.stopPropagation()
    does[event.key]?.()
  }

  // ---- drawing ----

  private box(from: number, to: number): Record<string, string> {
    const share = (at: number): number => (at - this.from) / (this.to - this.from), left = clamp(share(from)), right = clamp(share(to))
    return { left: percent(left), width: percent(right - left), display: share(to) < 0 || share(from) > 1 ? "none" : "block" }
  }

  private name({ bar, depth, isOpen }: Row): TemplateResult {
    return html`<span class="tl-name" ${css({ "padding-left": `${depth * 1.1}rem` })}>${bar.child ? html`<button class="fold" aria-expanded=${isOpen ? "true" : "false"} aria-label="What ${bar.name} did" @click=${() => this.toggle(bar.child, isOpen)}>${isOpen ? "▾" : "▸"}</button>` : nothing}<span class="tl-kind">${bar.kind}</span>
      ${bar.child ? html`<a href=${href("runs", bar.child)}>${bar.name}</a>` : bar.kind === "timer" ? "" : bar.name}</span>`
  }

  view(run: Run, entries: Entry[], tasks: Task[], retry: (bar: Bar) => Piece): TemplateResult {
    const all = this.rows([...this.barsOf(entries, tasks), ...openWaits(run, this.barsOf(entries, tasks))], 0), rows = all.slice(-BARS_MAX)
    if (rows.length === 0) return html`<p class="empty">${run.finished_at ? "It waited for nothing." : "It has not waited for anything yet."}</p>`
    const end = run.finished_at ? Date.parse(run.finished_at) : Date.now(), begin = Date.parse(run.created_at ?? entries[0]?.at ?? "")
    const bars = rows.map(row => row.bar)
    const scale = scaleOf([begin, end, ...bars.flatMap(bar => [bar.from, bar.to ?? end]), ...bars.flatMap(bar => bar.parts.flatMap(part => [part.from, part.to ?? end]))])
    const folds = scale.folds.map(fold => html`<i class="tl-fold" ${css(this.box(fold.from, fold.to))}></i>`)
    const label = (fold: Scale["folds"][number]): string => (fold.to - fold.from) / (this.to - this.from) > 0.06 && (fold.to - this.from) / (this.to - this.from) < 0.9 ? `⋯ ${span(fold.ms)}` : "⋯"
    return html`<div class="timeline" tabindex="0" role="group" aria-label="Timeline: plus and minus zoom, arrows move, 0 shows all" @wheel=${this.wheel} @keydown=${(event: KeyboardEvent) => this.key(event)}>
      <div class="tl-tools"><span class="soft small">Ctrl and the wheel, or + and −, look closer</span><button class="small-button" aria-label="Closer" @click=${() => this.zoom(1 / ZOOM)}>+</button><button class="small-button" aria-label="Wider" ?disabled=${this.to - this.from >= 1} @click=${() => this.zoom(ZOOM)}>−</button>${this.to - this.from < 1 ? html`<button class="small-button" @click=${() => this.reset()}>All</button>` : nothing}</div>
      <div class="tl-axis"><span></span><div class="tl-track"><span class="tl-begin">${this.from > 0 ? `+${span(scale.time(this.from) - begin)}` : "0"}</span>${scale.folds.map(fold => html`<span class="tl-fold-label" ${css(this.box(fold.from, fold.to))} title="Folded: ${span(fold.ms)}">${label(fold)}</span>`)}<span class="tl-end">${span(scale.time(this.to) - begin)}</span></div><span></span></div>
      <ol tabindex="0" aria-label="Bars">${rows.map(row => {
        const { bar } = row
        return html`<li class="tl-row">${this.name(row)}
          <div class="tl-track">${folds}
            <i class="tl-bar tl-${bar.kind} ${bar.to === null ? "open" : ""} ${bar.outcome === "ok" ? "" : "bad"}" ${css(this.box(scale.at(bar.from), scale.at(bar.to ?? end)))}></i>
            ${bar.parts.map(part => html`<i class="tl-part ${part.isBad ? "bad" : ""}" ${css(this.box(scale.at(part.from), scale.at(part.to ?? end)))}></i>`)}</div>
          <span class="tl-time">${bar.attempt > 1 ? `attempt ${bar.attempt} · ` : ""}${bar.outcome === "ok" ? nothing : html`<span class="state failed">${bar.outcome}</span> `}${span((bar.to ?? end) - bar.from)}${bar.to === null ? "…" : ""}${row.depth === 0 ? retry(bar) : nothing}</span>
        </li>`
      })}</ol>
      ${all.length > rows.length ? html`<p class="soft small">The last ${rows.length} of ${all.length} are shown; the history has all.</p>` : nothing}</div>`
  }
}
