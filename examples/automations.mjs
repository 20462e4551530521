// A client of 1.0 creates an automation, which runs every minute. Its first run asks for an approval, and a client of 0.1 approves it.
// The host is killed at the instant at which the next run is due, and started again as if an hour had passed. The log has a run or a
// reason for each instant.
// Run: npm run build && node examples/automations.mjs
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { connect } from '@atrium/client'
import { WebSocket } from 'ws'
import { Client, serve } from './version-client.mjs'

const folder = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const data = join(folder, 'data')
const [minuteMs, hourMs] = [60_000, 3_600_000]
/** The clock of the host is ahead of the real one by this time. */
let aheadMs = 0
const now = () => Date.now() + aheadMs
/** Lets the time pass while the host does not run, until this time before its next whole minute. */
function passUntil(beforeMs) {
  aheadMs += minuteMs - (now() % minuteMs) - beforeMs
}

/** Starts the host with its own clock. Resolves when it listens. */
function start(more = {}) {
  const clock = `const real = Date.now; Date.now = () => real() + ${aheadMs}`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(clock)}`
  return serve({ data, ...more }, { ...process.env, NODE_OPTIONS })
}

passUntil(10_000)
let host = await start()
const ann = connect({ url: host.url, token: host.token, WebSocket, clientId: 'ann', versions: ['1.0.0'] })
const automations = ann.subscribe('automation', 'ahp-automations://')
const { entries: none } = await automations.ready()
assert.deepEqual(none, [])
const resource = 'ahp-automation:/count'
const { outcome } = await automations.dispatch({
  type: 'automation/createRequested',
  resource,
  definition: {
    title: 'Count',
    message: { text: 'run echo counted', origin: { kind: 'automation' } },
    session: { provider: 'guide', workingDirectories: [pathToFileURL(folder).href] },
    enabled: true,
    triggers: [
      {
        kind: 'schedule',
        id: 'minutely',
        schedule: { expression: '* * * * *', timeZone: 'UTC' },
        misfirePolicy: 'skip',
      },
    ],
  },
})
console.log('Ann, of 1.0, creates an automation for every minute:', outcome)
const createdAt = (await automations.until(({ entries }) => entries[0]?.createdAt)).entries[0].createdAt

const runsIn = ({ entries: [entry] }) => entry.runs.toReversed()
const [run] = runsIn(await automations.until((state) => runsIn(state)[0]?.primarySession))
assert.equal(run.origin.triggerId, 'minutely')
console.log('It is due, and a session begins:', run.lifecycle.status)

const ben = new Client('0.1.0')
await ben.connect(host)
await ben.initialize()
await ben.open('run echo counted')
await ben.sees(({ call }) => call?.status === 'pending-confirmation')
const { turnId, toolCallId } = { turnId: ben.turnsOf(ben.chat).at(-1).id, ...ben.call }
ben.dispatch(ben.chat, {
  type: 'session/toolCallConfirmed',
  turnId,
  toolCallId,
  approved: true,
  confirmed: 'user-action',
})
const { lifecycle } = runsIn(await automations.until((state) => runsIn(state)[0].lifecycle.completedAt))[0]
console.log('Ben, of 0.1, approves what it asks. The run is', lifecycle.status)

host.child.kill('SIGTERM')
await once(host.child, 'exit')
const port = new URL(host.url).port
passUntil(6_000)
host = await start({ port })
// The host is killed at the due instant, whether or not it has stored the next run.
await sleep(minuteMs - (now() % minuteMs))
host.child.kill('SIGKILL')
await once(host.child, 'exit')
aheadMs += hourMs
host = await start({ port })
console.log('The host is killed at a due instant, and started an hour later.')

await automations.until(({ entries: [entry] }) => entry._meta?.['x-atrium']?.missed)
const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const env = { ...process.env, ATRIUM_HOME: data }
const { stdout } = await promisify(execFile)(process.execPath, [atrium, 'cron', 'log', 'Count', '--json'], {
  env,
})
const log = stdout
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))
const away = log.find(({ because }) => because === 'host away')
console.log('The log says why the runs of that hour were missed:', away.because, away.count > 50)

// The due instants are the minutes since the creation.
const times = log.flatMap(({ origin, from, count }) =>
  origin
    ? [Date.parse(origin.scheduledFor)]
    : Array.from({ length: count }, (_, at) => Date.parse(from) + at * minuteMs),
)
const first = Math.ceil((Date.parse(createdAt) + 1) / minuteMs) * minuteMs
const due = times.map((_, at) => first + at * minuteMs)
assert.deepEqual(times, due)
assert(times.at(-1) >= now() - 2 * minuteMs)
console.log('Each due instant is a run or is missed, once:', times.length >= 60)

host.child.kill('SIGKILL')
ann.close()
ben.socket.close()
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
