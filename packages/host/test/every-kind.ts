import { catalogOf } from '../src/catalog/catalog.ts'
import { kinds } from '@atrium/protocol/channels'
import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import { shapeName } from '@atrium/protocol/action'
import type { Action } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import fc from 'fast-check'
import { definitions, valueOf } from '../../protocol/test/arbitrary.ts'
import type { Core } from '../src/kernel/core.ts'

export const kindNames = Object.keys(kinds) as readonly KindName[]

/** The types of all actions of all kinds. */
export const actionTypes: readonly string[] = [
  ...new Set(kindNames.flatMap((name) => [...kinds[name].actions.keys()])),
]

export function uriOf(kind: KindName): string {
  return kind === 'root' ? rootUri : `ahp-${kind}:/every`
}

/** Creates a channel of every kind directly in the host's log, because clients cannot create most kinds. */
export function createEveryKind(core: Core): void {
  for (const kind of kindNames) {
    const [state] = fc.sample(valueOf(`${kind.charAt(0).toUpperCase()}${kind.slice(1)}State`), {
      numRuns: 1,
      seed: 7,
    })
    if (kind !== 'root') core.log.create(uriOf(kind), kind, generated(state, kind))
  }
}

/** The states of all channels that a client could change, as one text. */
export function everything(core: Core): string {
  const states = kindNames.map((kind) => core.log.channel(uriOf(kind))?.head)
  return JSON.stringify([states, catalogOf(core).page(10_000)])
}

/** Generates valid actions of a type. */
export function actionOf(type: string): fc.Arbitrary<Action & Record<string, unknown>> {
  const name = shapeName(type)
  const named = definitions[name] ? name : `${name}Approved`
  return valueOf(named) as fc.Arbitrary<Action & Record<string, unknown>>
}

/** Adapts a generated state of a kind for use in a host. A chat begins without turns. */
function generated<K extends KindName>(state: unknown, kind: K): StateOf<K> {
  return { ...(state as StateOf<K>), ...(kind === 'chat' && { turns: [] }) }
}
