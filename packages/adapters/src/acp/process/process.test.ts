import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { Stage } from '../../../../host/test/stage.ts'
import { agentFile, handLater, newPlace, scripted, watchdog } from '../../../test/acp.ts'
import { acpRoom, errorOf, textOf } from '../../../test/acp-room.ts'
import { processesWith, uniqueSeconds } from '../../../test/processes.ts'
import { until } from '../../../test/shells.ts'
import { agentEnvironment } from './environment.ts'
import { AgentProcess } from './process.ts'
import { markName } from '../../process/environment.ts'

const starting = {
  command: process.execPath,
  cwd: tmpdir(),
  environment: {},
  memory: 2 ** 33,
  longestLine: 10_000,
}

test('[N40] a host that is killed takes its agents with it, and what they have started', async () => {
  const seconds = uniqueSeconds()
  const folder = newPlace()
  const env = { ...process.env, ACP_STORE: folder, ACP_QUIRKS: 'orphan,ignores-eof', ACP_ORPHAN: seconds }
  const host = spawn(process.execPath, ['--input-type=module', '-e', hosting], {
    env: { ...env, MODULES: new URL('../../../dist/', import.meta.url).href, AGENT: agentFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(createInterface(host.stdout), 'line')
  await until(() => processesWith(seconds).length > 0)
  const agents = () => processesWith(agentFile).filter((pid) => pid !== host.pid)
  const before = agents()
  expect(before.length).toBeGreaterThan(0)
  host.kill('SIGKILL')
  await until(() => processesWith(seconds).length === 0 && !agents().some((pid) => before.includes(pid)))
})

test('[N40] what all its processes hold is looked at, and one that holds too much is ended, in words', async () => {
  const agent = new AgentProcess(
    { ...starting, args: ['-e', hog], memory: 150 * 2 ** 20, memoryEveryMs: 50 },
    watchdog,
  )
  expect((await agent.ended).how).toMatch(/^it held 0\.\d GiB of memory, and 0\.1 GiB are allowed$/)
})

test('[N47] what it wrote last is heard, also where it was made to wait', async () => {
  // No more than fits between the two: an agent that is made to wait cannot end before it has written all.
  const words = 'for (let i = 0; i < 100; i++) console.log(JSON.stringify({ i, pad: "x".repeat(80) }))'
  const agent = new AgentProcess({ ...starting, args: ['-e', words] }, watchdog)
  const heard: string[] = []
  agent.lines.pause()
  agent.lines.receive((line) => heard.push(line))
  expect((await agent.ended).how).toBe('it ended with exit code 0')
  expect(heard).toHaveLength(100)
})

test('[N47] a line without an end is not kept: its agent is ended', async () => {
  const endless = 'setInterval(() => process.stdout.write("{" + "x".repeat(5000)), 1)'
  const agent = new AgentProcess({ ...starting, args: ['-e', endless] }, watchdog)
  expect((await agent.ended).how).toBe('it wrote a line of more than 10000 characters')
})

test('[N40] an agent knows what every program needs, what it signs in with and what it was given, and nothing else', async () => {
  const host = {
    PATH: '/bin',
    HOME: '/home/ann',
    LC_ALL: 'C',
    HTTPS_PROXY: 'http://p',
    SCRIPTED_KEY: 'own',
    IS_SANDBOX: '1',
    SECRET: 's',
    ATRIUM_TOKEN: 't',
    AWS_SECRET_ACCESS_KEY: 'a',
    NODE_OPTIONS: '--require /evil',
  }
  const given = { GIVEN: 'yes', IS_SANDBOX: undefined }
  const environment = agentEnvironment(host, { own: /^SCRIPTED_/, given, mark: 'm' })
  expect(environment).toEqual({
    PATH: '/bin',
    HOME: '/home/ann',
    LC_ALL: 'C',
    HTTPS_PROXY: 'http://p',
    SCRIPTED_KEY: 'own',
    GIVEN: 'yes',
    [markName]: 'm',
  })
  const means = { environment: { ...process.env, IS_SANDBOX: '1', SOME_SECRET: 's' } }
  const all = await acpRoom({ means, env: { GIVEN: 'yes' } })
  await all.turn('say a')
  const [seen = '{}'] = all.agent.lines('environment')
  const { GIVEN, IS_SANDBOX, SOME_SECRET } = JSON.parse(seen) as NodeJS.ProcessEnv
  expect([GIVEN, IS_SANDBOX, SOME_SECRET]).toEqual(['yes', undefined, undefined])
})

test('[N40] what it is signed in with is in none of its last words', async () => {
  const all = await acpRoom({ env: { SCRIPTED_KEY: 'very-secret-key' } })
  const turn = await all.turn('stderr bad key very-secret-key\ncrash')
  expect(errorOf(turn)?.error.message).toMatch(/bad key …/)
})

test('[N40] one that was only asked what it can is let go after a time, and when the host goes', async () => {
  const timers: { ms: number; task: () => void }[] = []
  const later = (ms: number, task: () => void) => (timers.push({ ms, task }), () => {})
  const { agent, lines } = scripted({ later })
  await agent.probe()
  const [pid = 0] = lines('started').map(Number)
  expect(processesWith(agentFile)).toContain(pid)
  timers.find(({ ms }) => ms === 60_000)?.task()
  await until(() => !processesWith(agentFile).includes(pid))
  const other = scripted()
  const asking = other.agent.probe()
  await other.agent.close()
  await asking
  await until(() => other.lines('started').every((each) => !processesWith(agentFile).includes(Number(each))))
})

test('[N47] whoever makes a session waits for what its agent can be set to, and not for ever', async () => {
  const { later, pass, timers } = handLater()
  const { agent } = scripted({ quirks: ['never-initializes'], later })
  const asked = agent.probe()
  await until(() => timers.size >= 2)
  pass(15_000)
  await asked
  expect(agent.settings.schema.properties).toEqual({})
  pass(60_000)
  await until(() => agent.profile?.problem !== undefined)
})

test('[N48] one that is wanted no longer ends its turns first, and then itself', async () => {
  const { agent, lines } = scripted()
  const run = new Stage(agent).begin('say a\nsleep 200\nsay b')
  await run.step()
  await agent.retire()
  expect(textOf(await run.end())).toBe('a|b')
  await until(() => lines('started').every((pid) => !processesWith(agentFile).includes(Number(pid))))
  const late = new Stage(agent).begin('say c')
  await late.end()
  expect(String(late.failure)).toContain('it is not on this host any more')
})

test('[N40] after a time without a turn it is let go, and the next turn finds its session again', async () => {
  const timers: { ms: number; task: () => void }[] = []
  const later = (ms: number, task: () => void) => {
    if (ms < 1000) setTimeout(task, ms)
    timers.push({ ms, task })
    return () => {}
  }
  const all = await acpRoom({ later })
  await all.turn('say a')
  timers.findLast(({ ms }) => ms === 30 * 60_000)?.task()
  const [pid = 0] = all.agent.lines('started').map(Number)
  await until(() => !processesWith(agentFile).includes(pid))
  expect(textOf(await all.turn('say b'))).toBe('b')
  const prompts = all.agent
    .lines('prompts')
    .map((line) => (JSON.parse(line) as { sessionId: string }).sessionId)
  expect(prompts[0]).toBe(prompts[1])
})

/** It holds more and more, in a child of its own. */
const hog = `
  const { spawn } = require('node:child_process')
  const child = 'globalThis.held = Buffer.alloc(300 * 2 ** 20, 1); setInterval(() => {}, 1000)'
  spawn(process.execPath, ['-e', child], { stdio: 'ignore' })
  setInterval(() => {}, 1000)
`

/** Says a line when its agent runs. */
const hosting = `
  const { AcpAgent } = await import(process.env.MODULES + 'acp/acp.js')
  const { Watchdog } = await import(process.env.MODULES + 'process/watchdog.js')
  const { AGENT, ACP_STORE, ACP_QUIRKS, ACP_ORPHAN } = process.env
  const later = (ms, task) => { const timer = setTimeout(task, ms); return () => clearTimeout(timer) }
  const mark = 'killed-' + process.pid
  const means = { later, watchdog: new Watchdog(mark), mark, environment: process.env, version: '0' }
  const program = { name: 'mock', displayName: 'Mock', command: process.execPath, args: [AGENT], variables: /^$/ }
  await new AcpAgent({ ...program, env: { ACP_STORE, ACP_QUIRKS, ACP_ORPHAN } }, means).probe()
  console.log('up')
  setInterval(() => {}, 1e6)
`
