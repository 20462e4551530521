import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { compact } from '@atrium/protocol/update'
import { agentPlugins, agentPluginsVersion } from './formats.ts'
import { isArgument, isArguments, isEnvironment, isHeaders } from './parse/json-shapes.ts'
import { pluginPath } from './parse/plugin-path.ts'
import { printable, Unusable } from './parse/plugin-text.ts'

/** An MCP server: a program that is started, or an address. Variables of the plugin are not expanded yet. */
export type ServerConfig = ProgramConfig | RemoteConfig

export interface ProgramConfig {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly cwd?: string
}

export interface RemoteConfig {
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
  readonly type?: 'http' | 'sse'
}

/** Reads the configuration of a server in the form that most programs use. Throws `Unusable` if it is wrong. */
export function lenientServer(value: unknown): ServerConfig {
  if (!isJsonObject(value)) throw new Unusable('It is not an object.')
  return value['url'] === undefined ? program(value) : remote(value, value['type'] ?? value['transport'])
}

/**
 * Reads the configuration of a server in the format Agent Plugins, whose fields are a closed set. Throws `Unusable`
 * if it is wrong.
 */
export function strictServer(value: unknown): ServerConfig {
  if (!isJsonObject(value)) throw new Unusable('It is not an object.')
  const { type } = value
  if (type === 'stdio') return strictProgram(value)
  if (type !== 'streamable-http' && type !== 'sse')
    throw new Unusable('Its type must be stdio, streamable-http or sse.')
  onlyFields(value, ['type', 'url', 'headers'])
  const server = remote(value, type)
  const { scheme, host } = addressOf(server.url)
  if (scheme !== 'https' && !loopback.test(host)) throw new Unusable('Its url must begin with https:.')
  return server
}

/** Throws if a file with MCP servers breaks a rule of the format Agent Plugins. */
export function checkStrictFile({ $schema, mcpServers, ...others }: JsonObject): void {
  const version = `${agentPlugins}${agentPluginsVersion}/`
  if (typeof $schema !== 'string' || !$schema.startsWith(version))
    throw new Unusable(
      `Its $schema must name version ${agentPluginsVersion} of Agent Plugins, like the manifest.`,
    )
  if (!isJsonObject(mcpServers)) throw new Unusable('Its field mcpServers must be an object.')
  onlyFields(others, [])
}

function program(value: JsonObject): ProgramConfig {
  const { command, args, env, cwd } = value
  if (!isArgument(command) || command.trim() === '') throw new Unusable('It has neither a command nor a url.')
  if (args !== undefined && !isArguments(args)) throw new Unusable('Its args are not a list of texts.')
  if (env !== undefined && !isEnvironment(env)) throw new Unusable('Its env is not an object of texts.')
  if (cwd !== undefined && !isArgument(cwd)) throw new Unusable('Its cwd is not a path.')
  return compact<ProgramConfig>({ command, args, env, cwd })
}

function remote(value: JsonObject, type: unknown): RemoteConfig {
  const { url, headers } = value
  if (typeof url !== 'string') throw new Unusable('Its url is not a text.')
  addressOf(url)
  if (headers !== undefined && !isHeaders(headers))
    throw new Unusable('Its headers are not an object of texts.')
  return compact<RemoteConfig>({ url, headers, type: transportOf(type) })
}

function transportOf(type: unknown): RemoteConfig['type'] {
  if (type === undefined) return undefined
  if (type === 'sse') return 'sse'
  if (type === 'http' || type === 'streamable-http' || type === 'streamableHttp') return 'http'
  throw new Unusable(`The type ${printable(JSON.stringify(type))} is unknown.`)
}

/**
 * Splits an address into its parts. Throws for an address with a user, which would show a password, and for an address with
 * blanks, which could be read in two ways.
 */
function addressOf(url: string): { readonly scheme: string; readonly host: string } {
  const [, scheme = '', authority = ''] = /^(https?):\/\/([^/?#\\\s]+)[^#\\\s]*$/i.exec(url) ?? []
  if (scheme === '') throw new Unusable('Its url is not an http: or https: address.')
  if (authority.includes('@')) throw new Unusable('Its url contains a user.')
  return { scheme: scheme.toLowerCase(), host: authority.replace(/:\d*$/, '').toLowerCase() }
}

const loopback = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/

function strictProgram(value: JsonObject): ProgramConfig {
  onlyFields(value, ['type', 'command', 'args', 'env', 'cwd'])
  const { command, env = {}, cwd = '${PLUGIN_ROOT}', ...rest } = program(value)
  if (!/^[^\s/\\"'`$;&|<>(){}*?[\]!#~]+$/.test(command) && !command.startsWith('./'))
    throw new Unusable('Its command must be the name of a program, or a path that begins with ./')
  if (command.startsWith('./')) pluginPath(command)
  if (/\s/.test(command)) throw new Unusable('Its command must be one word.')
  const reserved = Object.keys(env).find((name) => name === 'PLUGIN_ROOT' || name === 'PLUGIN_DATA')
  if (reserved !== undefined) throw new Unusable(`Its env may not set ${reserved}.`)
  return { ...rest, command, env, cwd: strictCwd(cwd) }
}

/** Returns the working directory of a server. It must be in the plugin, or in the directory for the plugin's data. */
function strictCwd(cwd: string): string {
  const [, variable, rest = ''] = /^(\$\{PLUGIN_(?:ROOT|DATA)\}|\.)(\/.*)?$/s.exec(cwd) ?? []
  if (variable === undefined)
    throw new Unusable('Its cwd must begin with ./, ${PLUGIN_ROOT} or ${PLUGIN_DATA}.')
  const path = pluginPath(`.${rest}`)
  return (variable === '.' ? '${PLUGIN_ROOT}' : variable) + (path === '' ? '' : `/${path}`)
}

function onlyFields(value: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) throw new Unusable(`The field ${printable(unknown)} is not allowed.`)
}
