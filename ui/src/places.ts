// Where the runs of a version stand: how many wait at which line, or failed there.

import { html, nothing } from "lit-html"
import { get, query, seg } from "./api"
import { has } from "./features"
import { count } from "./format"
import { css, type Piece } from "./parts"
import { href } from "./route"

export interface Spot { line: number | null; column: number | null; function: string | null; waiting: number; failed: number; example: string | null }

export async function loadPlaces(name: string, version: string): Promise<Spot[]> {
  if (!has("GET", "/v1/workflows/{name}/places")) return []
  return (await get<{ places: Spot[] }>(`/v1/workflows/${seg(name)}/places${query({ version })}`)).places
}

export const quoted = (text: string): string => /^[\w.-]+$/.test(text) ? text : JSON.stringify(text)

// The filter that finds the runs of a place.
export const filterOf = (name: string, version: string, spot: Spot): string => `workflow:${quoted(name)} version:${quoted(version)} line:${spot.line ?? 0}`

const textOf = (spot: Spot): string => [spot.waiting ? `${count(spot.waiting)} waiting` : "", spot.failed ? `${count(spot.failed)} failed` : ""].filter(Boolean).join(", ")
const link = (name: string, version: string, spot: Spot, most: number): Piece => html`<a class="heat ${spot.failed ? "bad" : ""}" aria-label="${textOf(spot)} ${spot.line ? `at line ${spot.line}` : "before the first await"}" ${css({ "--heat": ((spot.waiting + spot.failed) / most).toFixed(2) })} href=${href("runs", "", { q: filterOf(name, version, spot) })}>${textOf(spot)}</a>`
const mostOf = (spots: Spot[]): number => Math.max(1, ...spots.map(each => each.waiting + each.failed))

// Those that are at no line: they failed before they came to an await.
export function startOf(name: string, version: string, spots: Spot[]): Piece {
  const here = spots.filter(each => each.line === null && each.failed > 0)
  return here.length ? html`<span class="soft small">before the first await ${here.map(spot => link(name, version, spot, mostOf(spots)))}</span>` : nothing
}

// What stands beside a line of the source.
export function heatOf(name: string, version: string, spots: Spot[]): (line: number) => Piece {
  const most = mostOf(spots)
  return line => {
    const here = spots.filter(each => each.line === line && each.waiting + each.failed > 0)
    if (here.length === 0) return nothing
    const sum = { ...here[0]!, waiting: here.reduce((all, each) => all + each.waiting, 0), failed: here.reduce((all, each) => all + each.failed, 0) }
    return html`<span class="heat-row">${link(name, version, sum, most)}</span>`
  }
}
