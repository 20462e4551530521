import type { Counted } from '@atrium/adapters/store/move'
import { CommandError, exits, sentenceOf } from '../../terminal/exit.ts'

/** The flags of the command. */
export interface MoveFlags {
  readonly from: string
  readonly to: string
  readonly json?: boolean
}

/**
 * `atrium move`: moves the store of a host from a data folder into a database, or back. Both are locked meanwhile. The source stays
 * as it is.
 */
export async function moveStore({ from, to, json }: MoveFlags): Promise<void> {
  const [{ move }, { openSide }] = await Promise.all([
    import('@atrium/adapters/store/move'),
    import('@atrium/adapters/store/move/sides'),
  ])
  const open = (text: string, how: 'source' | 'target') =>
    openSide(text, how, process.env).catch((error: unknown) => {
      const exit = error instanceof Error && error.name === 'StoreLocked' ? exits.inUse : exits.error
      throw new CommandError(sentenceOf(error), exit)
    })
  const source = await open(from, 'source')
  try {
    const target = await open(to, 'target')
    try {
      const counted = await move(source, target, progress())
      process.stdout.write(
        json ? `${JSON.stringify({ tables: counted })}\n` : summary(counted, source.name, target.name),
      )
    } catch (error) {
      throw new CommandError(sentenceOf(error))
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Returns what tells a person how far the move is. Pipes get nothing. */
function progress(): (table: string, rows: number) => void {
  if (!process.stderr.isTTY) return () => {}
  return (table, rows) => process.stderr.write(`\r\x1b[K${table}: ${rows}`)
}

function summary(counted: readonly Counted[], from: string, to: string): string {
  const rows = counted.map(
    ({ table, rows: count, digest }) =>
      `  ${table.padEnd(16)} ${String(count).padStart(9)}  ${digest.slice(0, 16)}`,
  )
  return [`Moved ${from} to ${to}. Both have the same rows:`, ...rows, ''].join('\n')
}
