import { runFixtures, versionsWithoutCases } from './fixtures.ts'
import type { SetResult } from './fixtures.ts'
import { judgeHost } from './host.ts'
import { listOf } from './kit/report.ts'
import { chosenTopics, topics } from './rules/all.ts'
import { judgeVersions } from './versions/command.ts'

const usage = `usage: npm run conformance -- host --url URL [options]
       npm run conformance -- versions --url URL [options]
       npm run conformance -- rules [K12 | K6 | TOPIC]...
       npm run conformance -- fixtures FOLDER

  host              judge the AHP host at URL by black-box rules; exit code 0: no rule failed, 1: some rules failed,
                    2: wrong usage, or no connection
    --url URL         ws:// or wss://; a query such as ?tkn=TOKEN is sent unchanged
    --token TOKEN     sent as Authorization: Bearer
    --token-file F    read the token from a file
    --versions A,B    the versions to judge (default: the one that the host selects from 1.0.0, 0.10.0 and 0.9.0)
    --rules K12,K6    run only these: an id, the common start of ten ids, or a topic
    --provider ID     the agent to create sessions with (default: the first that needs no login)
    --login R=TOKEN   a token for the protected resource R; R=@FILE reads it from a file; may be repeated
    --session-uri F   the form of new session URIs: ahp-session:/{id} or {provider}:/{id} (default: found by trying)
    --chat-uri F      the form of new chat URIs, such as ahp-chat:/{id} or ahp-chat://{id}/{session}
    --session-params J  more params of createSession, as a JSON object
    --model ID        the model that turns ask for (default: the agent chooses)
    --tool-prompt T   a message that makes the agent ask for approval of a tool call
    --form-prompt T   a message that makes the agent ask the user questions
    --worker-prompt T a message that makes the agent start a chat by a tool
                      (rules that need a missing prompt are skipped)
    --timeout S       seconds to wait for each expected message (default 5)
    --turn-timeout S  seconds to wait for the end of a turn (default 60)
    --json            print one JSON document instead of a table
  versions          put a client of each version of AHP into one session of the host at URL, and print which of them can do and
                    see what; the options are those of host, except --rules and --worker-prompt
    --versions A,B    the versions that the host must speak (default: 0.1.0 to 1.0.0, without those that it refuses)
    --features A,B    only these rows, such as prompt,approve
  rules             print the rules of host, all or these: each with its topic, level, first version, title and source
  fixtures FOLDER   run the published AHP fixtures in FOLDER: the reducers of each version on its cases, and the
                    round trips of its values
`

const [command, ...rest] = process.argv.slice(2)
const [folder] = rest
const judges = new Map([
  ['host', judgeHost],
  ['versions', judgeVersions],
])
const judge = judges.get(command ?? '')
if (judge && !rest.includes('--help'))
  process.exitCode = await judge(
    rest,
    (text) => process.stdout.write(`${text}\n`),
    (text) => process.stderr.write(`${text}\n`),
  )
else if (command === 'rules' && !rest.includes('--help'))
  console.log(listOf(rest.length === 0 ? topics : chosenTopics(rest)))
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
  for (const { version, kind, by, cases, passed, changed, failures } of results) {
    const name = `${version} ${kind}${by === version ? '' : ` by ${by}`}`.padEnd(30)
    const later = changed > 0 ? `${changed} changed by a later version, ` : ''
    console.log(
      `${name} ${String(cases).padStart(4)} cases: ${passed} passed, ${later}${failures.length} failed`,
    )
    for (const failure of failures) console.log(`  FAILED ${failure}`)
  }
  const without = versionsWithoutCases(results)
  if (without.length > 0)
    console.log(
      `no reducer cases of ${without.join(', ')}: only the tests of the protocol package hold their reducers`,
    )
  const passed = results.reduce((sum, result) => sum + result.passed + result.changed, 0)
  const failed = results.reduce((sum, result) => sum + result.failures.length, 0)
  console.log(`fixtures: ${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}
