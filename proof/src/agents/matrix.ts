/**
 * The result of one scene with one agent. `handed over`: the scene passed, but the agent had lost its session and was
 * given a transcript instead.
 */
export interface Cell {
  readonly outcome: 'passed' | 'handed over' | 'failed'
  /** The reason of a failure. */
  readonly reason?: string
  readonly seconds?: number
}

/** One agent and its results. */
export interface Row {
  readonly agent: string
  readonly version: string
  readonly cells: Readonly<Record<string, Cell>>
}

/** Whether at least one scene ran and none failed. */
export function allPassed(rows: readonly Row[]): boolean {
  const cells = rows.flatMap(({ cells: all }) => Object.values(all))
  return cells.length > 0 && cells.every(({ outcome }) => outcome !== 'failed')
}

/** Returns a table with a line per scene and a column per agent. Reasons too long for a cell follow in full. */
export function table(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))]
  const head = ['', ...rows.map(({ agent, version }) => `${agent} ${version}`.trim())]
  const lines = names.map((name) => [name, ...rows.map(({ cells }) => shown(cells[name]))])
  const all = [head, ...lines]
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)))
  const drawn = all.map((line) =>
    line
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const reasons = rows.flatMap(({ agent, cells }) =>
    Object.entries(cells).flatMap(([name, { reason = '' }]) =>
      shortened(reason) === reason ? [] : [`${agent} ${name}: ${reason}`],
    ),
  )
  return [...drawn, ...(reasons.length > 0 ? ['', ...reasons] : [])].join('\n')
}

function shown(cell: Cell | undefined): string {
  if (!cell) return '-'
  return cell.outcome === 'failed' ? shortened(cell.reason ?? 'failed') : cell.outcome
}

function shortened(reason: string): string {
  const line = reason.replace(/\s+/g, ' ').trim()
  return line.length > 32 ? `${line.slice(0, 31)}…` : line
}
