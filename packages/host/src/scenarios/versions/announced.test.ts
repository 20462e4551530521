import { describe, expect, test } from 'vitest'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { testHost } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

const session = 'mock:/one'
const versions = ['0.1.0', '0.2.0', '0.3.0', '0.4.0', '0.5.0', '0.6.0', '0.8.0', '0.9.0', '1.0.0'] as const

/** What a client was told about the session list, without the channel of 0.2 and later and the nesting of 0.1. */
function told({ notes }: OlderClient): readonly (readonly [what: string, session: unknown])[] {
  return notes.flatMap(({ method, params }) => {
    const { type, ...nested } = (params['notification'] ?? { ...params, type: method }) as Value
    const what = String(type).replace(/^.*\//, '')
    const { summary } = nested as { readonly summary?: Value }
    return what.startsWith('session') ? [[what, summary?.['resource'] ?? nested['session']] as const] : []
  })
}

async function setUp(version: (typeof versions)[number]) {
  const all = await testHost({ agents: [new ScriptedAgent()] })
  const [ann, ben] = [new OlderClient(all, version, 'ann'), new OlderClient(all, version, 'ben')] as const
  for (const client of [ann, ben]) await client.open([client.root])
  const pass = async () => {
    for (let n = 0; n < 3; n++, await untilIdle()) all.world.advance(100)
  }
  const listed = async () =>
    ((await ben.ask('listSessions', {}))['items'] as Value[]).map((item) => item['resource'])
  return { all, ann, ben, pass, listed }
}

describe.each(versions)('[H7.4] session channel, Lifecycle, at %s', (version) => {
  test('a new session is announced to every client, is listed, and its end is announced', async () => {
    const { ann, ben, pass, listed } = await setUp(version)
    await ann.createSession(session)
    await pass()
    for (const client of [ann, ben]) expect(told(client)[0]).toEqual(['sessionAdded', session])
    expect(await listed()).toEqual([session])
    await ann.ask('disposeSession', {}, session)
    await pass()
    for (const client of [ann, ben]) expect(told(client).at(-1)).toEqual(['sessionRemoved', session])
    expect(await listed()).toEqual([])
  })

  test('no change of a session is told before the session, and it is announced once', async () => {
    const { ann, ben, pass } = await setUp(version)
    await ann.createSession(session)
    await ann.subscribe(session)
    await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 'Mine' }))
    await pass()
    const all = told(ben).map(([what]) => what)
    expect(all[0]).toBe('sessionAdded')
    expect(all.filter((what) => what === 'sessionAdded')).toHaveLength(1)
  })
})

test('[H7.4] a session that VS Code creates in advance is announced when it is used, and its unused end is not', async () => {
  const { all, ben, pass, listed } = await setUp('1.0.0')
  const code = all.link()
  await code.ask('initialize', {
    protocolVersions: ['1.0.0'],
    clientId: 'window',
    clientInfo: { name: 'vscode', version: '1.141.0' },
  })
  for (const channel of ['mock:/a', 'mock:/b']) await code.ask('createSession', { channel })
  await pass()
  expect([told(ben), await listed()]).toEqual([[], []])
  await code.ask('disposeSession', { channel: 'mock:/a' })
  await code.ask('subscribe', { channel: 'mock:/b' })
  code.dispatch('mock:/b', { type: 'session/titleChanged', title: 'Used' })
  await pass()
  expect(told(ben)).toEqual([['sessionAdded', 'mock:/b']])
})
