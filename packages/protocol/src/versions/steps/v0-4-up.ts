import type { Action } from '../../channel.ts'
import { isJsonObject } from '../../json.ts'
import { Refusal } from '../lens.ts'
import type { LiftContext } from '../lens.ts'
import { at, objectChange, omit, put } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { selectionOf } from './v0-4-session.ts'
import type { Selection } from './v0-4-session.ts'

/**
 * Adds the model and the agent that are selected for the session to the message of an action. A client of 0.4 selects
 * them for the session, and newer versions have them in each message.
 */
export function withSelection(action: OldAction, { session }: LiftContext): Action {
  return at(action, 'message', objectChange(selecting(selectionOf(session))))
}

/**
 * Moves the model and the agent of a new chat into its first message. After 0.4 a chat has no model and agent of its
 * own.
 */
export function newChat(params: Shape): Shape {
  const { model, agent } = params
  const message = at(params, 'initialMessage', objectChange(selecting({ model, agent })))
  return omit(message, 'model', 'agent')
}

function selecting({ model, agent }: Selection): (message: Shape) => Shape {
  return (message) =>
    put(message, {
      ...(message['model'] === undefined && { model }),
      ...(message['agent'] === undefined && { agent }),
    })
}

/**
 * Translates a change of the one active client of 0.4: adds the sender to the active clients, or removes it from
 * them.
 */
export function activeClientUp({ activeClient }: OldAction, context: LiftContext): Action | Refusal {
  const { viewer, session, isSingle } = context
  const active = session?.activeClients ?? []
  if (activeClient === null || activeClient === undefined)
    return active.some(({ clientId }) => clientId === viewer)
      ? action('session/activeClientRemoved', { clientId: viewer })
      : new Refusal('activeClient: only the active client can leave')
  if (!isJsonObject(activeClient)) return new Refusal('activeClient: not an object')
  if (activeClient['clientId'] !== viewer)
    return new Refusal('activeClient: a client can only make itself the active client')
  if (active.some(({ clientId }) => clientId !== viewer && isSingle(clientId)))
    return new Refusal('activeClient: another client is active')
  return action('session/activeClientSet', { activeClient })
}

export function activeClientToolsUp(
  { tools }: OldAction,
  { viewer, session }: LiftContext,
): Action | Refusal {
  const own = session?.activeClients.find(({ clientId }) => clientId === viewer)
  if (!own) return new Refusal('tools: only the active client can change its tools')
  return action('session/activeClientSet', { activeClient: { ...own, tools } })
}

function action(type: string, payload: Shape): Action {
  return put({ type }, payload)
}
