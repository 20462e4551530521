import type { AgentSettings } from '@atrium/adapters/acp/registry'
import type { ServerSettings } from '@atrium/adapters/acp/mcp-servers'
import type { ModelsConfig } from '@atrium/adapters/model/config'
import { isAgents, isModels, isServers } from './config-schema.ts'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** What can be set. A key that is absent has its default where it is used. */
export interface Settings {
  readonly host?: string
  /** Absent: the one that was used last, else the default, else any. */
  readonly port?: number
  readonly socket?: string
  readonly data: string
  /** Where people start looking for a folder. Absent: their home. */
  readonly defaultDirectory?: string
  readonly connectionToken?: string
  readonly connectionTokenFile?: string
  readonly withoutConnectionToken?: boolean
  readonly allowOrigin?: readonly string[]
  readonly allowHost?: readonly string[]
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly logLevel?: LogLevel
  readonly readOnly?: boolean
  /** Agents beside those on the PATH, by name: how each is started. */
  readonly agents?: AgentSettings
  /** What the agent on models of others may use. */
  readonly models?: ModelsConfig
  /** MCP servers, by name, for sessions of agents that are programs. */
  readonly mcpServers?: ServerSettings
}

/** One setting: what it is called outside, and which values it takes. */
export interface Field {
  readonly flag: string
  readonly variable: string
  /** The end of "… must be". */
  readonly wants: string
  accepts(value: unknown): boolean
  /** A text of the environment or of a flag as the value it means. */
  parse(text: string): unknown
}

const text = (flag: string, variable: string, wants: string): Field => ({
  flag,
  variable,
  wants,
  accepts: (value) => typeof value === 'string' && !value.includes('\0'),
  parse: (given) => given,
})

const list = (flag: string, variable: string, wants: string): Field => ({
  ...text(flag, variable, wants),
  accepts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
  parse: (given) => given.split(',').map((one) => one.trim()),
})

const yesNo = (flag: string, variable: string): Field => ({
  ...text(flag, variable, 'true or false'),
  accepts: (value) => typeof value === 'boolean',
  parse: (given) => ({ true: true, 1: true, false: false, 0: false })[given] ?? given,
})

const agentsWanted =
  'an object that gives each agent by its name (not atrium or guide) a command, and if need be args, env, displayName, variables, memoryMb, turnMinutes, disabled'

const modelsWanted =
  'an object with anthropic and openai (false, or baseUrl and models), compatible (by name: baseUrl, apiKeyVariable, models) and default; a baseUrl begins with http:// or https:// and has no password in it'

const serversWanted =
  'an object that gives each MCP server by its name a command, and if need be args and env; or a url that begins with http:// or https://, and if need be a type (http or sse) and headers'

export const fields: { readonly [K in keyof Required<Settings>]: Field } = {
  host: text('--host', 'ATRIUM_HOST', 'an address of this machine'),
  port: {
    ...text('--port', 'ATRIUM_PORT', 'a port from 0 to 65535'),
    accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65535,
    parse: (given) => (/^\d{1,5}$/.test(given) ? Number(given) : given),
  },
  socket: path('--socket', 'ATRIUM_SOCKET'),
  data: path('--data', 'ATRIUM_HOME'),
  defaultDirectory: path('--default-directory', 'ATRIUM_DEFAULT_DIRECTORY'),
  connectionToken: {
    ...text('--connection-token', 'ATRIUM_TOKEN', "16 to 512 letters, digits, '-' and '_'"),
    accepts: (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{16,512}$/.test(value),
  },
  connectionTokenFile: path('--connection-token-file', 'ATRIUM_TOKEN_FILE'),
  withoutConnectionToken: yesNo('--without-connection-token', 'ATRIUM_WITHOUT_TOKEN'),
  allowOrigin: list('--allow-origin', 'ATRIUM_ALLOW_ORIGIN', 'origins like https://name:port'),
  allowHost: {
    ...list('--allow-host', 'ATRIUM_ALLOW_HOST', 'names like atrium.example or atrium.example:443'),
    accepts: (value) => Array.isArray(value) && value.every((one) => /^[a-z0-9.[\]:-]+$/.test(String(one))),
  },
  tlsCert: path('--tls-cert', 'ATRIUM_TLS_CERT'),
  tlsKey: path('--tls-key', 'ATRIUM_TLS_KEY'),
  logLevel: {
    ...text('--log-level', 'ATRIUM_LOG_LEVEL', `one of ${logLevels.join(', ')}`),
    accepts: (value) => logLevels.some((level) => level === value),
  },
  readOnly: yesNo('--read-only', 'ATRIUM_READ_ONLY'),
  agents: json('--agents', 'ATRIUM_AGENTS', agentsWanted, isAgents),
  models: json('--models', 'ATRIUM_MODELS', modelsWanted, isModels),
  mcpServers: json('--mcp-servers', 'ATRIUM_MCP_SERVERS', serversWanted, isServers),
}

function json(flag: string, variable: string, wants: string, accepts: Field['accepts']): Field {
  const parse = (given: string): unknown => {
    try {
      return JSON.parse(given)
    } catch {
      return given
    }
  }
  return { flag, variable, wants, accepts, parse }
}

function path(flag: string, variable: string): Field {
  const accepts = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0')
  return { ...text(flag, variable, 'a path'), accepts }
}
