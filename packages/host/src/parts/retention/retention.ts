import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import { rootUri } from '@atrium/protocol/uri'
import type { Core } from '../../kernel/core.ts'
import { DiskFull } from '../../ports/log.ts'
import { readRecord } from '../../kernel/records/checked-records.ts'
import { mostDays, retentionKey } from './retention-setting.ts'
import { storedAction } from '../../kernel/log/entry.ts'

const dayMs = 24 * 60 * 60_000
/**
 * The longest state that may replace the old actions of a channel (a checkpoint), in characters of JSON. A channel
 * with a longer state keeps its actions.
 */
const longestCheckpoint = 16 * 1024 * 1024

/**
 * Forgets the actions that are older than the retention in the root config. Also stores the present time and sequence
 * number, by which the age of actions is known later.
 */
export async function forgetOld(core: Core): Promise<void> {
  const days = await noteDay(core)
  const retention = core.log.channel(rootUri, 'root')?.committed?.config?.values[retentionKey]
  if (typeof retention !== 'number') return
  const cutoff = cutoffOf(core, days, core.world.now() - retention * dayMs)
  for (const uri of [rootUri, ...catalogOf(core).channels]) {
    try {
      if (await forgetUpTo(core, uri, cutoff)) core.sealing.freed()
    } catch (error) {
      // The state that replaces old actions needs space. On a full disk all channels wait for the next day.
      if (error instanceof DiskFull) return
      core.world.report('forgetting old actions failed', error)
    }
  }
}

/** A point in time, in milliseconds, and the last sequence number that was committed at that time. */
type Day = readonly [ms: number, seq: number]

/** Adds the present time to the stored list of days. The list covers the longest retention that can be set. */
async function noteDay({ records, world, log }: Core): Promise<readonly Day[]> {
  // The shape is trusted: the record is written only below.
  const read = (text: string): readonly Day[] => [...(JSON.parse(text) as readonly Day[])]
  const days = [
    ...((await readRecord(records, daysKey, read)) ?? []),
    [world.now(), log.committedSeq] as const,
  ].slice(-2 * mostDays)
  records.put(daysKey, JSON.stringify(days))
  log.scheduleFlush()
  return days
}

const daysKey = 'days'

/**
 * Returns the highest sequence number that is known to have been assigned before a time. Each stored day tells such a
 * number. So does each run of the host (epoch): its first number is at least 1000 times the time of its start in
 * milliseconds, and all smaller numbers were assigned before the run.
 */
function cutoffOf(core: Core, days: readonly Day[], time: number): number {
  const epochs = [...core.about.earlierEpochs, core.log].map(({ first }): Day => [first / 1000, first - 1])
  const past = [...days, ...epochs].filter(([ms]) => ms <= time)
  return Math.min(core.log.committedSeq, Math.max(0, ...past.map(([, seq]) => seq)))
}

/**
 * Replaces the actions of a channel up to a sequence number by the state after them (a checkpoint). No turn is active
 * in this state, so that no turn is divided. The actions are reduced in slices, and other work goes on in between.
 * Returns whether actions were forgotten.
 */
async function forgetUpTo(core: Core, uri: Uri, cutoff: number): Promise<boolean> {
  const { store, world, jobs, limits } = core
  let slice = await store.log.read([uri], 0, cutoff)
  const creation = slice.envelopes.length > 0 && !jobs.has(uri) ? await store.log.creation(uri) : undefined
  const kind = creation && kindNamed(creation.kind)
  if (!creation || !kind) return false
  let state: unknown = JSON.parse(creation.state)
  let resting: { readonly seq: number; readonly state: unknown } | undefined
  for (;;) {
    for (const { seq, action } of slice.envelopes) {
      // The slice was read first. The state of a checkpoint that was written since has these actions already.
      if (seq <= creation.seq) continue
      // The cast is safe: a schema had checked each action before it was stored.
      state = kind.reduce(state, storedAction(action))
      if (!hasTurn(state)) resting = { seq, state }
    }
    if (!slice.more) break
    await new Promise<void>((resolve) => void world.later(0, resolve))
    slice = await store.log.read([uri], slice.envelopes.at(-1)?.seq ?? cutoff, cutoff)
  }
  const text = resting && JSON.stringify(resting.state)
  if (!resting || text === undefined || text.length > longestCheckpoint) return false
  const forgot = await store.log.forget({ channel: uri, seq: resting.seq, state: text }, limits.resends)
  if (forgot) core.log.forgot(resting.seq)
  return forgot
}

function hasTurn(state: unknown): boolean {
  return (
    typeof state === 'object' && state !== null && 'activeTurn' in state && state.activeTurn !== undefined
  )
}
