import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { faults } from '../test/faults.ts'
import type { Fault } from '../test/faults.ts'
import { judge, timeoutMs, turnTimeoutMs } from '../test/judge.ts'
import { prompts } from '../test/wrong-input-requests.ts'
import { startWrongHost } from '../test/wrong-host.ts'
import { judgeHost } from './host.ts'
import { Client } from './kit/client.ts'
import { listOf } from './kit/report.ts'
import { runRules } from './kit/run.ts'
import type { Verdict } from './kit/run.ts'
import { chosenTopics, topics } from './rules/all.ts'

const ids = topics.flatMap(({ rules }) => rules.map(({ id }) => id))
const idsOf = (verdicts: readonly Verdict[], outcome: Verdict['outcome']) =>
  verdicts.filter((verdict) => verdict.outcome === outcome).map(({ rule }) => rule.id)

async function host(fault?: Fault): Promise<string> {
  const { url, close } = await startWrongHost(...(fault === undefined ? [] : [fault]))
  onTestFinished(close)
  return url
}

async function runCommand(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: '', err: '' }
  const code = await judgeHost(
    args,
    (text) => (printed.out += `${text}\n`),
    (text) => (printed.err += `${text}\n`),
  )
  return { code, ...printed }
}

test('[C4] every rule has a unique id in the ten ids of its topic, a title and a source', () => {
  expect(new Set(ids).size).toBe(ids.length)
  for (const { rules } of topics) {
    expect(new Set(rules.map(({ id }) => id.slice(0, -1))).size).toBe(1)
    for (const { id, title, source } of rules) {
      expect(id).toMatch(/^K\d\d\d?$/)
      expect(title.length * source.length).toBeGreaterThan(0)
    }
  }
})

test('[C4] a correct host passes every rule', async () => {
  const target = { url: await host(), timeoutMs, turnTimeoutMs }
  const verdicts = await runRules(target, { versions: ['1.0.0'], topics, ...prompts })
  expect(verdicts.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
  expect(idsOf(verdicts, 'pass')).toEqual(ids)
})

test('[C5] every rule finds at least one fault', () => {
  const found: ReadonlySet<string> = new Set(Object.values(faults).flat())
  expect(ids.filter((id) => !found.has(id))).toEqual([])
})

test.concurrent.each([
  ['noAgent', 'the host offers no agent to create a session with'],
  ['noChat', 'a new session has no chat on this host'],
  ['oneChat', 'sessions of this agent have only one chat'],
  ['noTriggers', 'the host announces no completionTriggerCharacters'],
  ['noLogin', 'no agent of the host names a protected resource'],
  ['viewIgnored', 'the host returns all turns, whatever the view'],
  ['noResultApproval', 'no result of a call is pending approval on this host'],
  ['noOptions', 'the host gives the call no options'],
  ['inputNotEditable', 'the input of the call cannot be edited'],
  ['queueNotStarted', 'the host does not start a turn from the queue'],
  ['noWorker', 'no chat was started after the prompt "Let a worker do it."'],
  ['noAutomations', 'clients cannot create automations on this host'],
  ['noTelemetry', 'the host offers no telemetry'],
  ['onePage', 'the host returns its list in one page, whatever the limit'],
  ['snapshotsOnly', 'the host answers reconnect with snapshots, which AHP allows'],
] as const)('[C6.1] %s: rules that cannot be judged are skipped with a reason', async (fault, reason) => {
  const skipped = (await judge(fault)).filter(({ outcome }) => outcome === 'skip')
  expect(skipped.length).toBeGreaterThan(0)
  for (const { detail } of skipped) expect(detail).toBe(reason)
})

test('[C6.3] for a version that the kit does not know, only the version negotiation is judged', async () => {
  const verdicts = await judge(undefined, ['0.9.0'])
  const older = await judge(undefined, ['0.6.0'])
  expect(idsOf(older, 'pass')).toEqual(['K24', 'K25', 'K26'])
  expect(idsOf(verdicts, 'pass')).toEqual(['K23', 'K24', 'K25', 'K26', 'K27'])
  expect(idsOf(verdicts, 'fail')).toEqual([])
  const detailOf = (id: string) => verdicts.find(({ rule }) => rule.id === id)?.detail
  expect(detailOf('K20')).toContain('the host refuses 0.9.0')
  expect(older.find(({ rule }) => rule.id === 'K50')?.detail).toBe(
    'the kit cannot judge AHP 0.6.0 yet, only its version negotiation',
  )
})

test('[C7] a message that never comes is a failure that names the message', async () => {
  const { code, out } = await runCommand(
    '--url',
    await host('linkKeptOpen'),
    '--rules',
    'K24',
    '--timeout',
    String(timeoutMs / 1000),
  )
  expect(code).toBe(1)
  expect(out).toContain(`expected the host to close the link; got nothing of the kind in ${timeoutMs} ms`)
})

test('[C7] a turn that never ends fails one rule, is waited for once, and skips the other rules', async () => {
  const only = ['--rules', 'K120,K121,K122,K123', '--turn-timeout', '0.2']
  const { out } = await runCommand('--url', await host('turnNeverEnds'), ...only)
  expect(out).toMatch(/FAIL {2}K121.*\n.*expected the turn to end; got nothing of the kind in 200 ms/)
  expect(out.match(/a turn did not end/g)).toHaveLength(2)
  expect(out).toContain('host: 1 passed, 1 failed, 2 skipped')
})

test('[C6] [C6.1] a host that starts no turn skips the rules about turns; --model names the model', async () => {
  const url = await host()
  const judgeWith = async (model: string) =>
    (await runCommand('--url', url, '--rules', 'turns,guards', '--model', model)).out
  expect(await judgeWith('mock-1')).toContain('host: 17 passed, 0 failed, 0 skipped')
  const out = await judgeWith('mock-2')
  expect(out.match(/the host starts no turn: no such model/g)).toHaveLength(13)
  expect(out).toContain('0 failed')
})

test('[C6.2] an agent that never asks skips the rules about approval, questions and queued messages', async () => {
  const judgeWith = async (...more: readonly string[]) =>
    (await runCommand('--url', await host(), '--rules', 'calls,questions,pending', ...more)).out
  const without = await judgeWith()
  expect(without).toContain('no --tool-prompt says how to make the agent ask before it uses a tool')
  expect(without).toContain('no --form-prompt says how to make the agent ask questions')
  expect(without).toContain('host: 1 passed, 0 failed, 24 skipped')
  const silent = await judgeWith('--tool-prompt', 'Hello.', '--form-prompt', 'Hello.')
  expect(silent.match(/the agent did not ask after the prompt "Hello\."/g)).toHaveLength(24)
  const call = await judgeWith('--tool-prompt', prompts.toolPrompt)
  expect(call).toContain('host: 16 passed, 0 failed, 9 skipped')
})

test('[C7] a closed connection is a failure that gives the close code', async () => {
  const { out } = await runCommand('--url', await host('unknownClientClosed'), '--rules', 'K66')
  expect(out).toMatch(/FAIL {2}K66[^]*got the link ended: closed with 1002/)
})

test('[C8] a run leaves no session and no connection behind', async () => {
  const { url, links, close } = await startWrongHost()
  onTestFinished(close)
  await runRules({ url, timeoutMs, turnTimeoutMs }, { versions: ['1.0.0'], topics, ...prompts })
  await vi.waitFor(() => expect(links()).toBe(0))
  const client = new Client({ url, timeoutMs }, '1.0.0')
  await client.opened()
  await client.initialize()
  expect(await client.mustSucceed('listSessions')).toEqual({ items: [] })
  client.terminate()
})

test('[C9] the table has a line for each rule and the counts at the end', async () => {
  const { code, out } = await runCommand('--url', await host(), '--rules', 'K1,K76,unknown')
  expect(code).toBe(0)
  const lines = out.trimEnd().split('\n')
  expect(lines[0]).toBe('AHP 1.0.0, agent mock, sessions ahp-session:/{id}, chats ahp-chat:/{id}')
  expect(lines[1]).toBe('pass  K10  initialize is answered with a protocolVersion, a serverSeq and snapshots')
  expect(lines.at(-1)).toBe('host: 11 passed, 0 failed, 0 skipped')
})

test('[C9] several versions are judged one after the other, each under a heading', async () => {
  const { out } = await runCommand('--url', await host(), '--rules', 'K20', '--versions', '1.0.0,0.9.0')
  expect(out).toMatch(/^AHP 1\.0\.0, agent.*\npass {2}K20 .*\nAHP 0\.9\.0\nskip {2}K20 /)
})

test('[C9] the JSON document does not contain a token from the URL', async () => {
  const url = await host('pingNeedsInitialize')
  const { code, out } = await runCommand('--url', `${url}?tkn=secret`, '--rules', 'K10,K11', '--json')
  expect(code).toBe(1)
  expect(out).not.toContain('secret')
  expect(JSON.parse(out)).toMatchObject({
    url,
    passed: 1,
    failed: 1,
    skipped: 0,
    rules: [
      { version: '1.0.0', topic: 'handshake', id: 'K10', outcome: 'pass' },
      { id: 'K11', outcome: 'fail', detail: expect.stringContaining('initialize first') as string },
    ],
  })
})

test.each([
  [[], '--url is missing'],
  [['--url', 'http://x'], '--url must be a ws:// or wss:// address'],
  [['--url', 'nonsense'], '--url must be a ws:// or wss:// address'],
  [['--url', 'ws://x', '--rules', 'Q1'], 'no rule or topic is called Q1'],
  [['--url', 'ws://x', '--versions', '1.0'], '--versions must be a list of MAJOR.MINOR.PATCH, not "1.0"'],
  [['--url', 'ws://x', '--timeout', 'soon'], '--timeout must be a positive number of seconds, not soon'],
  [['--url', 'ws://x', '--turn-timeout', '0'], '--turn-timeout must be a positive number of seconds, not 0'],
  [['--url', 'ws://x', '--token', 'a', '--token-file', 'b'], 'cannot be used together'],
  [['--url', 'ws://x', '--token-file', '/nowhere/at/all'], 'ENOENT'],
  [['--url', 'ws://x', '--tokem', 'a'], "Unknown option '--tokem'"],
  [['--url', 'ws://x', '--login', 'secret'], '--login must be RESOURCE=TOKEN or RESOURCE=@FILE'],
  [['--url', 'ws://x', '--login', 'https://x.example=@/nowhere/at/all'], 'ENOENT'],
  [['--url', 'ws://x', '--session-uri', 'a:/b'], '--session-uri must contain {id}'],
  [['--url', 'ws://x', '--chat-uri', 'a:/b'], '--chat-uri must contain {id}'],
  [['--url', 'ws://x', '--session-params', '[1]'], '--session-params must be a JSON object'],
  [['--url', 'ws://x', '--session-params', '{'], '--session-params must be a JSON object'],
  [['--url', 'ws://127.0.0.1:1'], 'cannot connect: connect ECONNREFUSED'],
])('[C9] %j: one sentence on stderr and exit code 2', async (args, sentence) => {
  const { code, out, err } = await runCommand(...args)
  expect({ code, out, lines: err.split('\n').length }).toEqual({ code: 2, out: '', lines: 2 })
  expect(err).toMatch(/^conformance: /)
  expect(err).toContain(sentence)
})

test('[C9] the token is read from a flag or from a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-conformance-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'token')
  writeFileSync(file, 'secret\n')
  const url = await host()
  for (const flags of [
    ['--token', 'secret'],
    ['--token-file', file],
  ])
    expect((await runCommand('--url', url, '--rules', 'K10', ...flags)).code).toBe(0)
})

test('[C11] the list has each rule with its topic, level, first version, title and source', () => {
  const list = listOf(topics)
  for (const { title, source } of topics.flatMap(({ rules }) => rules))
    expect(list).toContain(`: ${title}\n     ${source}`)
  expect(list.match(/^K\d+ /gm)).toEqual(ids.map((id) => `${id} `))
  expect(list).toContain('K12  handshake: every action')
  expect(list).toContain('K21  versions, since 1.0.0: the host selects')
  expect(list).toContain('K131 guards, recommended: a turn with')
})

test('[C9] rules are selected by id, by the common start of ten ids, or by topic', () => {
  const chosen = (...words: readonly string[]) =>
    chosenTopics(words).flatMap(({ rules }) => rules.map(({ id }) => id))
  expect(chosen('K12')).toEqual(['K12'])
  expect(chosen('K1', 'K50')).toEqual(['K10', 'K11', 'K12', 'K13', 'K50'])
  expect(chosen('K10')).toEqual(['K10'])
  expect(chosen('K14')).toEqual(chosen('history'))
  expect(chosen('replay')).toEqual(ids.filter((id) => id.startsWith('K6')))
  expect(chosen('nothing')).toEqual([])
})
