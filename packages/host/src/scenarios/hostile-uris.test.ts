import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { hostileUris } from '../../../protocol/test/hostile-uris.ts'
import { FakeFiles } from '../../test/fake-files.ts'
import { testHost } from '../../test/test-host.ts'
import type { Client } from '../../test/test-host.ts'
import { fakeTerminals } from '../../test/fake-terminals.ts'

const inside = 'file:///work/inside'
const claim = { kind: 'client', clientId: 'ann' }
let made = 0

/**
 * Every way in which a client can give the host a path. Each function returns the error code or the reason of the refusal.
 */
const ways: { readonly [name: string]: (ann: Client, uri: string) => Promise<unknown> } = {
  ...Object.fromEntries(
    ['Read', 'List', 'Resolve', 'Mkdir', 'Delete', 'Request'].map((name) => [
      `resource${name}`,
      (ann: Client, uri: string) => ask(ann, `resource${name}`, { uri }),
    ]),
  ),
  resourceWrite: (ann, uri) => ask(ann, 'resourceWrite', { uri, data: '', encoding: 'utf-8' }),
  createResourceWatch: (ann, uri) => ask(ann, 'createResourceWatch', { uri }),
  'resourceCopy from': (ann, uri) => ask(ann, 'resourceCopy', { source: uri, destination: inside }),
  'resourceCopy to': (ann, uri) => ask(ann, 'resourceCopy', { source: inside, destination: uri }),
  'resourceMove from': (ann, uri) => ask(ann, 'resourceMove', { source: uri, destination: inside }),
  'resourceMove to': (ann, uri) => ask(ann, 'resourceMove', { source: inside, destination: uri }),
  'createTerminal in': (ann, uri) =>
    ask(ann, 'createTerminal', { channel: `ahp-terminal:/${made++}`, claim, cwd: uri }),
  'createSession in': (ann, uri) =>
    ask(ann, 'createSession', { channel: `s:/new-${made++}`, workingDirectories: [uri] }),
  'session/workingDirectorySet': (ann, directory) =>
    dispatched(ann, 's:/empty', { type: 'session/workingDirectorySet', directory }),
  'session/workingDirectoryReplaced': (ann, replacement) =>
    dispatched(ann, 's:/1', {
      type: 'session/workingDirectoryReplaced',
      directory: 'file:///work',
      replacement,
    }),
  'atrium.grants': (ann, uri) =>
    dispatched(ann, rootUri, { type: 'root/configChanged', config: { 'atrium.grants': [{ uri }] } }),
}

const ask = (ann: Client, method: string, params: object) =>
  ann.ask(method as 'resourceRead', params as never).then(
    () => undefined,
    ({ code }: { code: number }) => code,
  )
const dispatched = async (ann: Client, channel: string, action: { type: string } & Record<string, unknown>) =>
  (await ann.echo(ann.dispatch(channel, action))).rejectionReason

test.each(Object.entries(ways))(
  '[Q2] S-28: %s refuses every ambiguous URI, and touches nothing',
  async (_, way) => {
    const files = new FakeFiles()
    const terminals = fakeTerminals()
    const all = await testHost({ machine: { files, terminals } })
    const ann = await all.join('ann', { subscribe: [rootUri] })
    await ann.ask('createSession', { channel: 's:/1', workingDirectories: ['file:///work'] })
    await ann.ask('createSession', { channel: 's:/empty' })
    for (const channel of ['s:/1', 's:/empty']) await ann.ask('subscribe', { channel })
    const before = JSON.stringify([...ann.states])
    const refused = hostileUris.filter(({ verdict }) => verdict === 'refused')
    expect(refused.length).toBeGreaterThan(150)
    for (const { uri, why } of refused) {
      const outcome = await way(ann, uri)
      expect(
        typeof outcome === 'string' || [-32602, -32008, -32009].includes(Number(outcome)),
        `${uri.slice(0, 80)} (${why}): ${String(outcome)}`,
      ).toBe(true)
    }
    expect([files.asked, terminals.shells]).toEqual([[], []])
    const withoutQuiet = (states: string) => states.replaceAll(/"modifiedAt":"[^"]*"/g, '')
    expect(withoutQuiet(JSON.stringify([...ann.states]))).toBe(withoutQuiet(before))
  },
)
