import type { Collector, Signal } from '@atrium/host/telemetry'
import type { World } from '@atrium/host/ports/world'
import type { JsonObject } from '@atrium/protocol/json'
import type { CollectorSettings } from './settings.ts'

interface Request {
  readonly url: URL
  readonly body: string
}

type Answer = 'taken' | { readonly reason: string; readonly retryMs?: number }

/** Sends telemetry to a collector by OTLP/HTTP with JSON: one request after the other, in order, in a bounded queue. */
export class HttpCollector implements Collector {
  readonly #settings: CollectorSettings
  readonly #world: Pick<World, 'later' | 'report'>
  readonly #queue: Request[] = []
  readonly #ending = new AbortController()
  #sending: Promise<void> | undefined
  /** Why the last request was dropped; undefined if it was taken. The log says each change, and not each failure. */
  #trouble: string | undefined

  constructor(settings: CollectorSettings, world: Pick<World, 'later' | 'report'>) {
    this.#settings = settings
    this.#world = world
  }

  takes(signal: Signal): boolean {
    return this.#settings.addresses[signal] !== undefined
  }

  get slow(): boolean {
    return this.#queue.length >= maxWaiting
  }

  async send(signal: Signal, payload: JsonObject): Promise<void> {
    const url = this.#settings.addresses[signal]
    if (!url || this.slow || this.#ending.signal.aborted) return
    this.#queue.push({ url, body: JSON.stringify(payload) })
    await this.drained()
  }

  drained(): Promise<void> {
    if (this.#queue.length > 0) this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
    return this.#sending ?? Promise.resolve()
  }

  /** Tries what waits once more, and then drops it. */
  async close(): Promise<void> {
    this.#ending.abort()
    await this.drained()
  }

  async #sendAll(): Promise<void> {
    for (let request = this.#queue[0]; request; request = this.#queue[0]) {
      this.#said(await this.#sendOne(request))
      this.#queue.shift()
    }
  }

  /** Returns why a request was dropped; undefined if it was taken. */
  async #sendOne(request: Request): Promise<string | undefined> {
    for (const pause of retryPausesMs) {
      const answer = await this.#post(request)
      if (answer === 'taken') return undefined
      const { reason, retryMs = pause } = answer
      if (retryMs === 0 || this.#ending.signal.aborted) return reason
      await this.#pause(Math.min(retryMs, maxPauseMs))
    }
    const last = await this.#post(request)
    return last === 'taken' ? undefined : last.reason
  }

  async #post({ url, body }: Request): Promise<Answer> {
    const { headers, timeoutMs } = this.#settings
    try {
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: { ...headers, 'content-type': 'application/json' },
        // The headers may hold a key, which no other address gets.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      await response.body?.cancel()
      if (response.ok) return 'taken'
      const reason = `it answers ${response.status}`
      if (!transient.has(response.status)) return { reason, retryMs: 0 }
      const after = Number(response.headers.get('retry-after'))
      return after > 0 ? { reason, retryMs: after * 1000 } : { reason }
    } catch (error) {
      const timedOut = error instanceof Error && error.name === 'TimeoutError'
      return { reason: timedOut ? `it does not answer within ${timeoutMs} ms` : 'it cannot be reached' }
    }
  }

  /** Ends at once when the collector is closed. */
  #pause(ms: number): Promise<void> {
    const { signal } = this.#ending
    return new Promise((resolve) => {
      const done = () => {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = this.#world.later(ms, done)
      signal.addEventListener('abort', done)
    })
  }

  #said(trouble: string | undefined): void {
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    if (trouble === undefined) this.#world.report('collector takes telemetry again')
    else this.#world.report('telemetry not sent', `the collector of OTEL_EXPORTER_OTLP_ENDPOINT: ${trouble}`)
  }
}

/** The answers after which the protocol wants a request to be sent again. */
const transient = new Set([429, 502, 503, 504])
const retryPausesMs = [1000, 5000]
const maxPauseMs = 30_000
/** The requests that wait. Beyond that, batches are dropped and counted (T31). */
const maxWaiting = 16
