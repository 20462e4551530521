import type { Customization, McpServerCustomization } from '@atrium/protocol/session/customization'
import type { McpServerConfig } from '@atrium/host/ports/mcp'
import type { AgentCapabilities } from './schema.ts'
import type { Variables } from '../../process/environment.ts'

/** MCP servers by name, as users configure them. */
export interface ServerSettings {
  readonly [name: string]: McpServerConfig
}

/** An MCP server in the form of `session/new`. The agent starts or calls the server itself. */
export type AcpServer =
  | {
      readonly name: string
      readonly command: string
      readonly args: readonly string[]
      readonly env: readonly NameValue[]
    }
  | {
      readonly type: 'http' | 'sse'
      readonly name: string
      readonly url: string
      readonly headers: readonly NameValue[]
    }

interface NameValue {
  readonly name: string
  readonly value: string
}

export function acpServers(settings: ServerSettings = {}): readonly AcpServer[] {
  return Object.entries(settings).map(([name, config]) =>
    'url' in config
      ? { type: config.type ?? 'http', name, url: config.url, headers: pairs(config.headers) }
      : { name, command: config.command, args: config.args ?? [], env: pairs(config.env) },
  )
}

/**
 * Returns the customization by which users see the server and switch it on or off. It contains neither the command nor the
 * environment nor the headers of the server.
 */
export function customizationOf({ name }: AcpServer): McpServerCustomization {
  const uri = `atrium:/mcp/${encodeURIComponent(name)}`
  return { type: 'mcpServer', id: uri, uri, name, state: { kind: 'stopped' } }
}

export function isEnabled(server: AcpServer, customizations: readonly Customization[] = []): boolean {
  return findCustomization(server, customizations)?.enablement?.[0]?.enabled ?? true
}

/**
 * Returns the state of a server for users. The state `ready` means that the agent got the server. Only the agent knows
 * whether the server works.
 */
export function stateOf(
  server: AcpServer,
  given: boolean,
  capabilities: AgentCapabilities | undefined,
): McpServerCustomization['state'] {
  if (!given) return { kind: 'stopped' }
  if (isSupported(server, capabilities)) return { kind: 'ready' }
  const message = `this agent does not support MCP servers over ${'type' in server ? server.type : 'stdio'}`
  return { kind: 'error', error: { errorType: 'unsupported', message } }
}

export function isSupported(server: AcpServer, capabilities: AgentCapabilities | undefined): boolean {
  return !('type' in server) || capabilities?.mcpCapabilities?.[server.type] === true
}

/**
 * Returns all values that are passed to the servers, by name. Some values are secrets. An agent may print them, so
 * they must be removed from its output.
 */
export function valuesGiven(servers: readonly AcpServer[]): Variables {
  const values = servers.flatMap((server) => ('type' in server ? urlValues(server) : commandValues(server)))
  // The key contains an index, because two servers may have values of the same name.
  return Object.fromEntries(values.map(({ name, value }, index) => [`${index} ${name}`, value]))
}

function urlValues({ headers, url }: Extract<AcpServer, { readonly url: string }>): readonly NameValue[] {
  return [...headers, ...pairs(Object.fromEntries(new URL(url).searchParams))]
}

/**
 * Returns the variables and the arguments of a command. The name of an argument is the text before its `=`, as in
 * `--token=x`, or else the argument before it, as in `--token x`.
 */
function commandValues({
  env,
  args,
}: Extract<AcpServer, { readonly command: string }>): readonly NameValue[] {
  const named = args.map((arg, index): NameValue => {
    const [name = '', ...value] = arg.split('=')
    return value.length > 0 ? { name, value: value.join('=') } : { name: args[index - 1] ?? '', value: arg }
  })
  return [...env, ...named]
}

/** Returns the session's customization for a server. */
export function findCustomization(
  server: AcpServer,
  customizations: readonly Customization[] = [],
): McpServerCustomization | undefined {
  const { id } = customizationOf(server)
  const found = customizations.find((each) => each.id === id)
  return found?.type === 'mcpServer' ? found : undefined
}

function pairs(values: { readonly [name: string]: string } = {}): readonly NameValue[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }))
}
