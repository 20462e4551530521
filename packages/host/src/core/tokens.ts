import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { LimitValues } from '@atrium/protocol/limits'
import type { World } from '../ports/world.ts'

interface HeldToken {
  readonly token: string
  readonly resource: ProtectedResourceMetadata
  /** By the clock of the world; it may jump, so a timer runs, too. */
  readonly expiresAt: number
  undo: () => void
}

/** How somebody is told that what it had given is good no more. */
export type Expired = (principal: string, resource: ProtectedResourceMetadata) => void

/**
 * What people have given to agents to show elsewhere, by principal and resource. It is in this memory and nowhere else: in
 * no log, no record, no snapshot, no report and no environment (S-31).
 */
export class Tokens {
  readonly #world: World
  readonly #limits: LimitValues
  readonly #expired: Expired
  readonly #held = new Map<string, Map<string, HeldToken>>()
  /** How many links each principal has, and what forgets the tokens of those that have none. */
  readonly #links = new Map<string, number>()
  readonly #leaving = new Map<string, () => void>()

  constructor(world: World, limits: LimitValues, expired: Expired) {
    this.#world = world
    this.#limits = limits
    this.#expired = expired
  }

  of(principal: string, resource: string): string | undefined {
    const held = this.#held.get(principal)?.get(resource)
    if (!held) return undefined
    if (this.#world.now() < held.expiresAt) return held.token
    this.#expire(principal, held)
    return undefined
  }

  keep(principal: string, resource: ProtectedResourceMetadata, token: string, seconds = Infinity): void {
    this.forget(principal, resource.resource)
    const ms = seconds * 1000
    const held: HeldToken = { token, resource, expiresAt: this.#world.now() + ms, undo: () => {} }
    const all = this.#held.get(principal) ?? new Map<string, HeldToken>()
    this.#held.set(principal, all)
    all.set(resource.resource, held)
    if (ms < Infinity) this.#wait(principal, held, ms)
    const [oldest] = all.keys()
    if (all.size > this.#limits.tokens && oldest !== undefined) this.forget(principal, oldest)
  }

  /** Gives whether there was one. */
  forget(principal: string, resource: string): boolean {
    const all = this.#held.get(principal)
    all?.get(resource)?.undo()
    const had = all?.delete(resource) === true
    if (all?.size === 0) this.#held.delete(principal)
    return had
  }

  /** A principal has one link more. */
  linkOpened(principal: string): void {
    this.#links.set(principal, (this.#links.get(principal) ?? 0) + 1)
    this.#leaving.get(principal)?.()
    this.#leaving.delete(principal)
  }

  /** And one less: with the last go its tokens, after a time in which it may come back, or a turn may go on without it. */
  linkClosed(principal: string): void {
    const links = (this.#links.get(principal) ?? 0) - 1
    if (links > 0) return void this.#links.set(principal, links)
    this.#links.delete(principal)
    const undo = this.#world.later(this.#limits.tokenGraceMs, () => {
      this.#leaving.delete(principal)
      for (const resource of this.#held.get(principal)?.keys() ?? []) this.forget(principal, resource)
    })
    this.#leaving.set(principal, undo)
  }

  /** In steps: no timer runs for months. */
  #wait(principal: string, held: HeldToken, ms: number): void {
    held.undo = this.#world.later(Math.min(ms, longestMs), () => {
      if (ms > longestMs) this.#wait(principal, held, ms - longestMs)
      else this.#expire(principal, held)
    })
  }

  #expire(principal: string, { resource }: HeldToken): void {
    this.forget(principal, resource.resource)
    this.#expired(principal, resource)
  }
}

const longestMs = 24 * 3_600_000
