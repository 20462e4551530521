import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Chat } from '@atrium/host/ports/agent'
import { readinessOf } from '@atrium/protocol/root/readiness'
import { rootUri } from '@atrium/protocol/uri'
import type { ContentRef } from '@atrium/protocol/common/content'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { isAlive, manualTimers, scriptedAgent, temporaryFolder } from '../../test/acp.ts'
import type { ScriptedOptions } from '../../test/acp.ts'
import { until } from '../../test/shells.ts'
import { AcpTurn } from './acp-turn.ts'
import { OutputStream } from './calls/output-stream.ts'
import { acpRoom, session, defaultChatOf, errorOf, noticesOf, textOf } from '../../test/acp-room.ts'

const faults: readonly (readonly [string, ScriptedOptions, RegExp, string])[] = [
  [
    'no program',
    { program: { command: '/no/such/agent' } },
    /there is no program "\/no\/such\/agent"/,
    'agent',
  ],
  ['no program on the PATH', { program: { command: 'no-such-agent' } }, /there is no program/, 'agent'],
  ['a program that may not be run', { program: { command: '/etc/passwd' } }, /may not be run/, 'agent'],
  [
    'a program that is no agent',
    { program: { command: '/bin/echo' } },
    /it ended with exit code 0[^]*agent\.mjs/,
    'agent',
  ],
  [
    'a program that fails',
    { program: { args: ['-e', 'console.error("no key");process.exit(7)'] } },
    /exit code 7[^]*no key/,
    'agent',
  ],
  ['another version of ACP', { quirks: ['version-9'] }, /speaks version 9 of ACP/, 'agent'],
]

test.each(faults)(
  '[N47] %s: the failed turn says what to do, can be resumed, and leaves no process',
  async (_, options, message, errorType) => {
    const room = await acpRoom(options)
    const turn = await room.turn('say a')
    expect(errorOf(turn)).toMatchObject({
      resumable: true,
      error: { errorType, message: expect.stringMatching(message) },
    })
    expect(room.session.lifecycle).toBe('ready')
    expect((await room.turn('!echo hi')).state).toBe('complete')
    await until(() =>
      room.agent
        .lines('started')
        .map(Number)
        .every((pid) => !isAlive(pid)),
    )
  },
)

/** Returns the error of a turn. The host looks for the agent in a PATH of two folders. `put` prepares the first folder. */
async function failureWith(put: (file: string, folder: string) => void): Promise<string> {
  const [first, second] = [temporaryFolder(), temporaryFolder()]
  put(join(first, 'some-agent'), first)
  // A user other than root cannot remove a folder without permissions.
  onTestFinished(() => chmodSync(first, 0o700))
  const environment = { ...process.env, PATH: `${first}:${second}` }
  const room = await acpRoom({ program: { command: 'some-agent' }, context: { environment } })
  return errorOf(await room.turn('say a'))?.error.message ?? ''
}

test('[N47.1] [N47] a folder of the PATH that may not be searched, or a folder of the program’s name, holds no program', async () => {
  expect(await failureWith((_, folder) => chmodSync(folder, 0))).toContain('there is no program "some-agent"')
  expect(await failureWith((file) => mkdirSync(file))).toContain('there is no program "some-agent"')
})

test('[N47.1] [N47] a file on the PATH that may not be executed is reported as such', async () => {
  const message = await failureWith((file) => writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 }))
  expect(message).toContain('"some-agent" may not be run')
})

test('[H14] an agent is not tried, then ready, broken or signed out, as its probe or its last turn has shown', async () => {
  const stateOf = async (options: ScriptedOptions) => {
    const { agent } = scriptedAgent(options)
    const before = readinessOf(agent.info)?.state
    await agent.probe()
    return [before, readinessOf(agent.info)]
  }
  expect(await stateOf({})).toEqual(['not-tried', { state: 'ready', takesSteering: false }])
  const gone = { program: { command: '/no/such/agent' } }
  const problem = expect.stringContaining('there is no program "/no/such/agent"') as string
  expect(await stateOf(gone)).toEqual(['not-tried', { state: 'broken', problem }])
  const signedOut = { state: 'needs-sign-in', problem: expect.stringContaining('is not signed in') as string }
  expect(await stateOf({ quirks: ['auth'] })).toEqual(['not-tried', signedOut])
  // A turn shows it, too. After a turn that has worked, nothing of the problem is left.
  const { agent } = scriptedAgent({ quirks: ['auth-once', 'options'] })
  await new HostlessChat(agent).begin('say a').end()
  expect(readinessOf(agent.info)).toEqual(signedOut)
  await new HostlessChat(agent).begin('say a').end()
  // The program works, and its models are not known before a probe.
  expect([readinessOf(agent.info)?.state, agent.info.models]).toEqual(['not-tried', []])
  await agent.probe()
  expect([readinessOf(agent.info)?.state, agent.info.models.length]).toEqual(['ready', 2])
})

test('[H14.3] a problem of one session does not make its agent broken, and clients see a state when the turn has ended', async () => {
  const gone = await acpRoom()
  rmSync(gone.folder, { recursive: true })
  gone.agent.agent.release(session)
  expect(errorOf(await gone.turn('say a'))?.error.message).toContain('no such directory')
  expect(readinessOf(gone.agent.agent.info)).toMatchObject({ state: 'ready' })
  const room = await acpRoom({ quirks: ['auth-prompt'] })
  await room.turn('say a')
  const listed = () => JSON.stringify(room.ann.state(rootUri))
  await room.ann.until(() => listed().includes('needs-sign-in'))
  writeFileSync(join(room.agent.folder, 'signed-in'), '')
  await room.turn('say a')
  await room.ann.until(() => !listed().includes('needs-sign-in'))
})

test('[N47] a corrected configuration counts for the resumed turn', async () => {
  const before = await acpRoom({ quirks: ['auth-prompt'] })
  const failed = await before.turn('say a')
  const room = await before.restart('close', { quirks: ['auth'], env: { SCRIPTED_KEY: 'k-good' } })
  room.resume(failed.id)
  await room.ann.until(() => room.chat.turns[0]?.state === 'complete')
  expect(textOf(room.chat.turns[0] ?? failed)).toBe('a')
})

test('[N47] greetings, responses without a request and updates of other sessions are ignored', async () => {
  const room = await acpRoom({ quirks: ['greets', 'stray-answer'] })
  expect(textOf(await room.turn('garbage\nsay a'))).toBe('a')
})

test.each([
  ['initialize', ['never-initializes'], 60_000],
  ['session/new', ['never-opens'], 120_000],
])('[N47.2] [N47] an agent that does not answer %s is ended after a time', async (method, quirks, ms) => {
  const { later, pass, timers } = manualTimers()
  const { agent, lines } = scriptedAgent({ quirks, later })
  const run = new HostlessChat(agent).begin('say a')
  const ended = run.end()
  await until(() => [...timers].some((timer) => timer.ms === ms))
  await until(() => lines('started').length === 1)
  pass(ms)
  await ended
  expect(String(run.failure)).toContain(`it did not answer ${method} within ${ms / 1000} s`)
  await until(() =>
    lines('started')
      .map(Number)
      .every((pid) => !isAlive(pid)),
  )
})

test('[N47.2] [N47] a turn over its time limit is ended with an error', async () => {
  const { later, pass, timers } = manualTimers()
  const { agent, lines } = scriptedAgent({ later, program: { turnMs: 600_000 } })
  const run = new HostlessChat(agent).begin('say a\nwait-cancel')
  await run.step()
  await until(() => lines('prompts').length === 1 && [...timers].some(({ ms }) => ms === 600_000))
  pass(600_000)
  await run.end()
  expect(String(run.failure)).toContain('it worked for longer than 10 minutes')
})

test('[N47] a missing working directory fails the turn with an error, and not the session', async () => {
  const room = await acpRoom()
  rmSync(room.folder, { recursive: true })
  // The process that was prepared for the session is not there any more.
  room.agent.agent.release(session)
  expect(errorOf(await room.turn('say a'))?.error.message).toContain(`no such directory: ${room.folder}`)
})

test('[N44.5] [N47] an invalid message ends the agent with an error, and the next turn starts another', async () => {
  const room = await acpRoom({ quirks: ['ignores-eof'] })
  const deep = `${'['.repeat(300)}${']'.repeat(300)}`
  for (const [line, problem] of [
    [`raw {"jsonrpc":"2.0","method":"x","params":${deep}}`, /nested deeper/],
    ['raw {"jsonrpc":"2.0","method":"x","params":{"__proto__":1}}', /__proto__/],
  ] as const) {
    expect(errorOf(await room.turn(`say a\n${line}\nhang`))?.error.message).toMatch(problem)
    expect(textOf(await room.turn('say next'))).toBe('next')
  }
})

test('[N47.3] [N47] an agent that sends requests without reading the responses is paused', async () => {
  const { agent, lines } = scriptedAgent({ quirks: ['ignores-eof'] })
  const run = new HostlessChat(agent).begin('pester 400000')
  const ended = run.end()
  await until(() => lines('pestered').length > 0)
  let last = -1
  await until(async () => {
    const now = Number(lines('pestered')[0])
    const isPaused = now === last
    last = now
    // Another agent runs a whole turn meanwhile. If the first agent were not paused, it would write more in this time.
    await new HostlessChat(scriptedAgent().agent).turn('say a')
    return isPaused
  })
  expect(last).toBeLessThan(400_000)
  run.abort()
  await agent.close()
  await ended
})

test('[N47] tool calls with stored content pause the agent too, and none is lost', async () => {
  const { agent } = scriptedAgent()
  const stage = new HostlessChat(agent)
  const run = stage.begin('flood-diffs 1500')
  const turn = await run.end()
  expect([turn.responseParts.length, run.failure]).toEqual([1500, undefined])
})

test('[N47.3] [N47] content that takes time to store pauses the agent until it is stored', async () => {
  const pending: (() => void)[] = []
  const keep = () => new Promise<ContentRef>((resolve) => pending.push(() => resolve({ uri: 'x:/1' })))
  // This chat has only the members that are needed to store content.
  const chat = { turnId: 't', state: { turns: [] }, keep } as unknown as Chat
  let pauses = 0
  const output = new OutputStream({ pause: () => void pauses++, resume: () => void pauses-- })
  const turn = new AcpTurn(chat, output, '/')
  const image = { type: 'image', data: 'aA==', mimeType: 'image/png' }
  const update = { sessionUpdate: 'agent_message_chunk', content: image }
  let updates = 0
  for (; pauses === 0 && updates < 1000; updates++) turn.update(update)
  expect([pauses, updates]).toEqual([1, 256])
  for (; pauses > 0; await new Promise((resolve) => setImmediate(resolve))) pending.shift()?.()
  expect(pauses).toBe(0)
})

test('[N47] a failure in one session does not affect another', async () => {
  const room = await acpRoom()
  await room.ann.ask('createSession', { channel: 'mock:/two' })
  const { snapshot } = await room.ann.ask('subscribe', { channel: 'mock:/two' })
  const defaultChat = defaultChatOf(snapshot)
  await room.ann.ask('subscribe', { channel: defaultChat })
  const other = room.begin('wait-cancel', {}, defaultChat)
  await until(() => room.agent.lines('prompts').length > 0)
  expect((await room.turn('crash')).state).toBe('error')
  expect(textOf(await room.turn('say a'))).toBe('a')
  expect(room.ann.state(defaultChat)['activeTurn']).toMatchObject({ id: other })
  room.cancel(other, defaultChat)
  await room.ended(other, defaultChat)
})

test('[N47] an error of the agent is shown with its message and details', async () => {
  const room = await acpRoom()
  const turn = await room.turn('say a\nerror 400 bad model')
  expect(errorOf(turn)?.error.message).toBe('Scripted: bad model: because of the script.')
  expect([textOf(turn), noticesOf(turn)]).toEqual(['a', []])
})

test('[N47] output that the agent wrote just before its exit is shown', async () => {
  const room = await acpRoom()
  const words = Array.from({ length: 300 }, (_, i) => `w${i}`).join(' ')
  expect(textOf(await room.turn(`end-and-exit ${words}`))).toBe(words.replaceAll(' ', ''))
})

test('[N40.4] [N40] credentials of an agent appear neither in its diagnostic output nor in its errors', async () => {
  const [key, lines] = ['top-secret-7777', 'a-private-key-of\nseveral-lines-here']
  const env = { SCRIPTED_KEY: key, SIGNING_CREDENTIALS: lines, HTTPS_PROXY: 'http://me:hushhush@proxy:1' }
  const room = await acpRoom({ env })
  const failed = await room.turn(`error -32603 refused ${key} by http://me:hushhush@proxy:1`)
  const [one = '', two = ''] = lines.split('\n')
  const crashed = await room.turn(
    `stderr ${one}\nstderr ${two}\nstderr via http://me:hushhush@proxy:1\ncrash 3`,
  )
  const messages = [failed, crashed].map((turn) => errorOf(turn)?.error.message ?? '')
  const shown = [...messages, ...room.agent.agent.lastWords].join('\n')
  for (const secret of [key, one, two, 'hushhush']) expect(shown).not.toContain(secret)
  expect(messages).toEqual([
    expect.stringContaining('refused …'),
    expect.stringContaining('via http://…@proxy:1'),
  ])
})
