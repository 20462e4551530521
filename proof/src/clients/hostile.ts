import type { Action, Uri } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import type { Chance } from '../chance.ts'

/** What no app should wish: a client refuses it, or its host does, and neither is the worse for it. */
export function hostileWish(name: string, chance: Chance): Action {
  const ring: { type: string; self?: unknown } = { type: 'chat/draftChanged' }
  ring.self = ring
  const wishes: readonly unknown[] = [
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
  return chance.pick(wishes) as Action
}

/** Of a type that the channel knows. */
export function malformedWish(channel: Uri): Action {
  const wish = channel.startsWith('ahp-chat:')
    ? { type: 'chat/draftChanged', draft: 5 }
    : { type: 'session/titleChanged', title: 5 }
  return wish as Action
}

function deep(levels: number): object {
  let value: object = {}
  for (let level = 0; level < levels; level++) value = { value }
  return value
}

export function wordsOf(wish: unknown): string {
  try {
    return JSON.stringify(wish) ?? 'nothing'
  } catch {
    return 'what JSON has no words for'
  }
}
