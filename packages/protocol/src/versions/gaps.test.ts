import { expect, test } from 'vitest'
import { deepFreeze } from '../../test/cases.ts'
import { gaps, makesGap, withoutGaps } from './gaps.ts'
import { versions } from './negotiate.ts'
import { hasKind } from './step.ts'

test.each(gaps)(
  '[V10] $kind up to $upTo: $what',
  ({ kind, upTo, downTo = '0.1.0', reason, hide, madeBy }) => {
    expect(hasKind(upTo, kind)).toBe(true)
    expect(versions.indexOf(downTo)).toBeLessThanOrEqual(versions.indexOf(upTo))
    expect(reason).not.toBe('')
    expect([hide, madeBy].filter(Boolean)).not.toEqual([])
    const strange = deepFreeze({ x: [null, 'x', {}] })
    if (hide) expect(hide(hide(strange))).toEqual(hide(strange))
    expect(madeBy?.({ type: 'x/later' }, strange) ?? false).toBe(false)
  },
)

test('[V10] a gap is hidden only in the versions that have it', () => {
  const state = deepFreeze({ chats: [{ resource: 'b' }, { resource: 'a' }] })
  expect(withoutGaps('1.0.0', 'session', state)).toBe(state)
  expect(withoutGaps('0.9.0', 'session', state)).toEqual({ chats: [{ resource: 'a' }, { resource: 'b' }] })
  expect(withoutGaps('0.9.0', 'terminal', state)).toBe(state)
  expect(makesGap('1.0.0', 'session', { type: 'session/chatsReordered' }, state)).toBe(false)
})

test('[V10] up to 0.4 the folder in the summary is a gap; up to 0.3 the `_meta` of a tool call is one', () => {
  const state = (given: object, folder: object) => {
    const responseParts = [
      { kind: 'toolCall', toolCall: { toolCallId: 'k', ...given } },
      { kind: 'markdown' },
    ]
    return { summary: { title: 'T', ...folder }, turns: [{ responseParts }], activeTurn: { responseParts } }
  }
  const newer = state({ _meta: {} }, { workingDirectory: 'file:///w' })
  expect(withoutGaps('0.5.0', 'session', newer)).toEqual(newer)
  expect(withoutGaps('0.4.0', 'session', newer)).toEqual(state({ _meta: {} }, {}))
  expect(withoutGaps('0.3.0', 'session', newer)).toEqual(state({}, {}))
})
