import { expect, test } from 'vitest'
import type { AutomationDefinition } from './state.ts'
import { definitionFor, nextInstants } from './task.ts'

const schedule = { expression: '0 9 * * *', timeZone: 'UTC' }
const trigger = { kind: 'schedule', id: 'schedule', schedule, misfirePolicy: 'runOnce' } as const
const first = { text: 'look around\nwell', schedule, provider: 'guide', folder: 'file:///shop' }

test('[Z63.1] a task is a definition: its title is the first line, unless it has one', () => {
  const definition = definitionFor(first)
  expect(definition).toEqual({
    title: 'look around',
    message: { text: 'look around\nwell', origin: { kind: 'automation' } },
    session: { provider: 'guide', workingDirectories: ['file:///shop'] },
    enabled: true,
    triggers: [trigger],
  })
  expect(definitionFor({ ...first, title: ' Shop ', skipsLate: true, overlap: 'queue' })).toMatchObject({
    title: 'Shop',
    triggers: [{ ...trigger, misfirePolicy: 'skip' }],
    _meta: { 'x-atrium': { overlap: 'queue' } },
  })
  const long = definitionFor({ text: 'word '.repeat(40) }).title
  expect(long).toBe(`${'word '.repeat(16).trim()}…`)
  expect(definitionFor({ text: 'x' })).toMatchObject({ triggers: [], session: {} })
})

test('[U62.4] an edit keeps what a task does not say; another agent loses the model of the former one', () => {
  const event = { kind: 'event', id: 'e', type: 'turnEnded', title: 'A turn ended', events: [] } as const
  const before: AutomationDefinition = {
    ...definitionFor(first),
    enabled: false,
    triggers: [event],
    disableConditions: [{ kind: 'afterRuns', max: 3 }],
    session: { provider: 'guide', model: { id: 'small' }, config: { mode: 'plan' } },
    _meta: { other: 1, 'x-atrium': { timeLimitMinutes: 5 } },
  }
  const edited = definitionFor({ ...first, text: 'look', overlap: 'skip' }, before)
  expect(edited).toEqual({
    ...before,
    title: 'look',
    message: { text: 'look', origin: { kind: 'automation' } },
    session: { ...before.session, workingDirectories: ['file:///shop'] },
    _meta: { other: 1, 'x-atrium': { timeLimitMinutes: 5, overlap: 'skip' } },
  })
  const { folder: _, ...elsewhere } = first
  const folders = { ...before, session: { workingDirectories: ['file:///a', 'file:///b'] } }
  expect(definitionFor(elsewhere, folders).session.workingDirectories).toHaveLength(2)
  expect(definitionFor({ ...first, provider: 'other' }, before).session).toEqual({
    provider: 'other',
    workingDirectories: ['file:///shop'],
  })
})

test('[Z63.1] the next instants of a schedule are known', () => {
  expect(nextInstants(schedule, Date.parse('2026-01-01T10:00:00Z'), 2)).toEqual([
    '2026-01-02T09:00:00.000Z',
    '2026-01-03T09:00:00.000Z',
  ])
  expect(nextInstants({ ...schedule, timeZone: 'Mars' }, 0)).toEqual([])
})
