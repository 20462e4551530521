/** A row of a result: a figure, beside what it is measured against, and the goal if there is one. */
export interface Row {
  readonly what: string
  readonly ns: number
  readonly ratio?: number
  readonly goal?: number
}

/** Prints a table; whether every goal was met. */
export function print(title: string, rows: readonly Row[]): boolean {
  console.log(`\n${title}`)
  for (const { what, ns, ratio, goal } of rows) {
    const cells = [what.padEnd(44), `${ns.toFixed(0).padStart(8)} ns`]
    if (ratio !== undefined) cells.push(`${ratio.toFixed(2).padStart(7)}x`)
    if (ratio !== undefined && goal !== undefined)
      cells.push(`goal <= ${goal}x: ${ratio <= goal ? 'met' : 'MISSED'}`)
    console.log(`  ${cells.join('  ')}`)
  }
  return rows.every(({ ratio, goal }) => ratio === undefined || goal === undefined || ratio <= goal)
}
