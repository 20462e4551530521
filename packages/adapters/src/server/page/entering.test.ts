import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { MemoryDevices } from '../../../test/server/known-devices.ts'
import type { KnownDevices } from '../devices/pairing.ts'
import { entering } from './entering.ts'
import type { Entering } from './entering.ts'

/** A browser: a key, and what it sends. */
function browser(curve = 'P-256') {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: curve })
  const signed = (text: string) =>
    sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
    async ticket(host: Entering, credential: string, challenge = host.challenge()) {
      return host.ticket({ credential, challenge, signature: signed(`atrium ticket ${challenge}`) })
    },
  }
}

function host(devices: KnownDevices = new MemoryDevices(), codeNeeded = true) {
  const clock = { ms: 0 }
  return { clock, host: entering({ devices, codeNeeded, now: () => clock.ms }) }
}

test('[G12] [G13] [G14] a code makes a browser a device once, and its key gets tickets, each for one use', async () => {
  const { host: own } = host()
  const ann = browser()
  const code = own.issueCode()
  const id = await own.redeem(code, ann.publicKey)
  expect(await own.redeem(code, ann.publicKey)).toBeUndefined()
  const ticket = await ann.ticket(own, id ?? '')
  expect(own.takeTicket(ticket ?? '')).toMatchObject({ id })
  expect(own.takeTicket(ticket ?? '')).toBeUndefined()
  expect(own.takeTicket('')).toBeUndefined()
})

test('[G13] a wrong code or key makes no device', async () => {
  const { host: own } = host()
  const ann = browser()
  for (const code of ['', 'x', own.challenge()]) expect(await own.redeem(code, ann.publicKey)).toBeUndefined()
  for (const key of ['', 'x', browser('P-384').publicKey]) {
    const code = own.issueCode()
    expect(await own.redeem(code, key)).toBeUndefined()
  }
})

test('[G14] only the key of the credential gets a ticket, and only for a new challenge of the host', async () => {
  const { host: own } = host()
  const [ann, ben] = [browser(), browser()]
  const id = (await own.redeem(own.issueCode(), ann.publicKey)) ?? ''
  const challenge = own.challenge()
  expect(await ben.ticket(own, id, challenge)).toBeUndefined()
  expect(await ann.ticket(own, id, challenge)).toBeUndefined()
  expect(await ann.ticket(own, 'another')).toBeUndefined()
  expect(await ann.ticket(own, id, 'made up')).toBeUndefined()
  expect(await own.ticket({ credential: id, challenge: own.challenge(), signature: '' })).toBeUndefined()
  expect(await ann.ticket(own, id)).toBeDefined()
})

test('[S-57 tickets] at 256 tickets all work; [S-57 tickets] past 256 the oldest is forgotten', async () => {
  const { host: own } = host()
  const ann = browser()
  const id = (await own.redeem(own.issueCode(), ann.publicKey)) ?? ''
  const tickets: string[] = []
  for (let at = 0; at <= limits.tickets; at++) tickets.push((await ann.ticket(own, id)) ?? '')
  expect(tickets.map((ticket) => own.takeTicket(ticket) !== undefined)).toEqual(
    tickets.map((_, at) => at > 0),
  )
})

test('[S-57 ticketMs] at 30,000 ms a ticket is refused; [S-57 ticketMs] past 30,000 too, and before it works', async () => {
  for (const [ms, works] of [
    [-1, true],
    [0, false],
    [1, false],
  ] as const) {
    const { host: own, clock } = host()
    const ann = browser()
    const ticket = await ann.ticket(own, (await own.redeem(own.issueCode(), ann.publicKey)) ?? '')
    clock.ms = limits.ticketMs + ms
    expect(own.takeTicket(ticket ?? '') !== undefined).toBe(works)
  }
})

test('[G13] [T7] a revoked browser gets no ticket, and a ticket that it has got opens nothing', async () => {
  const devices = new MemoryDevices()
  const { host: own } = host(devices)
  const ann = browser()
  const id = (await own.redeem(own.issueCode(), ann.publicKey)) ?? ''
  const ticket = await ann.ticket(own, id)
  devices.revoke(id)
  expect(own.takeTicket(ticket ?? '')).toBeUndefined()
  expect(await ann.ticket(own, id)).toBeUndefined()
})

test('[G13] the public key of a browser is no token', async () => {
  const devices = new MemoryDevices()
  const { host: own } = host(devices)
  const { publicKey } = browser()
  await own.redeem(own.issueCode(), publicKey)
  for (const token of [publicKey, `key:${publicKey}`])
    expect(devices.find(createHash('sha256').update(token).digest('hex'))).toBeUndefined()
})

test('[G13] a host without a token needs no code', async () => {
  const { host: own } = host(new MemoryDevices(), false)
  expect(await own.redeem('', browser().publicKey)).toBeDefined()
})
