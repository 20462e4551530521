import type { Action, Uri } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import type { Chance } from '../chance.ts'

/** Returns an action that no app should dispatch. The client or its host refuses it, and neither may break. */
export function hostileAction(name: string, chance: Chance): Action {
  const ring: { type: string; self?: unknown } = { type: 'chat/draftChanged' }
  ring.self = ring
  const actions: readonly unknown[] = [
    ring,
    undefined,
    null,
    'chat/draftChanged',
    { type: 5 },
    {},
    { type: 'session/titleChanged', title: 1n },
    { type: 'session/titleChanged', title: `\ud800 ${name}` },
    { type: 'root/configChanged', config: deep(limits.depth + 1) },
    { type: 'root/configChanged', config: JSON.parse('{"__proto__":{"polluted":true}}') as object },
    { type: 'root/configChanged', config: { 'sim.number': -0, 'sim.more': Infinity } },
    { type: '__proto__' },
    { type: 'constructor' },
    { type: 'chat/turnsLoaded', turns: [] },
    { type: 'session/chatRemoved', chat: 'ahp-chat:/none' },
    { type: 'chat/draftChanged', draft: undefined, toJSON: () => ({ type: 'chat/delta' }) },
  ]
  return chance.pick(actions) as Action
}

/** Returns a malformed action of a type that the channel knows. */
export function malformedAction(channel: Uri): Action {
  const action = channel.startsWith('ahp-chat:')
    ? { type: 'chat/draftChanged', draft: 5 }
    : { type: 'session/titleChanged', title: 5 }
  return action as Action
}

function deep(levels: number): object {
  let value: object = {}
  for (let level = 0; level < levels; level++) value = { value }
  return value
}

/** Returns the action as text, even if it has no JSON form. */
export function describe(action: unknown): string {
  try {
    return JSON.stringify(action) ?? 'nothing'
  } catch {
    return 'a value without a JSON form'
  }
}
