import type { AgentSetting, AgentSettings } from '@atrium/adapters/agent-acp-find'
import type { CompatibleConfig, ModelConfig, ModelsConfig } from '@atrium/adapters/agent-model-config'

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
  /** What every agent's session gets, as ACP says it. */
  readonly mcpServers?: readonly object[]
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
  mcpServers: json('--mcp-servers', 'ATRIUM_MCP_SERVERS', 'a list of MCP servers', (value) =>
    isList(value, isObject),
  ),
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

function isAgents(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(([name, each]) => isName(name) && !taken.has(name) && isAgent(each))
  )
}

/** Agents that the host has itself: a session is told apart from others by the name alone. */
const taken: ReadonlySet<string> = new Set(['atrium', 'guide'])

function isName(name: string): boolean {
  return /^[\w.-]{1,64}$/.test(name)
}

function isAgent(value: unknown): boolean {
  if (!isObject(value)) return false
  const {
    command,
    args = [],
    env = {},
    displayName,
    variables = [],
    memoryMb,
    turnMinutes,
    disabled,
    ...others
  } = value as AgentSetting
  return (
    // What is misspelt would do nothing, and nobody would know why.
    Object.keys(others).length === 0 &&
    [command, displayName].every((each) => each === undefined || (isText(each) && each !== '')) &&
    isList(args, isText) &&
    isList(variables, isText) &&
    isObject(env) &&
    Object.values(env).every(isText) &&
    [memoryMb, turnMinutes].every((each) => each === undefined || (typeof each === 'number' && each > 0)) &&
    (disabled === undefined || typeof disabled === 'boolean')
  )
}

function isModels(value: unknown): boolean {
  if (!isObject(value)) return false
  const { anthropic = {}, openai = {}, compatible = {}, default: usual = '' } = value as ModelsConfig
  const others = isObject(compatible) ? Object.entries(compatible) : [['', undefined] as const]
  return (
    [anthropic, openai].every((vendor) => vendor === false || isVendor(vendor)) &&
    others.every(
      ([name, vendor]) => isName(name) && !vendors.has(name) && isVendor(vendor) && 'baseUrl' in vendor,
    ) &&
    isText(usual)
  )
}

const vendors: ReadonlySet<string> = new Set(['anthropic', 'openai'])

function isVendor(value: unknown): value is CompatibleConfig {
  if (!isObject(value)) return false
  const { baseUrl = 'https://usual', apiKeyVariable = '', models = [] } = value as Partial<CompatibleConfig>
  return (
    isAddress(baseUrl) && isText(apiKeyVariable) && isList(models, (model) => isText(model) || isModel(model))
  )
}

/** It stands in the state that everyone has, so nobody's password is in it. */
function isAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** So does what is said of a model. */
function isModel(value: unknown): boolean {
  if (!isObject(value)) return false
  const {
    id,
    name = '',
    maxContextWindow = 1,
    maxOutputTokens = 1,
    supportsVision = false,
    efforts = [],
    price,
  } = value as ModelConfig
  const prices =
    price === undefined ? [] : isObject(price) ? [price.input, price.output, price.cacheRead ?? 0] : ['']
  return (
    isText(id) &&
    id !== '' &&
    isText(name) &&
    [maxContextWindow, maxOutputTokens].every((each) => Number.isInteger(each) && each > 0) &&
    typeof supportsVision === 'boolean' &&
    isList(efforts, isText) &&
    prices.every((each) => typeof each === 'number' && each >= 0)
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isList(value: unknown, each: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(each)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0')
}

function path(flag: string, variable: string): Field {
  const accepts = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0')
  return { ...text(flag, variable, 'a path'), accepts }
}
