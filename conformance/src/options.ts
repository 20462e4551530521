import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Unreachable } from './kit/host-facts.ts'
import type { NamedForms } from './kit/habits.ts'
import type { SessionOptions } from './kit/kit.ts'
import type { Login, Target } from './kit/link.ts'

/** Thrown if the command line is wrong. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The flags of every command that judges a host. */
const commonFlags = {
  url: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  versions: { type: 'string' },
  provider: { type: 'string' },
  model: { type: 'string' },
  login: { type: 'string', multiple: true },
  'session-uri': { type: 'string' },
  'chat-uri': { type: 'string' },
  'session-params': { type: 'string' },
  'tool-prompt': { type: 'string' },
  'form-prompt': { type: 'string' },
  timeout: { type: 'string' },
  'turn-timeout': { type: 'string' },
  json: { type: 'boolean' },
} as const

/** The values of the flags that every command has. */
export interface CommonOptions extends SessionOptions {
  readonly versions: readonly string[] | undefined
  readonly provider: string | undefined
  readonly forms: NamedForms
}

export interface CommandLine {
  readonly target: Target
  readonly options: CommonOptions
  readonly json: boolean
  /** The values of the flags that only this command has. */
  readonly own: { readonly [flag: string]: string | undefined }
}

/** Reads a command line. `ownFlags` are flags with a value that only this command has. */
export function readCommandLine(args: readonly string[], ownFlags: readonly string[]): CommandLine {
  const { values, own } = parseFlags(args, ownFlags)
  const { url, versions, provider, model, login = [], json = false } = values
  return {
    target: {
      url: checkedUrl(url),
      token: tokenOf(values),
      logins: login.map(loginOf),
      timeoutMs: milliseconds(values, 'timeout') ?? 5000,
      turnTimeoutMs: milliseconds(values, 'turn-timeout'),
    },
    options: {
      versions: versions === undefined ? undefined : checkedVersions(versions),
      provider,
      forms: { sessionForm: formOf(values, 'session-uri'), chatForm: formOf(values, 'chat-uri') },
      sessionParams: objectOf(values['session-params']),
      model,
      toolPrompt: values['tool-prompt'],
      formPrompt: values['form-prompt'],
    },
    json,
    own,
  }
}

/**
 * Runs a command and returns its exit code. If the usage is wrong or the host cannot be reached, prints one sentence
 * to the error output and returns 2.
 */
export async function exitCodeOf(
  command: () => Promise<number>,
  err: (text: string) => void,
): Promise<number> {
  try {
    return await command()
  } catch (error) {
    if (error instanceof UsageError) err(`conformance: ${error.message}`)
    else if (error instanceof Unreachable) err(`conformance: cannot connect: ${error.message}`)
    else throw error
    return 2
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof commonFlags }>>['values']

function parseFlags(
  args: readonly string[],
  ownFlags: readonly string[],
): { values: Values; own: CommandLine['own'] } {
  const ownOptions = Object.fromEntries(ownFlags.map((flag) => [flag, { type: 'string' as const }]))
  try {
    const { values } = parseArgs({ args: [...args], options: { ...ownOptions, ...commonFlags } })
    // Every own flag takes a value, so its value is a text.
    const own = ownFlags.map((flag) => [
      flag,
      (values as Record<string, unknown>)[flag] as string | undefined,
    ])
    return { values: values as Values, own: Object.fromEntries(own) as CommandLine['own'] }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function milliseconds(values: Values, flag: 'timeout' | 'turn-timeout'): number | undefined {
  const text = values[flag]
  if (text === undefined) return undefined
  const ms = Number(text) * 1000
  if (!(ms > 0)) throw new UsageError(`--${flag} must be a positive number of seconds, not ${text}`)
  return ms
}

function checkedUrl(url: string | undefined): string {
  if (url === undefined)
    throw new UsageError('--url is missing; it names the host to judge, for example ws://127.0.0.1:7433')
  if (!URL.canParse(url) || !/^wss?:$/.test(new URL(url).protocol))
    throw new UsageError('--url must be a ws:// or wss:// address')
  return url
}

function checkedVersions(text: string): readonly string[] {
  const versions = text.split(',')
  const malformed = versions.find((version) => !/^\d+\.\d+\.\d+$/.test(version))
  if (malformed !== undefined)
    throw new UsageError(`--versions must be a list of MAJOR.MINOR.PATCH, not ${JSON.stringify(malformed)}`)
  return versions
}

function tokenOf({ token, 'token-file': file }: Values): string | undefined {
  if (token !== undefined && file !== undefined)
    throw new UsageError('--token and --token-file cannot be used together')
  return file === undefined ? token : contentOf(file)
}

/**
 * Reads a login: RESOURCE=TOKEN, or RESOURCE=@FILE for a token in a file. The URI of a resource may contain `=`
 * itself.
 */
function loginOf(text: string): Login {
  const at = text.lastIndexOf('=')
  const [resource, token] = [text.slice(0, at), text.slice(at + 1)]
  if (!URL.canParse(resource) || token === '')
    throw new UsageError('--login must be RESOURCE=TOKEN or RESOURCE=@FILE, where RESOURCE is a URI')
  return { resource, token: token.startsWith('@') ? contentOf(token.slice(1)) : token }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function formOf(values: Values, flag: 'session-uri' | 'chat-uri'): string | undefined {
  const form = values[flag]
  if (form === undefined || form.includes('{id}')) return form
  throw new UsageError(`--${flag} must contain {id}, as in ahp-session:/{id}, not ${form}`)
}

function objectOf(text: string | undefined): object | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // A text that is not JSON gets the same error as a JSON value that is no object.
  }
  throw new UsageError('--session-params must be a JSON object')
}
