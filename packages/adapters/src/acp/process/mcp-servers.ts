import type { Customization, McpServerCustomization } from '@atrium/protocol/session/customization'
import type { AgentCapabilities } from './schema.ts'
import type { Variables } from '../../process/environment.ts'

/** MCP servers by their names, as people write them down: a program that is started, or an address. */
export interface ServerSettings {
  readonly [name: string]: ServerSetting
}

export interface ServerSetting {
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly url?: string
  /** Of an address; absent: `http`. */
  readonly type?: 'http' | 'sse'
  readonly headers?: { readonly [name: string]: string }
}

/** One as ACP says it: an agent starts it, or talks to it, itself. */
export type AcpServer =
  | {
      readonly name: string
      readonly command: string
      readonly args: readonly string[]
      readonly env: readonly Pair[]
    }
  | {
      readonly type: 'http' | 'sse'
      readonly name: string
      readonly url: string
      readonly headers: readonly Pair[]
    }

interface Pair {
  readonly name: string
  readonly value: string
}

export function acpServers(settings: ServerSettings = {}): readonly AcpServer[] {
  return Object.entries(settings).map(([name, { command = '', args = [], env, url, type, headers }]) =>
    url === undefined
      ? { name, command, args, env: pairs(env) }
      : { type: type ?? 'http', name, url, headers: pairs(headers) },
  )
}

/** What people see of one, and can switch on and off: neither how it is started, nor what it is shown. */
export function customizationOf({ name }: AcpServer): McpServerCustomization {
  const uri = `atrium:/mcp/${encodeURIComponent(name)}`
  return { type: 'mcpServer', id: uri, uri, name, state: { kind: 'stopped' } }
}

export function isOn(server: AcpServer, customizations: readonly Customization[] = []): boolean {
  return shownOf(server, customizations)?.enablement?.[0]?.enabled ?? true
}

/** How one is that an agent is to have, or not: whether it answers is known to the agent alone. */
export function stateOf(
  server: AcpServer,
  given: boolean,
  can: AgentCapabilities | undefined,
): McpServerCustomization['state'] {
  if (!given) return { kind: 'stopped' }
  if (isUsable(server, can)) return { kind: 'ready' }
  const message = `this agent cannot talk to an MCP server by ${'type' in server ? server.type : 'stdio'}`
  return { kind: 'error', error: { errorType: 'unsupported', message } }
}

export function isUsable(server: AcpServer, can: AgentCapabilities | undefined): boolean {
  return !('type' in server) || can?.mcpCapabilities?.[server.type] === true
}

/** What they are told, as variables: some of it is secret, and an agent may say it. */
export function variablesOf(servers: readonly AcpServer[]): Variables {
  const told = servers.flatMap((server) => ('type' in server ? toldThere(server) : toldHere(server)))
  return Object.fromEntries(told.map(({ name, value }, at) => [`${at} ${name}`, value]))
}

function toldThere({ headers, url }: Extract<AcpServer, { readonly url: string }>): readonly Pair[] {
  return [...headers, ...pairs(Object.fromEntries(new URL(url).searchParams))]
}

/** An argument is called by what stands before it. */
function toldHere({ env, args }: Extract<AcpServer, { readonly command: string }>): readonly Pair[] {
  const named = args.map((arg, at): Pair => {
    const [name = '', ...value] = arg.split('=')
    return value.length > 0 ? { name, value: value.join('=') } : { name: args[at - 1] ?? '', value: arg }
  })
  return [...env, ...named]
}

export function shownOf(
  server: AcpServer,
  customizations: readonly Customization[] = [],
): McpServerCustomization | undefined {
  const { id } = customizationOf(server)
  const found = customizations.find((each) => each.id === id)
  return found?.type === 'mcpServer' ? found : undefined
}

function pairs(given: { readonly [name: string]: string } = {}): readonly Pair[] {
  return Object.entries(given).map(([name, value]) => ({ name, value }))
}
