import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { argumentsOf } from '../arguments.ts'
import { findLab } from './lab.ts'
import type { Lab } from './lab.ts'
import { allPassed, line, skipped, summary } from './report.ts'
import { Stage } from './stage.ts'
import { play } from './step.ts'
import type { Outcome, Step } from './step.ts'
import { steps } from './steps/steps.ts'
import { patience } from './wait.ts'

const usage = `usage: npm run vscode [-- --out DIR] [--only PART,PART] [--patience SECONDS] [--keep]

Drives VS Code's own workbench against the real host, and checks each step.
--patience is how long a step waits for a state: 60 seconds, or more on a busy machine.
--only runs the steps whose names contain one of the parts. Names:
${steps.map(({ name }) => `  ${name}`).join('\n')}`

const { values } = argumentsOf(
  {
    options: {
      only: { type: 'string' },
      out: { type: 'string' },
      patience: { type: 'string', default: '60' },
      keep: { type: 'boolean', default: false },
    },
  },
  usage,
)

// On a signal, exits by a call of `exit`, so that the exit handlers kill all child processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
process.exit(await run())

async function run(): Promise<number> {
  const seconds = Number(values.patience)
  if (!(seconds > 0)) return refuse()
  patience.ms = seconds * 1000
  const only = values.only?.split(',')
  const chosen = only ? steps.filter(({ name }) => only.some((part) => name.includes(part))) : steps
  if (chosen.length === 0) return refuse()
  try {
    const lab = findLab(process.env)
    if (lab) return await drive(lab, chosen)
  } catch (error) {
    console.error(`vscode: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
  console.log(skipped(chosen.length))
  return 0
}

async function drive(lab: Lab, chosen: readonly Step[]): Promise<number> {
  const out =
    values.out === undefined ? mkdtempSync(join(tmpdir(), 'atrium-vscode-out-')) : resolve(values.out)
  const stage = new Stage(out)
  const outcomes: Outcome[] = []
  try {
    await stage.start(lab)
    for (const [index, step] of chosen.entries()) {
      const outcome = await play(step, stage, index + 1)
      outcomes.push(outcome)
      console.log(line(outcome, index + 1))
    }
  } finally {
    await stage.cleanUp(values.keep)
  }
  writeFileSync(join(out, 'outcomes.json'), JSON.stringify(outcomes, null, 2))
  console.log(`\n${summary(outcomes)}; pictures and frames are in ${out}`)
  return allPassed(outcomes) ? 0 : 1
}

function refuse(): number {
  console.error(usage)
  return 2
}
