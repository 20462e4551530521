import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Login, Target } from './kit/link.ts'
import { Unreachable } from './kit/host-facts.ts'
import { headingOf, jsonOf, lineOf, summaryOf } from './kit/report.ts'
import { runRules } from './kit/run.ts'
import type { RunOptions } from './kit/run.ts'
import { chosenTopics, topics } from './rules/all.ts'

/** The command line is wrong. The message is one sentence. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** `conformance host …`: judges a host and returns the exit code. */
export async function judgeHost(
  args: readonly string[],
  out: (text: string) => void,
  err: (text: string) => void,
): Promise<number> {
  try {
    const { target, options, json } = parseOptions(args)
    const verdicts = await runRules(target, { ...options, ...(!json && printer(out)) })
    out(json ? JSON.stringify(jsonOf(target.url, verdicts), null, 2) : summaryOf(verdicts))
    return verdicts.some(({ outcome }) => outcome === 'fail') ? 1 : 0
  } catch (error) {
    if (error instanceof UsageError) err(`conformance: ${error.message}`)
    else if (error instanceof Unreachable) err(`conformance: cannot connect: ${error.message}`)
    else throw error
    return 2
  }
}

/** Prints each verdict as it comes, under a heading for each version. */
function printer(out: (text: string) => void): Pick<RunOptions, 'onVersion' | 'onVerdict'> {
  return {
    onVersion: (facts, habits) => out(headingOf(facts, habits)),
    onVerdict: (verdict) => out(lineOf(verdict)),
  }
}

const flags = {
  url: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  versions: { type: 'string' },
  rules: { type: 'string' },
  provider: { type: 'string' },
  model: { type: 'string' },
  login: { type: 'string', multiple: true },
  'session-uri': { type: 'string' },
  'chat-uri': { type: 'string' },
  'session-params': { type: 'string' },
  'tool-prompt': { type: 'string' },
  'form-prompt': { type: 'string' },
  'worker-prompt': { type: 'string' },
  timeout: { type: 'string' },
  'turn-timeout': { type: 'string' },
  json: { type: 'boolean' },
} as const

function parseOptions(args: readonly string[]): { target: Target; options: RunOptions; json: boolean } {
  const values = parseFlags(args)
  const { url, versions, rules, provider, model, login = [], json = false } = values
  const timeoutMs = milliseconds(values, 'timeout') ?? 5000
  const turnTimeoutMs = milliseconds(values, 'turn-timeout')
  const chosen = rules === undefined ? topics : chosenTopics(rules.split(','))
  if (chosen.length === 0) throw new UsageError(`no rule or topic is called ${rules}`)
  return {
    target: {
      url: checkedUrl(url),
      token: tokenOf(values),
      logins: login.map(loginOf),
      timeoutMs,
      turnTimeoutMs,
    },
    options: {
      versions: versions === undefined ? undefined : checkedVersions(versions),
      topics: chosen,
      provider,
      forms: { sessionForm: formOf(values, 'session-uri'), chatForm: formOf(values, 'chat-uri') },
      sessionParams: objectOf(values['session-params']),
      model,
      toolPrompt: values['tool-prompt'],
      formPrompt: values['form-prompt'],
      workerPrompt: values['worker-prompt'],
    },
    json,
  }
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function milliseconds(
  values: ReturnType<typeof parseFlags>,
  flag: 'timeout' | 'turn-timeout',
): number | undefined {
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

function tokenOf({ token, 'token-file': file }: ReturnType<typeof parseFlags>): string | undefined {
  if (token !== undefined && file !== undefined)
    throw new UsageError('--token and --token-file cannot be used together')
  return file === undefined ? token : contentOf(file)
}

/** RESOURCE=TOKEN, or RESOURCE=@FILE for a token in a file. The URI of a resource may contain `=` itself. */
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

function formOf(values: ReturnType<typeof parseFlags>, flag: 'session-uri' | 'chat-uri'): string | undefined {
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
    // The same sentence as for another kind of JSON follows.
  }
  throw new UsageError('--session-params must be a JSON object')
}
