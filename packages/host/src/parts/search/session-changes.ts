import type { Uri } from '@atrium/protocol/channel'
import type { Turn } from '@atrium/protocol/chat/state'
import { pathOf } from '@atrium/protocol/file-uri'
import type { LimitValues } from '@atrium/protocol/limits'
import type { SessionSummary } from '@atrium/protocol/session/state'
import type { Catalog } from '../../catalog/catalog.ts'
import type { ListChanges } from '../../catalog/session-list/list-changes.ts'
import { Damaged } from '../../kernel/log/rebuild.ts'
import type { IndexChange, IndexedSession, IndexedTurn } from '../../ports/search-index.ts'
import type { World } from '../../ports/world.ts'
import { turnIdsOf, turnsOf } from './chat-turns.ts'
import type { TurnSource } from './chat-turns.ts'
import type { PendingChanges } from './pending-changes.ts'
import { textsOf, timeOf } from './turn-texts.ts'

interface Source extends TurnSource {
  readonly catalog: Catalog
  readonly listChanges: ListChanges
  readonly world: World
  readonly limits: LimitValues
}

/** The approximate length of the texts in one change, in characters. Smaller changes would be many small writes. */
const together = 128 * 1024

/**
 * Yields the changes that bring the index up to date with a session. The last one has the version of the session,
 * unless the session is gone or has uncommitted changes.
 */
export async function* changesOf(
  source: Source,
  session: Uri,
  pending: PendingChanges,
): AsyncGenerator<IndexChange> {
  const { catalog, listChanges, log } = source
  const summary = catalog.get(session)
  if (!summary || !isListed(catalog, session)) {
    yield { session }
    return
  }
  const version = listChanges.versionOf(session)
  // While changes of the session are uncommitted, no version is given. Their commit makes the session be indexed
  // again.
  const isCommitted = version <= log.committedSeq
  const entry = entryOf(summary)
  let part: ChatPart = { turns: [], kept: [] }
  let length = 0
  for (const { chat } of entry.chats)
    for await (const { turns, kept } of chatParts(source, chat, pending)) {
      part = { turns: [...part.turns, ...turns], kept: [...part.kept, ...kept] }
      length += turns.reduce((sum, turn) => sum + lengthOf(turn), 0)
      if (length < together) continue
      yield { session, entry, ...part }
      part = { turns: [], kept: [] }
      length = 0
    }
  yield { session, entry, ...part, ...(isCommitted && { version }) }
}

/** Whether a session exists, and somebody has used it. Only such sessions are in the index, as in the session list. */
export function isListed(catalog: Catalog, session: Uri): boolean {
  return catalog.get(session) !== undefined && catalog.creatorOf(session) === undefined
}

/** A part of what has changed in a chat. */
type ChatPart = Required<Pick<IndexChange, 'turns' | 'kept'>>

async function* chatParts(source: Source, chat: Uri, pending: PendingChanges): AsyncGenerator<ChatPart> {
  const wanted = pending.of(chat)
  if (!wanted) return
  try {
    const ids = (await turnIdsOf(source, chat)) ?? []
    const present = new Set(ids)
    const named = wanted.turns === 'all' ? ids : [...wanted.turns]
    const gone = named.filter((id) => !present.has(id))
    const removed = gone.map((turnId) => ({ chat, turnId, texts: [] }))
    yield { turns: removed, kept: wanted.cut ? [{ chat, turnIds: ids }] : [] }
    const there = named.filter((id) => present.has(id))
    for await (const turns of turnsOf(source, chat, there))
      yield { turns: turns.map((turn) => indexed(chat, turn, source.limits)), kept: [] }
  } catch (error) {
    // The chat is skipped. Its turns that were indexed before the damage stay in the index.
    if (!(error instanceof Damaged)) throw error
    source.world.report('damaged channel', `${chat} is not searched: ${error.message}`)
  }
}

function lengthOf({ texts }: IndexedTurn): number {
  return texts.reduce((sum, { text }) => sum + text.length, 0)
}

function indexed(chat: Uri, turn: Turn, { indexedLength }: LimitValues): IndexedTurn {
  return { chat, turnId: turn.id, texts: textsOf(turn, indexedLength) }
}

function entryOf(summary: SessionSummary): IndexedSession {
  const { provider, title, createdAt, workingDirectories = [], project, chats = [] } = summary
  const folders = [...workingDirectories, ...(project ? [project.uri] : [])].map(folderOf)
  return {
    provider,
    title,
    time: timeOf(createdAt),
    folders: [...new Set(folders)],
    chats: chats
      .filter(({ interactivity }) => interactivity !== 'hidden')
      .map((each) => ({ chat: each.resource, title: each.title })),
  }
}

/** The path of a folder; its URI if it is not on this machine. */
function folderOf(uri: Uri): string {
  const named = pathOf(uri)
  return named.ok ? named.path : uri
}
