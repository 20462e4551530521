import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Target } from './kit/link.ts'
import { Unreachable } from './kit/host-facts.ts'
import { jsonOf, lineOf, summaryOf } from './kit/report.ts'
import { judgedVersions, runRules } from './kit/run.ts'
import type { RunOptions, Verdict } from './kit/run.ts'
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
    const onVerdict = json ? undefined : verdictPrinter(options, out)
    const verdicts = await runRules(target, { ...options, ...(onVerdict && { onVerdict }) })
    out(json ? JSON.stringify(jsonOf(target.url, verdicts), null, 2) : summaryOf(verdicts))
    return verdicts.some(({ outcome }) => outcome === 'fail') ? 1 : 0
  } catch (error) {
    if (error instanceof UsageError) err(`conformance: ${error.message}`)
    else if (error instanceof Unreachable) err(`conformance: cannot connect: ${error.message}`)
    else throw error
    return 2
  }
}

/** Prints each verdict as it comes. With several versions, a heading names each version. */
function verdictPrinter({ versions }: RunOptions, out: (text: string) => void): (verdict: Verdict) => void {
  let current: string | undefined
  return (verdict) => {
    if (versions.length > 1 && current !== verdict.version) out(`AHP ${verdict.version}`)
    current = verdict.version
    out(lineOf(verdict))
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
  'tool-prompt': { type: 'string' },
  'form-prompt': { type: 'string' },
  'worker-prompt': { type: 'string' },
  timeout: { type: 'string' },
  'turn-timeout': { type: 'string' },
  json: { type: 'boolean' },
} as const

function parseOptions(args: readonly string[]): { target: Target; options: RunOptions; json: boolean } {
  const values = parseFlags(args)
  const { url, versions, rules, provider, model, json = false } = values
  const timeoutMs = milliseconds(values, 'timeout') ?? 5000
  const turnTimeoutMs = milliseconds(values, 'turn-timeout')
  const chosen = rules === undefined ? topics : chosenTopics(rules.split(','))
  if (chosen.length === 0) throw new UsageError(`no rule or topic is called ${rules}`)
  return {
    target: { url: checkedUrl(url), token: tokenOf(values), timeoutMs, turnTimeoutMs },
    options: {
      versions: versions === undefined ? judgedVersions : checkedVersions(versions),
      topics: chosen,
      provider,
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
  if (file === undefined) return token
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
