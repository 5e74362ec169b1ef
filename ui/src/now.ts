// What needs a person, each with the button that helps; and how many runs are in which state.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, get } from "./api"
import { reload, say, type View } from "./app"
import { ask } from "./dialog"
import { cli, count, curl, sdk } from "./format"
import { bulk, outcome, refusals } from "./many"
import { acting, command, state, when } from "./parts"
import { RatesView } from "./rates"
import { href, type Place } from "./route"
import { STATES, type Json, type Stats } from "./types"

interface Action { verb: string; method: string; path: string; body: { [name: string]: Json } | null; about: string; command: string | null }
interface Group {
  kind: string; title: string; count: number; is_exact: boolean; since: string | null; latest: string | null; workflow: string | null
  place: string | null; queue: string | null; name: string | null; examples: string[]; q: string | null; advice: string | null; actions: Action[]
}
interface Attention { at: string; groups: Group[]; totals: { [kind: string]: number } }

const DANGEROUS = new Set(["cancel", "remove"])
const HARD = new Set(["dead_nodes", "failed_runs", "full_topics", "dead_letters"])
const PAGE_OF: Record<string, string> = { unserved_tasks: "tasks", failing_retries: "tasks", full_topics: "events", dead_letters: "events", late_schedules: "schedules", dead_nodes: "members" }
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

function act(group: Group, action: Action): void {
  ask({
    title: `${capital(action.verb)} ${action.about}?`, text: group.title, button: capital(action.verb), isDanger: DANGEROUS.has(action.verb),
    commands: () => [...(action.command ? [action.command] : []), curl(action.method, action.path, action.body ? JSON.stringify(action.body) : undefined), ...(action.path === "/v1/runs/bulk" && action.body ? [sdk("changeMany", action.body["verb"], { q: action.body["q"] })] : [])],
    action: async () => {
      if (action.path !== "/v1/runs/bulk") {
        await call(action.method, action.path, action.body ? JSON.stringify(action.body) : undefined)
        say(`${capital(action.verb)}: done.`)
        return reload()
      }
      const done = await bulk(action.body ?? {})
      reload()
      say(`${capital(action.verb)}: ${outcome(done)}`)
      return done.refused ? refusals(done) : undefined
    },
  })
}

function groupView(group: Group): TemplateResult {
  const example = group.examples[0]
  const more = group.q ? href("runs", "", { q: group.q }) : PAGE_OF[group.kind] ? href(PAGE_OF[group.kind] ?? "") : ""
  return html`<section class="card group ${HARD.has(group.kind) ? "alert" : "warning"}" aria-label=${group.title}>
    <h2 class="wrapping">${group.title}</h2>
    <p class="soft small">${group.place ? html`<code>${group.place}</code> · ` : nothing}${group.latest ? html`last ${when(group.latest)}` : nothing}${group.since && group.since !== group.latest ? html` · since ${when(group.since)}` : nothing}${group.is_exact ? nothing : " · there may be more"}</p>
    ${group.advice ? html`<p>${capital(group.advice)}.</p>` : nothing}
    <div class="row">${acting(html`${group.actions.map(action => html`<button class=${DANGEROUS.has(action.verb) ? "danger" : ""} aria-label="${capital(action.verb)}: ${group.title}" @click=${() => act(group, action)}>${capital(action.verb)}…</button>`)}`)}
      ${more ? html`<a class="button" href=${more} aria-label="Show: ${group.title}">Show</a>` : nothing}
      ${example && group.q ? html`<a class="mono" href=${href("runs", example)}>${example}</a>` : nothing}</div>
    ${group.actions.length === 0 || !group.actions[0]?.command ? nothing : html`<details class="means"><summary>On the command line</summary>${group.actions.map(action => action.command ? command(action.command) : nothing)}</details>`}</section>`
}

export function nowView({ options }: Place): View {
  const rates = new RatesView(options.get("hours"))
  let attention: Attention | null = null, stats: Stats | null = null
  return {
    title: "Now", pauseMs: 15_000, lateMs: 1200, // what is late or unserved becomes so by waiting
    follows: () => true,
    means: () => [cli("attention"), cli("stats"), curl("GET", "/v1/attention"), curl("GET", "/v1/stats"), curl("GET", "/v1/rates"), sdk("server.attention")],
    load: async () => {
      [attention, stats] = await Promise.all([get<Attention>("/v1/attention"), get<Stats>("/v1/stats"), rates.load()])
    },
    view: () => html`<h1>Now</h1>
      <nav class="tiles" aria-label="Runs by state">${STATES.map(name => html`<a class=${stats?.runs[name] ? "" : "none"} href=${href("runs", "", { q: `status:${name}` })}><b>${count(stats?.runs[name] ?? 0)}</b>${state(name)}</a>`)}</nav>
      ${attention === null ? nothing : attention.groups.length ? html`<h2 class="above">What needs a person</h2><div class="groups">${attention.groups.map(groupView)}</div>` : html`<p class="all-well"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 8.5 6.5 12 13 4.5"></path></svg>Nothing needs you.</p>`}
      ${rates.view()}`,
  }
}
