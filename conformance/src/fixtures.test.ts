import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runFixtures } from './fixtures.ts'

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

test('[C3] a case listed as changed must fail, and an unlisted case must pass', () => {
  const folder = fixtures({
    '0.8.0-dev/reducers/004-session-creationfailed.json': titled,
    '0.8.0-dev/reducers/063-session-truncated-x.json': { ...titled, expected: { title: 'c' } },
  })
  expect(runFixtures(folder)).toMatchObject([
    { passed: 0, changed: 1, failures: [expect.stringContaining('but is listed')] },
  ])
})

test('[C3] older versions are counted and not judged; a folder without fixtures is an error', () => {
  const folder = fixtures({ '0.6.0/reducers/1.json': {}, '1.0.0/reducers/1.json': titled })
  expect(runFixtures(folder)[0]).toMatchObject({ version: '0.6.0', judged: false, cases: 1 })
  expect(() => runFixtures(join(folder, 'nowhere'))).toThrow('no such folder')
  expect(() => runFixtures(join(folder, '0.6.0'))).toThrow('no fixtures')
})
