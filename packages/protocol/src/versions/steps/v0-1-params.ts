import { rootUri } from '../../uri.ts'
import { AhpError } from '../../errors.ts'
import { at, objectChange, omit, put, shapeOf, textOf } from '../shape.ts'
import type { Shape } from '../shape.ts'
import { pluginsUp } from './v0-1-customizations.ts'

type Lift = (params: Shape) => Shape

/** The methods whose channel has another name at 0.1. */
const named = {
  subscribe: channelNamed('subscribe', 'resource'),
  unsubscribe: channelNamed('unsubscribe', 'resource'),
  createSession: createSessionUp,
  disposeSession: channelNamed('disposeSession', 'session'),
  fetchTurns: channelNamed('fetchTurns', 'session'),
  completions: channelNamed('completions', 'session'),
  createTerminal: channelNamed('createTerminal', 'terminal'),
  disposeTerminal: channelNamed('disposeTerminal', 'terminal'),
  dispatchAction: dispatchUp,
}

/** The methods that name no channel at 0.1. They belong to the root channel. */
const rootMethods =
  `initialize ping reconnect listSessions authenticate resolveSessionConfig sessionConfigCompletions
  resourceRead resourceList resourceCopy resourceDelete resourceMove resourceRequest`.split(/\s+/)

export const paramRows: { readonly [method: string]: Lift } = {
  ...Object.fromEntries(rootMethods.map((method) => [method, onRoot])),
  // 0.1 can only write a whole file.
  resourceWrite: (params) => onRoot(omit(params, 'mode', 'position', 'ifMatch')),
  ...named,
}

function onRoot(params: Shape): Shape {
  return put(params, { channel: rootUri })
}

function channelNamed(method: string, key: string): Lift {
  return (params) => put(params, { [key]: undefined, channel: uriAt(params, key, method) })
}

/** The text at a key, which the client must have sent. */
function uriAt(holder: Shape, key: string, where: string): string {
  const uri = textOf(holder, key)
  if (uri === undefined || uri === '')
    throw AhpError.invalidParams(`${where}: ${key} is missing or not a URI`)
  return uri
}

function createSessionUp(params: Shape): Shape {
  const created = channelNamed('createSession', 'session')(params)
  // Published examples name a model by its id alone.
  const model = at(created, 'model', (value) => (typeof value === 'string' ? { id: value } : value))
  return at(model, 'activeClient', objectChange(pluginsUp))
}

/**
 * Adds the channel to the params of a dispatch. At 0.1 the action names its session or terminal. An action without
 * either is for the root.
 */
function dispatchUp(params: Shape): Shape {
  const action = shapeOf(params['action'])
  const family = String(action['type']).split('/')[0] ?? ''
  if (family !== 'session' && family !== 'terminal') return onRoot(params)
  const channel = uriAt(action, family, 'dispatchAction: action')
  return put(params, { channel, action: omit(action, family) })
}
