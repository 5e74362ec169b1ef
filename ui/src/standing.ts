// Where a run stands: its source with the line, its stack and variables, and what else is known about it.

import { html, nothing, type TemplateResult } from "lit-html"
import { draw } from "./app"
import { bytes, version } from "./format"
import { card, empty, facts, runLink, shown, tree, when, workflowLink, type Piece } from "./parts"
import type { RunActions } from "./run_actions"
import { failedLine, sourceView } from "./source"
import { isOver, type Frame, type Run, type Shown, type Snapshot, type Workflow } from "./types"

const isPlain = (one: Shown): boolean => ["number", "string", "boolean", "null"].includes(one.type)

export class Standing {
  private frameAt = 0

  constructor(private readonly actions: RunActions) {}

  private stack(frames: Frame[], top: Frame | undefined): Piece {
    if (frames.length === 0) return nothing
    const choose = (frame: Frame, at: number): void => {
      this.frameAt = at
      document.getElementById(`line-${frame.line}`)?.scrollIntoView({ block: "nearest" })
      draw()
    }
    return card("Stack", html`<ol class="stack">${frames.map((frame, at) => html`<li><button class="frame ${frame === top ? "on" : ""}" aria-pressed=${frame === top ? "true" : "false"} @click=${() => choose(frame, at)}><b>${frame.function ?? "(anonymous)"}</b><span class="soft">${frame.file}:${frame.line}</span></button></li>`)}</ol>`)
  }

  private variables(run: Run, top: Frame, isPast: boolean, size: number): TemplateResult {
    const names = top.variables.map(each => each.name ?? ""), canSet = !isPast && this.actions.canSet(run)
    const first = top.variables.find(isPlain)
    const more = html`<span class="soft small">${size ? bytes(size) : ""}</span>${canSet ? html`<button class="small-button" @click=${() => this.actions.setVariable(first?.name ?? "", names, first?.text ?? "")}>Set…</button>` : nothing}`
    return card("Variables", top.variables.length ? html`<div class="tree variables" tabindex="0" role="group" aria-label="Variables of ${top.function ?? "the function"}">${top.variables.map(each => shown(each))}</div>` : empty("None here."), more)
  }

  private framesOf(run: Run, snapshot: Snapshot | null, past: Frame[] | null): Frame[] {
    return past ?? (isOver(run.status) ? snapshot?.failure?.frames : null) ?? snapshot?.frames ?? []
  }

  // past: the frames of a turn that is looked back at; null: now.
  source(run: Run, snapshot: Snapshot | null, workflow: Workflow | null, past: Frame[] | null): Piece {
    if (run.kind !== "flow") return nothing // a program has it, or the worker
    const isEnded = isOver(run.status), isHere = past !== null || !isEnded
    const frames = this.framesOf(run, snapshot, past)
    const error = run.error ?? run.pause_reason, failed = error ? failedLine(error.stack) : undefined
    const source = workflow?.source
      ? sourceView(workflow.source, frames, { ...(frames[0] && isHere ? { here: frames[0].line } : {}), callers: new Set(isHere ? frames.slice(1).map(frame => frame.line) : []), ...(failed && past === null && (isEnded || frames.length === 0) ? { failed } : {}) })
      : empty("Its source is not there.")
    return html`<section class="card source-card" aria-label="Source"><div class="card-head"><h2>Source</h2><span class="soft small">${workflow?.file ?? ""} ${run.version ? version(run.version) : ""}</span></div>${source}</section>`
  }

  values(run: Run, snapshot: Snapshot | null, past: Frame[] | null): Piece {
    const frames = this.framesOf(run, snapshot, past), top = frames[Math.min(this.frameAt, Math.max(0, frames.length - 1))]
    return html`${this.stack(frames, top)}
      ${top ? this.variables(run, top, past !== null, snapshot?.bytes ?? 0) : nothing}
      ${Object.keys(run.state).length ? card("State", html`<div class="tree">${Object.entries(run.state).map(([name, each]) => tree(each, name, 1))}</div>`) : nothing}`
  }

  about(run: Run): TemplateResult {
    const isEnded = isOver(run.status), kind = run.kind === "code" ? "function of a worker" : run.kind === "native" ? "C function" : null
    return card("About", facts([["Workflow", workflowLink(run.workflow)], ["Kind", kind], ["Version", run.version ? html`<code>${version(run.version)}</code>` : null], ["Created", when(run.created_at)], ["Started", run.started_at === run.created_at ? null : when(run.started_at)], ["Ended", when(run.finished_at)], ["Wakes", isEnded ? null : when(run.next_wake_at)],
      ["Times out", isEnded ? null : when(run.deadline_at)], ["Attempt", run.attempt > 1 ? String(run.attempt) : null], ["Parent", run.parent_id ? runLink(run.parent_id) : null], ["Tags", run.tags.join(", ")],
      ["Priority", run.priority ? String(run.priority) : null], ["Memory", isEnded || run.kind === "code" ? null : run.released ? "released" : "resident"], ["Trace", run.traceparent]]))
  }
}
