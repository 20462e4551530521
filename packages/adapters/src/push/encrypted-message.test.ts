import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto'
import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PushReader } from '../../test/push/push-reader.ts'
import { aes128gcm } from './aes128gcm.ts'
import { keyProblem, pushMessage } from './encrypted-message.ts'
import { vapidKeyOf } from './vapid.ts'

const bytes = (text: string) => Buffer.from(text, 'base64url')

test('[T21] the first example of RFC 8188 is encrypted to its bytes', () => {
  const key = {
    secret: bytes('yqdlZ-tYemfogSmv7Ws5PQ'),
    salt: bytes('I1BsxtFttlv3u_Oo94xnmw'),
    keyId: Buffer.alloc(0),
    recordSize: 4096,
  }
  expect(aes128gcm(Buffer.from('I am the walrus'), key).toString('base64url')).toBe(
    'I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg',
  )
})

test('[T21] the example of RFC 8291 is encrypted to its bytes', () => {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'))
  const target = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  }
  const message = pushMessage('When I grow up, I want to be a watermelon', target, {
    pair,
    salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  })
  expect(message.toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl' +
      '7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

test('[T21] a content of several records is read back, and every message has keys of its own', () => {
  const browser = new PushReader()
  const text = 'x'.repeat(9000)
  const key = { secret: randomBytes(16), salt: randomBytes(16), keyId: Buffer.from('a1'), recordSize: 25 }
  expect(browser.decrypt(aes128gcm(Buffer.from(text), key), key.secret)).toBe(text)
  const messages = [1, 2].map(() => pushMessage('the same', browser))
  expect(messages.map((each) => browser.read(each))).toEqual(['the same', 'the same'])
  expect(messages[0]?.equals(messages[1] ?? Buffer.alloc(0))).toBe(false)
})

test('[T21] keys that are not those of a browser are named as problems', () => {
  const { p256dh, auth } = new PushReader()
  expect(keyProblem({ p256dh, auth })).toBeUndefined()
  expect(keyProblem({ p256dh, auth: 'AAAA' })).toBe('the secret of the browser has not 16 bytes')
  expect(keyProblem({ p256dh: p256dh.slice(0, 40), auth })).toBe(
    'the key of the browser is no uncompressed point',
  )
  const off = Buffer.concat([Uint8Array.of(4), Buffer.alloc(64, 1)]).toString('base64url')
  expect(keyProblem({ p256dh: off, auth })).toBe('the key of the browser is not on P-256')
})

test('[T21] the key of a host is made once, for its owner only, and signs for the origin of an endpoint', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-push-'))
  const key = await vapidKeyOf(folder)
  expect(statSync(join(folder, 'push-key')).mode & 0o777).toBe(0o600)
  expect((await vapidKeyOf(folder)).publicKey).toBe(key.publicKey)
  const header = key.authorization(new URL('https://push.example:8443/a/b'), 'mailto:a@b.example', 1_000_000)
  const [, head = '', claims = '', signature = '', point = ''] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(header) ?? []
  expect(JSON.parse(bytes(head).toString())).toEqual({ typ: 'JWT', alg: 'ES256' })
  expect(JSON.parse(bytes(claims).toString())).toEqual({
    aud: 'https://push.example:8443',
    exp: 1000 + 12 * 3600,
    sub: 'mailto:a@b.example',
  })
  const raw = bytes(point)
  const jwk = { kty: 'EC', crv: 'P-256', x: b64(raw.subarray(1, 33)), y: b64(raw.subarray(33)) }
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  const signed = Buffer.from(`${head}.${claims}`)
  expect(verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes(signature))).toBe(true)
})

test('[T21] a key that others can read is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-push-'))
  writeFileSync(join(folder, 'push-key'), 'x', { mode: 0o644 })
  await expect(vapidKeyOf(folder)).rejects.toThrow('is open to others; run: chmod 600')
})

const b64 = (raw: Buffer) => raw.toString('base64url')
