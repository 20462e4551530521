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
import { Racer } from '../../../host/test/racer.ts'
import { Life } from '../../test/life.ts'

const session = 'ahp-session:/secret'
const chat = defaultChatUri(session)
const door = 'https://guide.atrium.example'

const started = (turnId: string, text: string) => ({
  type: 'chat/turnStarted',
  turnId,
  startedAt: new Date().toISOString(),
  message: { text, origin: { kind: 'user' } },
})

async function enter(life: Life, name: string, version: '1.0.0' | '0.9.0'): Promise<Racer> {
  const racer = new Racer(await life.dial(), name, version)
  await racer.open()
  return racer
}

const waits = ({ link }: Racer) => link.until(() => link.session(session).inputNeeded !== undefined)
const ended = ({ link }: Racer, turnId: string) =>
  link.until(() => link.chat(chat).turns.some(({ id }) => id === turnId))

test('[J8] S-31: a token is in no file, no log, no environment and in nothing that anybody is told', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-secrets-'))
  const log = openSync(join(home, 'log'), 'a')
  let life = await Life.begin(home, log)
  onTestFinished(async () => {
    await life.kill()
    closeSync(log)
    rmSync(home, { recursive: true, force: true })
  })
  const canary = `canary${process.pid}x${Date.now()}`
  const heard: unknown[] = []

  const ann = await enter(life, 'ann', '1.0.0')
  await ann.ask('createSession', { channel: session })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  await ann.wish(chat, started('t1', 'login'))
  await waits(ann)
  for (const wrong of [
    { resource: 'https://other.example', token: canary },
    { resource: door, token: { canary } },
    { resource: door, token: canary, expiresIn: 0 },
    { resource: door, token: canary.repeat(2000) },
  ])
    expect(await ann.ask('authenticate', wrong)).toBe(-32602)
  await life.kill()

  life = await Life.begin(home, log)
  const ben = await enter(life, 'ben', '0.9.0')
  const cem = await enter(life, 'cem', '1.0.0')
  for (const racer of [ben, cem])
    for (const channel of ['ahp-root://', session, chat]) await racer.ask('subscribe', { channel })
  await waits(ben)
  expect(await cem.ask('authenticate', { resource: door, token: canary })).toEqual({})
  for (const racer of [ben, cem]) await ended(racer, 't1')
  const [part] = ben.link.chat(chat).turns[0]?.responseParts ?? []
  expect(part).toMatchObject({ toolCall: { success: true, pastTenseMessage: 'Signed in to Atrium Guide' } })
  // Another waits, with the token in memory, while a program shows its environment and the host is killed.
  await cem.wish(chat, started('t2', '!env'))
  await ended(cem, 't2')
  await cem.wish(chat, started('t3', 'login'))
  await waits(cem)
  await cem.ask('authenticate', { resource: door, token: `${canary}2` })
  await ended(cem, 't3')
  const environ = `/proc/${life.pid}/environ`
  const environment = existsSync(environ) ? readFileSync(environ) : ''
  await life.kill()
  heard.push(ann.link.heard, ben.link.heard, cem.link.heard)

  expect(environment.includes(canary)).toBe(false)
  expect(JSON.stringify(heard)).not.toContain(canary)
  const files = readdirSync(home, { recursive: true }).map((name) => join(home, String(name)))
  const texts = files.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path))
  expect(texts.length).toBeGreaterThan(2)
  expect(texts.some((text) => text.includes('toolCallAuthResolved'))).toBe(true)
  expect(texts.some((text) => text.includes(canary))).toBe(false)
})
