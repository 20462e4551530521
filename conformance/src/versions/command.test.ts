import { expect, onTestFinished, test } from 'vitest'
import type { Fault } from '../../test/faults.ts'
import { timeoutMs } from '../../test/judge.ts'
import { prompts } from '../../test/wrong-input-requests.ts'
import { startWrongHost } from '../../test/wrong-host.ts'
import { judgeVersions } from './command.ts'
import { runMatrix } from './matrix.ts'
import type { Matrix } from './matrix.ts'

async function host(...kinds: readonly Fault[]): Promise<string> {
  const { url, close } = await startWrongHost(...kinds)
  onTestFinished(close)
  return url
}

async function runCommand(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: '', err: '' }
  const code = await judgeVersions(
    args,
    (text) => (printed.out += `${text}\n`),
    (text) => (printed.err += `${text}\n`),
  )
  return { code, ...printed }
}

function notYes({ cells }: Matrix): readonly string[] {
  return cells
    .filter(({ outcome }) => outcome !== 'yes')
    .map(({ outcome, feature, version }) => `${outcome} ${feature} ${version}`)
}

const older = ['0.1.0', '0.3.0', '0.4.0', '0.5.2', '0.6.0', '0.7.0', '0.8.0']

test('[C16] [C16.6] a host that speaks one version has one column; the other versions are refused', async () => {
  const target = { url: await host(), timeoutMs, turnTimeoutMs: timeoutMs }
  expect(notYes(await runMatrix(target, prompts))).toEqual([
    ...[...older, '0.9.0'].map((version) => `refused connect ${version}`),
    'skip toggle 1.0.0',
    'absent fork: session 1.0.0',
  ])
})

test('[C16] a host with URIs of its own and sessions that begin with a turn is judged as any other', async () => {
  const url = await host('onlyNine', 'providerUris', 'chatsUnderSession', 'sessionsAtFirstTurn')
  const target = { url, timeoutMs, turnTimeoutMs: timeoutMs }
  expect(notYes(await runMatrix(target, prompts))).toEqual([
    ...[...older, '1.0.0'].map((version) => `refused connect ${version}`),
    'skip toggle 0.9.0',
    'absent fork: session 0.9.0',
  ])
})

test('[C16] [C16.6] a version that the command line names must be spoken', async () => {
  const url = await host()
  const refused = await runCommand('--url', url, '--versions', '0.4.0,1.0.0', '--features', 'rename')
  expect(refused).toMatchObject({
    code: 1,
    out: expect.stringContaining('FAILED connect at 0.4.0: the host refuses 0.4.0') as string,
  })
  const alone = await runCommand('--url', await host('onlyNine'), '--versions', '1.0.0')
  expect(alone).toMatchObject({ code: 1, out: expect.stringContaining('0 yes, 1 failed') as string })
})

test('[C16.3] a host without an agent cannot be judged: one sentence and exit code 1', async () => {
  const { code, err } = await runCommand('--url', await host('noAgent'))
  expect({ code, err }).toEqual({
    code: 1,
    err: 'conformance: no session: the host offers no agent at all\n',
  })
})

test.each([
  [[], '--url is missing'],
  [['--url', 'ws://x', '--versions', '0.2.9'], '--versions must be some of 0.1.0, 0.2.0, '],
  [['--url', 'ws://x', '--versions', '1.0'], '--versions must be a list of MAJOR.MINOR.PATCH, not "1.0"'],
  [['--url', 'ws://x', '--features', 'prompt,fly'], '--features must be some of create, prompt, '],
  [['--url', 'ws://x', '--rules', 'K10'], "Unknown option '--rules'"],
  [['--url', 'ws://127.0.0.1:1'], 'cannot connect: '],
])('[C16.3] %j: one sentence on stderr and exit code 2', async (args, sentence) => {
  const { code, out, err } = await runCommand(...args)
  expect({ code, out, lines: err.split('\n').length }).toEqual({ code: 2, out: '', lines: 2 })
  expect(err).toMatch(/^conformance: /)
  expect(err).toContain(sentence)
})
