import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket, WebSocketServer } from 'ws'
import { expect, onTestFinished, test } from 'vitest'
import { announced, called, dispatched, errors, rejections } from './frame.ts'
import { Tap } from './tap.ts'

/** A host that returns the path of the link in answer to every message, and a tap before it. */
async function tapped() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-tap-'))
  const host = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  host.on('connection', (link, { url }) =>
    link.on('message', (data: Buffer) => {
      const { id } = JSON.parse(data.toString()) as { id: number }
      link.send(JSON.stringify({ id, result: url }))
      link.send('not JSON')
    }),
  )
  await once(host, 'listening')
  const file = join(folder, 'frames.jsonl')
  const { port } = host.address() as AddressInfo
  const tap = await Tap.open(() => `ws://127.0.0.1:${port}/`, file)
  onTestFinished(() => {
    tap.close()
    for (const link of host.clients) link.terminate()
    host.close()
    rmSync(folder, { recursive: true })
  })
  return { tap, host, file }
}

test('[B44] the tap forwards messages and the token, and records both directions in its file', async () => {
  const { tap, file } = await tapped()
  const client = new WebSocket(`ws://127.0.0.1:${tap.port}/?tkn=secret`)
  await once(client, 'open')
  client.send('{"id":1,"method":"initialize"}')
  const received: string[] = []
  await new Promise<void>((resolve) => {
    client.on('message', (data: Buffer) => void (received.push(data.toString()) === 2 && resolve()))
  })
  expect(received).toEqual(['{"id":1,"result":"/?tkn=secret"}', 'not JSON'])
  const sent = await tap.frame(called('initialize'))
  expect(sent).toMatchObject({ link: 1, from: 'client', message: { id: 1 } })
  expect(await tap.frame(({ text }) => text === 'not JSON')).toMatchObject({ link: 1, from: 'host' })
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(tap.frames)
})

test('[B44] a link ends when the host closes it, and the file says so', async () => {
  const { tap, host } = await tapped()
  const client = new WebSocket(`ws://127.0.0.1:${tap.port}/`)
  await once(client, 'open')
  client.send('{"id":1,"method":"initialize"}')
  await once(client, 'message')
  for (const link of host.clients) link.close()
  await once(client, 'close')
  expect(
    await tap.frame(({ from, message, text }) => from === 'host' && !message && text === undefined),
  ).toMatchObject({
    link: 1,
  })
})

test('[B44] while the host is down a client is refused, and nothing is recorded', async () => {
  const { tap, host } = await tapped()
  host.close()
  await once(host, 'close')
  const client = new WebSocket(`ws://127.0.0.1:${tap.port}/`)
  const opened = new Promise<string>((resolve) => client.on('open', () => resolve('accepted')))
  const refused = once(client, 'error').then(() => 'refused')
  expect(await Promise.race([opened, refused])).toBe('refused')
  expect(tap.frames).toEqual([])
})

test('[B44] frames tell what was dispatched, announced and refused', () => {
  const action = { type: 'chat/turnStarted', turnId: 't' }
  const sent = {
    at: 0,
    link: 1,
    from: 'client',
    message: { method: 'dispatchAction', params: { action } },
  } as const
  const echo = { ...sent, from: 'host', message: { method: 'action', params: { action } } } as const
  const rejected = { ...echo, message: { method: 'action', params: { action, rejectionReason: 'too late' } } }
  const isTurn = ({ turnId }: { readonly [key: string]: unknown }) => turnId === 't'
  expect([sent, echo, rejected].map(dispatched('chat/turnStarted', isTurn))).toEqual([true, false, false])
  expect([sent, echo, rejected].map(announced('chat/turnStarted', isTurn))).toEqual([false, true, false])
  expect(announced('chat/turnStarted', () => false)(echo)).toBe(false)
  expect(rejections([sent, echo, rejected])).toEqual(['chat/turnStarted: too late'])
  const asked = { at: 0, link: 2, from: 'client', message: { id: 4, method: 'subscribe' } } as const
  const error = { code: -32_001, message: 'no such channel' }
  const refused = { at: 1, link: 2, from: 'host', message: { id: 4, error } } as const
  expect(errors([asked, refused])).toEqual(['subscribe: -32001 no such channel'])
})
