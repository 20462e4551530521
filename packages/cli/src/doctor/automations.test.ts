import type { AutomationEntry } from '@atrium/protocol/automation/state'
import { expect, test } from 'vitest'
import { missedFinding } from './automations.ts'

const entry = (because: string, lastRun?: string): AutomationEntry => ({
  resource: 'ahp-automation:/one',
  definition: {
    title: 'Morning',
    message: { text: 'look', origin: { kind: 'automation' } },
    session: {},
    enabled: true,
    triggers: [],
  },
  runs:
    lastRun === undefined
      ? []
      : [
          {
            resource: 'ahp-automation-run:/r',
            automation: 'ahp-automation:/one',
            origin: { kind: 'manual' },
            lifecycle: { status: 'pending', createdAt: lastRun },
            sessionCount: 0,
          },
        ],
  operations: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  modifiedAt: '2026-01-01T00:00:00.000Z',
  _meta: {
    'x-atrium': {
      missed: {
        total: 3,
        newest: {
          triggerId: 't',
          because,
          from: '2026-01-02T09:00:00.000Z',
          to: '2026-01-03T09:00:00.000Z',
          count: 2,
        },
      },
    },
  },
})

test('[Z63.3] doctor names an automation that has missed runs since it last ran', () => {
  expect(missedFinding(entry('host away', '2026-01-02T00:00:00.000Z'))).toMatchObject([
    {
      level: 'warn',
      detail: expect.stringMatching(/^Morning has missed 2 runs .*: the host was not running$/),
    },
  ])
  expect(missedFinding(entry('host away', '2026-01-03T09:01:00.000Z'))).toEqual([])
  expect(missedFinding(entry('disabled'))).toEqual([])
})
