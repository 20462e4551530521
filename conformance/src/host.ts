import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Target } from './kit/link.ts'
import { Unreachable } from './kit/offer.ts'
import { jsonOf, lineOf, summaryOf } from './kit/report.ts'
import { judged, runRules } from './kit/run.ts'
import type { RunOptions, Verdict } from './kit/run.ts'
import { chosenTopics, topics } from './rules/all.ts'

/** What was typed cannot be done, as a sentence. */
class Mistyped extends Error {
  override readonly name = 'Mistyped'
}

/** `conformance host …`: judges a host and gives the exit code. */
export async function judgeHost(
  args: readonly string[],
  out: (text: string) => void,
  err: (text: string) => void,
): Promise<number> {
  try {
    const { target, options, json } = asked(args)
    const verdicts = await runRules(target, { ...options, ...(!json && { told: telling(options, out) }) })
    out(json ? JSON.stringify(jsonOf(target.url, verdicts), null, 2) : summaryOf(verdicts))
    return verdicts.some(({ outcome }) => outcome === 'fail') ? 1 : 0
  } catch (error) {
    if (error instanceof Mistyped) err(`conformance: ${error.message}`)
    else if (error instanceof Unreachable) err(`conformance: cannot connect: ${error.message}`)
    else throw error
    return 2
  }
}

/** A line as soon as a rule is judged; with several versions, under the name of each. */
function telling({ versions }: RunOptions, out: (text: string) => void): (verdict: Verdict) => void {
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

function asked(args: readonly string[]): { target: Target; options: RunOptions; json: boolean } {
  const values = parsed(args)
  const { url, versions, rules, provider, model, json = false } = values
  const timeoutMs = milliseconds(values, 'timeout') ?? 5000
  const turnMs = milliseconds(values, 'turn-timeout')
  const wanted = rules === undefined ? topics : chosenTopics(rules.split(','))
  if (wanted.length === 0) throw new Mistyped(`no rule is called ${rules}`)
  return {
    target: { url: checkedUrl(url), token: tokenOf(values), timeoutMs, turnMs },
    options: {
      versions: versions === undefined ? judged : checkedVersions(versions),
      topics: wanted,
      provider,
      model,
      toolPrompt: values['tool-prompt'],
      formPrompt: values['form-prompt'],
      workerPrompt: values['worker-prompt'],
    },
    json,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags }).values
  } catch (error) {
    throw new Mistyped((error as Error).message)
  }
}

function milliseconds(
  values: ReturnType<typeof parsed>,
  flag: 'timeout' | 'turn-timeout',
): number | undefined {
  const text = values[flag]
  if (text === undefined) return undefined
  const given = Number(text) * 1000
  if (!(given > 0)) throw new Mistyped(`--${flag} is a number of seconds, not ${text}`)
  return given
}

function checkedUrl(url: string | undefined): string {
  if (url === undefined) throw new Mistyped('--url says which host to judge, for example ws://127.0.0.1:7433')
  if (!URL.canParse(url) || !/^wss?:$/.test(new URL(url).protocol))
    throw new Mistyped('--url is a ws:// or wss:// address')
  return url
}

function checkedVersions(text: string): readonly string[] {
  const versions = text.split(',')
  const odd = versions.find((version) => !/^\d+\.\d+\.\d+$/.test(version))
  if (odd !== undefined)
    throw new Mistyped(`--versions is a list of MAJOR.MINOR.PATCH, not ${JSON.stringify(odd)}`)
  return versions
}

function tokenOf({ token, 'token-file': file }: ReturnType<typeof parsed>): string | undefined {
  if (token !== undefined && file !== undefined)
    throw new Mistyped('--token and --token-file exclude each other')
  if (file === undefined) return token
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Mistyped((error as Error).message)
  }
}
