import type { AgentSetting } from '@atrium/adapters/acp/registry'
import type { ServerSetting } from '@atrium/adapters/acp/mcp-servers'
import type { CompatibleConfig, ModelConfig, ModelsConfig } from '@atrium/adapters/model/config'

/** Whether a value says which agents there are, and how each is started. */
export function isAgents(value: unknown): boolean {
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
    isTexts(env) &&
    [memoryMb, turnMinutes].every((each) => each === undefined || (typeof each === 'number' && each > 0)) &&
    (disabled === undefined || typeof disabled === 'boolean')
  )
}

/** Whether it says which MCP servers there are, and how each is reached. */
export function isServers(value: unknown): boolean {
  return isObject(value) && Object.entries(value).every(([name, each]) => isName(name) && isServer(each))
}

function isServer(value: unknown): boolean {
  if (!isObject(value)) return false
  const { command, args = [], env = {}, url, type = 'http', headers = {} } = value as ServerSetting
  const reached = url === undefined ? ['command', 'args', 'env'] : ['url', 'type', 'headers']
  return (
    Object.keys(value).every((key) => reached.includes(key)) &&
    (url === undefined ? isText(command) && command !== '' : isAddress(url)) &&
    (type === 'http' || type === 'sse') &&
    isList(args, isText) &&
    isTexts(env) &&
    isTexts(headers)
  )
}

/** Whether it says whose models there are. */
export function isModels(value: unknown): boolean {
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

function isTexts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isText)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0')
}
