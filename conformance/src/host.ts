import { headingOf, jsonOf, lineOf, summaryOf } from './kit/report.ts'
import { runRules } from './kit/run.ts'
import type { RunOptions } from './kit/run.ts'
import { UsageError, exitCodeOf, readCommandLine } from './options.ts'
import { chosenTopics, topics } from './rules/all.ts'

/** `conformance host …`: judges a host and returns the exit code. */
export async function judgeHost(
  args: readonly string[],
  out: (text: string) => void,
  err: (text: string) => void,
): Promise<number> {
  return exitCodeOf(async () => {
    const { target, options, json, own } = readCommandLine(args, ['rules', 'worker-prompt'])
    const chosen = own['rules'] === undefined ? topics : chosenTopics(own['rules'].split(','))
    if (chosen.length === 0) throw new UsageError(`no rule or topic is called ${own['rules']}`)
    const verdicts = await runRules(target, {
      ...options,
      topics: chosen,
      workerPrompt: own['worker-prompt'],
      ...(!json && printer(out)),
    })
    out(json ? JSON.stringify(jsonOf(target.url, verdicts), null, 2) : summaryOf(verdicts))
    return verdicts.some(({ outcome }) => outcome === 'fail') ? 1 : 0
  }, err)
}

/** Prints each verdict as it comes, under a heading for each version. */
function printer(out: (text: string) => void): Pick<RunOptions, 'onVersion' | 'onVerdict'> {
  return {
    onVersion: (facts, habits) => out(headingOf(facts, habits)),
    onVerdict: (verdict) => out(lineOf(verdict)),
  }
}
