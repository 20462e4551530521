import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client'
import { isJsonObject } from '@atrium/protocol/json'
import { readPrivateFile, replacePrivateFile } from '../../process/private-file.ts'
import type { AuthorizationServer } from './authorization-server.ts'

/** What a person has agreed to at an authorization server. */
export interface Grant {
  readonly server: AuthorizationServer
  readonly client: OAuthClientInformationMixed
  readonly refreshToken?: string
  /** Only in memory. */
  readonly accessToken?: string
}

/**
 * The grants of all principals, by principal and resource. Those with a refresh token are in a file that only its owner can read, like
 * the token of the host. Access tokens are not in it.
 */
export class Grants {
  readonly #file: string | undefined
  readonly #all: Map<string, Grant>
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(file: string | undefined, all: Map<string, Grant>) {
    this.#file = file
    this.#all = all
  }

  /** Without a file, the grants are only in memory. A file that is not readable counts as empty. */
  static async open(file: string | undefined): Promise<Grants> {
    const text = file === undefined ? '{}' : ((await readPrivateFile(file)) ?? '{}')
    const stored: unknown = parsed(text)
    // Only this class writes the file: hence the cast.
    const entries = isJsonObject(stored) ? (Object.entries(stored) as unknown as [string, Grant][]) : []
    return new Grants(file, new Map(entries))
  }

  get(principal: string, resource: string): Grant | undefined {
    return this.#all.get(keyOf(principal, resource))
  }

  async set(principal: string, resource: string, grant: Grant): Promise<void> {
    this.#all.set(keyOf(principal, resource), grant)
    await this.#write()
  }

  async delete(principal: string, resource: string): Promise<void> {
    if (this.#all.delete(keyOf(principal, resource))) await this.#write()
  }

  #write(): Promise<unknown> {
    const file = this.#file
    if (file === undefined) return Promise.resolve()
    this.#writing = this.#writing
      .catch(() => {})
      .then(() => {
        const kept = [...this.#all].flatMap(([key, { server, client, refreshToken }]) =>
          refreshToken === undefined ? [] : [[key, { server, client, refreshToken }] as const],
        )
        return replacePrivateFile(file, JSON.stringify(Object.fromEntries(kept)))
      })
    return this.#writing
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function keyOf(principal: string, resource: string): string {
  return `${principal}\n${resource}`
}
