import { kinds } from '../channels.ts'
import { commands, notifications } from '../commands.ts'
import { versions } from '../version.ts'
import type { Version } from '../version.ts'

/** What the rows say that each version added. The registries in released clients have some of them wrong. */
const added: readonly (readonly [name: string, since: Version])[] = [
  ...Object.values(kinds).flatMap((kind) => [...kind.since]),
  ...[...commands, ...notifications].map(([name, { since }]) => [name, since] as const),
]

/** The actions of a turn. They belong to the session channel up to 0.3; with 0.4 came the chat channel, for just these. */
const turnActions: ReadonlySet<string> = new Set(
  [...kinds.chat.since].flatMap(([type, since]) => (since === '0.4.0' ? [type.slice('chat/'.length)] : [])),
)

/** Names that a later version removed, with the versions that had them first and last. They have no row. */
const removed: readonly (readonly [name: string, first: Version, last: Version])[] = [
  ...[...turnActions].map((name) => [`session/${name}`, '0.1.0', '0.3.0'] as const),
  ['session/diffsChanged', '0.1.0', '0.1.0'],
  ['notification', '0.1.0', '0.1.0'],
  ['session/modelChanged', '0.1.0', '0.4.0'],
  ['session/agentChanged', '0.2.0', '0.4.0'],
  ['session/activeClientChanged', '0.1.0', '0.4.0'],
  ['session/activeClientToolsChanged', '0.1.0', '0.4.0'],
  ['changeset/filesReviewedChanged', '0.5.2', '0.5.2'],
]

const known: ReadonlyMap<Version, ReadonlySet<string>> = new Map(
  versions.map((version, at) => {
    const present = added.filter(([, since]) => versions.indexOf(since) <= at)
    const old = removed.filter(
      ([, first, last]) => versions.indexOf(first) <= at && at <= versions.indexOf(last),
    )
    return [version, new Set([...present, ...old].map(([name]) => name))]
  }),
)

/** All actions, commands and notifications that a version defines. */
export function knownIn(version: Version): ReadonlySet<string> {
  return known.get(version) ?? new Set()
}

export function knows(version: Version, name: string): boolean {
  return knownIn(version).has(name)
}

/** Whether an action belongs to a turn, and therefore to the session up to 0.3 and to the chat from 0.4. */
export function isTurnAction(type: string): boolean {
  const [prefix, name = ''] = type.split('/')
  return (prefix === 'session' || prefix === 'chat') && turnActions.has(name)
}
