import type { TurnAction } from '@atrium/protocol/chat/actions'
import type { Turn } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import type { Channel } from '../log/channel.ts'
import { takesAll } from '../log/channel-rows.ts'
import type { Row } from '../log/channel-rows.ts'
import type { Core } from '../core/core.ts'
import { cursorBefore, turnOf, unknownCursor } from './cursor.ts'
import type { Listener } from '../log/entry.ts'
import { Damaged } from '../log/rebuild.ts'
import { readSome, lengthOf } from '../log/rows.ts'
import { trusted } from './wake.ts'

/** Some turns of a chat, oldest first, and where those before them end. */
export interface Page {
  readonly turns: readonly Turn[]
  readonly turnsNextCursor?: string
}

/**
 * The turns of a chat just before those that a client has: from memory, or from the disk, and then they do not stay. The
 * page goes to `use` in the step in which it is true: a moment later a turn of it may be taken away.
 */
export async function turnsBefore<T = Page>(
  core: Core,
  channel: Channel,
  cursor?: string,
  limit = 50,
  use: (page: Page) => T = (page) => page as T,
): Promise<T> {
  const read = new Map<string, Row>()
  for (;;) {
    const found = pageOf(channel, cursor, limit, core.limits.turnsPageLength, read)
    if ('page' in found) return use(found.page)
    const [first = ''] = found.wanted
    const { rows } = await trusted(core, () => readSome(core.store.log, channel.uri, found.wanted))
    for (const id of found.wanted) {
      const row = rows.get(id)
      if (row) read.set(id, row)
    }
    if (!read.has(first) && channel.missing(first).length > 0) await reportMissingRows(core, channel)
  }
}

type PageResult = { readonly page: Page } | { readonly wanted: readonly string[] }

/** From the newest back; or the ids, in that order, of those that must be read first. */
function pageOf(
  channel: Channel,
  cursor: string | undefined,
  limit: number,
  longest: number,
  read: ReadonlyMap<string, Row>,
): PageResult {
  const { rowIds, olderRows } = channel
  const told = channel.rows(channel.committed)
  const turns: Row[] = []
  let length = 0
  let at = Math.min(rowsBefore(channel, cursor), channel.lasting)
  for (; at > 0 && turns.length < limit; at--) {
    const row = at > olderRows ? told[at - 1 - olderRows] : read.get(rowIds.at(at - 1) ?? '')
    if (!row) return { wanted: rowIds.slice(Math.max(0, at - limit + turns.length), at).toReversed() }
    length += lengthOf(row)
    if (length > longest && turns.length > 0) break
    turns.push(row)
  }
  const page = { turns: turns.toReversed() as unknown as readonly Turn[] }
  return { page: at > 0 ? { ...page, turnsNextCursor: cursorBefore(page.turns[0]) } : page }
}

/** How many turns come before the one that a cursor names. */
function rowsBefore(channel: Channel, cursor: string | undefined): number {
  const id = cursor === undefined ? undefined : turnOf(cursor)
  if (id === undefined) return Infinity
  const older = channel.rowIds.indexOf(id)
  if (older >= 0 && older < channel.olderRows) return older
  const at = channel.rows(channel.committed).findIndex((row) => row.id === id)
  if (at >= 0) return channel.committedOlder + at
  // It goes on: all turns that have ended come before it.
  if ((channel.committed as { readonly activeTurn?: Row }).activeTurn?.id === id) return Infinity
  throw unknownCursor()
}

async function reportMissingRows(core: Core, channel: Channel): Promise<never> {
  if (!(await core.log.wake(channel.uri))) throw AhpError.notFound('the chat is no more')
  return trusted(core, () =>
    Promise.reject(
      new Damaged(`the stored history of ${channel.uri} is damaged: some of its rows are missing`),
    ),
  )
}

/** A page of turns, told to the one that asks for it. Gives the number after which it has it. */
export function fetchTurns(core: Core, link: Listener, channel: Channel, cursor?: string): Promise<number> {
  return turnsBefore(core, channel, cursor, undefined, (page) => sendPage(core, channel, link, page))
}

/**
 * A turn is about to become the last, or to go on: whoever was handed only newer ones must know it, and all between: they
 * have it before the change is safe, and it may come to nothing. Of what loses all its turns nobody lacks any.
 */
export function loadTurnFor(core: Core, channel: Channel, action: TurnAction): void {
  if (takesAll(action)) for (const listener of channel.listeners) listener.rowsSent?.(channel.uri, 0)
  const at = channel.rowIds.indexOf((action as { readonly turnId?: string }).turnId ?? '')
  if (at < channel.olderRows) return
  for (const listener of channel.listeners) {
    const lacking = listener.missingRows?.(channel.uri) ?? 0
    if (lacking <= at) continue
    const turns = channel
      .rows(channel.head)
      .slice(at - channel.olderRows, lacking - channel.olderRows) as unknown
    const page = { turns: turns as readonly Turn[] }
    const more = at > 0 && { turnsNextCursor: cursorBefore(page.turns[0]) }
    sendPage(core, channel, listener, { ...page, ...more })
  }
}

function sendPage(core: Core, channel: Channel, to: Listener, page: Page): number {
  const { turns, turnsNextCursor } = page
  const first = turns[0]
  const older = turnsNextCursor === undefined || !first ? 0 : channel.rowIds.indexOf(first.id)
  to.rowsSent?.(channel.uri, older)
  return core.log.sendTo(channel, { type: 'chat/turnsLoaded', ...page } as TurnAction, to).last
}
