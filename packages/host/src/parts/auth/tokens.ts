import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { LimitValues } from '@atrium/protocol/limits'
import { defineKey } from '../../kernel/key.ts'
import type { World } from '../../ports/world.ts'

interface HeldToken {
  readonly token: string
  readonly resource: ProtectedResourceMetadata
  /** In milliseconds of wall time. The clock may jump, so a timer also limits the lifetime of the token. */
  readonly expiresAt: number
  cancelTimer: () => void
}

/** Work that goes on when its principal has signed in to one of the resources. */
interface Waiting {
  readonly principal: string
  readonly resources: readonly ProtectedResourceMetadata[]
  readonly goOn: () => void
}

/** Called when a token has expired. */
export type Expired = (principal: string, resource: ProtectedResourceMetadata) => void

/**
 * The tokens that users have given to agents, by principal and resource. Tokens are kept only in memory: in no log, record,
 * snapshot, report or environment variable (S-31).
 */
export class Tokens {
  readonly #world: World
  readonly #limits: LimitValues
  readonly #expired: Expired
  readonly #held = new Map<string, Map<string, HeldToken>>()
  /** The number of links of each principal. */
  readonly #links = new Map<string, number>()
  /** For each principal without a link: the function that cancels the deletion of its tokens. */
  readonly #deletions = new Map<string, () => void>()
  readonly #waiting = new Set<Waiting>()

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

  /** The metadata of a resource for which there is a token. */
  metadataOf(principal: string, resource: string): ProtectedResourceMetadata | undefined {
    return this.#held.get(principal)?.get(resource)?.resource
  }

  keep(principal: string, resource: ProtectedResourceMetadata, token: string, seconds = Infinity): void {
    this.forget(principal, resource.resource)
    const ms = seconds * 1000
    const held: HeldToken = { token, resource, expiresAt: this.#world.now() + ms, cancelTimer: () => {} }
    const all = this.#held.get(principal) ?? new Map<string, HeldToken>()
    this.#held.set(principal, all)
    all.set(resource.resource, held)
    if (ms < Infinity) this.#wait(principal, held, ms)
    const [oldest] = all.keys()
    if (all.size > this.#limits.tokens && oldest !== undefined) this.forget(principal, oldest)
  }

  /** Forgets a token. Returns whether there was one. */
  forget(principal: string, resource: string): boolean {
    const all = this.#held.get(principal)
    all?.get(resource)?.cancelTimer()
    const had = all?.delete(resource) === true
    if (all?.size === 0) this.#held.delete(principal)
    return had
  }

  /** Resolves when the principal has signed in to one of the resources, or when the signal is aborted. */
  whenSignedIn(
    principal: string,
    resources: readonly ProtectedResourceMetadata[],
    signal: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        this.#waiting.delete(waiting)
        signal.removeEventListener('abort', goOn)
        resolve()
      }
      const waiting = { principal, resources, goOn }
      this.#waiting.add(waiting)
      signal.addEventListener('abort', goOn)
      if (signal.aborted) goOn()
    })
  }

  /** Lets the work go on that waits for this sign-in. */
  signedIn(principal: string, resource: string): void {
    for (const waiting of this.#waitingFor(principal, resource)) waiting.goOn()
  }

  /** The resource, if work of the principal waits for a sign-in to it. */
  wanted(principal: string, wanted: string): ProtectedResourceMetadata | undefined {
    return this.#waitingFor(principal, wanted)
      .flatMap(({ resources }) => resources)
      .find(({ resource }) => resource === wanted)
  }

  #waitingFor(principal: string, wanted: string): readonly Waiting[] {
    return [...this.#waiting].filter(
      (each) => each.principal === principal && each.resources.some(({ resource }) => resource === wanted),
    )
  }

  linkOpened(principal: string): void {
    this.#links.set(principal, (this.#links.get(principal) ?? 0) + 1)
    this.#deletions.get(principal)?.()
    this.#deletions.delete(principal)
  }

  /**
   * Counts a closed link. If it was the last link of the principal, the principal's tokens are deleted after a grace
   * period: the principal may come back, and its turns go on meanwhile.
   */
  linkClosed(principal: string): void {
    const links = (this.#links.get(principal) ?? 0) - 1
    if (links > 0) return void this.#links.set(principal, links)
    this.#links.delete(principal)
    const cancel = this.#world.later(this.#limits.tokenGraceMs, () => {
      this.#deletions.delete(principal)
      for (const resource of this.#held.get(principal)?.keys() ?? []) this.forget(principal, resource)
    })
    this.#deletions.set(principal, cancel)
  }

  /** Waits for the expiry in steps of at most a day, because a timer of Node cannot run for months. */
  #wait(principal: string, held: HeldToken, ms: number): void {
    held.cancelTimer = this.#world.later(Math.min(ms, longestMs), () => {
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

export const tokensOf = defineKey<Tokens>('tokens')
