import { limits } from '@atrium/protocol/limits'
import { automationsUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { automated, everyHour, hourMs, minuteMs } from '../../../test/automations/automated.ts'
import { pairedClient } from '../../../test/devices.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { MemoryNotifier, keys } from '../../../test/notifications/memory-notifier.ts'
import type { NotificationsResult } from './extensions.ts'

const two = 'ahp-automation:/two'
const root = { channel: 'ahp-root://' }

async function watched() {
  const notifier = new MemoryNotifier()
  const host = await automated({ machine: { notifier } })
  const { ann, all } = host
  await ann.peer.request('x-atrium/addWebhook', {
    ...root,
    url: 'https://hook.example/200',
    kind: 'webhook',
  })
  /** The events of the notifications that have come since the last look. */
  let seen = 0
  const told = async () => {
    await untilIdle()
    await host.pass(limits.pushDelayMs)
    const links = notifier.sent.slice(seen).map(({ notification }) => notification.link)
    seen = notifier.sent.length
    return links
  }
  return { ...host, notifier, told, all }
}

test('[T22.4] a miss is told once, as long as it goes on for the same reason; a run that ends is told as its session', async () => {
  const host = await watched()
  await host.create()
  await host.pass(hourMs)
  await host.agent.given()
  expect(await host.told()).toEqual([])
  // The run goes on, so further instants are missed.
  await host.pass(hourMs)
  expect(await host.told()).toEqual(['/#/automations'])
  await host.pass(hourMs)
  expect(await host.told()).toEqual([])
  await host.end()
  expect(await host.told()).toEqual([expect.stringMatching(/^\/#\/session\//)])
})

test('[T22.4] what was missed before the host was started is not told; what it missed while it was away is', async () => {
  const host = await watched()
  await host.create({ triggers: [{ ...everyHour, misfirePolicy: 'skip' }] })
  await host.all.restart('crash')
  host.all.world.advance(3 * hourMs)
  await host.all.restart('crash')
  expect(await host.told()).toEqual(['/#/automations'])
  await host.all.restart('crash')
  expect(await host.told()).toEqual([])
})

test('[T22.4] paused and coalesced instants are told to nobody; a run that cannot begin is, to devices that own the host', async () => {
  const host = await watched()
  for (const role of ['approve', 'own'] as const)
    await (
      await pairedClient(host.all, role)
    ).peer.request('x-atrium/subscribePush', { ...root, endpoint: `https://push.example/${role}`, ...keys })
  await host.create({ enabled: false })
  await host.pass(hourMs)
  await host.update({ enabled: true })
  expect(await host.told()).toEqual([])
  await host.create({ triggers: [] }, two)
  await host.all.restart('crash', undefined, [])
  const ben = await host.all.join('ben')
  await ben.ask('runAutomation', { channel: automationsUri, automation: two, requestId: 'r' })
  await host.pass(limits.automationWaitMs + minuteMs)
  await host.told()
  // The host's own tests know the shape: hence the cast.
  const { notices } = (await ben.peer.request('x-atrium/notifications', root)) as NotificationsResult
  expect(
    notices.map(({ event, outcome, reason = '' }) => `${event}: ${outcome}, ${reason}`).toSorted(),
  ).toEqual([
    'missed: sent, ',
    'missed: sent, ',
    'missed: suppressed, a device with the role approve may not change automations',
  ])
})
