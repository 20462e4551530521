import { expect, onTestFinished, test } from 'vitest'
import { guidePrompts, startGuidedHost, token } from '../../test/guided-host.ts'
import { judgeVersions } from './command.ts'
import { features, matrixVersions, runMatrix } from './matrix.ts'
import { openSpeaker } from './scene.ts'

async function startHost(): Promise<string> {
  const { url, close } = await startGuidedHost()
  onTestFinished(close)
  return url
}

test('[C16] [C16.1] [C16.4] clients of all versions do everything in one session of our host, and see it of each other, and leave no session behind', async () => {
  const target = { url: await startHost(), token, timeoutMs: 30_000 }
  const { cells } = await runMatrix(target, guidePrompts)
  const others = cells.filter(({ outcome }) => outcome !== 'yes')
  const absent = matrixVersions.flatMap((version) => [
    ...(version < '0.4.0' ? [`absent fork: chat ${version}`] : []),
    ...(version > '0.8.0' ? [`absent fork: session ${version}`] : []),
  ])
  expect(
    others.map(({ outcome, feature, version }) => `${outcome} ${feature} ${version}`).toSorted(),
  ).toEqual(absent.toSorted())
  expect(cells).toHaveLength(matrixVersions.length * (features.length + 1))
  for (const { outcome, reasons } of cells) if (outcome === 'yes') expect(reasons).toEqual([])
  const speaker = await openSpeaker(target, '1.0.0')
  await speaker.initialize()
  expect(await speaker.listSessions()).toEqual([])
  speaker.terminate()
})

test('[C16] [C16.2] the command prints a table or one JSON document', async () => {
  const url = await startHost()
  const run = async (...args: readonly string[]) => {
    let out = ''
    const code = await judgeVersions(
      ['--url', url, '--token', token, ...args],
      (text) => (out += text),
      (text) => (out += text),
    )
    return { code, lines: out.split('\n') }
  }
  const { code, lines } = await run('--features', 'rename,approve', '--versions', '0.9.0,1.0.0')
  expect({ code, lines }).toEqual({
    code: 0,
    lines: [
      'AHP versions on one session, agent guide',
      'feature  0.9.0    1.0.0',
      'connect  yes      yes',
      'approve  skip     skip',
      'rename   yes      yes',
      'skip approve at 0.9.0, 1.0.0: no --tool-prompt says how to make the agent ask before it uses a tool',
      'versions: 4 yes, 0 failed, 0 not in the version, 2 skipped',
    ],
  })
  const json = await run('--features', 'create', '--versions', '1.0.0', '--json')
  expect(JSON.parse(json.lines.join('\n'))).toMatchObject({
    url,
    provider: 'guide',
    versions: ['1.0.0'],
    features: ['connect', 'create'],
    yes: 2,
    failed: 0,
    cells: [
      { feature: 'connect', version: '1.0.0', outcome: 'yes', reasons: [] },
      { feature: 'create', version: '1.0.0', outcome: 'yes', reasons: [] },
    ],
  })
  expect(json.lines.join('\n')).not.toContain(token)
})
