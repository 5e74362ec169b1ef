// Two texts line by line: what is the same, what went and what came.

export interface Change { kind: "same" | "gone" | "new"; text: string; before: number; after: number } // numbers of lines; 0: not there

const CELLS_MAX = 4_000_000

const linesOf = (text: string): string[] => text.replace(/\n$/, "").split("\n")

// The longest common subsequence of what is between the lines that are the same at both ends. Texts that are too long
// for that are shown as gone and new.
export function diffLines(before: string, after: string): Change[] {
  const a = linesOf(before), b = linesOf(after)
  let head = 0, tail = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const rows = a.length - head - tail, columns = b.length - head - tail, width = columns + 1
  const lengths = (rows + 1) * width <= CELLS_MAX ? new Uint32Array((rows + 1) * width) : null
  const at = (row: number, column: number): number => lengths?.[row * width + column] ?? 0
  if (lengths) for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      lengths[row * width + column] = a[head + row] === b[head + column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
  const out: Change[] = []
  const same = (row: number, column: number): void => void out.push({ kind: "same", text: a[row] ?? "", before: row + 1, after: column + 1 })
  for (let line = 0; line < head; line++) same(line, line)
  let row = 0, column = 0
  while (row < rows || column < columns) {
    if (lengths && row < rows && column < columns && a[head + row] === b[head + column]) same(head + row++, head + column++)
    else if (row < rows && (column >= columns || at(row + 1, column) >= at(row, column + 1))) out.push({ kind: "gone", text: a[head + row] ?? "", before: head + ++row, after: 0 })
    else out.push({ kind: "new", text: b[head + column] ?? "", before: 0, after: head + ++column })
  }
  for (let line = 0; line < tail; line++) same(a.length - tail + line, b.length - tail + line)
  return out
}
