// Runs the tests, and a failed file once more, alone, if it may be the machine's fault:
//
//     node .ci/again.mjs COMMAND ARGS...
//
// Only files that start processes or a browser depend on how a busy machine divides its time. Such a file may pass the
// second time; it is then printed under `unsteady:`, and the whole output of both runs stays in the log. Every other
// failed file is a failure at once, as is a violation of an invariant, an error outside of tests, and a third unsteady file.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Folders of such files. The core, the simulation and the judges are not among them. */
const processes = [
  'packages/adapters/',
  'packages/cli/',
  'packages/web/src/scenarios/',
  'proof/src/agents/',
  'proof/src/postgres/',
  'proof/src/vscode/',
  'conformance/',
  'bench/',
  'test/',
]
const most = 2
const invariant = /\bI\d{1,2}\b[^]*\b(?:violat|lost|doubled|reordered)|violation/

const [program, ...args] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'atrium-again-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const first = run('first', [])
if (first.code === 0) process.exit(0)
const failed = first.report.files.filter((file) => file.failed)
const names = failed.map((file) => file.name)
const reason = redAtOnce()
if (reason !== undefined) stop(`${reason}: not run again`)
for (const name of names) {
  console.log(`\nunsteady? ${name} failed; it is run once more, alone`)
  if (run('second', [name]).code !== 0) stop(`${name} failed twice`)
}
console.log(`\nunsteady: ${names.join(' ')}`)
console.log(
  'Each failed in the whole run and passed alone. Find the cause in the product or in the test, and cure it.',
)

function redAtOnce() {
  if (first.report.errors.length > 0) return 'an error came from outside of tests'
  if (failed.length === 0) return 'the run failed outside of tests'
  if (failed.length > most) return `${failed.length} files failed, more than ${most}`
  const other = names.find((name) => !processes.some((folder) => name.startsWith(folder)))
  if (other !== undefined) return `${other} starts no process`
  const messages = failed.flatMap((file) => file.messages)
  return messages.some((message) => invariant.test(message)) ? 'an invariant is violated' : undefined
}

/** Runs the command with these files. Without a report, the run ended before its tests did. */
function run(name, files) {
  const file = join(folder, `${name}.json`)
  const env = { ...process.env, ATRIUM_REPORT: file }
  const { status } = spawnSync(program, [...args, ...files], { stdio: 'inherit', env })
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { files: [], errors: [] }
  return { code: status ?? 1, report }
}

function stop(text) {
  console.log(`\nfailed: ${text}`)
  process.exit(1)
}
