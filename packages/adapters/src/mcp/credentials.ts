import type { McpAuthRequired, McpServerConfig } from '@atrium/host/ports/mcp'
import { acpServers, valuesGiven } from '../acp/process/mcp-servers.ts'
import type { Variables } from '../process/environment.ts'
import { redactor } from '../process/redact.ts'
import { requirementOf } from './authorization.ts'
import { limitsOf } from './context.ts'
import type { McpContext } from './context.ts'
import type { Challenge } from './http-fetch.ts'

/** The credentials of one server: what it was configured with, and the user's token for the resource that it named. */
export class Credentials {
  readonly #config: McpServerConfig
  readonly #context: McpContext
  readonly #tokenFor: (resource: string) => string | undefined
  /** The resource that the server named in a challenge. */
  #resource: string | undefined
  #lastToken: string | undefined

  constructor(
    config: McpServerConfig,
    context: McpContext,
    tokenFor: (resource: string) => string | undefined,
  ) {
    this.#config = config
    this.#context = context
    this.#tokenFor = tokenFor
  }

  /** Returns the user's token at this moment. It is not kept, except to remove it from texts. */
  token(): string | undefined {
    const token = this.#resource === undefined ? undefined : this.#tokenFor(this.#resource)
    this.#lastToken = token ?? this.#lastToken
    return token
  }

  /**
   * Remembers the resource that a challenge names. From then on, `token` returns the token for this resource. Returns
   * what users are told about the challenge.
   */
  async required(challenge: Challenge): Promise<McpAuthRequired> {
    const server = new URL('url' in this.#config ? this.#config.url : '')
    const { later } = this.#context
    const required = await requirementOf(challenge, { server, limits: limitsOf(this.#context), later })
    this.#resource = required.requirement.resource.resource
    return required
  }

  /** Removes the credentials from a text for users. */
  redact(text: string): string {
    return redactor({ ...secretsOf(this.#config), TOKEN: this.#lastToken })(text)
  }
}

/** Returns the values that a server is configured with, by name. Some are secrets, and the server may print them. */
export function secretsOf(config: McpServerConfig): Variables {
  const client = 'url' in config ? config.oauthClient : undefined
  return { ...valuesGiven(acpServers({ server: config })), OAUTH_SECRET: client?.clientSecret }
}
