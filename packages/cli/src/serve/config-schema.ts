/** Whether a value is a valid `agents` setting: agent programs by name. */
export function isAgents(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(([name, each]) => isName(name) && !builtIn.has(name) && isAgent(each))
  )
}

/** The names of the built-in agents. A session identifies its agent by name, so no other agent may use these. */
const builtIn: ReadonlySet<string> = new Set(['atrium', 'guide'])

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
    actsWithoutAsking,
    ...others
  } = value
  return (
    // Unknown keys are refused: a misspelt one would silently do nothing.
    Object.keys(others).length === 0 &&
    [command, displayName].every((each) => each === undefined || (isText(each) && each !== '')) &&
    isList(args, isText) &&
    isList(variables, isText) &&
    isTexts(env) &&
    [memoryMb, turnMinutes].every((each) => each === undefined || (typeof each === 'number' && each > 0)) &&
    [disabled, actsWithoutAsking].every((each) => each === undefined || typeof each === 'boolean')
  )
}

/** Whether a value is a valid `mcpServers` setting: MCP servers by name. */
export function isServers(value: unknown): boolean {
  return isObject(value) && Object.entries(value).every(([name, each]) => isName(name) && isServer(each))
}

function isServer(value: unknown): boolean {
  if (!isObject(value)) return false
  const { command, args = [], env = {}, url, type = 'http', headers = {}, oauthClient } = value
  const allowed = url === undefined ? ['command', 'args', 'env'] : ['url', 'type', 'headers', 'oauthClient']
  return (
    Object.keys(value).every((key) => allowed.includes(key)) &&
    (url === undefined ? isText(command) && command !== '' : isAddress(url)) &&
    (type === 'http' || type === 'sse') &&
    isList(args, isText) &&
    isTexts(env) &&
    isTexts(headers) &&
    (oauthClient === undefined || isOAuthClient(oauthClient))
  )
}

/** Whether a value is a client that was registered by hand at an authorization server. */
function isOAuthClient(value: unknown): boolean {
  if (!isObject(value)) return false
  const { clientId, clientSecret = '', ...others } = value
  return isText(clientId) && clientId !== '' && isText(clientSecret) && Object.keys(others).length === 0
}

/** Whether a value is a valid `notifications` setting: origins, and a contact. */
export function isNotifications(value: unknown): boolean {
  if (!isObject(value)) return false
  const { allow = [], contact = 'mailto:', ...others } = value
  return (
    Object.keys(others).length === 0 &&
    isList(
      allow,
      (each) => typeof each === 'string' && URL.canParse(each) && new URL(each).origin === each,
    ) &&
    typeof contact === 'string' &&
    /^(?:mailto:|https:\/\/)/.test(contact)
  )
}

/** Whether a value is a valid `models` setting: model providers, their models, and the default model. */
export function isModels(value: unknown): boolean {
  if (!isObject(value)) return false
  const { anthropic = {}, openai = {}, compatible = {}, default: defaultModel = '' } = value
  return (
    [anthropic, openai].every((provider) => provider === false || isProvider(provider)) &&
    isObject(compatible) &&
    Object.entries(compatible).every(
      ([name, provider]) =>
        isName(name) &&
        !knownProviders.has(name) &&
        isProvider(provider) &&
        isObject(provider) &&
        'baseUrl' in provider,
    ) &&
    isText(defaultModel)
  )
}

const knownProviders: ReadonlySet<string> = new Set(['anthropic', 'openai'])

function isProvider(value: unknown): boolean {
  if (!isObject(value)) return false
  const { baseUrl, apiKeyVariable = '', models = [] } = value
  return (
    (baseUrl === undefined || isModelAddress(baseUrl)) &&
    isText(apiKeyVariable) &&
    isList(models, (model) => isText(model) || isModel(model))
  )
}

/**
 * Whether a value is an HTTP address without credentials. Every client can read the address, so it must hold no
 * secret.
 */
function isAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** Whether a value is an address of a model API. A query could be a key. No path can be added behind it, either. */
function isModelAddress(value: unknown): boolean {
  return isAddress(value) && !/[?#]/.test(String(value))
}

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
  } = value
  return (
    isText(id) &&
    id !== '' &&
    isText(name) &&
    [maxContextWindow, maxOutputTokens].every((each) => Number.isInteger(each) && Number(each) > 0) &&
    typeof supportsVision === 'boolean' &&
    isList(efforts, isText) &&
    (price === undefined || isPrice(price))
  )
}

function isPrice(value: unknown): boolean {
  if (!isObject(value)) return false
  const { input, output, cacheRead = 0, cacheWrite = 0 } = value
  return [input, output, cacheRead, cacheWrite].every((each) => typeof each === 'number' && each >= 0)
}

/** Whether a value is a valid `agentProcesses` setting: how many idle processes are kept, and for how long. */
export function isProcesses(value: unknown): boolean {
  if (!isObject(value)) return false
  const { idleMinutes = 1, maxIdle = 0, ...others } = value
  return (
    Object.keys(others).length === 0 &&
    typeof idleMinutes === 'number' &&
    idleMinutes > 0 &&
    idleMinutes <= 10_000 &&
    Number.isInteger(maxIdle) &&
    Number(maxIdle) >= 0
  )
}

/** Whether a value is a valid `captures` setting: how much is kept of the files that turns change. */
export function isCaptures(value: unknown): boolean {
  if (value === false) return true
  if (!isObject(value)) return false
  const { sessionMb = 1, allMb = 1, ...others } = value
  return (
    Object.keys(others).length === 0 &&
    [sessionMb, allMb].every((each) => typeof each === 'number' && each > 0 && Number.isFinite(each))
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
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
