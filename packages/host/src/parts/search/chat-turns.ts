import type { Uri } from '@atrium/protocol/channel'
import type { Turn } from '@atrium/protocol/chat/state'
import { rowsIn } from '../../kernel/log/channel-rows.ts'
import type { Log } from '../../kernel/log/log.ts'
import { Damaged, rebuild } from '../../kernel/log/rebuild.ts'
import { readSome } from '../../kernel/log/rows.ts'
import type { LogStore } from '../../ports/log.ts'

/** Where turns are read: in memory if the chat is loaded, else in the store. Reading does not load the chat. */
export interface TurnSource {
  readonly store: LogStore
  readonly log: Log
}

/** The number of turns that are read at a time. Parsing more would hold up other work for too long. */
const readTogether = 20

/** The ids of the finished turns of a chat. Undefined if there is no such chat. Throws if the chat is damaged. */
export async function turnIdsOf(
  { store, log }: TurnSource,
  uri: Uri,
): Promise<readonly string[] | undefined> {
  const awake = log.channel(uri, 'chat')
  if (awake) return awake.rowIds.slice(0, awake.lasting)
  const loaded = await store.load(uri, 0)
  if (!loaded) return undefined
  if ('damaged' in loaded) throw new Damaged(`the stored history of ${uri} is damaged: ${loaded.damaged}`)
  if (!loaded.fromCreation) return loaded.rowIds
  const { kind, state } = rebuild(uri, loaded)
  return rowsIn(kind.rows, state).map(({ id }) => id)
}

/** Reads turns of a chat, some at a time. Turns that are gone by now are left out. */
export async function* turnsOf(
  { store, log }: TurnSource,
  uri: Uri,
  ids: readonly string[],
): AsyncGenerator<readonly Turn[]> {
  for (let at = 0; at < ids.length;) {
    const wanted = ids.slice(at, at + readTogether)
    const inMemory = new Map(log.channel(uri, 'chat')?.committed?.turns.map((turn) => [turn.id, turn]))
    const first = wanted.findIndex((id) => !inMemory.has(id))
    const here = first < 0 ? wanted : wanted.slice(0, first)
    if (here.length > 0) {
      at += here.length
      yield here.flatMap((id) => inMemory.get(id) ?? [])
      continue
    }
    const { rows, count } = await readSome(store, uri, wanted)
    at += Math.max(1, count)
    // The store keeps each turn of a chat as a row with the id of the turn: hence the cast.
    yield wanted.flatMap((id) => (rows.get(id) as Turn | undefined) ?? [])
  }
}
