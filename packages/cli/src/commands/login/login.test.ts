import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { guardedServer } from '../../../../adapters/test/oauth/guarded-server.ts'
import { authorizationServer, browse } from '../../../../adapters/test/oauth/provider.ts'
import { httpServer } from '../../../../adapters/test/mcp/http.ts'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { documents } from '../../../test/command.ts'
import { CliFixture } from '../../../test/fixture.ts'

const program = fileURLToPath(new URL('../../../../adapters/test/acp-agent.mjs', import.meta.url))
const fixture = new CliFixture()
afterEach(({ task }) => fixture.closeWindows(task.result?.state === 'fail'))
afterAll(() => fixture.close())

/** Starts a host with two ACP agents that want a sign-in, and an MCP server that wants one. */
async function open(url: string): Promise<void> {
  mkdirSync(join(fixture.home, '.config/atrium'), { recursive: true })
  const config = JSON.stringify({ mcpServers: { docs: { url } } })
  writeFileSync(join(fixture.home, '.config/atrium/config.json'), config)
  const agent = (quirks: string, folder: string) => {
    mkdirSync(join(fixture.work, folder))
    const env = { ACP_STORE: join(fixture.work, folder), ACP_QUIRKS: quirks }
    return { command: process.execPath, args: [program], env }
  }
  await fixture.open({ keyed: agent('auth-key', 'keyed'), browsed: agent('auth-own', 'browsed') })
}

test('[Z62] atrium login signs in to agents and to an MCP server, and signs out', async () => {
  const remote = await httpServer({
    refuse: ({ authorization }) =>
      authorization === 'Bearer good' ? undefined : { status: 401, challenge: 'Bearer' },
  })
  await open(remote.url)
  const refused = await fixture.run(['run', '--agent', 'keyed', 'say a'])
  expect([refused.status, refused.stderr]).toEqual([
    5,
    expect.stringMatching(/keyed is not signed in\..* Sign in with: atrium login keyed\n$/),
  ])
  const listed = await fixture.run(['login', '--json'])
  expect(documents(listed.stdout)).toMatchObject([{ for: 'keyed', resource: 'acp://keyed/key' }])
  const wrong = await fixture.run(['login', 'keyed'], { input: 'k-bad-secret' })
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining('keyed is not signed in.')])
  expect(wrong.stderr).not.toContain('k-bad-secret')
  // The key is asked for on a terminal, and is not shown.
  const window = fixture.window(['login', 'keyed'])
  await window.until('Token or key for keyed: With a key:')
  window.press('k-good\r')
  expect(await window.ended()).toBe(0)
  expect(window.text).toContain('Signed in to keyed: With a key.')
  expect(window.text).not.toContain('k-good')
  const done = await fixture.run(['run', '--agent', 'keyed', '--quiet', 'say a'])
  expect([done.status, done.stdout]).toEqual([0, 'a\n'])
  await fixture.run(['login', 'keyed', '--out'])
  expect((await fixture.run(['run', '--agent', 'keyed', 'say a'])).status).toBe(5)

  const browsed = await fixture.run(['login', 'browsed'])
  expect([browsed.status, browsed.stdout + browsed.stderr.split('\n').at(-2)]).toEqual([
    0,
    'Signed in to browsed: In a browser.',
  ])
  expect((await fixture.run(['run', '--agent', 'browsed', '--quiet', 'say b'])).stdout).toBe('b\n')

  await fixture.run(['run', '--agent', 'guide', '--quiet', 'hello'])
  expect((await fixture.run(['mcp', 'last'])).stdout).toMatch(/^docs +on +authRequired\n/)
  const server = ['login', 'docs', '--session', 'last']
  expect((await fixture.run(server, { input: 'bad' })).stderr).toContain('does not accept the token')
  expect((await fixture.run(server, { input: 'good' })).status).toBe(0)
  expect((await fixture.run(['mcp', 'last'])).stdout).toMatch(/^docs +on +ready\n/)
  const none = await fixture.run(['login', 'nothing'])
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining("Nothing called 'nothing' asks")])
})

test('[Z62] [F14] atrium login opens a browser for a server with an authorization server, and signs out there', async () => {
  const provider = await authorizationServer()
  const remote = await guardedServer(provider)
  const own = new CliFixture()
  onTestFinished(() => own.close())
  mkdirSync(join(own.home, '.config/atrium'), { recursive: true })
  const config = JSON.stringify({ mcpServers: { docs: { url: remote.url } } })
  writeFileSync(join(own.home, '.config/atrium/config.json'), config)
  await own.open()
  await own.run(['run', '--agent', 'guide', '--quiet', 'hello'])
  const window = own.window(['login', 'docs', '--session', 'last'], { cols: 1000 })
  const said = await window.until('code_challenge_method')
  const [address = ''] = /http:\S+/.exec(said) ?? []
  await browse(address)
  expect(await window.ended()).toBe(0)
  expect((await own.run(['mcp', 'last'])).stdout).toMatch(/^docs +on +ready\n/)
  expect((await own.run(['login', 'docs', '--session', 'last', '--out'])).status).toBe(2)
  expect((await own.run(['login', remote.url, '--session', 'last', '--out'])).status).toBe(0)
  await expect.poll(() => provider.valid.size).toBe(0)
})
