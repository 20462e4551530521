import { once } from 'node:events'
import { createServer, connect as dial } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Chance } from '../chance.ts'
import type { Address } from './host.ts'

export type Direction = 'toHost' | 'toClient'

/** Faults that a proxy adds to its links. All can be changed while links are open. */
export interface Faults {
  /** Cuts every link after this many bytes in one direction. */
  cut?: { readonly direction: Direction; readonly after: number }
  /** Sends every byte in its own packet. */
  bytewise?: boolean
  /** Waits before it forwards a piece, at most this many milliseconds. */
  delayMs?: number
  /** Forwards nothing and closes nothing, like a network that went away. */
  silent?: boolean
}

/** A faulty network between clients and a host. */
export class Proxy {
  faults: Faults = {}
  /** Bytes forwarded on the newest link. */
  passed = { toHost: 0, toClient: 0 }
  readonly #server: Server
  readonly #target: number
  readonly #chance: Chance
  readonly #waiting = new Set<() => void>()
  /** Number of links that the host has closed. */
  closedByHost = 0

  private constructor(target: number, chance: Chance) {
    this.#target = target
    this.#chance = chance
    this.#server = createServer({ noDelay: true }, (near) => this.#link(near))
  }

  static async inFrontOf({ url }: Address, chance: Chance): Promise<Proxy> {
    const proxy = new Proxy(Number(new URL(url).port), chance)
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening')
    return proxy
  }

  /**
   * Returns the address for clients of this proxy. The host accepts only its own name, so clients must send it as
   * `host`.
   */
  address({ url, token }: Address): Address & { readonly host: string } {
    const { port } = this.#server.address() as AddressInfo
    return { url: `ws://127.0.0.1:${port}/`, token, host: new URL(url).host }
  }

  /** Resolves when the host has closed this many links. */
  async whenClosedByHost(count: number): Promise<void> {
    while (this.closedByHost < count) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  close(): void {
    this.#server.close()
  }

  #link(near: Socket): void {
    const far = dial({ port: this.#target, host: '127.0.0.1', noDelay: true })
    const passed = { toHost: 0, toClient: 0 }
    this.passed = passed
    const cut = (): void => {
      near.destroy()
      far.destroy()
    }
    this.#forward(near, far, (bytes) => this.#allowed(bytes, passed, 'toHost', cut))
    this.#forward(far, near, (bytes) => this.#allowed(bytes, passed, 'toClient', cut))
    far.on('close', () => {
      this.closedByHost++
      for (const resolve of this.#waiting) resolve()
      this.#waiting.clear()
      if (!this.faults.silent) near.destroy()
    })
    near.on('close', () => this.faults.silent || far.destroy())
  }

  #forward(from: Socket, to: Socket, allow: (bytes: Buffer) => Buffer): void {
    let last = Promise.resolve()
    from.on('error', () => {})
    from.on('data', (data: Buffer) => {
      last = last.then(() => this.#pass(data, to, allow))
    })
  }

  async #pass(data: Buffer, to: Socket, allow: (bytes: Buffer) => Buffer): Promise<void> {
    const { bytewise, delayMs = 0 } = this.faults
    const pieces = bytewise ? Array.from(data, (byte) => Buffer.from([byte])) : [data]
    for (const piece of pieces) {
      if (this.faults.silent) return
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#chance.between(0, delayMs)))
      // Waits for the next turn of the event loop, otherwise the system would join the bytes into one packet.
      if (bytewise) await new Promise<void>((resolve) => setImmediate(resolve))
      const allowed = allow(piece)
      if (allowed.length > 0 && to.writable) to.write(allowed)
    }
  }

  /** Returns the part of the bytes that comes before the cut. */
  #allowed(bytes: Buffer, passed: Proxy['passed'], direction: Direction, cut: () => void): Buffer {
    const limit = this.faults.cut?.direction === direction ? this.faults.cut.after : Infinity
    const room = Math.max(0, limit - passed[direction])
    passed[direction] += Math.min(bytes.length, room)
    // The link ends in the next turn of the event loop, after the forwarded bytes were sent.
    if (bytes.length >= room) setImmediate(cut)
    return bytes.subarray(0, Math.min(bytes.length, room))
  }
}
