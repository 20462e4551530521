import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Stage } from '../../../host/test/stage.ts'
import { handLater, newPlace, scripted } from '../../test/acp.ts'
import type { ScriptedOptions } from '../../test/acp.ts'
import { until } from '../../test/shells.ts'
import { acpRoom, errorOf, notesOf, textOf } from '../../test/acp-room.ts'

const bad: readonly (readonly [string, ScriptedOptions, RegExp, string])[] = [
  [
    'no program',
    { program: { command: '/no/such/agent' } },
    /there is no program "\/no\/such\/agent"/,
    'agent',
  ],
  ['no program on the PATH', { program: { command: 'no-such-agent' } }, /there is no program/, 'agent'],
  ['a program that may not be run', { program: { command: '/etc/passwd' } }, /may not be run/, 'agent'],
  [
    'one that is no agent',
    { program: { command: '/bin/echo' } },
    /it ended with exit code 0[^]*agent\.mjs/,
    'agent',
  ],
  [
    'one that fails',
    { program: { args: ['-e', 'console.error("no key");process.exit(7)'] } },
    /exit code 7[^]*no key/,
    'agent',
  ],
  ['another version', { quirks: ['version-9'] }, /speaks version 9 of ACP/, 'agent'],
  [
    'nobody signed in, known how',
    { quirks: ['auth'], program: { signIn: 'scripted login' } },
    /not signed in\. Run `scripted login`/,
    'auth',
  ],
  [
    'nobody signed in, by a terminal',
    { quirks: ['auth', 'auth-terminal'] },
    /not signed in\. Run `\S+node login`/,
    'auth',
  ],
  [
    'nobody signed in, in its words',
    { quirks: ['auth', 'auth-words'] },
    /not signed in\. Set SCRIPTED_KEY and start again\./,
    'auth',
  ],
  [
    'nobody signed in, without a word',
    { quirks: ['auth'] },
    /not signed in\. Run `\S+node` in a terminal/,
    'auth',
  ],
]

test.each(bad)(
  '[N47] %s: the turn says what to do, can go on, and leaves no process',
  async (_, options, words, errorType) => {
    const all = await acpRoom(options)
    const turn = await all.turn('say a')
    expect(errorOf(turn)).toMatchObject({
      resumable: true,
      error: { errorType, message: expect.stringMatching(words) },
    })
    expect(all.session.lifecycle).toBe('ready')
    expect((await all.turn('!echo hi')).state).toBe('complete')
    await until(() =>
      all.agent
        .lines('started')
        .map(Number)
        .every((pid) => !isAlive(pid)),
    )
  },
)

/** A PATH of two folders, the first of which holds this under the name of an agent, and the message of a turn with it. */
async function troubleWith(put: (file: string, folder: string) => void): Promise<string> {
  const [first, second] = [newPlace(), newPlace()]
  put(join(first, 'some-agent'), first)
  // Removed afterwards by a user who need not be root.
  onTestFinished(() => chmodSync(first, 0o700))
  const environment = { ...process.env, PATH: `${first}:${second}` }
  const all = await acpRoom({ program: { command: 'some-agent' }, means: { environment } })
  return errorOf(await all.turn('say a'))?.error.message ?? ''
}

test('[N47] a folder of the PATH that may not be searched, or a folder of the program’s name, holds no program', async () => {
  expect(await troubleWith((_, folder) => chmodSync(folder, 0))).toContain('there is no program "some-agent"')
  expect(await troubleWith((file) => mkdirSync(file))).toContain('there is no program "some-agent"')
})

test('[N47] a file on the PATH that may not be executed is said to be one', async () => {
  const message = await troubleWith((file) => writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 }))
  expect(message).toContain('"some-agent" may not be run')
})

test('[N47] what is put right is right at once: nothing need be started again', async () => {
  const before = await acpRoom({ quirks: ['auth'] })
  const failed = await before.turn('say a')
  const all = await before.restarted('close', { quirks: ['auth'], env: { SCRIPTED_KEY: 'k' } })
  all.resume(failed.id)
  await all.ann.until(() => all.chat.turns[0]?.state === 'complete')
  expect(textOf(all.chat.turns[0] ?? failed)).toBe('a')
})

test('[N47] greetings, answers to nothing and other sessions’ words are passed by', async () => {
  const all = await acpRoom({ quirks: ['greets', 'stray-answer'] })
  expect(textOf(await all.turn('garbage\nsay a'))).toBe('a')
})

test.each([
  ['initialize', ['never-initializes'], 60_000],
  ['session/new', ['never-opens'], 120_000],
])('[N47] one that does not answer %s is waited for so long, and then ended', async (method, quirks, ms) => {
  const { later, pass, timers } = handLater()
  const { agent, lines } = scripted({ quirks, later })
  const run = new Stage(agent).begin('say a')
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

test('[N47] a turn that takes longer than it may is ended, and says so', async () => {
  const { later, pass, timers } = handLater()
  const { agent, lines } = scripted({ later, program: { turnMs: 600_000 } })
  const run = new Stage(agent).begin('say a\nwait-cancel')
  await run.step()
  await until(() => lines('prompts').length === 1 && [...timers].some(({ ms }) => ms === 600_000))
  pass(600_000)
  await run.end()
  expect(String(run.failure)).toContain('it worked for longer than 10 minutes')
})

test('[N47] a folder that is gone is said, and is no end of the session', async () => {
  const all = await acpRoom()
  rmSync(all.work, { recursive: true })
  expect(errorOf(await all.turn('say a'))?.error.message).toContain(`no such directory: ${all.work}`)
})

test('[N47] a message that cannot be borne ends the agent, in words, and the next turn has another', async () => {
  const all = await acpRoom({ quirks: ['ignores-eof'] })
  const deep = `${'['.repeat(300)}${']'.repeat(300)}`
  for (const [line, words] of [
    [`raw {"jsonrpc":"2.0","method":"x","params":${deep}}`, /nested deeper/],
    ['raw {"jsonrpc":"2.0","method":"x","params":{"__proto__":1}}', /__proto__/],
  ] as const) {
    expect(errorOf(await all.turn(`say a\n${line}\nhang`))?.error.message).toMatch(words)
    expect(textOf(await all.turn('say next'))).toBe('next')
  }
})

test('[N47] an agent that asks without end and reads no answer has to wait', async () => {
  const { agent, lines } = scripted({ quirks: ['ignores-eof'] })
  const run = new Stage(agent).begin('pester 400000')
  const ended = run.end()
  await until(() => lines('pestered').length > 0)
  let last = -1
  await until(async () => {
    const now = Number(lines('pestered')[0])
    const rests = now === last
    last = now
    // Another agent does all of a turn: time enough for this one to go on.
    await new Stage(scripted().agent).turn('say a')
    return rests
  })
  expect(last).toBeLessThan(400_000)
  run.abort()
  await agent.close()
  await ended
})

test('[N47] calls whose content is kept hold the agent up, too; nothing of it is lost', async () => {
  const { agent } = scripted()
  const stage = new Stage(agent)
  const run = stage.begin('flood-diffs 1500')
  const turn = await run.end()
  expect([turn.responseParts.length, run.failure]).toEqual([1500, undefined])
})

test('[N47] what fails in one session is nothing to another', async () => {
  const all = await acpRoom()
  await all.ann.ask('createSession', { channel: 'mock:/two' })
  const { snapshot } = await all.ann.ask('subscribe', { channel: 'mock:/two' })
  const { defaultChat = '' } = (snapshot?.state ?? {}) as { defaultChat?: string }
  await all.ann.ask('subscribe', { channel: defaultChat })
  const other = all.begin('wait-cancel', {}, defaultChat)
  await until(() => all.agent.lines('prompts').length > 0)
  expect((await all.turn('crash')).state).toBe('error')
  expect(textOf(await all.turn('say a'))).toBe('a')
  expect(all.ann.state(defaultChat)['activeTurn']).toMatchObject({ id: other })
  all.cancel(other, defaultChat)
  await all.ended(other, defaultChat)
})

test('[N47] an error of the agent’s is told in its words, with what it adds', async () => {
  const all = await acpRoom()
  const turn = await all.turn('say a\nerror 400 bad model')
  expect(errorOf(turn)?.error.message).toBe('Scripted: bad model: because of the script.')
  expect([textOf(turn), notesOf(turn)]).toEqual(['a', []])
})

test('[N47] what it wrote last before it went is heard', async () => {
  const all = await acpRoom()
  const words = Array.from({ length: 300 }, (_, i) => `w${i}`).join(' ')
  expect(textOf(await all.turn(`end-and-exit ${words}`))).toBe(words.replaceAll(' ', ''))
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('[N40] what an agent is signed in with is neither in its last words nor in what it says of an error', async () => {
  const [key, lines] = ['top-secret-7777', 'a-private-key-of\nseveral-lines-here']
  const env = { SCRIPTED_KEY: key, SIGNING_CREDENTIALS: lines, HTTPS_PROXY: 'http://me:hushhush@proxy:1' }
  const all = await acpRoom({ env })
  const told = await all.turn(`error -32603 refused ${key} by http://me:hushhush@proxy:1`)
  const [one = '', two = ''] = lines.split('\n')
  const died = await all.turn(`stderr ${one}\nstderr ${two}\nstderr via http://me:hushhush@proxy:1\ncrash 3`)
  const said = [told, died].map((turn) => errorOf(turn)?.error.message ?? '')
  const words = [...said, ...all.agent.agent.lastWords].join('\n')
  for (const secret of [key, one, two, 'hushhush']) expect(words).not.toContain(secret)
  expect(said).toEqual([
    expect.stringContaining('refused …'),
    expect.stringContaining('via http://…@proxy:1'),
  ])
})
