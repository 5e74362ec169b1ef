// The runs that a search finds, a page at a time.
//
// Pages are kept as they were loaded, each with its cursor. A refresh asks for the first page and for those in
// view; runs that are new push the others down.

import { get, query } from "./api"
import type { Page, RunItem } from "./types"

const PAGE = 100
export const ROWS_MAX = 50_000 // kept by the page

interface Loaded { cursor: string | null; items: RunItem[]; next: string | null }
interface Answer extends Page<RunItem> { where?: { looked_at: number; errors: number; first_error: string | null } }

export const fetchRuns = (q: string, limit: number, cursor: string | null): Promise<Answer> =>
  get<Answer>(`/v1/runs${query({ q: q.trim(), limit, cursor })}`)

export class RunList {
  pages: Loaded[] = []
  note = "" // what the server says about the expression
  private isLoading = false
  private flat: RunItem[] | null = null

  constructor(readonly q: string) {}

  rows(): RunItem[] {
    if (this.flat) return this.flat
    const seen = new Set<string>()
    return this.flat = this.pages.flatMap(page => page.items).filter(run => !seen.has(run.id) && seen.add(run.id))
  }
  hasMore(): boolean {
    return this.pages.length === 0 || (this.pages.at(-1)?.next ?? null) !== null
  }

  private async page(at: string | null): Promise<Loaded> {
    const answer = await fetchRuns(this.q, PAGE, at)
    if (answer.where?.errors) this.note = `The expression failed in ${answer.where.errors} of ${answer.where.looked_at} runs, first with: ${answer.where.first_error ?? ""}`
    return { cursor: at, items: answer.items, next: answer.next }
  }

  // The first page again, before what was loaded after it.
  private mergeFirst(fresh: Loaded): void {
    const old = this.pages[0], last = fresh.items.at(-1)
    if (old && !last && fresh.next !== null && old.items.length === 0) return // what was looked at has none; the pages behind it may
    const known = new Set(fresh.items.map(run => run.id))
    if (!old || !last || fresh.next === null || !old.items.some(run => known.has(run.id))) {
      this.pages = [fresh]
      return
    }
    const older = old.items.filter(run => !known.has(run.id) && (run.created_at ?? "") < (last.created_at ?? ""))
    this.pages[0] = older.length ? { cursor: null, items: [...fresh.items, ...older], next: old.next } : fresh
  }

  async refresh(range: (length: number) => [number, number]): Promise<void> {
    this.mergeFirst(await this.page(null))
    this.flat = null
    const [from, to] = range(this.rows().length)
    let at = 0
    for (const [number, page] of [...this.pages].entries()) {
      const isVisible = at < to && at + page.items.length > from
      at += page.items.length
      if (number === 0 || !isVisible || !page.cursor) continue
      const fresh = await this.page(page.cursor)
      if (this.pages[number]?.cursor === page.cursor) this.pages[number] = fresh
      this.flat = null
    }
  }

  // Whether there is something new to draw.
  async more(): Promise<boolean> {
    const last = this.pages.at(-1)
    if (this.isLoading || !last?.next || this.rows().length >= ROWS_MAX) return false
    this.isLoading = true
    try {
      const page = await this.page(last.next)
      if (this.pages.at(-1) !== last) return false
      this.pages.push(page)
      this.flat = null
      return true
    } catch {
      return false // the next tick tries again
    } finally {
      this.isLoading = false
    }
  }
}
