// Lines over time as SVG, with a reading at the pointer or at the arrow keys. What is unknown is a gap.
//
// The drawing is stretched to its box, so its texts stand beside it.

import { html, nothing, svg, type TemplateResult } from "lit-html"
import { draw } from "./app"
import { css } from "./parts"

export interface Line { name: string; tone: string; values: (number | null)[]; isArea?: boolean }
export interface Chart { title: string; lines: Line[]; text: (value: number) => string }
export interface Axis { from: number; stepMs: number; length: number }

const WIDTH = 600, HEIGHT = 120

let reading: number | null = null // the step that is read, in all charts at once

// The next number above that people like to see at an axis.
export function ceiling(max: number): number {
  if (max <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(max))
  return (([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find(each => each * unit >= max) ?? 10)) * unit
}

const isKnown = (value: number | null | undefined): value is number => value !== null && value !== undefined

// Stretches between gaps; a lonely point is a short stroke.
export function pathOf(values: (number | null)[], max: number, isArea = false): string {
  const x = (at: number): string => (values.length < 2 ? 0 : at / (values.length - 1) * WIDTH).toFixed(1)
  const y = (value: number): string => (HEIGHT - value / max * HEIGHT).toFixed(1)
  let out = ""
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (!isKnown(value)) continue
    const begin = at, isNew = at === 0 || !isKnown(values[at - 1])
    if (isNew) out += isArea ? `M${x(begin)} ${HEIGHT}L${x(at)} ${y(value)}` : `M${x(at)} ${y(value)}`
    else out += `L${x(at)} ${y(value)}`
    if (!isKnown(values[at + 1])) out += isArea ? `L${x(at)} ${HEIGHT}Z` : isNew ? at ? "h-6" : "h6" : ""
  }
  return out
}

const clock = (ms: number): string => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })

function read(event: PointerEvent, length: number): void {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
  reading = Math.max(0, Math.min(length - 1, Math.round((event.clientX - box.left) / box.width * (length - 1))))
  draw()
}
function step(event: KeyboardEvent, length: number): void {
  const by: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -length, End: length }
  const move = by[event.key]
  if (event.key === "Escape") reading = null
  else if (move !== undefined) reading = Math.max(0, Math.min(length - 1, (reading ?? length - 1) + move))
  else return
  event.preventDefault()
  draw()
}
const stop = (): void => {
  reading = null
  draw()
}

const last = (values: (number | null)[]): number | null => values.findLast(isKnown) ?? null

export function chartView(chart: Chart, axis: Axis): TemplateResult {
  const known = chart.lines.flatMap(line => line.values.filter(isKnown)), max = ceiling(Math.max(0, ...known))
  const at = reading !== null && reading < axis.length ? reading : null
  const shown = (line: Line): string => {
    const value = at === null ? last(line.values) : line.values[at]
    return isKnown(value) ? chart.text(value) : "–"
  }
  const time = at === null ? "last" : clock(axis.from + at * axis.stepMs)
  return html`<figure class="chart"><figcaption><h3>${chart.title}</h3><span class="soft small">${time}</span></figcaption>
    <ul class="legend">${chart.lines.map(line => html`<li><i class="tone-${line.tone}"></i>${line.name} <b>${shown(line)}</b></li>`)}</ul>
    <div class="plot" tabindex="0" role="slider" aria-label="${chart.title}: time" aria-valuemin="0" aria-valuemax=${axis.length - 1} aria-valuenow=${at ?? axis.length - 1}
      aria-valuetext="${time}: ${chart.lines.map(line => `${line.name} ${shown(line)}`).join(", ")}"
      @pointermove=${(event: PointerEvent) => read(event, axis.length)} @pointerleave=${stop} @blur=${stop} @keydown=${(event: KeyboardEvent) => step(event, axis.length)}>
      <span class="axis-max soft">${known.length ? chart.text(max) : ""}</span>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
        ${[0.5, 1].map(share => svg`<path class="grid" d="M0 ${HEIGHT * share}H${WIDTH}"></path>`)}
        ${chart.lines.map(line => line.isArea ? svg`<path class="area tone-${line.tone}" d=${pathOf(line.values, max, true)}></path>` : nothing)}
        ${chart.lines.map(line => svg`<path class="stroke tone-${line.tone}" d=${pathOf(line.values, max)}></path>`)}</svg>
      ${at === null ? nothing : html`<i class="crosshair" ${css({ left: `${axis.length > 1 ? at / (axis.length - 1) * 100 : 0}%` })}></i>`}
      ${known.length ? nothing : html`<span class="no-data soft">No figures yet</span>`}</div>
    <div class="ticks soft"><span>${clock(axis.from)}</span><span>${clock(axis.from + axis.stepMs * axis.length / 2)}</span><span>now</span></div></figure>`
}
