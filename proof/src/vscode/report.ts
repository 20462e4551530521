import type { Outcome } from './step.ts'

/** Returns the line of a step. The reason of a failure and refusals by the host follow on lines of their own. */
export function line({ name, seconds, failure, refused }: Outcome, number: number): string {
  const head = `${failure === undefined ? 'pass' : 'FAIL'}  ${String(number).padStart(2)}  ${name} (${seconds} s)`
  const details = [...(failure === undefined ? [] : [failure]), ...refused.map((each) => `refused: ${each}`)]
  return [head, ...details.map((each) => `          ${shortened(each)}`)].join('\n')
}

/** Returns the last line: how many steps passed. */
export function summary(outcomes: readonly Outcome[]): string {
  const passed = outcomes.filter(({ failure }) => failure === undefined).length
  return `${passed} of ${outcomes.length} steps passed`
}

/** Returns the line that is printed if there is no workbench. */
export function skipped(steps: number): string {
  return `skipped: no VS Code workbench (${steps} steps)`
}

/** Whether at least one step ran and none failed. */
export function allPassed(outcomes: readonly Outcome[]): boolean {
  return outcomes.length > 0 && outcomes.every(({ failure }) => failure === undefined)
}

function shortened(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  return flat.length > 600 ? `${flat.slice(0, 599)}…` : flat
}
