import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** A test file after a run. */
export interface FileReport {
  /** Its path in the repository. */
  readonly name: string
  readonly failed: boolean
  /** The time of its tests and hooks, and that of loading its modules. */
  readonly milliseconds: { readonly tests: number; readonly modules: number }
  /** Messages of all that failed in it. */
  readonly messages: readonly string[]
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
    milliseconds: { tests: Math.round(duration), modules: Math.round(collectDuration + setupDuration) },
    messages: errors.map((error) => error.message),
  }
}

/** The dearest files first. The workers share the cores, so the seconds of all files are more than those of the run. */
function timeTable(files: readonly FileReport[], rows: number): string {
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1).padStart(8)
  const sum = (of: readonly FileReport[], part: 'tests' | 'modules') =>
    of.reduce((total, file) => total + file.milliseconds[part], 0)
  const row = (of: readonly FileReport[], name: string) =>
    `${seconds(sum(of, 'tests'))}${seconds(sum(of, 'modules'))}  ${name}`
  const dearest = files.toSorted((a, b) => b.milliseconds.tests - a.milliseconds.tests).slice(0, rows)
  return [
    `${'tests'.padStart(8)}${'modules'.padStart(8)}  seconds of`,
    ...dearest.map((file) => row([file], file.name)),
    row(files, `all ${files.length} files`),
  ].join('\n')
}
