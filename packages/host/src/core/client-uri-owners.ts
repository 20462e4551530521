import type { Uri } from '@atrium/protocol/channel'

/** What only a client has, under names that it made up: the host asks it for whoever asks the host. */
export class ClientUriOwners {
  readonly #most: number
  readonly #owners = new Map<Uri, string>()

  constructor(most: number) {
    this.#most = most
  }

  /** A client has spoken of it. Nobody else can be asked. */
  record(uri: Uri, clientId: string): void {
    this.#owners.delete(uri)
    this.#owners.set(uri, clientId)
    const oldest = this.#owners.keys().next()
    if (this.#owners.size > this.#most && !oldest.done) this.#owners.delete(oldest.value)
  }

  /** The one who spoke of it, or of a folder that it is in. */
  of(uri: Uri): string | undefined {
    for (let name = uri; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('/')))) {
      const owner = this.#owners.get(name) ?? this.#owners.get(`${name}/`)
      if (owner !== undefined) return owner
    }
    return undefined
  }
}
