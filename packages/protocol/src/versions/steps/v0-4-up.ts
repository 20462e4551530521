import type { Action } from '../../channel.ts'
import { isJsonObject } from '../../json.ts'
import { Refusal } from '../lens.ts'
import type { LiftContext } from '../lens.ts'
import { at, objectChange, omit, put } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { selectionOf } from './v0-4-session.ts'
import type { Selection } from './v0-4-session.ts'

/**
 * A client of 0.4 selects model and agent for the session. Each of its messages therefore gets the selected model and agent.
 */
export function withSelection(action: OldAction, { session }: LiftContext): Action {
  return at(action, 'message', objectChange(selecting(selectionOf(session))))
}

/** After 0.4 a new chat has no model and agent of its own. Its first message gets them instead. */
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

/** The one active client of 0.4 becomes the client's own entry among the active clients. */
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
