import type { Action } from '../channel.ts'
import { isBefore } from './negotiate.ts'
import type { Version } from './negotiate.ts'

/** A member of an action that an older version names differently. */
interface Renamed {
  /** The first version with the newer name. */
  readonly since: Version
  /** The action types that have this member, as the older version names them. If absent, all types. */
  readonly types?: readonly string[]
  /** Matches the member's path at the beginning of an error message of the schemas. */
  readonly newer: RegExp
  readonly older: string
}

const renamed: readonly Renamed[] = [
  { since: '0.8.0', newer: /^enablement(\.\d+(\.enabled)?)?/, older: 'enabled' },
  {
    since: '0.5.0',
    types: ['session/activeClientToolsChanged'],
    newer: /^activeClient\.tools/,
    older: 'tools',
  },
  { since: '0.3.0', newer: /^message/, older: 'userMessage' },
  { since: '0.2.0', types: ['session/customizationToggled'], newer: /^id/, older: 'uri' },
  { since: '0.2.0', newer: /^(activeClient\.customizations\.\d+)\.name/, older: '$1.displayName' },
]

/**
 * Returns the reason of a refusal with the names that an older version has for the action, its members and its channel.
 * `action`: the refused action in the newest version; `sent`: the same action as the client sent it.
 */
export function reasonIn(version: Version, reason: string, action: Action, sent: Action): string {
  const named = reason.replaceAll(action.type, sent.type)
  const prefix = `${sent.type}: `
  const inMembers = named.startsWith(prefix)
    ? `${prefix}${memberIn(version, named.slice(prefix.length), sent.type)}`
    : named
  // Up to 0.3 there are no chats: what the host says of a chat is about the session.
  return isBefore(version, '0.4.0') ? inMembers.replace(/\b(this|a|the) chat\b/g, '$1 session') : inMembers
}

/** Translates an error message of the schemas, which begins with the path of a member. */
function memberIn(version: Version, problem: string, type: string): string {
  return renamed
    .filter(({ since, types }) => isBefore(version, since) && (types?.includes(type) ?? true))
    .reduce((text, { newer, older }) => text.replace(newer, older), problem)
}
