// Where the runs of a version stand: how many wait at which line, or failed there.

import { html, nothing } from "lit-html"
import { get, query, runPath, seg } from "./api"
import { getOrNull, say } from "./app"
import { has } from "./features"
import { count, waitName } from "./format"
import { css, type Piece } from "./parts"
import { go, href } from "./route"
import type { Run } from "./types"

export interface Spot { line: number; column: number; function: string | null; waiting: number; failed: number; example: string | null; q?: string }

export async function loadPlaces(name: string, version: string): Promise<Spot[]> {
  if (!has("GET", "/v1/workflows/{name}/places")) return []
  return (await get<{ places: Spot[] }>(`/v1/workflows/${seg(name)}/places${query({ version })}`)).places
}

const quoted = (text: string): string => /^[\w.-]+$/.test(text) ? text : JSON.stringify(text)

// The filter that finds the runs of a place, by what one of them waits for or failed with: the filter language has no lines.
export async function filterOf(name: string, spot: Spot): Promise<string> {
  const flow = `workflow:${quoted(name)}`, run = spot.example ? await getOrNull<Run>(runPath(spot.example)) : null
  if (spot.q || !run) return spot.q ?? flow
  const wait = run.waits[0]
  if (wait) return `${flow} status:suspended,paused waiting:${wait.on === "timer" ? "timer" : quoted(waitName(wait))}`
  const error = run.error?.type ?? run.error?.name
  return `${flow} status:${run.status}${error ? ` error:${quoted(error)}` : ""}`
}

async function show(name: string, spot: Spot): Promise<void> {
  try {
    go(href("runs", "", { q: await filterOf(name, spot) }))
  } catch {
    say("Its runs could not be found.", true)
  }
}

// What stands beside a line of the source.
export function heatOf(name: string, spots: Spot[]): (line: number) => Piece {
  const most = Math.max(1, ...spots.map(each => each.waiting + each.failed))
  return line => {
    const here = spots.filter(each => each.line === line && each.waiting + each.failed > 0)
    const text = (spot: Spot): string => [spot.waiting ? `${count(spot.waiting)} waiting` : "", spot.failed ? `${count(spot.failed)} failed` : ""].filter(Boolean).join(", ")
    return here.length === 0 ? nothing : html`<span class="heat-row">${here.map(spot => html`<button class="heat ${spot.failed ? "bad" : ""}" aria-label="${text(spot)} at line ${line}" ${css({ "--heat": ((spot.waiting + spot.failed) / most).toFixed(2) })} @click=${() => show(name, spot)}>${text(spot)}</button>`)}</span>`
  }
}
