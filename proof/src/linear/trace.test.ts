import { expect, test } from 'vitest'
import { readTrace } from './trace.ts'

const line = (client: string, does: string, message: object) => `${client} ${does} ${JSON.stringify(message)}`
const set = (client: string, clientSeq: number, title: string) =>
  line(client, 'sends', {
    method: 'dispatchAction',
    params: { channel: 'ahp-session:/1', clientSeq, action: { type: 'session/titleChanged', title } },
  })
const told = (client: string, serverSeq: number, origin: object, more: object = {}) =>
  line(client, 'receives', {
    method: 'action',
    params: { channel: 'ahp-session:/1', serverSeq, origin, ...more },
  })
const asks = (client: string, id: number) => line(client, 'sends', { id, method: 'subscribe', params: {} })
const state = (client: string, id: number, fromSeq: number, title: string) =>
  line(client, 'receives', {
    id,
    result: { snapshot: { resource: 'ahp-session:/1', fromSeq, state: { title } } },
  })
const one = { clientId: 'c0', clientSeq: 1 }

const setAndTold = [set('c0', 1, 'a'), told('c0', 10, one)]

test.each([
  ['a snapshot after an action', [...setAndTold, asks('c1', 1), state('c1', 1, 10, 'a')]],
  ['a snapshot that was asked for before', [asks('c1', 1), ...setAndTold, state('c1', 1, 9, '')]],
  ['an older copy of the disk', [...setAndTold, '-- restore', asks('c1', 1), state('c1', 1, 5, '')]],
  ['a refused title', [set('c0', 1, 'a'), told('c0', 10, one, { rejectionReason: 'no' })]],
  [
    'a link that has ended',
    [asks('c1', 1), 'c1 has no link', ...setAndTold, asks('c1', 1), state('c1', 1, 10, 'a')],
  ],
] as const)('[B7] %s agrees with real time', (_, lines) => {
  expect(readTrace(lines)).toBeUndefined()
})

test.each([
  [
    'a snapshot older than what is known',
    [...setAndTold, asks('c1', 1), state('c1', 1, 9, '')],
    'a snapshot of ahp-session:/1 at 9 was asked for after 10 was known',
  ],
  [
    'a number below one that was known',
    [told('c1', 20, {}), set('c0', 1, 'a'), told('c0', 20, one)],
    '20 was given to an action that was sent after 20 was known',
  ],
  [
    'a title that comes back',
    [
      ...setAndTold,
      set('c0', 2, 'b'),
      told('c1', 11, { ...one, clientSeq: 2 }),
      asks('c1', 1),
      state('c1', 1, 11, 'a'),
    ],
    'ahp-session:/1: b was there and gone while a was there',
  ],
] as const)('[B7] %s is found', (_, lines, problem) => {
  expect(readTrace(lines)).toBe(problem)
})
