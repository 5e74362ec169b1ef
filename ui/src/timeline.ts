// What a run did and waited for, as bars over time. Long stretches in which nothing happened are folded.

import { html, nothing, type TemplateResult } from "lit-html"
import { span } from "./format"
import { css, type Piece } from "./parts"
import { href } from "./route"
import type { Entry, Run, Task } from "./types"

export interface Bar {
  kind: string; name: string; from: number; to: number | null; outcome: string; attempt: number; link: string
  parts: { from: number; to: number | null }[] // of a task: the last attempt, from when a worker had it
}

const BARS_MAX = 300, FOLD_FACTOR = 3, FOLD_MS = 2000

// Begun and ended entries of one thing have the same position, and those of tasks and children the same id.
export function barsOf(entries: Entry[], tasks: Task[]): Bar[] {
  const bars: Bar[] = [], open = new Map<string, Bar>()
  const byId = new Map(tasks.map(task => [task.id, task]))
  for (const entry of entries) {
    const at = Date.parse(entry.at)
    if (entry.kind === "task" || entry.kind === "child") {
      const id = String(entry.data ?? ""), task = byId.get(id)
      const begun = task?.started_at ? [{ from: Date.parse(task.started_at), to: task.finished_at ? Date.parse(task.finished_at) : null }] : []
      const bar: Bar = { kind: entry.kind, name: entry.name ?? id, from: at, to: null, outcome: "ok", attempt: task?.attempt ?? 1, link: entry.kind === "child" ? href("runs", id) : "", parts: begun }
      bars.push(bar)
      open.set(id, bar)
    } else if (entry.kind === "waiting") {
      const key = `${entry.name} ${entry.position}`
      if ([...open.values()].some(bar => bar.name === entry.name && bar.to === null && bar.kind !== "wait")) continue
      const bar: Bar = { kind: entry.name === "timer" ? "timer" : "wait", name: entry.name ?? "", from: at, to: null, outcome: "ok", attempt: 1, link: "", parts: [] }
      bars.push(bar)
      open.set(key, bar)
    } else if (entry.kind === "wait") {
      const key = entry.target ?? `${entry.name} ${entry.position}`
      const bar = open.get(key)
      if (!bar) continue
      Object.assign(bar, { to: at, outcome: entry.outcome, attempt: entry.attempt ?? bar.attempt })
      open.delete(key)
    } else if (entry.kind === "step") {
      bars.push({ kind: "step", name: entry.name ?? "step", from: at, to: at, outcome: entry.outcome, attempt: entry.attempt ?? 1, link: "", parts: [] })
    } else if (entry.kind === "finished" || entry.kind === "retry" || entry.kind === "rewound" || entry.kind === "continued") {
      for (const bar of open.values()) Object.assign(bar, { to: at, outcome: "cancelled" })
      open.clear()
    }
  }
  return bars
}

interface Scale { at: (ms: number) => number; folds: { from: number; to: number; ms: number }[] }

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
  return { at, folds: gaps.filter(gap => gap.isFolded).map(gap => ({ from: starts[gap.at] ?? 0, to: starts[gap.at + 1] ?? 0, ms: gap.ms })) }
}

const percent = (share: number): string => `${(Math.max(0, Math.min(1, share)) * 100).toFixed(3)}%`

export function timelineView(run: Run, entries: Entry[], tasks: Task[], retry: (bar: Bar) => Piece): TemplateResult {
  const all = barsOf(entries, tasks), bars = all.slice(-BARS_MAX)
  if (bars.length === 0) return html`<p class="empty">It has not waited for anything yet.</p>`
  const end = run.finished_at ? Date.parse(run.finished_at) : Date.now()
  const begin = Date.parse(run.created_at ?? entries[0]?.at ?? "")
  const scale = scaleOf([begin, end, ...bars.flatMap(bar => [bar.from, bar.to ?? end]), ...bars.flatMap(bar => bar.parts.flatMap(part => [part.from, part.to ?? end]))])
  const box = (from: number, to: number): Record<string, string> => ({ left: percent(from), width: percent(to - from) })
  return html`<div class="timeline">
    <div class="tl-axis"><span></span><div class="tl-track"><span class="tl-begin">0</span>${scale.folds.map(fold => html`<span class="tl-fold-label" ${css(box(fold.from, fold.to))} title="Folded: ${span(fold.ms)}">${fold.to - fold.from > 0.06 ? `⋯ ${span(fold.ms)}` : "⋯"}</span>`)}<span class="tl-end">${span(end - begin)}</span></div><span></span></div>
    <ol>${bars.map(bar => html`<li class="tl-row">
      <span class="tl-name"><span class="tl-kind">${bar.kind}</span> ${bar.link ? html`<a href=${bar.link}>${bar.name}</a>` : bar.kind === "timer" ? "" : bar.name}${bar.attempt > 1 ? html` <span class="soft">attempt ${bar.attempt}</span>` : nothing}</span>
      <div class="tl-track">${scale.folds.map(fold => html`<i class="tl-fold" ${css(box(fold.from, fold.to))}></i>`)}
        <i class="tl-bar tl-${bar.kind} ${bar.to === null ? "open" : ""} ${bar.outcome === "ok" ? "" : "bad"}" ${css(box(scale.at(bar.from), scale.at(bar.to ?? end)))}></i>
        ${bar.parts.map(part => html`<i class="tl-part" ${css(box(scale.at(part.from), scale.at(part.to ?? end)))}></i>`)}</div>
      <span class="tl-time">${bar.outcome === "ok" ? nothing : html`<span class="state failed">${bar.outcome}</span> `}${span((bar.to ?? end) - bar.from)}${bar.to === null ? "…" : ""}${retry(bar)}</span>
    </li>`)}</ol>
    ${all.length > bars.length ? html`<p class="soft small">The last ${bars.length} of ${all.length} are shown; the history has all.</p>` : nothing}</div>`
}
