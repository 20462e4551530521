import { expect, test } from 'vitest'
import { MemoryCaptures } from '@atrium/adapters/captures/memory'
import { MemoryCommits } from '../../test/captures/memory-commits.ts'
import { testHost } from '../../test/test-host.ts'
import type { TestHost } from '../../test/test-host.ts'

const root = 'ahp-root://'

/** A host that captures and commits. */
function committingHost(): Promise<TestHost> {
  const captures = new MemoryCaptures()
  return testHost({ machine: { captures, commits: new MemoryCommits(captures) } })
}

/** The commands that every host has. */
const everyHost = [
  'x-atrium/stateAt',
  'x-atrium/envelopes',
  'x-atrium/devices',
  'x-atrium/pairDevice',
  'x-atrium/revokeDevice',
  'x-atrium/missedRuns',
]

const own = (result: object) => ('_meta' in result ? result._meta : {}) as { readonly 'x-atrium'?: object }

test('[O46] the result of initialize names the commands that AHP does not have', async () => {
  const { link } = await committingHost()
  const commands = ['x-atrium/commit', 'x-atrium/reviewHunks', ...everyHost]
  expect(own(await link().initialize('ann'))['x-atrium']).toMatchObject({ commands })
  const only = await testHost({ machine: { captures: new MemoryCaptures() } })
  expect(own(await only.link().initialize('ann'))['x-atrium']).toMatchObject({
    commands: ['x-atrium/reviewHunks', ...everyHost],
  })
})

test('[O46] a host without captures has none for changes', async () => {
  const { link } = await testHost()
  const ann = link()
  expect(own(await ann.initialize('ann'))['x-atrium']).toMatchObject({ commands: everyHost })
  const asked = ann.peer.request('x-atrium/commit', { channel: 'x:/', message: 'x' })
  await expect(asked).rejects.toMatchObject({ code: -32601 })
})

test.each(['0.9.0', '0.5.2', '0.3.0'])('[O46] clients of %s do not have them', async (version) => {
  const { link } = await committingHost()
  const old = link()
  const params = { channel: root, protocolVersions: [version], clientId: 'old', initialSubscriptions: [] }
  expect(own((await old.peer.request('initialize', params)) as object)['x-atrium'] ?? {}).not.toHaveProperty(
    'commands',
  )
  const asked = old.peer.request('x-atrium/commit', { channel: 'x:/', message: 'x' })
  await expect(asked).rejects.toMatchObject({ code: -32601 })
})

test('[O46] their params are checked, and they need a handshake as every command does', async () => {
  const { link } = await committingHost()
  const ann = link()
  const ask = (params: object) => ann.peer.request('x-atrium/commit', params)
  await expect(ask({ channel: 'x:/', message: 'x' })).rejects.toMatchObject({ code: -32600 })
  await ann.initialize('ann')
  await expect(ask({ channel: 'x:/' })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('message'),
  })
  await expect(ask({ channel: 'x:/', message: 'x', files: 'y' })).rejects.toMatchObject({ code: -32602 })
  await expect(ask({ channel: 'x:/', message: 'x' })).rejects.toMatchObject({ code: -32008 })
  await expect(ann.peer.request('x-atrium/other', {})).rejects.toMatchObject({ code: -32601 })
})
