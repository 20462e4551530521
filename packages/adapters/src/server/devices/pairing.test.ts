import { limits } from '@atrium/protocol/limits'
import type { Device } from '@atrium/protocol/root/device'
import { beforeEach, describe, expect, test } from 'vitest'
import { ask, links, post, start, token, upgradeAt } from '../../../test/http-client.ts'
import type { KnownDevices } from './pairing.ts'
import { digest } from '../gate.ts'

const phone: Device = { id: 'd1', name: 'phone', role: 'prompt', pairedAt: '2026-01-01T00:00:00.000Z' }
const hashes = new Map<string, Device>()
let asked = 0

/** One device, which is paired by the code GOOD. */
const devices: KnownDevices = {
  find: (hash) => hashes.get(hash),
  redeem: (code, { hash }) => {
    asked++
    if (code !== 'GOOD') return Promise.resolve(undefined)
    hashes.set(hash, phone)
    return Promise.resolve(phone)
  },
  keyOf: () => undefined,
  browserCode: () => '',
}

beforeEach(() => {
  hashes.clear()
  asked = 0
})

describe('[T5] POST /pair', () => {
  test('[T5.2] answers a right code with a secret, of which the host gets the hash only', async () => {
    const connected: (Device | undefined)[] = []
    const { port } = await start({
      devices,
      connect: (link, _, device) => {
        links.push(link)
        connected.push(device)
      },
    })
    const { status, body, head } = await post(port, '/pair', '{"code":"GOOD"}')
    expect(status).toBe(200)
    expect(head).toContain('content-type: application/json')
    const { token: secret, device } = JSON.parse(body) as { token: string; device: Device }
    expect(device).toEqual(phone)
    expect([...hashes.keys()]).toEqual([digest(secret).toString('hex')])
    for (const credential of [secret, token])
      expect((await upgradeAt(port, { Authorization: `Bearer ${credential}` })).status).toBe(101)
    expect(connected).toEqual([phone, undefined])
  })

  test('a revoked secret, two secrets, or a secret and the token are refused with 403', async () => {
    const { port } = await start({ devices })
    const { body } = await post(port, '/pair', '{"code":"GOOD"}')
    const { token: secret } = JSON.parse(body) as { token: string }
    const both = (one: string, two: string) => ({
      Authorization: `Bearer ${one}`,
      'Sec-WebSocket-Protocol': `atrium, atrium.token.${two}`,
    })
    expect((await upgradeAt(port, both(secret, token))).status).toBe(403)
    expect((await upgradeAt(port, both(token, secret))).status).toBe(403)
    expect((await upgradeAt(port, both(secret, secret))).status).toBe(101)
    hashes.clear()
    expect((await upgradeAt(port, both(secret, secret))).status).toBe(403)
  })

  test('[T5.3] wrong codes count as failed attempts, and the eleventh is answered 429', async () => {
    const { port } = await start({ devices })
    for (let at = 0; at < limits.failures; at++)
      expect((await post(port, '/pair', '{"code":"BAD"}')).status).toBe(403)
    const late = await post(port, '/pair', '{"code":"BAD"}')
    expect(late.status).toBe(429)
    expect(late.head).toMatch(/retry-after: \d+/)
    // The limit never keeps out somebody with the right code.
    expect((await post(port, '/pair', '{"code":"GOOD"}')).status).toBe(200)
  })

  test.each([['{'], ['7'], ['{}'], ['{"code":7}'], ['']])(
    '[T5.3] the body %j is answered 400',
    async (body) => {
      const { port } = await start({ devices })
      expect((await post(port, '/pair', body)).status).toBe(400)
      expect(asked).toBe(0)
    },
  )

  test('[T5.3] a foreign origin is refused before the code is looked at; the own one is not', async () => {
    const { port } = await start({ devices })
    for (const Origin of ['https://evil.com', 'null', 'vscode-file://vscode-app'])
      expect((await post(port, '/pair', '{"code":"GOOD"}', { Origin })).status).toBe(403)
    expect(asked).toBe(0)
    const own = { Origin: `http://127.0.0.1:${port}` }
    expect((await post(port, '/pair', '{"code":"GOOD"}', own)).status).toBe(200)
  })

  test('another method, a foreign Host, and a host without devices do not pair', async () => {
    const { port } = await start({ devices })
    for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS'])
      expect((await ask(port, `${method} /pair HTTP/1.1`, { Host: `127.0.0.1:${port}` })).status).toBe(404)
    expect((await post(port, '/pair', '{"code":"GOOD"}', { Host: 'evil.com' })).status).toBe(421)
    const without = await start()
    expect((await post(without.port, '/pair', '{"code":"GOOD"}')).status).toBe(404)
    expect(asked).toBe(0)
  })

  test('[S-57 pairingBytes] at 4,096 bytes the code is read', async () => {
    const { port } = await start({ devices })
    const body = '{"code":"GOOD"}'.padEnd(limits.pairingBytes)
    expect((await post(port, '/pair', body)).status).toBe(200)
  })

  test('[T5.3] [S-57 pairingBytes] past 4,096 bytes the answer is 413', async () => {
    const { port } = await start({ devices })
    const body = '{"code":"GOOD"}'.padEnd(limits.pairingBytes + 1)
    expect((await post(port, '/pair', body)).status).toBe(413)
    expect(asked).toBe(0)
  })
})
