/** A row of a table: a time, its ratio to the reference, and the goal for the ratio if there is one. */
export interface Row {
  readonly what: string
  readonly ns: number
  readonly ratio?: number
  readonly goal?: number
}

/** Prints a table. Returns whether every goal was met. */
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

/** A goal for a ratio. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** Prints a figure of the host and its ratio to the bare host. Returns whether the goal was met. */
export function row(what: string, figure: string, ratio: number, goal: Goal): boolean {
  const met = 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
  const text = 'atLeast' in goal ? `at least ${goal.atLeast}x` : `at most ${goal.atMost}x`
  console.log(
    `  ${what.padEnd(52)} ${figure.padStart(10)}  ${ratio.toFixed(2)}x bare  goal ${text}: ${met ? 'met' : 'MISSED'}`,
  )
  return met
}

/** Prints a figure that has no goal, because absolute figures depend on the machine. */
export function fact(what: string, figure: string): void {
  console.log(`  ${what.padEnd(52)} ${figure}`)
}

/** Prints a figure whose goal is not a ratio to the bare host. Returns whether the goal was met. */
export function check(what: string, figure: string, met: boolean): boolean {
  console.log(`  ${what.padEnd(52)} ${figure}: ${met ? 'met' : 'MISSED'}`)
  return met
}
