import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { NotificationTarget } from '@atrium/host/ports/notifier'
import { notifierContract } from '../../../host/src/ports/contracts/notifier.contract.ts'
import { PushReader } from '../../test/push/push-reader.ts'
import { publicLookup } from '../network/address.ts'
import { notifier, vapidKeyOf } from './push.ts'

interface Arrived {
  readonly kind: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A push service, a webhook and an ntfy server at one local address. The path tells the kind and the status of the answer. */
async function endpoints() {
  const arrived: Arrived[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const [, kind = '', status = '200'] = (request.url ?? '').split('/')
      arrived.push({ kind, headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(Number(status), { location: '/webhook/200' }).end('an answer')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  // A server that listens on an address has an address: hence the cast.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = new PushReader()
  const target = (kind: NotificationTarget['kind'], status: number): NotificationTarget => {
    const url = `${origin}/${kind}/${status}`
    return kind === 'webPush' ? { kind, url, p256dh: browser.p256dh, auth: browser.auth } : { kind, url }
  }
  const key = await vapidKeyOf(mkdtempSync(join(tmpdir(), 'atrium-push-')))
  return { arrived, origin, browser, target, key }
}

/** What an endpoint understands of a request. */
function understood({ kind, headers, body }: Arrived, browser: PushReader) {
  if (kind === 'ntfy') {
    const [session = '', link = ''] = body.toString().split('\n')
    expect(headers['click']).toBe(link)
    return { session, link }
  }
  return JSON.parse(kind === 'webPush' ? browser.read(body) : body.toString()) as {
    readonly session: string
    readonly link: string
  }
}

notifierContract('push', async () => {
  const { arrived, origin, browser, target, key } = await endpoints()
  return {
    notifier: notifier({ key, allowed: [origin], page: () => 'https://atrium.example/' }),
    target,
    received: () => arrived.map((each) => understood(each, browser)),
  }
})

test('[T20] a push has the headers that push services ask for; a second one replaces it', async () => {
  const { arrived, origin, target, key } = await endpoints()
  const sender = notifier({ key, allowed: [origin], now: () => 0 })
  for (const link of ['/#/session/one', '/#/session/one/chat'])
    await sender.send(target('webPush', 201), { session: 'ahp-session:/one', link })
  const [first, second] = arrived.map(({ headers }) => headers)
  expect(first).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '86400', urgency: 'high' })
  expect(first?.authorization).toMatch(/^vapid t=[\w-]+\.[\w-]+\.[\w-]+, k=B[\w-]+$/)
  expect(first?.['topic']).toMatch(/^[\w-]{32}$/)
  expect(second?.['topic']).toBe(first?.['topic'])
})

test.each([
  ['the contact of the config file', { contact: 'mailto:me@home.org' }, 'mailto:me@home.org'],
  [
    'the address of a page with a public name',
    { page: () => 'https://host.home.org/#x' },
    'https://host.home.org',
  ],
  ['nothing for a page on this machine', { page: () => 'https://localhost:9000/' }, undefined],
  ['nothing for a page at an IP address', { page: () => 'https://192.0.2.1/' }, undefined],
  ['nothing for a reserved name', { page: () => 'https://atrium.example/' }, undefined],
  ['nothing by default', {}, undefined],
])('[T21.1] [T21] push services are told %s', async (_, options, contact) => {
  const { arrived, origin, target, key } = await endpoints()
  const sender = notifier({ key, allowed: [origin], ...options })
  await sender.send(target('webPush', 201), { session: 's', link: '/' })
  const [, claims = ''] = /^vapid t=[\w-]+\.([\w-]+)\./.exec(arrived[0]?.headers.authorization ?? '') ?? []
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).sub).toBe(contact)
})

test('[T21.1] [T21] a push service that refuses a push without a contact is named with what to set', async () => {
  const { origin, target, key } = await endpoints()
  const sender = notifier({ key, allowed: [origin] })
  expect(await sender.send(target('webPush', 403), { session: 's', link: '/' })).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('answered with 403; it may want a contact: set notifications.contact'),
  })
})

test('[T20.2] [T20] [S-47] a name is refused if one of its addresses is not public', async () => {
  const { arrived, key, origin } = await endpoints()
  const asked: string[] = []
  const lookup = publicLookup((name, _, callback) => {
    asked.push(name)
    callback(null, [
      { address: '93.184.215.14', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ])
  })
  const sender = notifier({ key, lookup })
  const port = new URL(origin).port
  const url = `https://push.example:${port}/webhook/200`
  const delivery = await sender.send({ kind: 'webhook', url }, { session: 's', link: '/' })
  expect(delivery).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('not public') })
  expect(asked).toEqual(['push.example'])
  expect(arrived).toEqual([])
})

test('[T20.2] [T20] [S-47] an origin of the config file is allowed, and no other port or scheme of the same machine', async () => {
  const { origin, key } = await endpoints()
  const sender = notifier({ key, allowed: [origin] })
  const problem = (url: string) => sender.problemOf({ kind: 'webhook', url })
  expect(problem(`${origin}/anything`)).toBeUndefined()
  expect(problem('http://127.0.0.1:1/')).toContain('must begin with https://')
  expect(problem(origin.replace('http:', 'https:'))).toContain('127.0.0.1 is not a public address')
  expect(problem(`https://push.example/${'x'.repeat(2048)}`)).toBe('this is not an address of the web')
})

test('[T20.3] [S-57 pushMs] at 10,000 ms an endpoint may answer; [S-57 pushMs] past 10,000 ms the notification has failed', async () => {
  const { key } = await endpoints()
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => silent.closeAllConnections())
  const origin = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const sender = notifier({ key, allowed: [origin], timeoutMs: 50 })
  const delivery = await sender.send({ kind: 'webhook', url: origin }, { session: 's', link: '/' })
  expect(delivery).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('could not be reached'),
  })
})
