// Which rows of a long list are drawn: those in sight and a few around them.

export const ROWS_AROUND = 12

// top: where the first row begins, seen from the upper edge of what shows them.
export function rowsInSight(top: number, viewHeight: number, rowHeight: number, length: number): [number, number] {
  const first = Math.max(0, Math.floor(-top / rowHeight) - ROWS_AROUND)
  return [Math.min(first, Math.max(0, length - 1)), Math.min(length, first + Math.ceil(viewHeight / rowHeight) + 2 * ROWS_AROUND)]
}
