import { describe, expect, onTestFinished, test } from 'vitest'
import { faults, otherHosts } from '../test/faults.ts'
import type { Fault } from '../test/faults.ts'
import { expectFoundBy, limitMs, timeoutMs, turnTimeoutMs } from '../test/judge.ts'
import { prompts } from '../test/wrong-input-requests.ts'
import { startWrongHost } from '../test/wrong-host.ts'
import { judgeHost } from './host.ts'
import { runRules } from './kit/run.ts'
import type { Verdict } from './kit/run.ts'
import { topics } from './rules/all.ts'

async function host(...kinds: readonly Fault[]): Promise<string> {
  const { url, close } = await startWrongHost(...kinds)
  onTestFinished(close)
  return url
}

async function judgeAll(...kinds: readonly Fault[]): Promise<readonly Verdict[]> {
  const target = { url: await host(...kinds), timeoutMs, turnTimeoutMs }
  return runRules(target, { topics, ...prompts })
}

async function runCommand(...args: readonly string[]): Promise<{ code: number; out: string }> {
  let out = ''
  const print = (text: string) => (out += `${text}\n`)
  return { code: await judgeHost(args, print, print), out }
}

const newInOne = ['K21', 'K117', 'K180', 'K181', 'K182', 'K183', 'K184', 'K185']

// The host that speaks 0.9.0 only is judged below, because this test offers 1.0.0.
const { onlyNine: _, ...hosts } = otherHosts

describe.concurrent('[C5] a host of another kind', () => {
  test.each(Object.entries(hosts))('%s fails no rule', expectFoundBy, limitMs)
})

test('[C12] [C12.1] a host that speaks only 0.9 is judged as 0.9; rules about later features are skipped', async () => {
  const verdicts = await judgeAll('onlyNine')
  expect(new Set(verdicts.map(({ version }) => version))).toEqual(new Set(['0.9.0']))
  const others = verdicts.filter(({ outcome }) => outcome !== 'pass')
  expect(others.map(({ rule, outcome }) => `${outcome} ${rule.id}`)).toEqual(
    newInOne.map((id) => `skip ${id}`),
  )
  const reasons = new Set(others.map(({ detail }) => detail))
  expect(reasons).toContain('AHP 0.9.0 has no moveChat')
  expect(reasons).toContain('AHP 0.9.0 has no chat/isReadChanged')
  expect(reasons).toContain('AHP 0.9.0 leaves this to the host; it is a rule since 1.0.0')
})

test('[C12] [C12.2] a rule of 0.9 finds the same fault on a host that speaks only 0.9', async () => {
  for (const fault of ['undefinedActionSent', 'wrongReducer', 'unsubscribeIgnored'] as const) {
    const [id = ''] = faults[fault]
    const { code, out } = await runCommand('--url', await host('onlyNine', fault), '--rules', id)
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining(`FAIL  ${id}`) as string })
  }
})

test('[C13] [C13.1] [C13.2] [C13.3] a host with URIs of its own and sessions that begin with a turn passes as any other', async () => {
  const verdicts = await judgeAll('onlyNine', 'providerUris', 'chatsUnderSession', 'sessionsAtFirstTurn')
  const others = verdicts.filter(({ outcome }) => outcome !== 'pass')
  expect(others.map(({ rule, outcome }) => `${outcome} ${rule.id}`)).toEqual(
    newInOne.map((id) => `skip ${id}`),
  )
})

test('[C13] [C13.1] [C13.2] the heading names the forms of the URIs; an option names them instead of a trial', async () => {
  const url = await host('providerUris', 'chatsUnderSession', 'sessionsAtFirstTurn')
  const only = ['--url', url, '--rules', 'K80,K111']
  const found = await runCommand(...only)
  expect(found.out).toMatch(
    /^AHP 1\.0\.0, agent mock, sessions \{provider\}:\/\{id\}, chats ahp-chat:\/\/\{id\}\/\{session\}, sessions listed from/,
  )
  expect(found.code).toBe(0)
  const named = await runCommand(...only, '--session-uri', 'ahp-session:/{id}')
  expect(named.out).toMatch(/FAIL {2}K80.*\n.*expected its provider: mock; got ahp-session/)
  const plainChats = await runCommand(...only, '--chat-uri', 'ahp-chat:/{id}')
  expect(plainChats.out).toMatch(/FAIL {2}K111.*\n.*expected a result of createChat/)
})

test('[C14] an agent that needs a login is judged with the token of --login', async () => {
  const only = ['--url', await host(), '--provider', 'protected', '--rules', 'K80']
  const without = await runCommand(...only)
  expect(without.out).toContain('the agent protected needs a login to create a session')
  const login = await runCommand(...only, '--login', 'https://protected.example=secret')
  expect(login.out).toContain('host: 1 passed, 0 failed, 0 skipped')
  expect(login.out).not.toContain('secret')
})

test('[C14] --session-params are sent with every createSession', async () => {
  const only = ['--url', await host(), '--rules', 'K80', '--session-params']
  expect((await runCommand(...only, '{"config":{}}')).code).toBe(0)
  const { out } = await runCommand(...only, '{"config":7}')
  expect(out).toMatch(/FAIL {2}K80.*\n.*expected a result of createSession.*-32602/)
})

test('[C15] a recommendation that is not followed is a note and no failure', async () => {
  const { code, out } = await runCommand('--url', await host('reusedTurnIdAccepted'), '--rules', 'K131')
  expect(code).toBe(0)
  expect(out).toMatch(
    /note {2}K131.*\n.*expected a rejectionReason.*\n.*recommendation: chats: an id names one turn/,
  )
  expect(out).toContain('host: 0 passed, 0 failed, 0 skipped, 1 recommendation not followed')
})
