import { kinds } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import { expect, test } from 'vitest'
import { Channel } from './channel.ts'
import type { Core } from './core.ts'
import { snapshotText } from './snapshot.ts'

const turns = ['a', 'b', 'c'].map((id) => ({ id }))
const core = { log: { told: 7 } } as Core

test.each([
  [undefined, ['a', 'b', 'c'], undefined],
  [5, ['a', 'b', 'c'], undefined],
  [2, ['b', 'c'], 'b'],
  [0, [], 'c'],
])('[L9] a view of %s turns shows %j, and a cursor where there are more', (wanted, shown, cursor) => {
  const channel = new Channel('ahp-chat:/1', kinds.chat as unknown as ChannelKind, {}, 0)
  channel.told = { turns }
  const { resource, state, fromSeq } = JSON.parse(
    snapshotText(core, channel, wanted === undefined ? {} : { turns: wanted }),
  ) as { resource: string; state: { turns: { id: string }[]; turnsNextCursor?: string }; fromSeq: number }
  expect({ resource, fromSeq }).toEqual({ resource: 'ahp-chat:/1', fromSeq: 7 })
  expect(state.turns.map(({ id }) => id)).toEqual(shown)
  expect(state.turnsNextCursor).toBe(cursor)
})
