import { runFixtures } from './fixtures.ts'
import type { SetResult } from './fixtures.ts'
import { judgeHost } from './host.ts'

const usage = `usage: npm run conformance -- host --url URL [options]
       npm run conformance -- fixtures FOLDER

  host              judge the AHP host at URL by black-box rules: exit 0 none failed, 1 some did, 2 no host
    --url URL         ws:// or wss://; a query such as ?tkn=TOKEN is sent as it is
    --token TOKEN     sent as Authorization: Bearer
    --token-file F    the same, read from a file
    --versions A,B    the versions to offer (default: those that the kit can judge)
    --rules K12,K6    only these: an id, the beginning of ten ids, or a topic
    --provider ID     the agent to create sessions with (default: the first that needs no login)
    --model ID        the model that turns ask for (default: what the agent takes)
    --tool-prompt T   what makes the agent ask before it uses a tool (default: rules that need it are skipped)
    --form-prompt T   the same for questions that it puts to people
    --worker-prompt T the same for a chat that a tool of it begins
    --timeout S       how long to wait for what never comes (default 5)
    --turn-timeout S  the same for the end of a turn (default 60)
    --json            one JSON document instead of a table
  fixtures FOLDER   run the published AHP fixtures in FOLDER against this build's protocol package
`

const [command, ...rest] = process.argv.slice(2)
const [folder] = rest
if (command === 'host' && !rest.includes('--help'))
  process.exitCode = await judgeHost(
    rest,
    (text) => process.stdout.write(`${text}\n`),
    (text) => process.stderr.write(`${text}\n`),
  )
else if (command === 'fixtures' && folder !== undefined) fixtures(folder)
else {
  process.stderr.write(usage)
  process.exitCode = command === undefined || [command, ...rest].includes('--help') ? 0 : 2
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
