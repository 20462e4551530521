import type { AnyParams, AnyResult } from '../commands.ts'
import { AhpError } from '../errors.ts'
import { defaultLimits, frameProblem } from './frame-check.ts'
import type { FrameLimits } from './frame-check.ts'
import { messageOf } from './message.ts'
import type { MessageId } from './message.ts'
import type { Transport } from './transport.ts'

/** The methods that a peer offers to the other side. They throw an AhpError to refuse a request. */
export interface Receiver {
  /** A result that is no promise is sent in the same tick, before the next frame is read. */
  request(method: string, params: unknown): unknown
  notification(method: string, params: unknown): void
}

/** A result that is already JSON: a text, or its UTF-8 bytes. `sent` runs right after the response was sent. */
export class JsonResult {
  readonly json: string | Uint8Array
  readonly sent: () => void

  constructor(json: string | Uint8Array, sent: () => void = () => {}) {
    this.json = json
    this.sent = sent
  }
}

export interface PeerOptions {
  readonly limits?: FrameLimits
  /** Receives internal errors, which the other side must not see. */
  readonly report?: (problem: unknown) => void
}

/** The error of a pending request when the connection closes. It is never sent. */
export class LinkClosed extends Error {
  override readonly name = 'LinkClosed'
}

/** One end of a JSON-RPC connection. Both sides may send requests. */
export class Peer {
  readonly #transport: Transport
  readonly #receiver: Receiver
  readonly #limits: FrameLimits
  readonly #report: (problem: unknown) => void
  readonly #pending = new Map<MessageId, Pending>()
  #lastId = 0

  constructor(transport: Transport, receiver: Receiver, options: PeerOptions = {}) {
    this.#transport = transport
    this.#receiver = receiver
    this.#limits = options.limits ?? defaultLimits
    this.#report = options.report ?? (() => {})
    transport.closed.addEventListener('abort', () => this.#abandon(), { once: true })
    transport.receive((frame) => this.#frame(frame))
  }

  get closed(): AbortSignal {
    return this.#transport.closed
  }

  /**
   * Sends a request and resolves with its result. `received` runs as soon as the response is read, before any later
   * frame. A caller can thus apply a snapshot before the actions that follow it; code after `await` may run too late.
   * The types are those of the method in AHP, and `unknown` for any other method. The result is not checked; `decode` of
   * the schema in `commands` does that.
   */
  request<M extends string>(
    method: M,
    params: AnyParams<M>,
    received?: (result: unknown) => void,
  ): Promise<AnyResult<M>>
  request(method: string, params: unknown, received?: (result: unknown) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.closed.aborted) return reject(new LinkClosed('the link is closed'))
      const id = ++this.#lastId
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      this.#pending.set(id, { received, resolve, reject })
      this.#sendFrame(text)
    })
  }

  notify(method: string, params: unknown): void {
    this.#send({ jsonrpc: '2.0', method, params })
  }

  close(code?: number, reason?: string): void {
    this.#transport.close(code, reason)
  }

  #frame(frame: string): void {
    const problem = frameProblem(frame, this.#limits)
    if (problem !== undefined) return this.#refuse(frame, problem)
    let value: unknown
    try {
      value = JSON.parse(frame)
    } catch {
      return this.#fail(null, AhpError.parseError('the frame cannot be parsed'))
    }
    const message = messageOf(value)
    switch (message.kind) {
      case 'request':
        return this.#answer(message.id, message.method, message.params)
      case 'notification':
        return this.#attempt(() => this.#receiver.notification(message.method, message.params))
      case 'success':
        return this.#settle(message.id, ({ received, resolve, reject }) => {
          try {
            received?.(message.result)
            resolve(message.result)
          } catch (error) {
            reject(error)
          }
        })
      case 'failure':
        return this.#settle(message.id, ({ reject }) => reject(message.error))
      case 'unreadable':
        return this.#settle(message.id, ({ reject }) => reject(AhpError.invalidRequest(message.problem)))
      case 'invalid':
        return this.#fail(message.id, AhpError.invalidRequest(message.problem))
    }
  }

  #answer(id: MessageId, method: string, params: unknown): void {
    let result: unknown
    try {
      result = this.#receiver.request(method, params)
    } catch (error) {
      return this.#fail(id, error)
    }
    if (!isPromise(result)) return this.#succeed(id, result)
    result.then(
      (value: unknown) => this.#succeed(id, value),
      (error: unknown) => this.#fail(id, error),
    )
  }

  /**
   * Refuses a frame that was not parsed. If the frame was a request or a response, one side would wait for ever. The
   * connection is therefore closed, with the reason.
   */
  #refuse(frame: string, problem: string): void {
    this.#fail(null, AhpError.invalidRequest(problem))
    this.close(frame.length > this.#limits.size ? 1009 : 1008, problem)
  }

  #succeed(id: MessageId, result: unknown): void {
    try {
      if (result instanceof JsonResult) {
        this.#sendFrame(responseFrame(id, result.json))
        result.sent()
      } else this.#send({ jsonrpc: '2.0', id, result: result ?? null })
    } catch (error) {
      this.#fail(id, error)
    }
  }

  /** Sends an error response. Any error but an AhpError is reported, and sent as "internal error" without details. */
  #fail(id: MessageId | null, error: unknown): void {
    if (!(error instanceof AhpError)) this.#report(error)
    const { code, message, data } = error instanceof AhpError ? error : AhpError.internalError()
    try {
      this.#send({ jsonrpc: '2.0', id, error: { code, message, data } })
    } catch (problem) {
      this.#report(problem)
      this.#send({ jsonrpc: '2.0', id, error: { code, message } })
    }
  }

  #settle(id: MessageId | null, settle: (pending: Pending) => void): void {
    const pending = id === null ? undefined : this.#pending.get(id)
    if (!pending || id === null) return this.#report(new Error(`a response to no pending request: ${id}`))
    this.#pending.delete(id)
    this.#attempt(() => settle(pending))
  }

  /** Runs a task whose errors are reported and not sent. */
  #attempt(task: () => unknown): void {
    try {
      const done = task()
      if (isPromise(done)) done.then(undefined, (error: unknown) => this.#report(error))
    } catch (error) {
      this.#report(error)
    }
  }

  #send(message: object): void {
    this.#sendFrame(JSON.stringify(message))
  }

  #sendFrame(frame: string | Uint8Array): void {
    if (!this.closed.aborted) this.#transport.send(frame)
  }

  #abandon(): void {
    const waiting = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of waiting) reject(new LinkClosed('the link closed before the response came'))
  }
}

interface Pending {
  readonly received: ((result: unknown) => void) | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The frame of a response. Bytes are copied and never become a text, because a text of many megabytes is slow to encode. */
function responseFrame(id: MessageId, json: string | Uint8Array): string | Uint8Array {
  const before = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
  if (typeof json === 'string') return `${before}${json}}`
  const start = utf8.encode(before)
  const end = utf8.encode('}')
  const frame = new Uint8Array(start.length + json.length + end.length)
  frame.set(start)
  frame.set(json, start.length)
  frame.set(end, start.length + json.length)
  return frame
}

const utf8 = new TextEncoder()

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
