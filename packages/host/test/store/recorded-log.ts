import { memoryStore } from '@atrium/adapters/store/memory'
import type { MemoryStore } from '@atrium/adapters/store/memory'
import type { Action, Uri } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { KindName } from '@atrium/protocol/reducers'
import { expect } from 'vitest'
import type { Step } from '../../src/ports/log.ts'

export type State = Record<string, unknown>

interface Fold {
  readonly kind: KindName
  readonly state: State
}

/** A store in memory that keeps every step that the host gives it. */
export function recordingStore(): { readonly disk: MemoryStore; readonly steps: readonly Step[] } {
  const steps: Step[] = []
  const recorded = (store: MemoryStore): MemoryStore => ({
    ...store,
    log: {
      ...store.log,
      append(step) {
        steps.push(step)
        store.log.append(step)
      },
    },
    reopen: () => recorded(store.reopen()),
  })
  return { disk: recorded(memoryStore()), steps }
}

/**
 * Reduces the whole log of each channel from its creation on, without the code of the host. Expects that each stored head is
 * the state at its place in the log.
 */
export function foldOf(steps: readonly Step[]): ReadonlyMap<Uri, Fold> {
  const folds = new Map<Uri, Fold>()
  for (const { created, envelopes, heads } of steps) {
    // The kinds and the states in the steps are those that the host has written.
    for (const { channel, kind, state } of created)
      folds.set(channel, { kind: kind as KindName, state: JSON.parse(state) as State })
    for (const { channel, action } of envelopes) {
      const { kind, state } = folds.get(channel) as Fold
      const { reduce } = kinds[kind] as unknown as ChannelKind
      folds.set(channel, { kind, state: reduce(state, JSON.parse(action) as Action) as State })
    }
    for (const { channel, state } of heads) expectHead(folds.get(channel) as Fold, JSON.parse(state) as State)
  }
  return folds
}

/** Whether a state holds more than its log, because some actions of its kind are never stored. */
export function isEphemeral(kind: KindName): boolean {
  return kind === 'terminal' || kind === 'resourceWatch'
}

/** A head holds the number of rows instead of the rows. */
function expectHead({ kind, state }: Fold, head: State): void {
  if (isEphemeral(kind)) return
  const { rows } = kinds[kind]
  const { length } = (state[rows ?? ''] ?? []) as readonly unknown[]
  expect(head, `the head of a ${kind}`).toEqual(rows === undefined ? state : { ...state, [rows]: length })
}
