import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runFixtures, versionsWithoutCases } from './fixtures.ts'

const titled = {
  reducer: 'session',
  initial: { title: 'a', config: null },
  actions: [{ type: 'session/titleChanged', title: 'b' }],
  expected: { title: 'b' },
}

/** A folder of fixtures, removed after the test. */
function fixtures(files: { readonly [path: string]: unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-fixtures-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, value] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(value))
  }
  return folder
}

test('[C1] a reducer case passes if the reduced state equals the expected one; null equals absent', () => {
  const results = runFixtures(fixtures({ '1.0.0/reducers/1.json': titled }))
  expect(results).toMatchObject([{ version: '1.0.0', passed: 1, failures: [] }])
})

test('[C1] a wrong result, a reducer that throws and an unknown reducer are failures', () => {
  const folder = fixtures({
    '1.0.0/reducers/1.json': { ...titled, expected: { title: 'c' } },
    '1.0.0/reducers/2.json': {
      ...titled,
      actions: [{ type: 'session/customizationToggled', id: 'x' }],
      initial: { customizations: [{ id: 'x', type: 'plugin' }] },
    },
    '1.0.0/reducers/3.json': { ...titled, reducer: 'constructor' },
  })
  const [result] = runFixtures(folder)
  expect(result?.failures.join('\n')).toMatch(
    /expected .*"c".*\n.*threw TypeError.*\n.*no reducer "constructor"/,
  )
})

test('[C2] a round trip must preserve unknown keys and unknown kinds', () => {
  const input = { type: 'future/thing', n: 1 }
  const results = runFixtures(
    fixtures({
      '1.0.0/round-trips/1.json': { type: 'StateAction', input, acceptableOutputs: [input] },
      '1.0.0/round-trips/2.json': {
        type: 'Implementation',
        input: { name: 'x', y: 1 },
        acceptableOutputs: [{ name: 'x' }],
        preservedOutput: { name: 'x', y: 1 },
      },
      '1.0.0/round-trips/3.json': {
        type: 'Implementation',
        input: { name: 7 },
        acceptableOutputs: [{ name: 7 }],
      },
      '1.0.0/round-trips/4.json': {
        type: 'StateAction',
        input: { type: 'chat/usage' },
        acceptableOutputs: [{}],
      },
      '1.0.0/round-trips/5.json': {
        type: 'Snapshot',
        input: { resource: 'x', state: { no: 1 }, fromSeq: 1 },
        acceptableOutputs: [{}],
      },
      '1.0.0/round-trips/6.json': { type: 'Nothing', input: {}, acceptableOutputs: [{}] },
    }),
  )
  expect(results).toMatchObject([{ cases: 6, passed: 2 }])
  expect(results[0]?.failures).toHaveLength(4)
})

test('[C3.1] 1.0 also runs the cases of 0.8.0-dev: a listed case must differ exactly as listed, and an unlisted one must pass', () => {
  const created = { ...titled, initial: { title: 'a', modifiedAt: 1 } }
  const cases = {
    '004-session-creationfailed': titled,
    '063-session-truncated-x': { ...created, expected: { title: 'b', modifiedAt: 2 } },
    '064-session-truncated-y': { ...created, expected: { title: 'c', modifiedAt: 2 } },
    '081-terminal-exited-later': { ...titled, expected: { title: 'c' } },
  }
  const folder = fixtures(
    Object.fromEntries(
      Object.entries(cases).map(([name, each]) => [`0.8.0-dev/reducers/${name}.json`, each]),
    ),
  )
  const [, native] = runFixtures(folder)
  expect(native).toMatchObject({ by: '1.0.0', passed: 0, changed: 1 })
  expect(native?.failures).toEqual([
    expect.stringMatching(/^004.*passes, but is listed/),
    expect.stringMatching(/^064.*differs at \/modifiedAt, \/title, but is listed as changed at \/modifiedAt/),
    expect.stringMatching(/^081.*expected .*"c"/),
  ])
  expect(versionsWithoutCases(runFixtures(folder))).toContain('1.0.0')
})

test('[C3] the cases of a version are judged by the reducers of that version, at the time 9999', () => {
  const older = {
    reducer: 'session',
    initial: { summary: { title: 'a', modifiedAt: 1 } },
    actions: [{ type: 'session/titleChanged', session: 'copilot:/s', title: 'b' }],
    expected: { summary: { title: 'b', modifiedAt: 9999 } },
  }
  const chat = { ...older, reducer: 'chat' }
  const folder = fixtures({
    '0.1.0/reducers/1.json': older,
    '0.3.0/reducers/1.json': chat,
    '0.5.0/reducers/1.json': older,
    'notes/1.json': {},
  })
  const results = runFixtures(folder)
  expect(results).toMatchObject([
    { version: '0.1.0', passed: 1, failures: [] },
    { version: '0.3.0', passed: 0, failures: [expect.stringContaining('no reducer "chat" at 0.3.0')] },
    { version: '0.5.0', passed: 0, failures: [expect.stringContaining('9999')] },
  ])
  expect(versionsWithoutCases(results)).toEqual(
    expect.arrayContaining(['0.2.0', '0.4.0', '0.8.0-dev', '1.0.0']),
  )
  expect(versionsWithoutCases(results)).not.toContain('0.1.0')
})

test('[C3] an unknown version and a folder without fixtures are errors', () => {
  const folder = fixtures({ '0.6.1/reducers/1.json': {}, 'other/x.json': {} })
  expect(() => runFixtures(folder)).toThrow('no version of AHP is called 0.6.1')
  expect(() => runFixtures(join(folder, 'nowhere'))).toThrow('no such folder')
  expect(() => runFixtures(join(folder, 'other'))).toThrow('no fixtures')
})

const summary = { resource: 's', provider: 'p', title: 't', status: 1, createdAt: 1, modifiedAt: 2 }
const claim = { kind: 'session', session: 's' }
const terminal = { title: 't', content: [], claim }
const session = { summary, lifecycle: 'ready' }
const snapshot = (state: object) => ({ resource: 'x', state, fromSeq: 1 })
const chat = { resource: 'c', title: 't', status: 8, modifiedAt: '1970-01-01T00:00:00.000Z', turns: [] }
const message = { text: 'hi', origin: { kind: 'user' } }
const annotation = { id: 'a', turnId: 't', resource: 'f', resolved: false, entries: [] }
const error = { errorType: 'x', message: 'no' }

/** Values in the form of an older version: the last version that has the form, and the first that has not. */
test.each([
  ['SessionSummary', '0.4.0', '0.5.2', summary],
  ['SessionAddedParams', '0.4.0', '0.5.2', { channel: 'ahp-root://', summary }],
  [
    'Snapshot',
    '0.4.0',
    '0.5.2',
    snapshot({ ...session, chats: [], activeClient: { clientId: 'c', tools: [] } }),
  ],
  ['Snapshot', '0.3.0', '0.5.2', snapshot({ ...session, turns: [] })],
  ['StateAction', '0.5.2', '0.6.0', { type: 'chat/turnStarted', turnId: 't', message }],
  ['StateAction', '0.5.2', '0.6.0', { type: 'chat/turnComplete', turnId: 't' }],
  ['Snapshot', '0.5.2', '0.6.0', snapshot({ ...chat, activeTurn: { id: 't', message, responseParts: [] } })],
  ['ChatSource', '0.6.0', '0.7.0', { chat: 'c', turnId: 't' }],
  ['StateAction', '0.8.0-dev', '0.8.0', { type: 'session/customizationToggled', id: 'p', enabled: true }],
  ['AuthRequiredParams', '0.8.0-dev', '0.8.0', { channel: 'x', resource: 'r', reason: 'expired' }],
  ['StateAction', '0.8.0', '0.9.0', { type: 'chat/error', turnId: 't', duration: 1, error }],
  ['Snapshot', '0.8.0', '0.9.0', snapshot(terminal)],
  ['Snapshot', '0.8.0', '0.9.0', snapshot({ annotations: [annotation] })],
] as const)('[C2.1] a %s of %s is accepted in its form, which %s has not', (type, last, next, input) => {
  const value = { ...input, x: { y: 1 } }
  const trip = { type, input: value, acceptableOutputs: [value] }
  const [older, newer] = runFixtures(
    fixtures({ [`${last}/round-trips/1.json`]: trip, [`${next}/round-trips/1.json`]: trip }),
  )
  expect(older).toMatchObject({ version: last, passed: 1, failures: [] })
  expect(newer).toMatchObject({ version: next, passed: 0 })
})

test('[C2.1] an older value must keep its form and its unknown keys, and is refused if it is wrong', () => {
  const trip = (input: object, output: object) => ({
    type: 'SessionSummary',
    input,
    acceptableOutputs: [output],
  })
  const folder = fixtures({
    '0.4.0/round-trips/1.json': trip({ ...summary, activity: null, x: 1 }, { ...summary, x: 1 }),
    '0.4.0/round-trips/2.json': trip({ ...summary, x: 1 }, summary),
    '0.4.0/round-trips/3.json': trip(summary, { ...summary, modifiedAt: '1970-01-01T00:00:00.002Z' }),
    '0.4.0/round-trips/4.json': trip({ ...summary, status: 'busy' }, summary),
  })
  expect(runFixtures(folder)).toMatchObject([{ passed: 1, failures: { length: 3 } }])
})
