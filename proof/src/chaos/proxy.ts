import { once } from 'node:events'
import { createServer, connect as dial } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Chance } from '../chance.ts'
import type { Address } from './client.ts'

export type Way = 'toHost' | 'toClient'

/** What a proxy does to the links through it. All of it can be changed while they are open. */
export interface Trouble {
  /** Cuts every link after so many bytes of one direction. */
  cut?: { readonly way: Way; readonly after: number }
  /** Sends every byte by itself. */
  bytewise?: boolean
  /** Waits before every piece, up to so many milliseconds. */
  delayMs?: number
  /** Forwards nothing and says nothing: what a network does that went away. */
  silent?: boolean
}

/** A network between clients and a host, as bad as one likes. */
export class Proxy {
  trouble: Trouble = {}
  /** Bytes of the newest link. */
  passed = { toHost: 0, toClient: 0 }
  readonly #server: Server
  readonly #target: number
  readonly #chance: Chance
  readonly #freed = new Set<() => void>()
  /** Links that the host has let go of. */
  freed = 0

  private constructor(target: number, chance: Chance) {
    this.#target = target
    this.#chance = chance
    this.#server = createServer({ noDelay: true }, (near) => this.#link(near))
  }

  static async before({ url }: Address, chance: Chance): Promise<Proxy> {
    const proxy = new Proxy(Number(new URL(url).port), chance)
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening')
    return proxy
  }

  /** Where to go to come through here. The host knows itself by its own port, so that is what clients must say. */
  address({ url, token }: Address): Address & { readonly host: string } {
    const { port } = this.#server.address() as AddressInfo
    return { url: `ws://127.0.0.1:${port}/`, token, host: new URL(url).host }
  }

  /** Resolves when the host has let go of so many links. */
  async whenFreed(count: number): Promise<void> {
    while (this.freed < count) await new Promise<void>((resolve) => this.#freed.add(resolve))
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
      this.freed++
      for (const resolve of this.#freed) resolve()
      this.#freed.clear()
      if (!this.trouble.silent) near.destroy()
    })
    near.on('close', () => this.trouble.silent || far.destroy())
  }

  #forward(from: Socket, to: Socket, allow: (bytes: Buffer) => Buffer): void {
    let last = Promise.resolve()
    from.on('error', () => {})
    from.on('data', (data: Buffer) => {
      last = last.then(() => this.#pass(data, to, allow))
    })
  }

  async #pass(data: Buffer, to: Socket, allow: (bytes: Buffer) => Buffer): Promise<void> {
    const { bytewise, delayMs = 0 } = this.trouble
    const pieces = bytewise ? Array.from(data, (byte) => Buffer.from([byte])) : [data]
    for (const piece of pieces) {
      if (this.trouble.silent) return
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#chance.between(0, delayMs)))
      // One packet each, or the system would join them again.
      if (bytewise) await new Promise<void>((resolve) => setImmediate(resolve))
      const allowed = allow(piece)
      if (allowed.length > 0 && to.writable) to.write(allowed)
    }
  }

  /** As much of it as comes before the cut. */
  #allowed(bytes: Buffer, passed: Proxy['passed'], way: Way, cut: () => void): Buffer {
    const limit = this.trouble.cut?.way === way ? this.trouble.cut.after : Infinity
    const room = Math.max(0, limit - passed[way])
    passed[way] += Math.min(bytes.length, room)
    // What was let through goes out before the end does.
    if (bytes.length >= room) setImmediate(cut)
    return bytes.subarray(0, Math.min(bytes.length, room))
  }
}
