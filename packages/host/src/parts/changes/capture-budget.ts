import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Core } from '../../kernel/core.ts'
import type { CapturedChange } from '../../ports/captures.ts'
import type { ByteBudget } from './counts/turn-counts.ts'
import type { TurnCount, TurnFolder, TurnRecord } from './turn-record.ts'
import type { TurnRecords } from './turn-records.ts'

/** A finished turn whose captures take space of the budgets. */
export interface CountedTurn extends TurnCount {
  readonly chat: Uri
  readonly turnId: string
  readonly session: Uri
}

/**
 * Chooses the turns that lose their captures. First, each session that exceeds its budget loses the captures of its
 * oldest turns. Then the sessions that were used least recently lose the captures of their oldest turns, until all
 * sessions together are within their budget. The newest turn of all keeps its captures.
 */
export function beyondBudget(turns: readonly CountedTurn[], budget: ByteBudget): readonly CountedTurn[] {
  const newest = Math.max(...turns.map(({ order }) => order))
  const sessions = inSessions(turns)
  const lost = new Set(sessions.flatMap((own) => firstBeyond(own, budget.session, newest)))
  const left = sessions.flat().filter((turn) => !lost.has(turn))
  return [...lost, ...firstBeyond(left, budget.all, newest)]
}

/**
 * Returns the turns whose captures must be deleted so that the captures of the other turns fit into the budget. Turns
 * are chosen from the beginning of the list; the newest turn is never chosen. A turn and its copies in forks share one
 * set of captures, so the bytes of these captures count once.
 */
function firstBeyond(turns: readonly CountedTurn[], most: number, newest: number): readonly CountedTurn[] {
  const copies = new Map<string, number>()
  let sum = 0
  for (const { captures, bytes } of turns) {
    if (!copies.has(captures)) sum += bytes
    copies.set(captures, (copies.get(captures) ?? 0) + 1)
  }
  const lost: CountedTurn[] = []
  for (const turn of turns) {
    if (sum <= most) break
    if (turn.order === newest) continue
    lost.push(turn)
    const others = (copies.get(turn.captures) ?? 1) - 1
    copies.set(turn.captures, others)
    if (others === 0) sum -= turn.bytes
  }
  return lost
}

/**
 * Groups turns by session. The session that was used least recently comes first; the turns of a session are ordered
 * from the oldest to the newest.
 */
function inSessions(turns: readonly CountedTurn[]): readonly (readonly CountedTurn[])[] {
  const sessions = new Map<Uri, CountedTurn[]>()
  for (const turn of turns.toSorted((a, b) => a.order - b.order)) {
    const own = sessions.get(turn.session)
    if (own) own.push(turn)
    else sessions.set(turn.session, [turn])
  }
  return [...sessions.values()].toSorted((a, b) => (a.at(-1)?.order ?? 0) - (b.at(-1)?.order ?? 0))
}

/** Deletes the captures of the turns that exceed the budgets, and writes the reason into their records. Returns their sessions. */
export async function keepBudget(core: Core, records: TurnRecords): Promise<ReadonlySet<Uri>> {
  const budget = { session: core.limits.sessionCaptureBytes, all: core.limits.allCaptureBytes }
  const turns = (await records.counted(budget, (chat) => catalogOf(core).sessionOf(chat))) ?? []
  const counted = turns.flatMap((turn) => {
    const session = catalogOf(core).sessionOf(turn.chat)
    return session === undefined ? [] : [{ ...turn, session }]
  })
  const lost = counted.length === 0 ? [] : beyondBudget(counted, budget)
  for (const turn of lost) {
    const { chat, turnId } = turn
    const record = await records.get(chat, turnId)
    if (record) records.putLost(chat, turnId, withoutCaptures(record), turn)
  }
  if (lost.length > 0) core.log.scheduleFlush()
  return new Set(lost.map(({ session }) => session))
}

function withoutCaptures({ folders }: TurnRecord): TurnRecord {
  return { folders: folders.map(({ directory }): TurnFolder => ({ directory, problem: noSpace })) }
}

const noSpace = 'Its files are not kept any more, because newer turns needed the space.'

/** Returns how many bytes changes take of the budgets: the bytes of both sides, because both are stored. */
export function bytesOf(changes: readonly CapturedChange[]): number {
  const sides = changes.flatMap(({ before, after }) => [before, after])
  return sides.reduce((sum, side) => sum + (side && side.omitted === undefined ? side.size : 0), 0)
}
