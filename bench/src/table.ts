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

/** Prints a figure beside the same of a bare host; whether its goal was met. */
export function row(
  what: string,
  figure: string,
  ratio: number,
  goal: number,
  how: 'at least' | 'at most',
): boolean {
  const met = how === 'at least' ? ratio >= goal : ratio <= goal
  console.log(
    `  ${what.padEnd(52)} ${figure.padStart(10)}  ${ratio.toFixed(2)}x bare  goal ${how} ${goal}x: ${met ? 'met' : 'MISSED'}`,
  )
  return met
}

/** Prints what is only for information: absolute figures say something about this machine. */
export function fact(what: string, figure: string): void {
  console.log(`  ${what.padEnd(52)} ${figure}`)
}

/** Prints a goal that is no ratio; whether it was met. */
export function check(what: string, figure: string, met: boolean): boolean {
  console.log(`  ${what.padEnd(52)} ${figure}: ${met ? 'met' : 'MISSED'}`)
  return met
}
