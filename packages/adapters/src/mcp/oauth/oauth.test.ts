import { tokensOf } from '../../../../host/src/parts/auth/tokens.ts'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Customization } from '@atrium/protocol/session/customization'
import { expect, onTestFinished, test } from 'vitest'
import { FakeFiles } from '../../../../host/test/fake-files.ts'
import { ScriptedAgent } from '../../../../host/test/scripted-agent.ts'
import { testHost } from '../../../../host/test/test-host.ts'
import type { Client } from '../../../../host/test/test-host.ts'
import { listen } from '../../../test/mcp/http.ts'
import { mcpRoom } from '../../../test/mcp/room.ts'
import { guardedServer } from '../../../test/oauth/guarded-server.ts'
import { authorizationServer, browse } from '../../../test/oauth/provider.ts'
import type { ProviderOptions } from '../../../test/oauth/provider.ts'
import { realTimers } from '../../../test/acp.ts'
import { OAuthAuthorizer } from './authorizer.ts'

const session = 'mock:/one'
const id = 'atrium:/mcp/docs'

/** A host with an MCP server that wants a token of an authorization server. Ann has a session in which it waits for one. */
async function signedOut(options: ProviderOptions = {}) {
  const provider = await authorizationServer(options)
  const remote = await guardedServer(provider)
  const folder = mkdtempSync(join(tmpdir(), 'atrium-oauth-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'sign-ins')
  const authorizer = await OAuthAuthorizer.open({ later: realTimers, file })
  const door = await listen((request, response) => {
    const params = new URL(request.url ?? '', 'http://host').searchParams
    void authorizer.complete(params).then(({ ok, text }) => response.writeHead(ok ? 200 : 400).end(text))
  })
  const machine = {
    files: new FakeFiles(),
    mcp: mcpRoom().pool,
    authorizer,
    customizations: { hash: String, servers: { docs: { url: remote.url } } },
  }
  const all = await testHost({ agents: [new ScriptedAgent()], machine })
  onTestFinished(() => all.host().close())
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  await ann.until(() => kindOf(ann) !== undefined)
  ann.dispatch(session, { type: 'session/mcpServerStartRequested', id })
  await ann.until(() => kindOf(ann) === 'authRequired')
  const resource = remote.url
  const redirect = `${door.origin}/oauth/callback`
  const begin = async () => {
    const { url } = (await ann.peer.request('x-atrium/beginSignIn', { resource, redirect })) as {
      url: string
    }
    return url
  }
  const end = () => ann.peer.request('x-atrium/endSignIn', { resource })
  return { all, ann, provider, remote, resource, redirect, file, begin, end, authorizer }
}

const kindOf = (client: Client) => {
  const { customizations = [] } = client.state(session) as { customizations?: readonly Customization[] }
  const found = customizations.find((each) => each.id === id)
  return found?.type === 'mcpServer' ? found.state.kind : undefined
}

test('[F14.4] [F14.7] [F14] a sign-in with a browser: registration, PKCE, resource indicator; the server starts, and no token is shown', async () => {
  const room = await signedOut()
  const { all, ann, provider, resource } = room
  const url = new URL(await room.begin())
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: room.redirect,
    resource,
  })
  expect(url.searchParams.get('scope')?.split(' ')).toEqual(['files:read', 'offline_access'])
  const [ended, came] = await Promise.all([room.end(), browse(url.href)])
  expect([ended, came.text]).toEqual([{}, 'You are signed in. You can close this window.'])
  await ann.until(() => kindOf(ann) === 'ready')
  const token = tokensOf(all.core()).of('owner', resource) ?? ''
  expect(provider.valid.get(token)).toBe(resource)
  const registered = provider.seen.find(({ path }) => path === '/reg')
  expect(JSON.parse(registered?.body ?? '')).toMatchObject({
    redirect_uris: [room.redirect],
    token_endpoint_auth_method: 'none',
  })
  const exchanged = new URLSearchParams(provider.seen.find(({ path }) => path === '/token')?.body)
  expect([exchanged.get('resource'), exchanged.get('code_verifier')?.length]).toEqual([
    resource,
    expect.any(Number),
  ])
  const shown = JSON.stringify([
    ann.envelopes,
    ann.notes,
    all.world.reports,
    all.core().log.channel(session)?.head,
  ])
  const kept = readFileSync(room.file, 'utf8')
  expect(statSync(room.file).mode & 0o777).toBe(0o600)
  expect(kept).not.toContain(token)
  const { refreshToken } =
    Object.values(JSON.parse(kept) as Record<string, { refreshToken: string }>)[0] ?? {}
  for (const secret of [token, refreshToken ?? '?', exchanged.get('code') ?? '?'])
    expect(shown).not.toContain(secret)
  // The code and its state work once.
  expect((await browse(came.url)).text).toContain('not known')
})

test('[F14.1] a token that expires or is refused is renewed without a person, also after a restart', async () => {
  const room = await signedOut()
  const { all, ann, provider, resource } = room
  const url = await room.begin()
  await Promise.all([room.end(), browse(url)])
  await ann.until(() => kindOf(ann) === 'ready')
  const first = tokensOf(all.core()).of('owner', resource)
  provider.valid.clear()
  ann.dispatch(session, { type: 'session/mcpServerStopRequested', id })
  await ann.until(() => kindOf(ann) === 'stopped')
  ann.dispatch(session, { type: 'session/mcpServerStartRequested', id })
  await ann.until(() => kindOf(ann) === 'ready')
  const second = tokensOf(all.core()).of('owner', resource)
  expect(second).not.toBe(first)
  const asked = provider.seen
    .filter(({ path }) => path === '/token')
    .map(({ body }) => new URLSearchParams(body))
  expect(asked.map((each) => each.get('grant_type'))).toEqual(['authorization_code', 'refresh_token'])
  expect(asked[1]?.get('resource')).toBe(resource)
  // The next host has only the file.
  const later = await OAuthAuthorizer.open({ later: realTimers, file: room.file })
  expect(later.remembers('owner', resource)).toBe(true)
  expect(provider.valid.get((await later.refresh('owner', resource))?.token ?? '')).toBe(resource)
})

test('[F14.2] a sign-out revokes the tokens at the authorization server, and forgets them', async () => {
  const room = await signedOut()
  const { ann, provider, resource } = room
  const url = await room.begin()
  await Promise.all([room.end(), browse(url)])
  await ann.until(() => kindOf(ann) === 'ready')
  await ann.ask('authenticate', { resource, token: '' })
  await expect.poll(() => provider.valid.size).toBe(0)
  expect(room.authorizer.remembers('owner', resource)).toBe(false)
  expect(readFileSync(room.file, 'utf8')).toBe('{}')
})

test('[F14.3] a person who does not agree, a wrong state, and a foreign redirect: the reason is said, and nothing changes', async () => {
  const room = await signedOut({ agrees: false })
  const url = await room.begin()
  const ended = room.end()
  const refused = expect(ended).rejects.toMatchObject({
    message: expect.stringContaining('access_denied') as string,
  })
  expect((await browse(url)).text).toContain('access_denied')
  await refused
  expect((await browse(`${room.redirect}?state=guessed&code=x`)).text).toContain('not known')
  const { resource } = room
  for (const redirect of ['http://evil.example/oauth/callback', 'https://host.example/other'])
    await expect(room.ann.peer.request('x-atrium/beginSignIn', { resource, redirect })).rejects.toMatchObject(
      {
        code: -32602,
      },
    )
  expect(kindOf(room.ann)).toBe('authRequired')
})

test('[F14.6] a client that was registered by hand is used, and its secret is sent only to the authorization server', async () => {
  const client = { clientId: 'by-hand', clientSecret: 'a-secret-by-hand' }
  const redirect = 'http://127.0.0.1:1/oauth/callback'
  const provider = await authorizationServer({ client: { ...client, redirect } })
  const authorizer = await OAuthAuthorizer.open({ later: realTimers })
  const resource = { resource: 'http://127.0.0.1:1/mcp', authorization_servers: [provider.origin] }
  const { url, granted } = await authorizer.begin({ principal: 'ann', resource, client, redirect })
  expect(new URL(url).searchParams.get('client_id')).toBe('by-hand')
  expect(url).not.toContain('a-secret-by-hand')
  const back = await browse(url, redirect)
  expect(await authorizer.complete(new URL(back.url).searchParams)).toMatchObject({ ok: true })
  expect(provider.valid.has((await granted).token)).toBe(true)
  expect(provider.seen.some(({ path }) => path === '/reg')).toBe(false)
})

test.each([
  ['http://as.example', 'does not begin with https'],
  ['https://10.0.0.1', 'is not public'],
])('[F14.5] S-47: nothing is sent to the authorization server %s', async (named, why) => {
  const authorizer = await OAuthAuthorizer.open({ later: realTimers })
  const resource = { resource: 'https://docs.example/mcp', authorization_servers: [named] }
  const redirect = 'http://127.0.0.1:1/oauth/callback'
  await expect(authorizer.begin({ principal: 'ann', resource, redirect })).rejects.toThrow(why)
})
