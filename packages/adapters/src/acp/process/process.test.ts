import { readinessOf } from '@atrium/protocol/root/readiness'
import { defaultLimits } from './idle-processes.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HostlessChat } from '../../../../host/test/hostless-chat.ts'
import { agentFile, manualTimers, temporaryFolder, scriptedAgent, watchdog } from '../../../test/acp.ts'
import { acpRoom, errorOf, textOf } from '../../../test/acp-room.ts'
import { processesWith, uniqueSeconds } from '../../../test/processes.ts'
import { until } from '../../../test/shells.ts'
import { LineProcess } from '../../process/line-process.ts'
import { programEnvironment } from '../../process/program-environment.ts'
import { markerVariable } from '../../process/environment.ts'

const options = {
  command: process.execPath,
  cwd: tmpdir(),
  environment: {},
  maxMemory: 2 ** 33,
  maxLineLength: 10_000,
  missingHint: '',
}

test('[N40.1] [N40] the agents of a killed host end, with the processes that they started', async () => {
  const seconds = uniqueSeconds()
  const folder = temporaryFolder()
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

test('[N40.1] [N40] an agent whose processes together exceed the memory limit is ended with an error', async () => {
  const agent = new LineProcess(
    { ...options, args: ['-e', hog], maxMemory: 150 * 2 ** 20, memoryCheckMs: 50 },
    watchdog,
  )
  expect(await agent.ended).toMatch(/^it used 0\.\d GiB of memory, and the limit is 0\.1 GiB$/)
})

test('[N47] output before the exit is read even if reading was paused', async () => {
  // The output is smaller than the buffer of a pipe. Otherwise the paused agent could not write all of it and exit.
  const script = 'for (let i = 0; i < 100; i++) console.log(JSON.stringify({ i, pad: "x".repeat(80) }))'
  const agent = new LineProcess({ ...options, args: ['-e', script] }, watchdog)
  const received: string[] = []
  agent.lines.pause()
  agent.lines.receive((line) => received.push(line))
  expect(await agent.ended).toBe('it ended with exit code 0')
  expect(received).toHaveLength(100)
})

test('[N44] diagnostic output from before a message is known with the message, though it comes through another pipe', async () => {
  const written = join(temporaryFolder(), 'written')
  const script = `
    const { writeFileSync, writeSync } = require('node:fs')
    process.stdin.once('data', () => {
      writeSync(2, 'no such model\\n')
      writeSync(1, '{"answer":1}\\n')
      writeFileSync(${JSON.stringify(written)}, '')
    })
    writeSync(1, '{"ready":1}\\n')`
  const agent = new LineProcess({ ...options, args: ['-e', script] }, watchdog)
  const answer = new Promise<readonly string[]>((resolve) =>
    agent.lines.receive((line) => {
      if (line.includes('answer')) return resolve(agent.readDiagnostics())
      agent.lines.send('{}')
      // A busy host: when it reads again, both pipes have something, and the one that it has just read comes first.
      while (!existsSync(written)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }),
  )
  expect(await answer).toEqual(['no such model'])
  await agent.end()
})

test('[N47.2] [N47] an agent that writes a line without an end is ended', async () => {
  const endless = 'setInterval(() => process.stdout.write("{" + "x".repeat(5000)), 1)'
  const agent = new LineProcess({ ...options, args: ['-e', endless] }, watchdog)
  expect(await agent.ended).toBe('it wrote a line of more than 10000 characters')
})

test('[N40.4] [N40] an agent gets the variables that every program needs, those to sign in, the configured ones, and no others', async () => {
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
  const configured = { GIVEN: 'yes', IS_SANDBOX: undefined }
  const environment = programEnvironment(host, { own: /^SCRIPTED_/, configured, mark: 'm' })
  expect(environment).toEqual({
    PATH: '/bin',
    HOME: '/home/ann',
    LC_ALL: 'C',
    HTTPS_PROXY: 'http://p',
    SCRIPTED_KEY: 'own',
    GIVEN: 'yes',
    [markerVariable]: 'm',
  })
  const context = { environment: { ...process.env, IS_SANDBOX: '1', SOME_SECRET: 's' } }
  const room = await acpRoom({ context, env: { GIVEN: 'yes' } })
  await room.turn('say a')
  const [seen = '{}'] = room.agent.lines('environment')
  const { GIVEN, IS_SANDBOX, SOME_SECRET } = JSON.parse(seen)
  expect([GIVEN, IS_SANDBOX, SOME_SECRET]).toEqual(['yes', undefined, undefined])
})

test('[N40.4] [N40] credentials of an agent are redacted in its diagnostic output', async () => {
  const room = await acpRoom({ env: { SCRIPTED_KEY: 'very-secret-key' } })
  const turn = await room.turn('stderr bad key very-secret-key\ncrash')
  expect(errorOf(turn)?.error.message).toMatch(/bad key …/)
})

test('[N40] the process of a probe ends after a time, and when the host closes', async () => {
  const timers: { ms: number; task: () => void }[] = []
  const later = (ms: number, task: () => void) => (timers.push({ ms, task }), () => {})
  const { agent, lines } = scriptedAgent({ later })
  await agent.probe()
  const [pid = 0] = lines('started').map(Number)
  expect(processesWith(agentFile)).toContain(pid)
  // The last timer of 60 seconds ends the process. The first one is the timeout of `initialize`.
  timers.findLast(({ ms }) => ms === 60_000)?.task()
  await until(() => !processesWith(agentFile).includes(pid))
  const other = scriptedAgent()
  const probing = other.agent.probe()
  await other.agent.close()
  await probing
  await until(() => other.lines('started').every((each) => !processesWith(agentFile).includes(Number(each))))
})

test('[N47] a new session waits for the probe of its agent, but only for a limited time', async () => {
  const { later, pass, timers } = manualTimers()
  const { agent } = scriptedAgent({ quirks: ['never-initializes'], later })
  const probed = agent.probe()
  await until(() => timers.size >= 2)
  pass(15_000)
  await probed
  expect(agent.settings.schema.properties).toEqual({})
  pass(60_000)
  await until(() => readinessOf(agent.info)?.state === 'broken')
})

test('[N48.2] [N48] a retired agent completes its turns before it ends', async () => {
  const { agent, lines } = scriptedAgent()
  const run = new HostlessChat(agent).begin('say a\nsleep 200\nsay b')
  await run.step()
  await agent.retire()
  expect(textOf(await run.end())).toBe('a|b')
  await until(() => lines('started').every((pid) => !processesWith(agentFile).includes(Number(pid))))
  const late = new HostlessChat(agent).begin('say c')
  await late.end()
  expect(String(late.failure)).toContain('it is no longer on this host')
})

test('[N40.2] an idle process is ended, and the next turn restores its session', async () => {
  const timers: { ms: number; task: () => void }[] = []
  const later = (ms: number, task: () => void) => {
    if (ms < 1000) setTimeout(task, ms)
    timers.push({ ms, task })
    return () => {}
  }
  const room = await acpRoom({ later })
  await room.turn('say a')
  const isIdleTimer = ({ ms }: { readonly ms: number }) => ms === defaultLimits.idleMs
  await until(() => timers.some(isIdleTimer))
  timers.findLast(isIdleTimer)?.task()
  const [pid = 0] = room.agent.lines('started').map(Number)
  await until(() => !processesWith(agentFile).includes(pid))
  expect(textOf(await room.turn('say b'))).toBe('b')
  const prompts = room.agent.lines('prompts').map((line): string => JSON.parse(line).sessionId)
  expect(prompts[0]).toBe(prompts[1])
})

/** A script whose child process uses much memory. */
const hog = `
  const { spawn } = require('node:child_process')
  const child = 'globalThis.held = Buffer.alloc(300 * 2 ** 20, 1); setInterval(() => {}, 1000)'
  spawn(process.execPath, ['-e', child], { stdio: 'ignore' })
  setInterval(() => {}, 1000)
`

/** A script that runs a host. The script prints a line when the agent of the host runs. */
const hosting = `
  const { AcpAgent } = await import(process.env.MODULES + 'acp/acp.js')
  const { Watchdog } = await import(process.env.MODULES + 'process/watchdog.js')
  const { AGENT, ACP_STORE, ACP_QUIRKS, ACP_ORPHAN } = process.env
  const later = (ms, task) => { const timer = setTimeout(task, ms); return () => clearTimeout(timer) }
  const mark = 'killed-' + process.pid
  const context = { later, watchdog: new Watchdog(mark), mark, environment: process.env, version: '0' }
  const program = { name: 'mock', displayName: 'Mock', command: process.execPath, args: [AGENT], variables: /^$/ }
  await new AcpAgent({ ...program, env: { ACP_STORE, ACP_QUIRKS, ACP_ORPHAN } }, context).probe()
  console.log('up')
  setInterval(() => {}, 1e6)
`
