import { reducers } from '@atrium/protocol/reducers'
import type { ChatState } from '@atrium/protocol/chat/state'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { channels, delta, entry } from '../../test/text-entries.ts'
import type { Entry } from '../kernel/log/entry.ts'
import { mergeRuns } from './merge-runs.ts'

test('[L12] [L12.1] adjacent text of one part is merged, and other text is not', () => {
  const merged = mergeRuns([
    delta(0, 'a'),
    delta(0, 'b'),
    delta(0, 'c', 'q'),
    delta(1, 'd'),
    delta(0, 'e'),
    delta(0, 'f'),
  ])
  expect(
    merged.map(({ channel, action }) => [channel, (action as unknown as { content: string }).content]),
  ).toEqual([
    ['a', 'ab'],
    ['a', 'c'],
    ['b', 'd'],
    ['a', 'ef'],
  ])
})

test('[L12] merging changes neither the order of numbers nor any reduced state', () => {
  const startedAt = '2026-01-01T00:00:00Z'
  const chat: ChatState = { resource: '', title: '', status: 8, modifiedAt: startedAt, turns: [] }
  const parts = ['p', 'q'].map((id) => ({ kind: 'markdown' as const, id, content: '' }))
  const activeTurn = {
    id: 't',
    startedAt,
    message: { text: '', origin: { kind: 'user' } },
    responseParts: parts,
  }
  const fold = (entries: readonly Entry[]) =>
    channels.map((channel) =>
      entries
        .filter((one) => one.channel === channel)
        .reduce<ChatState>((state, { action }) => reducers.chat(state, action), { ...chat, activeTurn }),
    )
  const step = fc.tuple(fc.nat(1), fc.constantFrom('p', 'q'), fc.constantFrom('x', 'y'), fc.boolean())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const entries = steps.map(([at, partId, text, other]) =>
        other ? entry(channels[at], { type: 'chat/usage', turnId: 't', usage: {} }) : delta(at, text, partId),
      )
      const merged = mergeRuns(entries)
      expect(fold(merged)).toEqual(fold(entries))
      const numbers = merged.map(({ seq }) => seq)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(merged.at(-1)?.seq).toBe(entries.at(-1)?.seq)
    }),
  )
})
