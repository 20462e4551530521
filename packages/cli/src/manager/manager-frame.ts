import type { HostedSession } from '@atrium/client/hosts'
import { Flag, hasFlag } from '@atrium/protocol/status'
import type { Frame, ScreenSize } from './frame.ts'
import { shownLine } from '../render/line.ts'
import { cut } from '../render/pane.ts'
import type { Rows } from '../render/question.ts'
import { onOneLine } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import { chosenIndex, countsOf } from './list.ts'
import type { ListState } from './list.ts'
import { pagerRows } from './pager.ts'
import type { Pager } from './pager.ts'
import type { LineQuestion } from './question-line.ts'
import { sessionRow } from './row.ts'

/** All that the screen of the session manager depends on. */
interface ManagerView {
  readonly size: ScreenSize
  readonly style: Style
  readonly all: readonly HostedSession[]
  readonly shown: readonly HostedSession[]
  readonly list: ListState
  readonly listHeight: number
  /** Whether the rows name their hosts. */
  readonly named: boolean
  /** The names of the hosts that are away. */
  readonly away: readonly string[]
  readonly preview: Rows
  readonly question: LineQuestion | undefined
  readonly message: string
  readonly now: number
}

/** Returns what the session manager shows: a header, the list, the end of the chosen session's chat, and the keys. */
export function managerFrame(view: ManagerView): Frame {
  const { size, shown, list, listHeight, preview } = view
  const footer = footerOf(view)
  const rows = [headerOf(view), ...listRows(view), divider(view), ...preview.rows].slice(0, size.rows - 1)
  while (rows.length < size.rows - 1) rows.push('')
  // A screen reader reads the row of the cursor.
  const chosen = { row: 1 + chosenIndex(shown, list) - list.top, column: 0 }
  const asked = preview.cursor && { ...preview.cursor, row: listHeight + 2 + preview.cursor.row }
  const typed = footer.column === undefined ? undefined : { row: size.rows - 1, column: footer.column }
  return { rows: [...rows, footer.text], cursor: typed ?? asked ?? (shown.length > 0 ? chosen : undefined) }
}

/** Returns a text on the whole screen, with its title and its keys. */
export function pagerFrame(pager: Pager, size: ScreenSize, style: Style): Frame {
  const { rows, percent } = pagerRows(pager, size)
  const shown = [style.bold(cut(pager.title, size.columns)), ...rows]
  while (shown.length < size.rows - 1) shown.push('')
  const keys = `${percent} %  ↑ ↓ Space b g G scroll · q closes`
  return { rows: [...shown, style.dim(cut(keys, size.columns))] }
}

function headerOf({ all, shown, list, away, style, size }: ManagerView): string {
  const { bold, yellow, green, dim } = style
  const { needing, working, all: total } = countsOf(all, list)
  const parts = [
    bold('Atrium'),
    needing > 0 ? yellow(`${needing} ${needing === 1 ? 'needs' : 'need'} you`) : 'nothing waits for you',
    ...(working > 0 ? [green(`${working} at work`)] : []),
    `${shown.length} of ${total} ${total === 1 ? 'session' : 'sessions'}`,
    ...(list.filter === '' ? [] : [`with ${list.filter}`]),
    ...away.map((name) => yellow(`${name} is away; trying again`)),
  ]
  return cut(parts.join(dim(' · ')), size.columns)
}

function listRows({ size, style, shown, list, listHeight, named, now }: ManagerView): readonly string[] {
  const { columns } = size
  const chosen = shown[chosenIndex(shown, list)]
  const rows = shown
    .slice(list.top, list.top + listHeight)
    .map((session) => sessionRow(session, { columns, chosen: session === chosen, named, now, style }))
  if (rows.length === 0) rows.push(style.dim(emptyText(list)))
  while (rows.length < listHeight) rows.push('')
  return rows
}

function emptyText({ filter }: ListState): string {
  return filter === ''
    ? '  No sessions here yet: n begins one.'
    : '  No session has these words; Esc shows all.'
}

function divider({ shown, list, size: { columns }, style }: ManagerView): string {
  const chosen = shown[chosenIndex(shown, list)]
  const title = chosen ? ` ${cut(onOneLine(chosen.title) || '(no title)', columns - 6)} ` : ''
  return style.dim(`──${title}${'─'.repeat(columns)}`)
}

/** The last row: a question, a message, or the keys. `column`: the place of the cursor in a question. */
function footerOf({ question, message, shown, list, size: { columns }, style }: ManagerView): {
  readonly text: string
  readonly column?: number
} {
  const { cyan, yellow, dim } = style
  if (question) {
    const { label, line } = question
    const hint = question.hint?.() ?? ''
    const typed = shownLine(line, Math.max(8, columns - label.length - hint.length - 4))
    return { text: `${cyan(label)} ${typed.text}  ${dim(hint)}`, column: label.length + 1 + typed.column }
  }
  if (message !== '') return { text: yellow(cut(message, columns)) }
  const chosen = shown[chosenIndex(shown, list)]
  const archive = chosen && hasFlag(chosen.status, Flag.IsArchived) ? 'x back' : 'x archive'
  const keys = `Enter open · n new · / find · d diff · u undo · t terminal · ${archive} · ? help · q quit`
  return { text: dim(cut(keys, columns)) }
}
