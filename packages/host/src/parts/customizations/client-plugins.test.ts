import { customizationsOf } from '../../catalog/customizing.ts'
import type { Customization } from '@atrium/protocol/session/customization'
import type { SessionState } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { FakeMcp } from '../../../test/fakes/fake-mcp.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client, TestHost } from '../../../test/test-host.ts'
import { containedFiles } from '../../plugins/plugin-files.ts'
import type { PluginCopies } from '../../plugins/plugin-copies.ts'

const session = 'ahp-session:/1'
const published = { type: 'plugin', id: 'lent', uri: 'vscode:/kit', name: 'Lent', nonce: '1' }
/** What Ben publishes. */
const lender = { clientId: 'ben', tools: [], customizations: [published] }
const server = '{"mcpServers":{"rooms":{"command":"node","args":["${PLUGIN_ROOT}/rooms.mjs"]}}}'
const content: Content = {
  '.plugin/plugin.json': '{"name":"lent"}',
  'skills/a/SKILL.md': '---\nname: a\n---\nA.',
}
const withServer: Content = { ...content, '.mcp.json': server, 'rooms.mjs': 'serve()' }

test('[H17.4] a plugin that a client publishes is read through the client, and goes with the client', async () => {
  const { list, ben } = await lent(content)
  await until(() => find(list())?.load?.kind === 'loaded')
  expect(find(list())).toMatchObject({ clientId: 'ben', children: [{ type: 'skill', name: 'a' }] })
  await ben.echo(ben.dispatch(session, { type: 'session/activeClientRemoved', clientId: 'ben' }))
  await until(() => find(list()) === undefined)
})

test('[H17.7] a program of a client’s plugin runs from a copy of the plugin, once a user has allowed it', async () => {
  const { allow, files, mcp, run } = await lent(withServer)
  await run()
  expect([...files.files.keys()]).toEqual([])
  await allow()
  await run()
  const [path = ''] = [...files.files.keys()].filter((each) => each.endsWith('/rooms.mjs'))
  expect(path).toMatch(/^\/copies\/\d+\/rooms\.mjs$/)
  expect(mcp.opened.at(-1)?.config).toMatchObject({ command: 'node', args: [path] })
})

test('[H17.7] a copy that somebody has changed is written again before it is used', async () => {
  const { allow, files, run } = await lent(withServer)
  await allow()
  await run()
  const [path = ''] = [...files.files.keys()].filter((each) => each.endsWith('/rooms.mjs'))
  files.put(path, 'steal()')
  await run()
  expect(new TextDecoder().decode(files.files.get(path))).toBe('serve()')
})

test('[H17.7] a copy that cannot be written is said in the load state, and the rest of the plugin works', async () => {
  const { allow, list, mcp, run, trouble } = await lent(withServer)
  trouble('The disk is full.')
  await allow()
  await run()
  await until(() => find(list())?.load?.kind === 'degraded')
  expect(find(list())?.load).toMatchObject({
    message: 'Its files could not be copied to the host. The disk is full.',
  })
  expect(find(list())?.children).toMatchObject([{ type: 'skill' }, { state: { kind: 'error' } }])
  expect(mcp.opened.filter(({ closed }) => !closed)).toEqual([])
})

test('[H17.8] the plugin of a client that has left is gone after its grace period, and back with the client', async () => {
  const { all, allow, ben, list, mcp, run, publish } = await lent(withServer)
  await allow()
  await run()
  expect(mcp.opened.at(-1)?.closed).toBe(false)
  ben.peer.close()
  await until(() => !all.core().clients.links.has('ben'))
  all.world.advance(29_999)
  expect(mcp.opened.at(-1)?.closed).toBe(false)
  all.world.advance(1)
  await until(() => find(list()) === undefined)
  expect(mcp.opened.every(({ closed }) => closed)).toBe(true)
  const again = await comesBack(all, publish)
  again.clientSeq = 1
  await again.echo(again.dispatch(session, { type: 'session/activeClientSet', activeClient: lender }))
  await until(() => find(list())?.load?.kind === 'loaded')
  await run()
  expect(mcp.opened.at(-1)?.closed).toBe(false)
})

test('[H17.8] the plugin of a client that was away when the host started is read when the client is back', async () => {
  const { all, allow, publish } = await lent(withServer)
  await allow()
  await all.restart('crash')
  const ann = await all.join('ann', { subscribe: [session] })
  await until(() => find(listOf(ann))?.load?.kind === 'error')
  await comesBack(all, publish)
  await until(() => find(listOf(ann))?.load?.kind === 'loaded')
})

interface Content {
  readonly [path: string]: string
}

/** A session of Ann to which Ben has lent a plugin with this content. */
async function lent(given: Content) {
  const files = new FakeFiles()
  let trouble: string | undefined
  const copies: PluginCopies = {
    at: (digest) => ({
      path: `/copies/${digest.length}`,
      files: containedFiles(files, `/copies/${digest.length}`),
    }),
    write: async (digest, copied) => {
      if (trouble !== undefined) throw new Error(trouble)
      for (const file of copied) files.put(`/copies/${digest.length}/${file.path}`, file.content)
    },
  }
  const mcp = new FakeMcp([], async () => ({ success: true }))
  const hash = (data: Uint8Array | string) =>
    typeof data === 'string' ? data : new TextDecoder().decode(data)
  const agent = new ScriptedAgent()
  const all = await testHost({ machine: { files, mcp, customizations: { hash, copies } }, agents: [agent] })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  const ben = await all.join('ben', { subscribe: [session] })
  const publish = (client: Client) => {
    client.answerRequest = (method, params) => answer(given, method, params as { readonly uri: string })
  }
  publish(ben)
  const activeClient = lender
  await ben.echo(ben.dispatch(session, { type: 'session/activeClientSet', activeClient }))
  const list = () => listOf(ann)
  await until(() => [undefined, 'loading'].every((kind) => find(list())?.load?.kind !== kind))
  const allow = async () => {
    const enablement = [{ kind: 'session', enabled: true }]
    await ann.echo(ann.dispatch(session, { type: 'session/customizationToggled', id: 'lent', enablement }))
  }
  /** Starts the servers, as the beginning of a turn does. */
  const run = async () => customizationsOf(all.core())?.startServers(session)
  return { all, allow, ann, ben, files, list, mcp, publish, run, trouble: (text: string) => (trouble = text) }
}

async function comesBack(all: TestHost, publish: (client: Client) => void): Promise<Client> {
  const ben = all.link()
  publish(ben)
  await ben.initialize('ben', [session])
  return ben
}

function listOf(client: Client): readonly Customization[] {
  // The channel is that of a session.
  return (client.state(session) as unknown as SessionState).customizations ?? []
}

function find(list: readonly Customization[]) {
  const found = list.find(({ id }) => id === 'lent')
  return found?.type === 'plugin' ? found : undefined
}

/** The answer of a client that has these files. */
function answer(files: Content, method: string, { uri }: { readonly uri: string }): unknown {
  const path = uri.slice('vscode:/kit'.length).replace(/^\//, '')
  if (method === 'resourceRead') return { data: files[path], encoding: 'utf-8' }
  const folder = path === '' ? '' : `${path}/`
  const names = new Map(
    Object.keys(files)
      .filter((each) => each.startsWith(folder))
      .map((each) => {
        const [name = '', ...deeper] = each.slice(folder.length).split('/')
        return [name, deeper.length > 0 ? 'directory' : 'file']
      }),
  )
  return { entries: [...names].map(([name, type]) => ({ name, type })) }
}
