import type { Uri } from '@atrium/protocol/channel'
import { defineKey } from '../../kernel/key.ts'

/**
 * The owners of resources that are on a client's side, by URI. Only the owner, which is a client, can read the
 * resource, so the host forwards requests for the URI to the owner.
 */
export class ClientUriOwners {
  readonly #max: number
  readonly #owners = new Map<Uri, string>()

  constructor(max: number) {
    this.#max = max
  }

  /** Records that a client has sent this URI. If there are too many URIs, the oldest is forgotten. */
  record(uri: Uri, clientId: string): void {
    this.#owners.delete(uri)
    this.#owners.set(uri, clientId)
    const oldest = this.#owners.keys().next()
    if (this.#owners.size > this.#max && !oldest.done) this.#owners.delete(oldest.value)
  }

  /**
   * Returns the id of the client that has sent this URI, or else of the one that has sent the URI of the nearest folder
   * above it.
   */
  of(uri: Uri): string | undefined {
    for (let name = uri; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('/')))) {
      const owner = this.#owners.get(name) ?? this.#owners.get(`${name}/`)
      if (owner !== undefined) return owner
    }
    return undefined
  }
}

export const clientUriOwnersOf = defineKey<ClientUriOwners>('client URI owners')
