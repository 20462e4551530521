import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@atrium/client'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { tamper } from '../../../adapters/test/postgres/place.ts'
import { postgresTests } from '../../../adapters/test/postgres/store.ts'
import { linesIn, processesWith, stateOf } from '../../../adapters/test/processes.ts'
import { nodeToken, startNode } from '../../test/node-process.ts'

const server = postgresTests()
const program = fileURLToPath(new URL('../../../adapters/test/acp-agent.mjs', import.meta.url))
const until = (condition: () => unknown) => vi.waitUntil(condition, { timeout: 200_000, interval: 20 })

/** An agent that writes two files every 100 ms, one from a process that has left the agent's POSIX session. */
const writing = `
  write() { while :; do echo x >> "$1"; sleep 0.1; done; }
  write "$0-own" &
  setsid sh -c 'while :; do echo x >> "$0"; sleep 0.1; done' "$0-left" &
  exec "$1" "$2"
`

test('[L43] an owner is stopped for longer than its lease: its agent writes nothing after the lease has ended by the clock of the database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-stopped-'))
  const file = join(folder, 'written')
  const files = [`${file}-own`, `${file}-left`]
  const [place, { password }] = [await server().place(), server()]
  const agents = {
    writer: { command: '/bin/sh', args: ['-c', writing, file, process.execPath, program], env: {} },
  }
  // A quarter of the lease is left when the watchdog has counted. The machine of a test may be busy.
  const options = { place, password, agents, flags: ['--lease', '12'] }
  const one = await startNode('one', options)
  const two = await startNode('two', options)
  expect([await one.readyz(), await two.readyz()]).toEqual(['200 owner', '503 standby'])

  // The types of `ws` allow more than the client asks for.
  const client = connect({ urls: [one.url, two.url], token: nodeToken, WebSocket: WebSocket as never })
  onTestFinished(() => client.close())
  const session = 'ahp-session:/one'
  await client.ask('createSession', { channel: session, provider: 'writer' })
  const chat = client.subscribe('chat', defaultChatUri(session))
  await chat.ready()
  const message = { text: 'hang', origin: { kind: 'user' } } as const
  await chat.dispatch({
    type: 'chat/turnStarted',
    turnId: 't1',
    startedAt: new Date().toISOString(),
    message,
  })
  await until(() => files.every((each) => linesIn(each) > 3))

  one.child.kill('SIGSTOP')
  await until(() => stateOf(one.child.pid) === 'T')
  // A stopped owner renews nothing. Its lease is read at once, because the next owner soon has one of its own.
  const [lease] = await tamper(
    place,
    'SELECT epoch::int, (extract(epoch FROM expires) * 1000)::float8 AS ends FROM lease',
  )
  expect(lease).toMatchObject({ epoch: 1 })
  // The cast names the columns of the query.
  const { ends } = lease as { readonly ends: number }
  await until(() => processesWith(file).length === 0)
  for (const each of files) expect(statSync(each).mtimeMs).toBeLessThan(ends)

  await until(async () => (await two.readyz()) === '200 owner')
  const written = files.map(linesIn)
  one.child.kill('SIGCONT')
  await until(async () => (await one.readyz()) === '503 standby')
  await until(() => one.log().includes('deposed'))
  // The turn has ended at the next owner, to which the client has gone by itself.
  const { turns } = await chat.until((state) => state.turns.length === 1)
  expect(turns[0]).toMatchObject({ id: 't1', state: 'error' })
  expect(files.map(linesIn)).toEqual(written)
})
