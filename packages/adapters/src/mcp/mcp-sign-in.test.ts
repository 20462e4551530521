import { tokensOf } from '../../../host/src/parts/auth/tokens.ts'
import type { Customization } from '@atrium/protocol/session/customization'
import { expect, onTestFinished, test } from 'vitest'
import { FakeFiles } from '../../../host/test/fake-files.ts'
import { ScriptedAgent, until } from '../../../host/test/scripted-agent.ts'
import { testHost } from '../../../host/test/test-host.ts'
import type { Client } from '../../../host/test/test-host.ts'
import { httpServer } from '../../test/mcp/http.ts'
import { mcpRoom } from '../../test/mcp/room.ts'

const session = 'mock:/one'
const id = 'atrium:/mcp/docs'

/** A host with one MCP server, which accepts one token. Ann has a session. */
async function signedOut() {
  const remote = await httpServer({
    refuse: ({ authorization }) =>
      authorization === 'Bearer good' ? undefined : { status: 401, challenge: 'Bearer' },
    get: (path, origin) =>
      path.startsWith('/.well-known/oauth-protected-resource')
        ? {
            body: JSON.stringify({
              resource: `${origin}/mcp`,
              authorization_servers: ['https://as.example'],
            }),
          }
        : undefined,
  })
  const agent = new ScriptedAgent()
  const all = await testHost({
    agents: [agent],
    machine: {
      files: new FakeFiles(),
      mcp: mcpRoom().pool,
      customizations: { hash: String, servers: { docs: { url: remote.url } } },
    },
  })
  onTestFinished(() => all.host().close())
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  return {
    all,
    ann,
    remote,
    resource: { resource: remote.url, authorization_servers: ['https://as.example'] },
  }
}

const notesOf = ({ notes }: Client) =>
  notes.flatMap(({ method, params }) => (method === 'auth/required' ? [params] : []))

const kindOf = (client: Client) => {
  const { customizations = [] } = client.state(session) as { customizations?: readonly Customization[] }
  const found = customizations.find((each) => each.id === id)
  return found?.type === 'mcpServer' ? found.state.kind : undefined
}

const start = (client: Client) => client.dispatch(session, { type: 'session/mcpServerStartRequested', id })

test('[H19.5] [F11.3] an MCP server that answers 401: the state says so, auth/required is sent, and a token starts it', async () => {
  const { all, ann, resource } = await signedOut()
  const old = all.link()
  const initialSubscriptions = [session]
  await old.ask('initialize', { protocolVersions: ['0.9.0'], clientId: 'old', initialSubscriptions })
  await ann.until(() => kindOf(ann) !== undefined)
  start(ann)
  await ann.until(() => kindOf(ann) === 'authRequired' && notesOf(ann).length > 0)
  expect(notesOf(ann)).toEqual([{ channel: session, resource, reason: 'required' }])
  await old.until(() => notesOf(old).length > 0)
  const give = (token: string) => ann.ask('authenticate', { resource: resource.resource, token })
  await expect(give('bad')).rejects.toMatchObject({ code: -32007, data: { resources: [resource] } })
  expect(kindOf(ann)).toBe('authRequired')
  expect(tokensOf(all.core()).of('owner', resource.resource)).toBeUndefined()
  await give('good')
  await ann.until(() => kindOf(ann) === 'ready')
})

test('[F11.4] a second session that uses the server does not take away the sign-in of the first', async () => {
  const { ann, resource, remote } = await signedOut()
  await ann.until(() => kindOf(ann) !== undefined)
  start(ann)
  await ann.until(() => kindOf(ann) === 'authRequired' && notesOf(ann).length > 0)
  const kinds = () =>
    ann.envelopes.flatMap(({ channel, action }) =>
      channel === session && action.type === 'session/mcpServerStateChanged'
        ? [(action as unknown as { state: { kind: string } }).state.kind]
        : [],
    )
  const [before, asked] = [kinds().length, remote.requests.length]
  const other = 'mock:/two'
  await ann.ask('createSession', { channel: other })
  await ann.ask('subscribe', { channel: other })
  ann.dispatch(other, { type: 'session/mcpServerStartRequested', id })
  await until(() => remote.requests.length > asked + 1)
  await ann.ask('authenticate', { resource: resource.resource, token: 'good' })
  await ann.until(() => kindOf(ann) === 'ready')
  expect(kinds().slice(before)).not.toContain('authRequired')
})

test.each(['0.1.0', '0.2.0', '0.3.0', '0.5.2', '0.6.0', '0.7.0', '0.8.0', '1.0.0'])(
  '[F11.3] a client of version %s gets the notification in its own form',
  async (version) => {
    const { all, ann, resource } = await signedOut()
    const old = all.link()
    const params = {
      protocolVersions: [version],
      protocolVersion: 1,
      clientId: 'old',
      initialSubscriptions: [session],
    }
    await old.ask('initialize', params)
    await ann.until(() => kindOf(ann) !== undefined)
    start(ann)
    const frames = () =>
      old.notes.flatMap(({ method, params: given }) =>
        method === 'auth/required' ||
        (method === 'notification' && JSON.stringify(given).includes('authRequired'))
          ? [{ method, given }]
          : [],
      )
    await old.until(() => frames().length > 0)
    expect(JSON.stringify(frames())).toContain(resource.resource)
  },
)
