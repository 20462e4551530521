import type { HostedSession } from '@atrium/client/hosts'
import { Activity, activityOf, Flag, hasFlag } from '@atrium/protocol/status'
import { cut } from '../render/pane.ts'
import { widthOf } from '../render/table.ts'
import { ago, folderOf } from '../session/summary-words.ts'
import { onOneLine } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

interface RowOptions {
  readonly columns: number
  readonly chosen: boolean
  /** Whether the row names the host: there are several. */
  readonly named: boolean
  readonly now: number
  readonly style: Style
}

/** Returns the row of a session. A narrow window has no place for the folder, the agent and the host. */
export function sessionRow(
  session: HostedSession,
  { columns, chosen, named, now, style }: RowOptions,
): string {
  const { title, provider, status, modifiedAt, changes, host } = session
  const { additions = 0, deletions = 0 } = changes ?? {}
  const counts = additions + deletions > 0 ? `+${additions} -${deletions}` : ''
  const left = [
    chosen ? '›' : ' ',
    stateWord(status, style),
    padded(ago(new Date(modifiedAt), now), 4),
    ...(columns >= 72 ? [padded(onOneLine(provider), 8)] : []),
  ].join(' ')
  const right = [
    ...(hasFlag(status, Flag.IsArchived) ? ['archived'] : []),
    ...(columns >= 72 ? [counts] : []),
    ...(columns >= 90 ? [folderOf(session)] : []),
    ...(named && columns >= 50 ? [onOneLine(host)] : []),
  ]
    .filter((text) => text !== '')
    .join('  ')
  const room = Math.max(1, columns - widthOf(left) - widthOf(right) - 3)
  const name = onOneLine(title) || '(no title)'
  const row = cut(`${left} ${padded(name, room)}  ${style.dim(right)}`, columns)
  return chosen ? style.inverse(row) : row
}

function stateWord(status: number, { yellow, green, red, dim }: Style): string {
  const activity = activityOf(status)
  if (activity === Activity.InputNeeded) return yellow('● asks  ')
  if (activity === Activity.InProgress) return green('◐ works ')
  return activity === Activity.Error ? red('✗ failed') : dim('· idle  ')
}

/** Cuts or fills a text to a number of columns. */
function padded(text: string, columns: number): string {
  const shown = cut(text, columns)
  return shown + ' '.repeat(Math.max(0, columns - widthOf(shown)))
}
