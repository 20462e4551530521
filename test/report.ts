import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** A test file after a run. */
export interface FileReport {
  /** Its path in the repository. */
  readonly name: string
  readonly failed: boolean
  /** What it took. */
  readonly milliseconds: Milliseconds
  /** Messages of all that failed in it. */
  readonly messages: readonly string[]
}

/** The time of tests and hooks and that of loading modules, by the clock; and the CPU time of all that and of ended programs. */
interface Milliseconds {
  readonly tests: number
  readonly modules: number
  readonly cpu: number
}

export interface Report {
  readonly files: readonly FileReport[]
  /** Messages of errors outside of tests. */
  readonly errors: readonly string[]
}

/** What a run says beside its usual output: `ATRIUM_REPORT` names a file for it, `ATRIUM_TIMES=40` prints the forty dearest files. */
export default class ReportWriter implements Reporter {
  readonly #path = process.env['ATRIUM_REPORT']
  readonly #rows = Number(process.env['ATRIUM_TIMES'] ?? 0)

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const report: Report = {
      files: modules.map(fileReport),
      errors: errors.map((error) => `${error.message}\n${error.stack ?? ''}`),
    }
    if (this.#path) writeFileSync(this.#path, JSON.stringify(report))
    if (this.#rows > 0) console.log(timeTable(report.files, this.#rows))
  }
}

function fileReport(module: TestModule): FileReport {
  const { duration, collectDuration, setupDuration } = module.diagnostic()
  const results = [...module.children.allTests('failed')].map((test) => test.result())
  const errors = [...module.errors(), ...results.flatMap((result) => result.errors ?? [])]
  return {
    name: module.relativeModuleId,
    failed: !module.ok(),
    milliseconds: {
      tests: Math.round(duration),
      modules: Math.round(collectDuration + setupDuration),
      cpu: Math.round(module.meta().cpu ?? 0),
    },
    messages: errors.map((error) => error.message),
  }
}

/** The files that took the most CPU time first. The workers share the cores, so the seconds by the clock are more than those of the run. */
function timeTable(files: readonly FileReport[], rows: number): string {
  const parts = ['cpu', 'tests', 'modules'] as const
  const row = (of: readonly FileReport[], name: string) => {
    const sums = parts.map((part) => of.reduce((sum, file) => sum + file.milliseconds[part], 0) / 1000)
    return `${sums.map((seconds) => seconds.toFixed(1).padStart(8)).join('')}  ${name}`
  }
  const dearest = files.toSorted((a, b) => b.milliseconds.cpu - a.milliseconds.cpu).slice(0, rows)
  return [
    `${parts.map((part) => part.padStart(8)).join('')}  seconds of`,
    ...dearest.map((file) => row([file], file.name)),
    row(files, `all ${files.length} files`),
  ].join('\n')
}
