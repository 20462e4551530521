import type { Cell, Outcome } from './board.ts'
import type { Matrix } from './matrix.ts'

const labels: { readonly [O in Outcome]: string } = {
  yes: 'yes',
  absent: '-',
  failed: 'FAILED',
  skip: 'skip',
  refused: 'refused',
}

/** The matrix as a table, and below it the reasons of everything that is not `yes` or `-`. */
export function tableOf({ versions, features, cells, provider }: Matrix): string {
  const wide = Math.max(...features.map((name) => name.length)) + 2
  const column = 9
  const lines = [
    `AHP versions on one session${provider === undefined ? '' : `, agent ${provider}`}`,
    ['feature'.padEnd(wide), ...versions.map((version) => version.padEnd(column))].join(''),
    ...features.map((feature) => {
      const row = versions.map((version) => labelOf(cellOf(cells, feature, version)).padEnd(column))
      return [feature.padEnd(wide), ...row].join('')
    }),
  ]
  return [...lines.map((line) => line.trimEnd()), ...reasonsOf(cells), summaryOf(cells)].join('\n')
}

function cellOf(cells: readonly Cell[], feature: string, version: string): Cell | undefined {
  return cells.find((cell) => cell.feature === feature && cell.version === version)
}

/** The label of a cell. It is empty for a cell that was never filled in, because its version had no client. */
function labelOf(cell: Cell | undefined): string {
  return cell ? labels[cell.outcome] : ''
}

/** One line for each reason. Equal reasons of several versions share a line. */
function reasonsOf(cells: readonly Cell[]): readonly string[] {
  const found = new Map<string, string[]>()
  for (const { feature, version, outcome, reasons } of cells)
    for (const reason of reasons) {
      const key = `${labels[outcome]} ${feature}\n${reason}`
      found.set(key, [...(found.get(key) ?? []), version])
    }
  return [...found].map(([key, versions]) => {
    const [label = '', reason = ''] = key.split('\n')
    return `${label} at ${versions.join(', ')}: ${reason}`
  })
}

export function summaryOf(cells: readonly Cell[]): string {
  const { yes, failed, absent, skip, refused } = countsOf(cells)
  const others = `${absent} not in the version, ${skip} skipped`
  const spoken = refused === 0 ? '' : `, ${refused} versions refused`
  return `versions: ${yes} yes, ${failed} failed, ${others}${spoken}`
}

export function jsonOf(url: string, { versions, features, cells, provider }: Matrix): object {
  // The query may hold a token, and a report is made to be shared.
  const { protocol, host, pathname } = new URL(url)
  return { url: `${protocol}//${host}${pathname}`, provider, versions, features, ...countsOf(cells), cells }
}

function countsOf(cells: readonly Cell[]): Record<Outcome, number> {
  const counts = { yes: 0, absent: 0, failed: 0, skip: 0, refused: 0 }
  for (const { outcome } of cells) counts[outcome]++
  return counts
}
