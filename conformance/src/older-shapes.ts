import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { oracleVersions } from '@atrium/protocol/oracles'
import type { OracleVersion } from '@atrium/protocol/oracles'

/**
 * A change of a shape. `until` is the last version with the older shape, `fits` recognizes an object of the older
 * shape, and `lift` returns that object in the shape of 1.0. `fits` gets the name of the shape only for the outermost
 * object.
 */
interface Change {
  readonly until: OracleVersion
  readonly fits: (value: JsonObject, shape?: string) => boolean
  readonly lift: (value: JsonObject) => JsonObject
}

const turnEnds = ['chat/turnComplete', 'chat/turnCancelled', 'chat/error']
const startedAt = '1970-01-01T00:00:00.000Z'

/**
 * The shapes that a later version changed so that 1.0 would refuse the older form. What 1.0 accepts anyway is not
 * listed: an optional key that came or went, a key that is now unknown, a renamed action.
 */
const changes: readonly Change[] = [
  {
    until: '0.4.0',
    fits: ({ createdAt, modifiedAt }) => typeof createdAt === 'number' || typeof modifiedAt === 'number',
    lift: (value) => ({ ...value, ...withTime(value, 'createdAt'), ...withTime(value, 'modifiedAt') }),
  },
  {
    until: '0.4.0',
    fits: ({ summary, lifecycle }) => isJsonObject(summary) && typeof lifecycle === 'string',
    lift: ({ summary, activeClient, ...rest }) => ({
      ...(isJsonObject(summary) && summary),
      activeClients: isJsonObject(activeClient) ? [activeClient] : [],
      chats: [],
      ...rest,
    }),
  },
  {
    until: '0.5.2',
    fits: ({ type, startedAt: given }) => type === 'chat/turnStarted' && given === undefined,
    lift: (value) => ({ ...value, startedAt }),
  },
  {
    until: '0.5.2',
    fits: ({ activeTurn }) => isJsonObject(activeTurn) && activeTurn['startedAt'] === undefined,
    lift: ({ activeTurn, ...rest }) => ({
      ...rest,
      activeTurn: { ...(isJsonObject(activeTurn) && activeTurn), startedAt },
    }),
  },
  {
    until: '0.5.2',
    fits: ({ type, duration }) => turnEnds.includes(String(type)) && duration === undefined,
    lift: (value) => ({ ...value, duration: 0 }),
  },
  {
    until: '0.6.0',
    fits: ({ chat, turnId, kind, session }) =>
      typeof chat === 'string' && typeof turnId === 'string' && kind === undefined && session === undefined,
    lift: (value) => ({ ...value, kind: 'fork' }),
  },
  {
    until: '0.8.0-dev',
    fits: ({ type, enabled }) => type === 'session/customizationToggled' && typeof enabled === 'boolean',
    lift: ({ enabled, ...rest }) => ({ ...rest, enablement: [{ kind: 'session', enabled }] }),
  },
  {
    until: '0.8.0-dev',
    fits: ({ resource }, shape) => shape === 'AuthRequiredParams' && typeof resource === 'string',
    lift: ({ resource, ...rest }) => ({ ...rest, resource: { resource } }),
  },
  {
    until: '0.8.0',
    fits: ({ type, part }) => type === 'chat/error' && part === undefined,
    lift: ({ error, ...rest }) => ({ ...rest, part: { kind: 'error', error } }),
  },
  {
    until: '0.8.0',
    fits: ({ kind, session, chat }) =>
      kind === 'session' && typeof session === 'string' && chat === undefined,
    lift: (value) => ({ ...value, chat: value['session'] }),
  },
  {
    until: '0.8.0',
    fits: ({ claim, title, lifecycle }) =>
      isJsonObject(claim) && typeof title === 'string' && lifecycle === undefined,
    lift: ({ exitCode, ...rest }) => ({
      ...rest,
      lifecycle: exitCode === undefined ? { status: 'running' } : { status: 'exited', exitCode },
    }),
  },
  {
    until: '0.8.0',
    fits: ({ entries, turnId, origin }) =>
      Array.isArray(entries) && typeof turnId === 'string' && origin === undefined,
    lift: ({ turnId, ...rest }) => ({ ...rest, origin: { session: 'ahp-session:/unknown', turnId } }),
  },
]

/** Translates a value of an older version into the shapes of 1.0. Parts that have the same shape in 1.0 stay as they are. */
export function inNativeShape(version: OracleVersion, shape: string, value: unknown): unknown {
  const open = changes.filter(({ until }) => oracleVersions.indexOf(version) <= oracleVersions.indexOf(until))
  const lift = (item: unknown, name?: string): unknown => {
    if (Array.isArray(item)) return item.map((child) => lift(child))
    if (!isJsonObject(item)) return item
    const inner = Object.fromEntries(Object.entries(item).map(([key, child]) => [key, lift(child)]))
    return open.reduce<JsonObject>(
      (older, change) => (change.fits(older, name) ? change.lift(older) : older),
      inner,
    )
  }
  return lift(value, shape)
}

function withTime(value: JsonObject, key: string): JsonObject {
  const time = value[key]
  return typeof time === 'number' ? { [key]: new Date(time).toISOString() } : {}
}
