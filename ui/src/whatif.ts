// What a waiting run would do with answers that are made up, good ones or failures. A try writes nothing.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, runPath } from "./api"
import { draw, reason } from "./app"
import { checkJson } from "./dialog"
import { has } from "./features"
import { cli, curl, segment, short, waitName } from "./format"
import { acting, card, command, errorBlock, state, value, when, type Piece } from "./parts"
import type { Json, Problem, Run, Wait } from "./types"

interface Effect { at: string; kind: string; name: string | null; data: Json }
interface Trial {
  status: string; result: Json; error: Problem | null; reason: string | null; now: string; effects: Effect[]; state: { [name: string]: Json }
  waits: { on: string; name: string | null; until: string | null }[]; unused: string[]
  variables: { function: string | null; name: string; before: string | null; after: string }[]
}

// Where an answer goes, by what is waited for: the list of the request, and the names in it. What fails has an error instead.
interface List { list: string; name: string; payload: string; canFail: boolean }
const LISTS: Record<string, List> = {
  task: { list: "tasks", name: "name", payload: "result", canFail: true }, child: { list: "children", name: "name", payload: "result", canFail: true },
  signal: { list: "signals", name: "name", payload: "payload", canFail: false }, event: { list: "events", name: "topic", payload: "payload", canFail: false },
}
const SHOWN = 200, ASKED_MAX = 20

interface Answer { wait: Wait; text: string; isFailure: boolean }

const listOf = (wait: Wait): List | undefined => {
  const it = LISTS[wait.on]
  return it && has("POST", "/v1/runs/{id}/try", it.list) ? it : undefined
}

// The request as text: answers are sent as they were written.
export function bodyOf(answers: Answer[], time: string): string {
  const parts = Object.entries(LISTS).flatMap(([on, it]) => {
    const given = answers.filter(each => each.wait.on === on && each.text).map(each => `{"${it.name}":${JSON.stringify(waitName(each.wait))},"${each.isFailure ? "error" : it.payload}":${each.text}}`)
    return given.length ? [`"${it.list}":[${given.join(",")}]`] : []
  })
  if (time) parts.push(`"time":${JSON.stringify(time)}`)
  return `{${parts.join(",")}}`
}
const wordsOf = (answers: Answer[], time: string): string[] => [...answers.filter(each => each.text && each.wait.on !== "child").flatMap(each => [each.isFailure ? "--fail" : `--${each.wait.on}`, `${waitName(each.wait)}=${each.text}`]), ...(time ? ["--time", time] : [])]

export class WhatIf {
  private trial: Trial | null = null
  private problem = ""
  private means: string[] = []

  constructor(private readonly id: string) {}

  private async submit(event: Event, waits: Wait[]): Promise<void> {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement), time = String(form.get("time") ?? "").trim()
    const answers = waits.map((wait, at) => ({ wait, text: String(form.get(`answer-${at}`) ?? "").trim(), isFailure: form.get(`kind-${at}`) === "failure" }))
    const body = bodyOf(answers, time)
    this.trial = null
    this.problem = ""
    this.means = [cli("wf", "try", this.id, ...wordsOf(answers, time)), curl("POST", `/v1/runs/${segment(this.id)}/try`, body)]
    try {
      for (const each of answers) checkJson(each.text)
      this.trial = await call<Trial>("POST", `${runPath(this.id)}/try`, body)
    } catch (error) {
      this.problem = error instanceof Error && error.constructor === Error ? error.message : reason(error)
    }
    draw()
  }

  private field(wait: Wait, at: number): TemplateResult {
    const choice = (kind: string, text: string, isOn: boolean): TemplateResult => html`<label class="choice"><input type="radio" name="kind-${at}" value=${kind} ?checked=${isOn}>${text}</label>`
    return html`<div class="field"><label for="try-${at}">If the ${wait.on} ${waitName(wait)} came with (JSON)</label>
      ${listOf(wait)?.canFail ? html`<div class="choice-row" role="radiogroup" aria-label="How ${waitName(wait)} ends">${choice("result", "its result", true)}${choice("failure", "a failure, such as {\"message\": \"…\"}", false)}</div>` : nothing}
      <textarea id="try-${at}" name="answer-${at}" rows="2" spellcheck="false"></textarea></div>`
  }

  view(run: Run): Piece {
    if (run.kind !== "flow" || run.waits.length === 0 || !has("POST", "/v1/runs/{id}/try")) return nothing
    const waits = run.waits.filter(wait => listOf(wait)).slice(0, ASKED_MAX)
    return acting(card("What if", html`<div class="pad">
      <p class="soft small">A copy goes on with answers that you make up. Nothing is written, and the run stays as it is.</p>
      <form class="what-if" @submit=${(event: Event) => this.submit(event, waits)}>
        ${waits.map((wait, at) => this.field(wait, at))}
        <div class="field"><label for="try-time">And so much time passed</label><input id="try-time" name="time" autocomplete="off" placeholder="2d"></div>
        <button>Try</button></form>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div aria-live="polite">${this.trial ? outcome(this.trial) : nothing}</div>
      ${this.means.length ? html`<details class="means"><summary>The same by other means</summary>${this.means.map(command)}</details>` : nothing}</div>`))
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
