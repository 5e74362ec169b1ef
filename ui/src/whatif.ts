// What a waiting run would do with answers that are made up, and moving it to the current version. A try writes nothing.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, runPath } from "./api"
import { draw, reason, reload } from "./app"
import { ask, checkJson, tell } from "./dialog"
import { cli, curl, segment, short, version, waitName } from "./format"
import { acting, card, errorBlock, state, value, when, type Piece } from "./parts"
import type { Json, Problem, Run, Wait } from "./types"

interface Effect { at: string; kind: string; name: string | null; data: Json }
interface Trial {
  status: string; result: Json; error: Problem | null; reason: string | null; now: string; effects: Effect[]; state: { [name: string]: Json }
  waits: { on: string; name: string | null; until: string | null }[]; unused: string[]
  variables: { function: string | null; name: string; before: string | null; after: string }[]
}

const LISTS: Record<string, [string, string, string]> = { task: ["tasks", "name", "result"], signal: ["signals", "name", "payload"], event: ["events", "topic", "payload"] }
const SHOWN = 200

const isAnswerable = (wait: Wait): boolean => wait.on in LISTS

// The request as text: answers are sent as they were written.
function bodyOf(waits: Wait[], answers: string[], time: string): string {
  const parts = Object.entries(LISTS).flatMap(([on, [list, name, payload]]) => {
    const given = waits.flatMap((wait, at) => wait.on === on && answers[at] ? [`{"${name}":${JSON.stringify(waitName(wait))},"${payload}":${answers[at]}}`] : [])
    return given.length ? [`"${list}":[${given.join(",")}]`] : []
  })
  if (time) parts.push(`"time":${JSON.stringify(time)}`)
  return `{${parts.join(",")}}`
}

export class WhatIf {
  private trial: Trial | null = null
  private problem = ""

  constructor(private readonly id: string) {}

  private async submit(event: Event, waits: Wait[]): Promise<void> {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const answers = waits.map((_, at) => String(form.get(`answer-${at}`) ?? "").trim())
    this.trial = null
    this.problem = ""
    try {
      answers.forEach(checkJson)
      this.trial = await call<Trial>("POST", `${runPath(this.id)}/try`, bodyOf(waits, answers, String(form.get("time") ?? "").trim()))
    } catch (error) {
      this.problem = error instanceof Error && error.constructor === Error ? error.message : reason(error)
    }
    draw()
  }

  view(run: Run): Piece {
    if (run.kind !== "flow" || run.waits.length === 0) return nothing
    const waits = run.waits.filter(isAnswerable).slice(0, 20)
    return acting(card("What if", html`<div class="pad">
      <p class="soft small">A copy goes on with answers that you make up. Nothing is written, and the run stays as it is.</p>
      <form class="what-if" @submit=${(event: Event) => this.submit(event, waits)}>
        ${waits.map((wait, at) => html`<div class="field"><label for="try-${at}">If the ${wait.on} ${waitName(wait)} came with (JSON)</label>
          <textarea id="try-${at}" name="answer-${at}" rows="2" spellcheck="false"></textarea></div>`)}
        <div class="field"><label for="try-time">And so much time passed</label><input id="try-time" name="time" autocomplete="off" placeholder="2d"></div>
        <button>Try</button></form>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div aria-live="polite">${this.trial ? outcome(this.trial) : nothing}</div></div>`))
  }
}

function outcome(it: Trial): TemplateResult {
  const list = (title: string, rows: Piece[]): Piece => rows.length ? html`<h3>${title}</h3><ul class="changes">${rows.slice(0, SHOWN).map(row => html`<li>${row}</li>`)}</ul>${rows.length > SHOWN ? html`<p class="soft small">and ${rows.length - SHOWN} more</p>` : nothing}` : nothing
  return html`<div class="trial"><p>It would be ${state(it.status)}${it.reason ? `: ${it.reason}` : ""}</p>
    ${it.status === "completed" ? value(it.result) : nothing}
    ${it.error ? errorBlock(it.error) : nothing}
    ${list("It would do", it.effects.map(each => html`<b>${each.kind}</b> ${each.name ?? ""} ${short(each.data, 500)}`))}
    ${list("It would set", Object.entries(it.state).map(([name, json]) => html`<span class="v-name">${name}</span>: ${short(json, 500)}`))}
    ${list("It would wait for", it.waits.map(each => html`<b>${each.on}</b> ${each.name ?? ""} ${each.until ? html`until ${when(each.until)}` : nothing}`))}
    ${list("Variables that differ", it.variables.map(each => html`<span class="v-name">${each.name}</span>: ${each.before ?? ""} → ${each.after}`))}
    ${list("Nothing asked for", it.unused.map(each => html`${each}`))}</div>`
}

// ---- moving ----

interface Moved { changed: boolean; from: string; to: string }

// Asks first whether it can be moved; only then is there something to confirm.
export async function move(id: string): Promise<void> {
  const path = `${runPath(id)}/move`
  let can: Moved
  try {
    can = await call<Moved>("POST", path, '{"dry_run":true}')
  } catch (error) {
    return tell(`${id} cannot be moved`, html`<p class="problem">${reason(error)}</p>`)
  }
  if (can.from === can.to) return tell(`Move ${id}`, html`<p>It is on the current version, <code>${version(can.to)}</code>, already.</p>`)
  const body = JSON.stringify({ version: can.to })
  ask({
    title: `Move ${id} to the current version?`, button: "Move the run",
    text: html`It can go on in version <code>${version(can.to)}</code>, at the same place and with its variables. It is on <code>${version(can.from)}</code> now.`,
    commands: () => [cli("wf", "move", id), curl("POST", `/v1/runs/${segment(id)}/move`, body)],
    action: async () => {
      await call("POST", path, body)
      reload()
    },
  })
}
