import type { HostedSession } from '@atrium/client/hosts'
import { Activity, Flag } from '@atrium/protocol/status'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emptyLine } from '../render/line.ts'
import { widthOf } from '../render/table.ts'
import { styled } from '../terminal/output.ts'
import { choose, chosenIndex, countsOf, emptyList, keyOf, listed } from './list.ts'
import { managerFrame } from './manager-frame.ts'
import { pressQuestion } from './question-line.ts'

function session(name: string, given: Partial<HostedSession> = {}): HostedSession {
  return {
    resource: `ahp-session:/${name}`,
    host: 'here',
    provider: 'guide',
    title: name,
    status: Activity.Idle,
    createdAt: '2026-01-01T00:00:00Z',
    modifiedAt: '2026-01-01T00:00:00Z',
    ...given,
  }
}

/** A window without sessions. */
const view = {
  size: { columns: 80, rows: 10 },
  style: styled(true),
  all: [],
  shown: [],
  list: emptyList,
  listHeight: 5,
  named: true,
  away: [],
  preview: { rows: [] },
  question: undefined,
  message: '',
  now: 0,
}

const titles = (sessions: readonly HostedSession[]) => sessions.map(({ title }) => title)

describe('[Z12] the list of the session manager', () => {
  test('[Z12.1] sessions that need somebody come first, then those at work; each group keeps its order', () => {
    const all = [
      session('idle'),
      session('works', { status: Activity.InProgress }),
      session('failed', { status: Activity.Error }),
      session('asks', { status: Activity.InputNeeded }),
      session('hidden', { status: Activity.InputNeeded | Flag.IsArchived }),
      session('asks too', { status: Activity.InputNeeded }),
    ]
    expect(titles(listed(all, emptyList))).toEqual(['asks', 'asks too', 'works', 'idle', 'failed'])
    expect(countsOf(all, emptyList)).toEqual({ needing: 2, working: 1, all: 5 })
    expect(titles(listed(all, { ...emptyList, archived: true }))).toContain('hidden')
  })

  test('[Z12.4] a filter needs all its words, in the title, the folder, the agent or the host', () => {
    const shop = { workingDirectories: ['file:///home/ann/my%20shop'] }
    const all = [
      session('Fix login', shop),
      session('fix', { host: 'build.example' }),
      session('other', shop),
    ]
    const found = (filter: string) => titles(listed(all, { ...emptyList, filter }))
    expect(found('FIX shop')).toEqual(['Fix login'])
    expect(found('my shop')).toEqual(['Fix login', 'other'])
    expect(found('build guide')).toEqual(['fix'])
    expect(found('nothing like it')).toEqual([])
  })

  test('[Z12.6] the chosen session is on the screen, whatever moves and whatever the height', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -30, max: 60 }), { maxLength: 12 }),
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 1, max: 12 }),
        (moves, length, height) => {
          const shown = Array.from({ length }, (_, at) => session(`s${at}`))
          let list = choose(emptyList, shown, 0, height)
          for (const move of moves) list = choose(list, shown, move, height)
          const at = chosenIndex(shown, list)
          expect(at - list.top).toBeGreaterThanOrEqual(0)
          expect(at - list.top).toBeLessThan(height)
          expect(list.top).toBeLessThanOrEqual(Math.max(0, length - height))
        },
      ),
    )
  })

  test('[Z12.1] a session stays chosen while others come before it; if it goes, one is chosen all the same', () => {
    const [one, two] = [session('one'), session('two')]
    const list = choose(emptyList, [one, two], 1, 5)
    expect(list.chosen).toBe(keyOf(two))
    const more = [session('new', { status: Activity.InputNeeded }), one, two]
    expect(chosenIndex(more, list)).toBe(2)
    expect(chosenIndex([one], list)).toBe(0)
  })

  test('[Z12.6] every row fits every window of 20 columns and 6 rows or more', () => {
    const title = 'a title with 漢字 and 😀 that is much longer than any window is wide '.repeat(4)
    const all = [
      session('x', { title, host: 'other.example' }),
      session('y', { status: Activity.InputNeeded }),
    ]
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 200 }), fc.integer({ min: 6, max: 50 }), (columns, rows) => {
        const frame = managerFrame({
          ...view,
          size: { columns, rows },
          all,
          shown: all,
          listHeight: Math.max(1, rows - 5),
          away: ['other.example'],
        })
        expect(frame.rows).toHaveLength(rows)
        const list = frame.rows.filter((row) => !row.includes('──'))
        for (const row of list) expect(widthOf(row)).toBeLessThanOrEqual(columns)
      }),
    )
  })

  test('[Z12.3] the agents of a new session are named as soon as the host has told them, also while the user types', () => {
    let agent = ''
    const question = { label: 'New:', line: emptyLine, hint: () => `${agent} (Tab)`, done: () => {} }
    expect(managerFrame({ ...view, question }).rows.at(-1)).not.toContain('guide')
    agent = 'guide'
    expect(managerFrame({ ...view, question }).rows.at(-1)).toContain('guide (Tab)')
    const tab = () => void (agent = 'other')
    expect(pressQuestion({ ...question, tab }, { name: 'tab' })).toMatchObject({ label: 'New:' })
    expect(managerFrame({ ...view, question }).rows.at(-1)).toContain('other (Tab)')
  })
})
