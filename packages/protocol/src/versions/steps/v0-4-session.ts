import type { Action } from '../../channel.ts'
import { isJsonObject } from '../../json.ts'
import type { SessionState } from '../../session/state.ts'
import { activityMask } from '../../status.ts'
import type { Member } from '../difference.ts'
import { rebuild } from '../lens.ts'
import type { StateContext } from '../lens.ts'
import { at, listOf, omit, put, shapeOf } from '../shape.ts'
import type { Shape } from '../shape.ts'

/** The keys of a session that 0.4 has in the entry of the session list, which is a part of the session's state. */
const summaryKeys = ['provider', 'title', 'status', 'activity', 'project', 'workingDirectory', 'annotations']

/** The model and the agent that the next turn of a session will use. 0.5 has them in each message instead. */
export interface Selection {
  readonly model?: unknown
  readonly agent?: unknown
}

/** The key in the `_meta` of a session that contains the data of this host. */
export const ownKey = 'x-atrium'

/**
 * Translates the state of a session. At 0.4 what the session list shows is in `summary`, with the status of the list,
 * and only one client is active.
 */
export function sessionDown(state: Shape, context: StateContext | undefined): Shape {
  const listed = shapeOf(context?.summary)
  const picked = Object.fromEntries(
    summaryKeys.flatMap((key) => (key in state ? [[key, state[key]] as const] : [])),
  )
  const { resource, createdAt, modifiedAt } = timesDown(listed)
  const status = withActivityOf(state['status'], listed['status'])
  const summary = put(picked, { resource, status, createdAt, modifiedAt, ...selectionDown(state) })
  const rest = omit(state, ...summaryKeys, 'activeClients')
  return put(rest, { summary, activeClient: activeClientOf(state, context?.viewer), _meta: metaOf(state) })
}

/** The flags of a state, with the activity of the session list if the list is known. */
function withActivityOf(status: unknown, listed: unknown): unknown {
  return typeof listed === 'number'
    ? ((Number(status) & ~activityMask) | (listed & activityMask)) >>> 0
    : status
}

/**
 * Translates an entry of the session list. At 0.4 it has no `_meta`, but it has the selected model and agent, if the
 * host put them into the `_meta` of the newer entry.
 */
export function summaryDown(summary: Shape): Shape {
  return omit(put(timesDown(summary), { ...selectionDown(summary) }), '_meta')
}

/** Translates the times of a session to milliseconds, their form up to 0.4. */
function timesDown(summary: Shape): Shape {
  return at(at(summary, 'createdAt', milliseconds), 'modifiedAt', milliseconds)
}

function milliseconds(time: unknown): unknown {
  return typeof time === 'string' ? Date.parse(time) || 0 : time
}

/**
 * Returns the active client that a client of 0.4 sees: itself if it is active, otherwise the client that joined
 * first.
 */
function activeClientOf(state: Shape, viewer: string | undefined): unknown {
  const clients = listOf(state, 'activeClients')
  return clients.find((client) => shapeOf(client)['clientId'] === viewer) ?? clients[0]
}

export function selectionOf(session: Shape | SessionState | undefined): Selection {
  return shapeOf(shapeOf(shapeOf(shapeOf(session)['_meta'])[ownKey])['selection'])
}

function selectionDown(session: Shape): Selection {
  const { model, agent } = selectionOf(session)
  return { model: modelDown(model), agent }
}

/** Translates the settings of a model to texts, their form up to 0.4. */
function modelDown(model: unknown): unknown {
  if (!isJsonObject(model)) return undefined
  return at(model, 'config', (config) =>
    isJsonObject(config)
      ? Object.fromEntries(Object.entries(config).map(([key, value]) => [key, String(value)]))
      : config,
  )
}

/**
 * The `_meta` of a session without the selected model and agent, which 0.4 has in the summary, and without the
 * selections that the host has not applied yet (`deferred`).
 */
function metaOf(state: Shape): unknown {
  const meta = state['_meta']
  if (!isJsonObject(meta)) return meta
  const own = meta[ownKey]
  const shown = isJsonObject(own) ? omit(own, 'selection', 'deferred') : own
  if (shown === own) return meta
  const left = put(meta, { [ownKey]: isEmpty(shown) ? undefined : shown })
  return isEmpty(left) ? undefined : left
}

function isEmpty(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0
}

/** The parts of a session's state that `session/metaChanged` changes at 0.4. */
export const metaMembers: readonly Member[] = [
  { read: metaOf, set: (_meta) => action('session/metaChanged', { _meta }) },
  {
    read: (state) => selectionDown(state).model,
    // 0.4 can select another model, but cannot take the selection back.
    set: (model) => (model === undefined ? rebuild : action('session/modelChanged', { model })),
  },
  { read: (state) => selectionDown(state).agent, set: (agent) => action('session/agentChanged', { agent }) },
]

/** The part of a session's state that changes when clients join or leave: the active client. */
export const clientMembers: readonly Member[] = [
  {
    read: activeClientOf,
    set: (activeClient = null) => action('session/activeClientChanged', { activeClient }),
  },
]

/** An action without the keys that are `undefined`. */
function action(type: string, payload: Shape): Action {
  return put({ type }, payload)
}
