import { devicesOf } from './devices.ts'
import { limits } from '@atrium/protocol/limits'
import { deviceIn } from '@atrium/protocol/root/device'
import { describe, expect, test } from 'vitest'
import { deviceLink, pairedClient, pairedDevice } from '../../../test/devices.ts'
import { testHost } from '../../../test/test-host.ts'
import { session, title } from '../../../test/two-clients.ts'
import { callsIn, chat, desk, ended, pending, say } from '../../../test/approvals.ts'
import { decisionOf } from '../access/decision.ts'

const root = 'ahp-root://'

describe('[T5] pairing codes', () => {
  test('[T5.1] a code creates one device, once, however it is typed', async () => {
    const all = await testHost()
    const devices = devicesOf(all.core())
    const { code, seconds } = devices.pair({ name: 'phone', role: 'prompt' })
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/)
    expect(seconds).toBe(600)
    const typed = ` ${code.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `
    expect(await devices.redeem(typed, { hash: 'h' })).toMatchObject({ name: 'phone', role: 'prompt' })
    expect(await devices.redeem(code, { hash: 'h2' })).toBeUndefined()
    expect(devices.list).toHaveLength(1)
  })

  test('[S-57 pairingMs] at 600,000 ms a code ends, and not before', async () => {
    const all = await testHost()
    const devices = devicesOf(all.core())
    const early = devices.pair({ name: 'early', role: 'watch' }).code
    all.world.advance(limits.pairingMs - 1)
    expect(await devices.redeem(early, { hash: 'h' })).toBeDefined()
  })

  test('[S-57 pairingMs] past 600,000 ms a code is not valid', async () => {
    const all = await testHost()
    const devices = devicesOf(all.core())
    const late = devices.pair({ name: 'late', role: 'watch' }).code
    all.world.advance(limits.pairingMs)
    expect(await devices.redeem(late, { hash: 'h' })).toBeUndefined()
    expect(devices.list).toEqual([])
  })

  test('[S-57 pairingCodes] at 16 codes all are open, past 16 the oldest has ended', async () => {
    const all = await testHost()
    const devices = devicesOf(all.core())
    const codes = Array.from(
      { length: limits.pairingCodes + 1 },
      (_, at) => devices.pair({ name: `d${at}`, role: 'watch' }).code,
    )
    const [first = '', second = ''] = codes
    expect(await devices.redeem(first, { hash: 'h0' })).toBeUndefined()
    expect(await devices.redeem(second, { hash: 'h1' })).toMatchObject({ name: 'd1' })
    expect(await devices.redeem(codes.at(-1) ?? '', { hash: 'h2' })).toMatchObject({ name: 'd16' })
  })

  test('[S-57 pairingCodes] past 16 codes a new one is issued all the same', async () => {
    const devices = devicesOf((await testHost()).core())
    for (let at = 0; at <= limits.pairingCodes; at++) devices.pair({ name: `d${at}`, role: 'watch' })
    expect(devices.pair({ name: 'last', role: 'watch' }).code).toHaveLength(11)
  })

  test('[T5.1] a restart of the host ends all codes', async () => {
    const all = await testHost()
    const { code } = devicesOf(all.core()).pair({ name: 'phone', role: 'own' })
    await all.restart('close')
    expect(await devicesOf(all.core()).redeem(code, { hash: 'h' })).toBeUndefined()
  })
})

describe('[T6] devices', () => {
  test('a device survives a crash as soon as it is paired, with the hash of its secret only', async () => {
    const all = await testHost()
    const device = await pairedDevice(all, 'approve', "Ann's phone")
    await all.restart('crash')
    expect(devicesOf(all.core()).find("hash of Ann's phone")).toEqual(device)
    expect(devicesOf(all.core()).find('another')).toBeUndefined()
    const shown = await pairedClient(all, 'own')
    const listed = await shown.peer.request('x-atrium/devices', { channel: root })
    expect(JSON.stringify(listed)).not.toContain('hash')
    expect(listed).toMatchObject({ devices: [{ name: "Ann's phone" }, { name: 'own' }] })
  })

  test.each(['', ' x', 'a\nb', 'a\u202eb', 'x'.repeat(65), '<b>'])('the name %j is refused', async (name) => {
    const devices = devicesOf((await testHost()).core())
    expect(() => devices.pair({ name, role: 'watch' })).toThrow('the name of a device')
  })

  test('two devices cannot have one name, also if both codes were issued before', async () => {
    const all = await testHost()
    const devices = devicesOf(all.core())
    const codes = [1, 2].map(() => devices.pair({ name: 'phone', role: 'watch' }).code)
    expect(await devices.redeem(codes[0] ?? '', { hash: 'h1' })).toBeDefined()
    expect(await devices.redeem(codes[1] ?? '', { hash: 'h2' })).toBeUndefined()
    expect(() => devices.pair({ name: 'phone', role: 'own' })).toThrow('there is a device "phone" already')
  })

  test('[S-57 devices] at 64 devices the last is paired', async () => {
    const all = await testHost({ limits: { devices: 2 } })
    await pairedDevice(all, 'watch', 'a')
    await pairedDevice(all, 'watch', 'b')
    expect(devicesOf(all.core()).list).toHaveLength(2)
  })

  test('[S-57 devices] past 64 devices a pairing is refused with a sentence, also with an older code', async () => {
    const all = await testHost({ limits: { devices: 2 } })
    const devices = devicesOf(all.core())
    const codes = [devices.pair({ name: 'older', role: 'watch' }).code, devices.browserCode()]
    await pairedDevice(all, 'watch', 'a')
    await pairedDevice(all, 'watch', 'b')
    const full = 'this host has 2 devices, and may have no more: revoke one first'
    expect(() => devices.pair({ name: 'c', role: 'watch' })).toThrow(full)
    expect(() => devices.browserCode()).toThrow(full)
    for (const code of codes) await expect(devices.redeem(code, { hash: 'h' })).rejects.toThrow(full)
    // Only a valid code is answered with the limit.
    expect(await devices.redeem('AAAAA-AAAAA', { hash: 'h' })).toBeUndefined()
  })

  test('[T6.2] [S-11] a client learns its device and the commands of its role', async () => {
    const all = await testHost()
    const device = await pairedDevice(all, 'watch', 'screen')
    const client = deviceLink(all, device)
    const initialized = await client.ask('initialize', {
      protocolVersions: ['1.0.0'],
      clientId: 'screen',
      _meta: { 'x-atrium': { device: { name: 'screen', role: 'own' } } },
    })
    expect(deviceIn(initialized)).toMatchObject({ name: 'screen', role: 'watch' })
    const commands = ['x-atrium/stateAt', 'x-atrium/envelopes', 'x-atrium/missedRuns']
    expect(initialized._meta).toMatchObject({ 'x-atrium': { commands } })
    await expect(client.peer.request('x-atrium/devices', { channel: root })).rejects.toThrow(
      'x-atrium/devices needs the role own',
    )
    expect(deviceIn(await all.link().initialize('ann'))).toBeUndefined()
  })

  test('[T6.1] a client id belongs to the device that used it first, in both directions', async () => {
    const all = await testHost()
    await all.join('ann')
    const phone = await pairedDevice(all, 'own', 'phone')
    await expect(deviceLink(all, phone).initialize('ann')).rejects.toThrow('another principal or device')
    await deviceLink(all, phone).initialize('phone')
    await expect(all.join('phone')).rejects.toThrow('another principal or device')
    await all.restart('crash')
    await expect(all.join('phone')).rejects.toThrow('another principal or device')
    await deviceLink(all, phone).initialize('phone')
  })

  test('[G13] a browser is a device with a key instead of a secret, and has a name of its own', async () => {
    const all = await testHost()
    const devices = devicesOf(all.core())
    const proof = { hash: 'key:1', publicKey: 'k1' }
    const first = await devices.redeem(devices.browserCode(), proof)
    const second = await devices.redeem(devices.browserCode(), { hash: 'key:2', publicKey: 'k2' })
    expect([first?.name, second?.name, second?.role]).toEqual(['Browser', 'Browser 2', 'own'])
    await all.restart('crash')
    expect(devicesOf(all.core()).keyOf(first?.id ?? '')).toEqual({ device: first, publicKey: 'k1' })
    await pairedDevice(all, 'watch', 'phone')
    const phone = devicesOf(all.core()).find('hash of phone')
    expect(devicesOf(all.core()).keyOf(phone?.id ?? '')).toBeUndefined()
    expect(JSON.stringify(devicesOf(all.core()).list)).not.toContain('k1')
  })

  test('a read-only host pairs no device', async () => {
    const all = await testHost()
    await all.restart('close', 'the disk is being copied')
    const ann = await all.join('ann')
    const pairing = ann.peer.request('x-atrium/pairDevice', { channel: root, name: 'x', role: 'own' })
    await expect(pairing).rejects.toThrow('the disk is being copied')
  })

  test('[T6.2] every client sees which device approved a call', async () => {
    const { all, ann } = await desk()
    const phone = await pairedClient(all, 'approve', 'phone')
    await phone.ask('subscribe', { channel: chat })
    const turnId = await say(ann, 'run ls')
    const { toolCallId } = await pending(phone)
    const confirmed = {
      type: 'chat/toolCallConfirmed',
      turnId,
      toolCallId,
      approved: true,
      confirmed: 'user-action',
    }
    expect(await phone.echo(phone.dispatch(chat, confirmed))).not.toHaveProperty('rejectionReason')
    const [call] = callsIn(await ended(ann, turnId))
    const decision = call && decisionOf(call, 'decidedBy')
    expect(decision).toMatchObject({ approved: true, principal: 'owner', device: 'phone' })
  })
})

describe('[T7] [S-09] a revoked device', () => {
  test('is closed at once, during a handshake, too, and what it had sent has no effect', async () => {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session })
    const phone = await pairedClient(all, 'own', 'phone')
    await phone.ask('subscribe', { channel: session })
    const [device] = devicesOf(all.core()).list
    const early = deviceLink(all, device as never)
    await ann.peer.request('x-atrium/revokeDevice', { channel: root, id: device?.id })
    await phone.until(() => phone.peer.closed.aborted)
    await early.until(() => early.peer.closed.aborted)
    phone.dispatch(session, title('too late'))
    await ann.echo(ann.dispatch(session, title('ann')))
    await ann.ask('subscribe', { channel: session })
    expect(ann.state(session)).toMatchObject({ title: 'ann' })
  })

  test('cannot connect again, also after a crash', async () => {
    const all = await testHost()
    const ann = await all.join('ann')
    const device = await pairedDevice(all, 'own', 'phone')
    await ann.peer.request('x-atrium/revokeDevice', { channel: root, id: device.id })
    expect(devicesOf(all.core()).find('hash of phone')).toBeUndefined()
    await all.restart('crash')
    expect(devicesOf(all.core()).find('hash of phone')).toBeUndefined()
    // The gate may have seen the device just before it was revoked.
    const late = deviceLink(all, device)
    await late.until(() => late.peer.closed.aborted)
    await expect(late.initialize('phone')).rejects.toThrow()
  })

  test('that revokes itself learns it by the reason with which its link is closed', async () => {
    const all = await testHost()
    const phone = await pairedClient(all, 'own', 'phone')
    const [device] = devicesOf(all.core()).list
    const revoking = phone.peer.request('x-atrium/revokeDevice', { channel: root, id: device?.id })
    await expect(revoking).rejects.toThrow('the link closed before the response came')
    expect(String(phone.peer.closed.reason)).toContain('this device was revoked')
    expect(devicesOf(all.core()).list).toEqual([])
  })

  test('that does not exist is an error', async () => {
    const all = await testHost()
    const ann = await all.join('ann')
    const revoking = ann.peer.request('x-atrium/revokeDevice', { channel: root, id: 'nobody' })
    await expect(revoking).rejects.toThrow('no device "nobody"')
  })
})
