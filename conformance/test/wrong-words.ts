import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { shapeOf } from '@atrium/protocol/versions/shape'
import type { Shape } from '@atrium/protocol/versions/shape'
import { WebSocket, WebSocketServer } from 'ws'
import { startGuidedHost, token } from './guided-host.ts'

/** A fault changes a message between a client and the host. If it returns nothing, the message is lost. */
export type Fault = (message: Shape, from: 'client' | 'host') => Shape | undefined

interface WrongWords {
  readonly url: string
  close(): Promise<void>
}

/**
 * Our own host behind a proxy that has a fault in one version only. The id of a client of the matrix contains its version,
 * so the proxy knows it from `initialize` and from `reconnect`.
 */
export async function startWrongWords(version: string, fault: Fault): Promise<WrongWords> {
  const host = await startGuidedHost()
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  server.on('connection', (socket) => connectThrough(socket, host.url, version, fault))
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      for (const socket of server.clients) socket.terminate()
      server.close()
      await once(server, 'close')
      await host.close()
    },
  }
}

function connectThrough(socket: WebSocket, url: string, version: string, fault: Fault): void {
  const upstream = new WebSocket(url, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  })
  const early: string[] = []
  let isWrong = false
  const passed = (text: string, from: 'client' | 'host') => {
    const message = JSON.parse(text) as Shape
    isWrong ||= String(shapeOf(message['params'])['clientId']).includes(`-${version}-`)
    const changed = isWrong ? fault(message, from) : message
    return changed && JSON.stringify(changed)
  }
  socket.on('message', (data: Buffer) => {
    const text = passed(data.toString(), 'client')
    if (text === undefined) return
    if (upstream.readyState === WebSocket.OPEN) upstream.send(text)
    else early.push(text)
  })
  upstream.on('open', () => early.forEach((text) => upstream.send(text)))
  upstream.on('message', (data: Buffer) => {
    const text = passed(data.toString(), 'host')
    if (text !== undefined) socket.send(text)
  })
  // An error is followed by a close.
  for (const [one, other] of [
    [socket, upstream],
    [upstream, socket],
  ] as const)
    one.on('error', () => {}).on('close', () => other.terminate())
}

/**
 * A fault in the actions of a type (`rename` or `chat/rename`) that the host sends. The action is changed, or is lost if
 * `change` returns nothing.
 */
export function inActions(name: string, change: (action: Shape) => Shape | undefined): Fault {
  return (message, from) => {
    if (from !== 'host' || message['method'] !== 'action') return message
    const envelope = shapeOf(message['params'])
    const action = shapeOf(envelope['action'])
    const type = String(action['type'])
    if (type !== name && !type.endsWith(`/${name}`)) return message
    const changed = change(action)
    return changed && { ...message, params: { ...envelope, action: changed } }
  }
}

/** A fault in the envelopes that the host sends. */
export function inEnvelopes(change: (envelope: Shape) => Shape): Fault {
  return (message, from) =>
    from === 'host' && message['method'] === 'action'
      ? { ...message, params: change(shapeOf(message['params'])) }
      : message
}

/**
 * A fault in the results that the host sends. `change` is called with the results of all methods, so it must check which result
 * it has.
 */
export function inResults(change: (result: Shape) => Shape): Fault {
  return (message, from) =>
    from === 'host' &&
    'result' in message &&
    typeof message['result'] === 'object' &&
    message['result'] !== null
      ? { ...message, result: change(shapeOf(message['result'])) }
      : message
}

/** A fault in the requests that the client sends: the host never gets this param. */
export function withoutParam(method: string, key: string): Fault {
  return (message, from) => {
    if (from !== 'client' || message['method'] !== method) return message
    const { [key]: _, ...params } = shapeOf(message['params'])
    return { ...message, params }
  }
}

/** A fault in the notifications of the host about its sessions: those that contain this name are lost. */
export function withoutNotification(name: string): Fault {
  return (message, from) => {
    const lost =
      from === 'host' && message['method'] !== 'action' && JSON.stringify(message).includes(`/${name}"`)
    return lost ? undefined : message
  }
}
