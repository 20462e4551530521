import { expect, test } from 'vitest'
import { deepFreeze } from '../../../test/cases.ts'
import { lifting } from '../../../test/lifting.ts'
import type { Action } from '../../channel.ts'
import type { SessionState } from '../../session/state.ts'
import { ContextMissing } from '../lens.ts'
import { v04 } from './v0-4.ts'

const choices = [1, 2, true, null, 'auto']
const texts = ['1', '2', 'true', 'null', 'auto']
const schemaOf = (list: readonly unknown[], first: unknown) => ({
  type: 'object',
  properties: {
    depth: { type: 'number', title: 'Depth', enum: list, default: first },
    steps: { type: 'array', title: 'Steps', items: { type: 'number', title: 'Step', enum: list } },
    free: { type: 'number', title: 'Free' },
  },
})
const newer = {
  schema: schemaOf(choices, 1),
  values: { depth: null, steps: [1, 'auto', 7], free: 1, odd: 2 },
}
const older = {
  schema: schemaOf(texts, '1'),
  values: { depth: 'null', steps: ['1', 'auto', 7], free: 1, odd: 2 },
}
const session = { provider: 'p', title: 'T', status: 1, lifecycle: 'ready', activeClients: [], chats: [] }
const configured = deepFreeze({ ...session, config: newer })
const context = { viewer: 'a', before: configured, after: configured }
const changed = (config: object) => ({ type: 'session/configChanged', config })

test('[V17.5] [V17] a value of a setting is a text if its choices are', () => {
  expect(v04.stateDown('session', configured, { viewer: 'a' })).toMatchObject({ config: older })
  expect(v04.resultDown('resolveSessionConfig', deepFreeze(newer))).toStrictEqual(older)
  const action = deepFreeze(changed({ depth: 2, steps: [true], free: 3 }))
  expect(v04.actionDown('session', action, context)).toStrictEqual([
    changed({ depth: '2', steps: ['true'], free: 3 }),
  ])
})

test('[V17] a change of texts needs no state, so that it can be replayed', () => {
  const action = deepFreeze(changed({ depth: 'auto', steps: ['auto'], rules: { deep: 1 } }))
  expect((v04.actionDown('session', action) as readonly Action[])[0]).toBe(action)
  expect(() => v04.actionDown('session', changed({ depth: 2 }))).toThrow(ContextMissing)
})

test('[V17.5] [V17] a text that a client sends means the choice', () => {
  const given = lifting({ config: newer as SessionState['config'] & object })
  const lifted = (config: object) => v04.actionUp('session', deepFreeze(changed(config)), given)
  expect(lifted({ depth: '2', steps: ['true', 'auto'], free: '3' })).toStrictEqual(
    changed({ depth: 2, steps: [true, 'auto'], free: '3' }),
  )
  const own = deepFreeze(changed({ depth: 'auto', other: '1' }))
  expect(v04.actionUp('session', own, given)).toBe(own)
  expect(lifted({ depth: 'none of them' })).toStrictEqual(changed({ depth: 'none of them' }))
})
