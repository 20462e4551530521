import { AhpError } from '@atrium/protocol/errors'
import { toBase64 } from '@atrium/protocol/text/base64'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../test/fake-files.ts'
import { bytesOf } from '../../test/plugins/folder.ts'
import type { Contents } from '../../test/plugins/folder.ts'
import { memoryFiles } from '../../test/plugins/memory-files.ts'
import { testHost } from '../../test/test-host.ts'
import { askClient } from '../parts/resources/client-files.ts'
import { clientPluginFiles } from './client-plugin-files.ts'
import type { AskForResource } from './client-plugin-files.ts'
import { loadPlugin } from './plugins.ts'

const root = 'vscode-plugin:/mine'
const contents: Contents = {
  '.plugin/plugin.json': { name: 'mine' },
  'skills/a b/SKILL.md': 'A',
  'rules/r.mdc': '---\nglobs: **/*.ts\n---\nR',
  '.mcp.json': { mcpServers: { s: { command: 'x' } } },
}

/** A client that has these files. */
function clientWith(files: Contents) {
  const memory = memoryFiles(files)
  const asked: string[] = []
  const answer = async (method: string, params: unknown): Promise<unknown> => {
    const { uri } = params as { uri: string }
    asked.push(`${method} ${uri}`)
    const path = decodeURIComponent(uri.slice(root.length + 1))
    try {
      if (method === 'resourceList') return { entries: await memory.list(path, 1000) }
      return { data: toBase64(await memory.read(path, 1e9)), encoding: 'base64' }
    } catch {
      throw AhpError.notFound('no such file')
    }
  }
  // The answers have the shape of the method that was asked for.
  const ask = answer as AskForResource
  return { asked, answer, files: clientPluginFiles(ask, root) }
}

test('[K13] a plugin of a client is read through the client, with few requests', async () => {
  const all = await testHost({ machine: { files: new FakeFiles() } })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: 's:/1' })
  const customizations = [{ type: 'plugin', id: 'p', uri: root, name: 'Mine' }]
  const activeClient = { clientId: 'ann', tools: [], customizations }
  await ann.echo(ann.dispatch('s:/1', { type: 'session/activeClientSet', activeClient }))
  const { asked, answer } = clientWith(contents)
  ann.answerRequest = answer
  const { principal } = all.core().clients.links.get('ann') ?? { principal: '' }
  const ask: AskForResource = (method, params) => askClient(all.core(), { principal }, method, params)
  const plugin = await loadPlugin(clientPluginFiles(ask, root))
  expect(plugin).toMatchObject({ format: 'open', name: 'mine', load: { kind: 'loaded' } })
  expect(plugin.components.map(({ child }) => child.id)).toEqual([
    `${root}/skills/a%20b/SKILL.md`,
    `${root}/rules/r.mdc`,
    `${root}/.mcp.json#mcp=s`,
  ])
  expect(asked).toHaveLength(8)
})

test('[K13] a missing file is told from a client that does not answer', async () => {
  const { files, answer } = clientWith(contents)
  await expect(files.read('skills/none/SKILL.md', 10)).rejects.toMatchObject({ reason: 'missing' })
  await expect(files.list('none', 10)).rejects.toMatchObject({ reason: 'missing' })
  let left = 3
  const leaving = (async (method: string, params: unknown) => {
    if (left-- <= 0) throw AhpError.notFound('the client that has it has disconnected')
    return answer(method, params)
  }) as AskForResource
  const plugin = await loadPlugin(clientPluginFiles(leaving, root))
  expect(plugin.load.kind).toBe('error')
  expect(JSON.stringify(plugin.load)).toContain(
    'The client did not give it: the client that has it has disconnected',
  )
})

test('[K13] a client that lies about names, types, sizes or encodings does no harm', async () => {
  const names = ['..', '.', '', 'a/b', 'a\\b', 'x\0', '\ud800', 'ok', 'ok', 'link']
  const entries = names.map((name) => ({ name, type: name === 'link' ? 'symlink' : 'directory' }))
  const lists = (async () => ({ entries })) as unknown as AskForResource
  expect(await clientPluginFiles(lists, root).list('', 10)).toEqual([
    { name: 'ok', type: 'directory' },
    { name: 'link', type: 'file' },
  ])
  await expect(clientPluginFiles(lists, root).list('', 1)).rejects.toMatchObject({ reason: 'unfit' })
  const reads = (answer: object) =>
    clientPluginFiles((async () => answer) as unknown as AskForResource, root).read('a', 4)
  expect(await reads({ data: 'text', encoding: 'utf-8' })).toEqual(bytesOf('text'))
  await expect(reads({ data: '5 bytes', encoding: 'utf-8' })).rejects.toMatchObject({ reason: 'unfit' })
  await expect(reads({ data: '!', encoding: 'base64' })).rejects.toMatchObject({ reason: 'refused' })
  await expect(clientPluginFiles(lists, root).read('../x', 4)).rejects.toMatchObject({ reason: 'outside' })
  await expect(clientPluginFiles(lists, root).read('x/'.repeat(3000) + 'x', 4)).rejects.toMatchObject({
    reason: 'refused',
  })
  // Every folder of this client has the same folder in it: the load ends nevertheless.
  expect((await loadPlugin(clientPluginFiles(lists, root))).load.kind).toBe('error')
})

test('[K13] the query of a folder stays behind the path', () => {
  const { uri } = clientPluginFiles(clientWith({}).answer as AskForResource, 'vfs://h/p/?v=1')
  expect([uri(''), uri('a b/c')]).toEqual(['vfs://h/p/?v=1', 'vfs://h/p/a%20b/c?v=1'])
})
