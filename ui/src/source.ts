// A script as lines, with marks and the values of variables beside them.

import { html, nothing, type TemplateResult } from "lit-html"
import { short } from "./format"
import type { Frame, Json } from "./types"

const TOKENS = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?)|\b(const|let|var|function|async|await|return|if|else|for|of|in|while|do|break|continue|throw|try|catch|finally|new|export|default|typeof|switch|case|class|extends|this|null|true|false|undefined)\b|\b(Task|Timer|Signal|Event|Workflow|State|Stream|Context|Inputs|console)\b|\b(\d[\d_.]*)\b/g
const CLASSES = ["", "t-comment", "t-text", "t-word", "t-api", "t-number"]

// Colours only: a line is looked at by itself, and what it does not recognise stays plain.
export function highlight(line: string): unknown[] {
  const out: unknown[] = []
  let at = 0
  for (const match of line.matchAll(TOKENS)) {
    if (match.index > at) out.push(line.slice(at, match.index))
    const kind = match.findIndex((group, number) => number > 0 && group !== undefined)
    out.push(html`<span class=${CLASSES[kind] ?? ""}>${match[0]}</span>`)
    at = match.index + match[0].length
  }
  out.push(line.slice(at))
  return out
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
const text = (value: Json): string => typeof value === "string" ? value : short(value, 60)

// For each line, the variables that are declared on it, with their values in the innermost frame that has them.
export function valuesByLine(lines: string[], frames: Frame[]): Map<number, [string, string][]> {
  const found = new Map<number, [string, string][]>()
  for (const frame of frames) {
    for (const [name, value] of Object.entries(frame.locals)) {
      const shown = text(value)
      if (/^function\b|^not initialised$|^class\b/.test(shown)) continue
      const declared = new RegExp(`\\b(?:const|let|var)\\s+(?:${escape(name)}(?![\\w$])|[{[][^=;]*(?<![\\w$.])${escape(name)}(?![\\w$]))|(?:function\\b[^(]*|^\\s*async\\s*|=\\s*(?:async\\s*)?)\\([^)]*(?<![\\w$.])${escape(name)}(?![\\w$])|\\bcatch\\s*\\(\\s*${escape(name)}\\b`)
      for (let line = Math.min(frame.line, lines.length); line >= 1; line--) {
        if (!declared.test(lines[line - 1] ?? "")) continue
        const there = found.get(line) ?? []
        if (!there.some(each => each[0] === name)) found.set(line, [...there, [name, shown]])
        break
      }
    }
  }
  return found
}

export interface Marks { here?: number; callers?: Set<number>; failed?: number }

export function sourceView(source: string, frames: Frame[], marks: Marks, extra: (line: number) => unknown = () => nothing): TemplateResult {
  const lines = source.replace(/\n$/, "").split("\n")
  const values = valuesByLine(lines, frames)
  return html`<div class="source" tabindex="0" role="group" aria-label="Source">${lines.map((line, at) => {
    const number = at + 1
    const kind = number === marks.failed ? "l-failed" : number === marks.here ? "l-here" : marks.callers?.has(number) ? "l-caller" : ""
    return html`<div class="line ${kind}" id="line-${number}"><span class="number">${number}</span><code>${highlight(line)}</code>${values.has(number) ? html`<span class="asides">${values.get(number)?.map(([name, value]) => html`<span class="aside" title="${name} = ${value}">${name} = ${short(value, 48)}</span>`)}</span>` : nothing}${kind === "l-here" ? html`<span class="hidden">the run is here</span>` : nothing}${extra(number)}</div>`
  })}</div>`
}

// The line that a stack names first: of an error, where it was thrown.
export function failedLine(stack: string | undefined): number | undefined {
  const match = /\bat (?:.* \()?[^\s()]+:(\d+):\d+\)?/.exec(stack ?? "")
  return match?.[1] ? Number(match[1]) : undefined
}
