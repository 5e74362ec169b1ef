// What a search finds, as a file: JSON lines, or CSV for spreadsheets.

import { say } from "./app"
import { count, errorText, waitText } from "./format"
import { fetchRuns } from "./runlist"
import type { RunItem } from "./types"

const PAGE = 1000, ROWS_MAX = 100_000
const COLUMNS: [string, (run: RunItem) => string | number][] = [["id", run => run.id], ["workflow", run => run.workflow], ["status", run => run.status], ["priority", run => run.priority], ["attempt", run => run.attempt],
  ["tags", run => run.tags.join(" ")], ["waits", run => run.waits.map(waitText).join(", ")], ["pause_reason", run => run.pause_reason ? errorText(run.pause_reason) : ""],
  ["created_at", run => run.created_at ?? ""], ["started_at", run => run.started_at ?? ""], ["updated_at", run => run.updated_at ?? ""], ["finished_at", run => run.finished_at ?? ""]]

// Texts are from others: a spreadsheet must not take one for a formula.
function cell(value: string | number): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
export const csvOf = (runs: RunItem[]): string => [COLUMNS.map(([name]) => name).join(","), ...runs.map(run => COLUMNS.map(([, value]) => cell(value(run))).join(","))].join("\r\n") + "\r\n"
export const linesOf = (runs: RunItem[]): string => runs.map(run => `${JSON.stringify(run)}\n`).join("")

function save(name: string, type: string, text: string): void {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

export async function exportRuns(q: string, kind: "jsonl" | "csv"): Promise<void> {
  const runs: RunItem[] = []
  let cursor: string | null = null
  do {
    const page: { items: RunItem[]; next: string | null } = await fetchRuns(q, PAGE, cursor)
    runs.push(...page.items)
    cursor = page.next
    if (cursor) say(`Export: ${count(runs.length)} runs so far.`)
  } while (cursor && runs.length < ROWS_MAX)
  if (kind === "csv") save("runs.csv", "text/csv", csvOf(runs))
  else save("runs.jsonl", "application/jsonl", linesOf(runs))
  say(`Exported ${count(runs.length)} runs.${cursor ? " There are more: narrow the search." : ""}`)
}
