import type { TurnAction } from '@atrium/protocol/chat/actions'
import type { Turn } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import type { Channel } from '../kernel/log/channel.ts'
import { takesAll } from '../kernel/log/channel-rows.ts'
import type { Core } from '../kernel/core.ts'
import { cursorBefore, turnOf, unknownCursor } from './cursor.ts'
import { makeShown, oversizedTurns, shownRows } from './oversized.ts'
import type { Listener } from '../kernel/log/entry.ts'
import { Damaged } from '../kernel/log/rebuild.ts'
import { readSome, lengthOf } from '../kernel/log/rows.ts'
import { trusted } from './wake.ts'

type Chat = Channel<'chat'>

/** Some turns of a chat, oldest first, and a cursor to the turns before them. */
export interface Page {
  readonly turns: readonly Turn[]
  readonly turnsNextCursor?: string
}

interface PageRequest {
  /** The page ends before the turn that the cursor names. Absent: the page has the newest turns. */
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

/**
 * Returns the turns of a chat before a cursor, from memory or from the disk. Turns that are read from the disk are not kept
 * in memory.
 */
export function turnsBefore(core: Core, chat: Chat, request: PageRequest = {}): Promise<Page> {
  return withTurnsBefore(core, chat, request, (page) => page)
}

/**
 * Reads a page of turns and passes it to `use`. `use` must not wait before it uses the page: later, a turn of the
 * page may have been removed.
 */
export async function withTurnsBefore<T>(
  core: Core,
  chat: Chat,
  { cursor, limit = 50 }: PageRequest,
  use: (page: Page) => T,
): Promise<T> {
  const read = new Map<string, Turn>()
  const bounds = { cursor, limit, maxLength: core.limits.turnsPageLength }
  for (;;) {
    const found = pageOf(chat, bounds, read)
    if ('page' in found) {
      const { turns } = found.page
      if (oversizedTurns(core, turns).length === 0) return use({ ...found.page, turns: shownRows(turns) })
      await makeShown(core, chat, turns)
      continue
    }
    const [first = ''] = found.wanted
    const { rows } = await trusted(core, () => readSome(core.store.log, chat.uri, found.wanted))
    for (const id of found.wanted) {
      const row = rows.get(id)
      // The cast is safe: the rows of a chat are its turns.
      if (row) read.set(id, row as Turn)
    }
    if (!read.has(first) && chat.missing(first).length > 0) await reportMissingRows(core, chat)
  }
}

interface PageBounds {
  readonly cursor: string | undefined
  /** Maximum number of turns. */
  readonly limit: number
  /** Maximum length of the page in characters of JSON. A page has at least one turn. */
  readonly maxLength: number
}

/** A page. If turns of the page must first be read from the disk, the ids of these turns instead, newest first. */
type PageResult = { readonly page: Page } | { readonly wanted: readonly string[] }

function pageOf(
  chat: Chat,
  { cursor, limit, maxLength }: PageBounds,
  read: ReadonlyMap<string, Turn>,
): PageResult {
  const { rowIds, olderRows } = chat
  const committed = turnsOf(chat.committed)
  const newestFirst: Turn[] = []
  let length = 0
  let at = Math.min(countBefore(chat, cursor), chat.lasting)
  for (; at > 0 && newestFirst.length < limit; at--) {
    const turn = at > olderRows ? committed[at - 1 - olderRows] : read.get(rowIds.at(at - 1) ?? '')
    if (!turn) return { wanted: rowIds.slice(Math.max(0, at - limit + newestFirst.length), at).toReversed() }
    length += lengthOf(turn)
    if (length > maxLength && newestFirst.length > 0) break
    newestFirst.push(turn)
  }
  const page = { turns: newestFirst.toReversed() }
  return { page: at > 0 ? { ...page, turnsNextCursor: cursorBefore(page.turns[0]) } : page }
}

/** Returns the number of turns before the one that a cursor names. */
function countBefore(chat: Chat, cursor: string | undefined): number {
  const id = cursor === undefined ? undefined : turnOf(cursor)
  if (id === undefined) return Infinity
  const older = chat.rowIds.indexOf(id)
  if (older >= 0 && older < chat.olderRows) return older
  const at = turnsOf(chat.committed).findIndex((turn) => turn.id === id)
  if (at >= 0) return chat.committedOlder + at
  // The active turn comes after all finished turns.
  if (chat.committed?.activeTurn?.id === id) return Infinity
  throw unknownCursor()
}

function turnsOf(state: { readonly turns: readonly Turn[] } | undefined): readonly Turn[] {
  return state?.turns ?? []
}

async function reportMissingRows(core: Core, chat: Chat): Promise<never> {
  if (!(await core.log.wake(chat.uri))) throw AhpError.notFound('the chat is no more')
  return trusted(core, () =>
    Promise.reject(new Damaged(`the stored history of ${chat.uri} is damaged: some of its rows are missing`)),
  )
}

/** Sends a page of turns to one client. Returns the sequence number of the action that carries the page. */
export function fetchTurns(core: Core, link: Listener, chat: Chat, cursor?: string): Promise<number> {
  return withTurnsBefore(core, chat, { cursor }, (page) => sendPage(core, chat, link, page))
}

/**
 * Prepares the subscribers of a chat for an action that names a turn: a truncation after the turn, or its resumption.
 * Sends that turn, and all turns after it, to each subscriber that lacks them. They are sent before the action is
 * committed. If the host then refuses the action, these subscribers have more old turns than they need, which does no
 * harm. If the action removes all turns, nothing is sent, because no turn is left that a subscriber could lack.
 */
export function loadTurnFor(core: Core, channel: Channel, action: TurnAction): void {
  if (!channel.is('chat')) return
  if (takesAll(action)) for (const listener of channel.listeners) listener.rowsSent?.(channel.uri, 0)
  const turnId = 'turnId' in action ? action.turnId : undefined
  const at = channel.rowIds.indexOf(turnId ?? '')
  if (at < channel.olderRows) return
  for (const listener of channel.listeners) {
    const lacking = listener.missingRows?.(channel.uri) ?? 0
    if (lacking <= at) continue
    const turns = shownRows(channel.head.turns.slice(at - channel.olderRows, lacking - channel.olderRows))
    const more = at > 0 && { turnsNextCursor: cursorBefore(turns[0]) }
    sendPage(core, channel, listener, { turns, ...more })
  }
}

function sendPage(core: Core, chat: Chat, to: Listener, page: Page): number {
  const { turns, turnsNextCursor } = page
  const first = turns[0]
  const older = turnsNextCursor === undefined || !first ? 0 : chat.rowIds.indexOf(first.id)
  to.rowsSent?.(chat.uri, older)
  return core.log.sendTo(chat, { type: 'chat/turnsLoaded', ...page }, to).last
}
