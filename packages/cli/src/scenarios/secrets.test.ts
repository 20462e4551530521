import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, onTestFinished, test } from 'vitest'
import { RacingClient } from '../../../host/test/racing-clients.ts'
import { HostProcess } from '../../test/host-process.ts'

const session = 'ahp-session:/secret'
const chat = defaultChatUri(session)
const resource = 'https://guide.atrium.example'

const started = (turnId: string, text: string) => ({
  type: 'chat/turnStarted',
  turnId,
  startedAt: new Date().toISOString(),
  message: { text, origin: { kind: 'user' } },
})

async function connect(host: HostProcess, name: string, version: '1.0.0' | '0.9.0'): Promise<RacingClient> {
  const racer = new RacingClient(await host.dial(), name, version)
  await racer.open()
  return racer
}

const inputNeeded = ({ link }: RacingClient) =>
  link.until(() => link.session(session).inputNeeded !== undefined)
const ended = ({ link }: RacingClient, turnId: string) =>
  link.until(() => link.chat(chat).turns.some(({ id }) => id === turnId))

test('[J8] [S-31] a token is in no file, no log, no environment, and in no message to a client', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-secrets-'))
  const log = openSync(join(home, 'log'), 'a')
  let host = await HostProcess.start(home, log)
  onTestFinished(async () => {
    await host.kill()
    closeSync(log)
    rmSync(home, { recursive: true, force: true })
  })
  const canary = `canary${process.pid}x${Date.now()}`
  const received: unknown[] = []

  const ann = await connect(host, 'ann', '1.0.0')
  await ann.ask('createSession', { channel: session })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  await ann.dispatch(chat, started('t1', 'login'))
  await inputNeeded(ann)
  for (const wrong of [
    { resource: 'https://other.example', token: canary },
    { resource, token: { canary } },
    { resource, token: canary, expiresIn: 0 },
    { resource, token: canary.repeat(2000) },
  ])
    expect(await ann.ask('authenticate', wrong)).toBe(-32602)
  await host.kill()

  host = await HostProcess.start(home, log)
  const ben = await connect(host, 'ben', '0.9.0')
  const cem = await connect(host, 'cem', '1.0.0')
  for (const racer of [ben, cem])
    for (const channel of ['ahp-root://', session, chat]) await racer.ask('subscribe', { channel })
  await inputNeeded(ben)
  expect(await cem.ask('authenticate', { resource, token: canary })).toEqual({})
  for (const racer of [ben, cem]) await ended(racer, 't1')
  const [part] = ben.link.chat(chat).turns[0]?.responseParts ?? []
  expect(part).toMatchObject({ toolCall: { success: true, pastTenseMessage: 'Signed in to Atrium Guide' } })
  // The host has the token in memory while a program prints its environment, and when the host is killed.
  await cem.dispatch(chat, started('t2', '!env'))
  await ended(cem, 't2')
  await cem.dispatch(chat, started('t3', 'login'))
  await inputNeeded(cem)
  await cem.ask('authenticate', { resource, token: `${canary}2` })
  await ended(cem, 't3')
  const environ = `/proc/${host.pid}/environ`
  const environment = existsSync(environ) ? readFileSync(environ) : ''
  await host.kill()
  received.push(ann.link.received, ben.link.received, cem.link.received)

  expect(environment.includes(canary)).toBe(false)
  expect(JSON.stringify(received)).not.toContain(canary)
  const files = readdirSync(home, { recursive: true }).map((name) => join(home, String(name)))
  const texts = files.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path))
  expect(texts.length).toBeGreaterThan(2)
  expect(texts.some((text) => text.includes('toolCallAuthResolved'))).toBe(true)
  expect(texts.some((text) => text.includes(canary))).toBe(false)
})
