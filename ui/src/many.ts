// The same to many runs: those that are selected, or all that a search finds. First it is counted what would happen.

import { html } from "lit-html"
import { call, Refused, runPath } from "./api"
import { reload, say } from "./app"
import { ask, type Field } from "./dialog"
import { hasVerb } from "./features"
import { cli, count, curl, sdk, shellQuote } from "./format"
import type { Piece } from "./parts"
import { quoted } from "./places"
import { fetchRuns } from "./runlist"
import type { Json, Page } from "./types"

type Body = { [name: string]: Json }
interface Result { id: string; status: string; detail?: string }
export interface Done { changed: number; unchanged: number; refused: number; results: Result[] }
interface Bulk extends Done { next: string | null }
export interface Target { ids: string[] | null; q: string } // ids: those and no others
interface Verb { word: string; verb: string; isDanger?: boolean; undo?: string }

const ALL: Verb[] = [{ word: "Pause", verb: "pause", undo: "resume" }, { word: "Resume", verb: "resume", undo: "pause" }, { word: "Release", verb: "release" }, { word: "Retry", verb: "retry" },
  { word: "Move", verb: "move" }, { word: "Rewind", verb: "rewind", isDanger: true }, { word: "Cancel", verb: "cancel", isDanger: true }, { word: "Remove", verb: "remove", isDanger: true }]
// Rewinding has a request for many where the server knows it.
export const verbs = (): Verb[] => ALL.filter(each => each.verb !== "rewind" || hasVerb("rewind"))
const IDS_MAX = 1000 // of one request
const RUNS_MAX = 20_000, AT_ONCE = 6, SHOWN = 20

const nothingYet = (): Done => ({ changed: 0, unchanged: 0, refused: 0, results: [] })
function add(sum: Done, more: Done): void {
  sum.changed += more.changed
  sum.unchanged += more.unchanged
  sum.refused += more.refused
  sum.results.push(...more.results)
}

// Until nothing is left: an answer covers a limited number of runs.
export async function bulk(body: Body): Promise<Done> {
  const sum = nothingYet()
  let cursor: string | null = null
  do {
    const answer: Bulk = await call<Bulk>("POST", "/v1/runs/bulk", JSON.stringify(cursor ? { ...body, cursor } : body))
    add(sum, answer)
    cursor = answer.next
  } while (cursor && sum.results.length < RUNS_MAX)
  return sum
}
export const outcome = (done: Done): string => `${count(done.changed)} changed${done.unchanged ? `, ${count(done.unchanged)} were so already` : ""}${done.refused ? `, ${count(done.refused)} refused` : ""}.`
const refusalList = (done: Done): Piece => html`<ul>${done.results.filter(each => each.status === "refused").slice(0, SHOWN).map(each => html`<li>${each.id}: ${each.detail ?? ""}</li>`)}</ul>`
export const refusals = (done: Done): Piece => html`<p>${outcome(done)}</p>${refusalList(done)}`
const forecast = (done: Done): Piece => html`<p>Of ${count(done.results.length)} runs, <b>${count(done.changed)}</b> would change${done.unchanged ? `, ${count(done.unchanged)} are so already` : ""}${done.refused ? `, ${count(done.refused)} would be refused:` : "."}</p>${refusalList(done)}`

export async function idsOf(target: Target): Promise<string[]> {
  if (target.ids) return target.ids
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: Page<{ id: string }> = await fetchRuns(target.q, IDS_MAX, cursor)
    ids.push(...page.items.map(run => run.id))
    cursor = page.next
  } while (cursor && ids.length < RUNS_MAX)
  return ids
}

// One after the other, a few at a time, for what has no request for many.
async function each(ids: string[], change: (id: string) => Promise<boolean>): Promise<Done> {
  const sum = nothingYet(), rest = [...ids]
  const one = async (): Promise<void> => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      try {
        const isChanged = await change(id)
        add(sum, { changed: isChanged ? 1 : 0, unchanged: isChanged ? 0 : 1, refused: 0, results: [{ id, status: isChanged ? "changed" : "unchanged" }] })
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        add(sum, { changed: 0, unchanged: 0, refused: 1, results: [{ id, status: "refused", detail: error.message }] })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  return sum
}

async function byBulk(verb: string, target: Target, isDry: boolean, step = ""): Promise<Done> {
  const more: Body = { ...(isDry ? { dry_run: true } : {}), ...(step ? { step } : {}) }
  if (target.ids === null && target.q) return bulk({ verb, q: target.q, limit: IDS_MAX, ...more })
  const ids = await idsOf(target), sum = nothingYet()
  for (let at = 0; at < ids.length; at += IDS_MAX) add(sum, await bulk({ verb, ids: ids.slice(at, at + IDS_MAX), ...more }))
  return sum
}

const moveOne = (isDry: boolean) => async (id: string): Promise<boolean> => {
  const done = await call<{ changed: boolean; from: string; to: string }>("POST", `${runPath(id)}/move`, JSON.stringify(isDry ? { dry_run: true } : {}))
  return isDry ? done.from !== done.to : done.changed
}
async function change(verb: string, target: Target, isDry: boolean, step = ""): Promise<Done> {
  if (verb === "move" && !hasVerb("move")) return each(await idsOf(target), moveOne(isDry))
  return byBulk(verb, target, isDry, step)
}

function commandsOf(verb: string, target: Target, step: string): string[] {
  const word = verb === "remove" ? "rm" : verb, ids = target.ids?.slice(0, 50) ?? []
  if (verb === "rewind") {
    const q = target.ids ? `id:${ids.map(quoted).join(",")}` : target.q
    return [cli("wf", "rewind", "-q", q, step), curl("POST", "/v1/runs/bulk", JSON.stringify(target.ids ? { verb, ids, step } : { verb, q, step })), sdk("changeMany", verb, target.ids ? { ids, step } : { q, step })]
  }
  if (target.ids) return [cli("wf", word, ...ids), ...(verb === "move" && !hasVerb("move") ? [] : [curl("POST", "/v1/runs/bulk", JSON.stringify({ verb, ids })), sdk("changeMany", verb, { ids })])]
  const { q } = target
  return [`abide wf ls -q ${shellQuote(q)} -o ids | abide wf ${word} -`, curl("POST", "/v1/runs/bulk", JSON.stringify({ verb, q })), sdk("changeMany", verb, { q })]
}

function sayDone(it: Verb, done: Done): void {
  const changed = done.results.filter(each => each.status === "changed").map(each => each.id)
  const back = it.undo
  say(`${it.word}: ${outcome(done)}`, false, back && changed.length ? async () => {
    const undone = await byBulk(back, { ids: changed, q: "" }, false)
    say(`Undone: ${outcome(undone)}`)
    reload()
  } : undefined)
}

// Rewinding asks for the step first: only then can it be counted.
function askStep(it: Verb, target: Target, title: string, then: () => void): void {
  const fields: Field[] = [{ name: "step", label: "Step", required: true, hint: "Such as the name of a task or signal; the last one of that name counts." }]
  ask({ title: `${it.word} ${title}`, button: "Count them", fields, action: async ({ step }) => askChange(it, target, title, then, step ?? "") })
}

function askChange(it: Verb, target: Target, title: string, then: () => void, step: string): void {
  ask({
    title: `${it.word} ${title}${step ? ` to ${step}` : ""}?`, button: it.word, ...(it.isDanger ? { isDanger: true } : {}),
    ...(target.ids ? { text: target.ids.slice(0, 5).join(", ") + (target.ids.length > 5 ? ` and ${target.ids.length - 5} more` : "") } : {}),
    preview: async () => forecast(await change(it.verb, target, true, step)),
    commands: () => commandsOf(it.verb, target, step),
    action: async () => {
      const done = await change(it.verb, target, false, step)
      then()
      reload()
      sayDone(it, done)
      return done.refused ? refusals(done) : undefined
    },
  })
}

export function askMany(it: Verb, target: Target, then: () => void): void {
  const title = target.ids === null ? "all that the search finds" : target.ids.length === 1 ? target.ids[0] ?? "" : `${count(target.ids.length)} runs`
  if (it.verb === "rewind") askStep(it, target, title, then)
  else askChange(it, target, title, then, "")
}
