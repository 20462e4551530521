import type { AgentSettings } from '@atrium/adapters/acp/registry'
import type { ServerSettings } from '@atrium/adapters/acp/mcp-servers'
import type { ModelsConfig } from '@atrium/adapters/model/config'
import { isAgents, isCaptures, isModels, isServers } from './config-schema.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The settings of `atrium serve`. The default of an absent key is applied where the key is used. */
export interface Settings {
  readonly host?: string
  /** Absent: the last used port, else the default port, else any free port. */
  readonly port?: number
  readonly socket?: string
  readonly data: string
  /** The folder in which clients start to browse. Absent: the user's home. */
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
  /** Agent programs by name, in addition to those on the PATH. */
  readonly agents?: AgentSettings
  /** The model providers of the built-in model agent. */
  readonly models?: ModelsConfig
  /** MCP servers by name, for sessions with ACP agents. */
  readonly mcpServers?: ServerSettings
  /** What is kept of the files that turns change. False: nothing, so that no change can be shown or undone. */
  readonly captures?: CaptureSettings | false
}

export interface CaptureSettings {
  /** In MiB, for one session. */
  readonly sessionMb?: number
  /** In MiB, for all sessions. */
  readonly allMb?: number
}

/** One setting: its flag, its environment variable, and the values that it accepts. */
export interface Field {
  readonly flag: string
  readonly variable: string
  /** What a value must be, for the error message: the message ends with "must be" and this text. */
  readonly wants: string
  accepts(value: unknown): boolean
  /** Parses the text of a flag or of a variable. Returns invalid text as it is, for `accepts` to refuse. */
  parse(text: string): unknown
}

const text = (flag: string, variable: string, wants: string): Field => ({
  flag,
  variable,
  wants,
  accepts: (value) => typeof value === 'string' && !value.includes('\0'),
  parse: (value) => value,
})

const list = (flag: string, variable: string, wants: string): Field => ({
  ...text(flag, variable, wants),
  accepts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
  parse: (value) => value.split(',').map((one) => one.trim()),
})

const yesNo = (flag: string, variable: string): Field => ({
  ...text(flag, variable, 'true or false'),
  accepts: (value) => typeof value === 'boolean',
  parse: (value) => ({ true: true, 1: true, false: false, 0: false })[value] ?? value,
})

const agentsWanted =
  'an object that maps the name of each agent (not atrium or guide) to command, and optionally args, env, displayName, variables, memoryMb, turnMinutes, disabled'

const modelsWanted =
  'an object with anthropic and openai (false, or baseUrl and models), compatible (by name: baseUrl, apiKeyVariable, models) and default; a baseUrl begins with http:// or https:// and has no password in it'

const serversWanted =
  'an object that maps the name of each MCP server to command, and optionally args and env; or to a url that begins with http:// or https://, and optionally type (http or sse) and headers'

const capturesWanted = 'false, or an object with sessionMb and allMb, which are positive numbers'

export const fields: { readonly [K in keyof Required<Settings>]: Field } = {
  host: text('--host', 'ATRIUM_HOST', 'an address of this machine'),
  port: {
    ...text('--port', 'ATRIUM_PORT', 'a port from 0 to 65535'),
    accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65535,
    parse: (value) => (/^\d{1,5}$/.test(value) ? Number(value) : value),
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
  captures: json('--captures', 'ATRIUM_CAPTURES', capturesWanted, isCaptures),
}

function json(flag: string, variable: string, wants: string, accepts: Field['accepts']): Field {
  const parse = (value: string): unknown => {
    try {
      return JSON.parse(value)
    } catch {
      return value
    }
  }
  return { flag, variable, wants, accepts, parse }
}

function path(flag: string, variable: string): Field {
  const accepts = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0')
  return { ...text(flag, variable, 'a path'), accepts }
}
