import { runFixtures } from './fixtures.ts'
import type { SetResult } from './fixtures.ts'

const usage = `usage: npm run conformance -- fixtures FOLDER

  fixtures FOLDER   run the published AHP fixtures in FOLDER against this build's protocol package
`

const [command, folder] = process.argv.slice(2)
if (command === 'fixtures' && folder !== undefined) fixtures(folder)
else {
  process.stderr.write(usage)
  process.exitCode = command === undefined || command === '--help' ? 0 : 2
}

function fixtures(path: string): void {
  let results: readonly SetResult[]
  try {
    results = runFixtures(path)
  } catch (error) {
    process.stderr.write(`conformance: ${(error as Error).message}\n`)
    process.exitCode = 2
    return
  }
  for (const { version, kind, judged, cases, passed, changed, failures } of results) {
    const name = `${version} ${kind}`.padEnd(24)
    const counts = `${passed} passed, ${changed} changed by a later version, ${failures.length} failed`
    console.log(
      `${name} ${String(cases).padStart(4)} cases: ${judged ? counts : 'an older generation, not judged'}`,
    )
    for (const failure of failures) console.log(`  FAILED ${failure}`)
  }
  const passed = results.reduce((sum, result) => sum + result.passed + result.changed, 0)
  const failed = results.reduce((sum, result) => sum + result.failures.length, 0)
  console.log(`fixtures: ${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}
