import { automationUri, automationsUri } from '@atrium/protocol/uri'
import { setTimeout as sleep } from 'node:timers/promises'
import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { atMost, fact, parts, row } from '../figures.ts'
import { opened } from '../messages.ts'
import { median } from '../percentiles.ts'
import { ms } from '../sides.ts'
import type { Wire } from '../wire.ts'

/** One less than a host may have: a last one is due every minute. */
const count = 9999
const minuteMs = 60_000

/** Measures a host with as many automations as it can have: what they cost while none is due, and how late a due one begins. */
export async function automationsBench(wanted: readonly string[]): Promise<boolean> {
  const host = await start('host-child')
  const wire = await opened(host, 'maker')
  try {
    await createAll(wire)
    return await parts(wanted, { idle: () => idleTable(host), due: () => dueTable(host, wire) })
  } finally {
    wire.close()
    await host.stop()
  }
}

/** Creates daily automations, at all minutes of a day but those of the next hours. */
async function createAll(wire: Wire): Promise<void> {
  const now = new Date()
  const minuteOfDay = now.getUTCHours() * 60 + now.getUTCMinutes()
  const actions = Array.from({ length: count }, (_, n) => {
    const minute = (minuteOfDay + 180 + (n % 1080)) % 1440
    return creation(n, `${minute % 60} ${Math.floor(minute / 60)} * * *`)
  })
  // A part at a time, so that the host never has more to write than it may.
  for (let at = 0; at < count; at += 500) await wire.echo(actions.slice(at, at + 500))
}

function creation(n: number, expression: string): string {
  const definition = {
    title: `Look around ${n}`,
    message: { text: 'look around', origin: { kind: 'automation' } },
    session: { provider: 'bench' },
    enabled: true,
    triggers: [{ kind: 'schedule', id: 'daily', schedule: { expression, timeZone: 'UTC' } }],
  }
  const action = { type: 'automation/createRequested', resource: automationUri(`${n}`), definition }
  const params = { channel: automationsUri, clientSeq: n + 1, action }
  return JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
}

/** The host looks at its clock once a minute: so the shortest time that says anything is a minute. */
async function idleTable(host: Child): Promise<boolean> {
  await sleep(5000)
  const shares: number[] = []
  for (let round = 0; round < 3; round++) {
    const [cpu, began] = [await host.cpuMs(), performance.now()]
    await sleep(minuteMs)
    shares.push(((await host.cpuMs()) - cpu) / (performance.now() - began))
  }
  const share = median(shares)
  return row(
    'CPU time with 10,000 automations of which none is due',
    `${(share * 100).toFixed(2)} %`,
    atMost(1, share / 0.01, 'one percent of a core'),
  )
}

/** One more automation, which is due every minute. */
async function dueTable(host: Child, maker: Wire): Promise<boolean> {
  const watcher = await opened(host, 'watcher')
  await watcher.ask('subscribe', { channel: automationsUri })
  await maker.echo([creation(count, '* * * * *')])
  await sleep(500)
  const delays: number[] = []
  for (let round = 0; round < 2; round++) {
    const due = Math.ceil((Date.now() + 1) / minuteMs) * minuteMs
    const instant = new Date(due).toISOString()
    let at: number | undefined
    watcher.onFrame = (data, from, to) => {
      if (at === undefined && data.toString('utf8', from, to).includes(`"scheduledFor":"${instant}"`))
        at = Date.now()
    }
    await watcher.until(() => at !== undefined)
    // Frames that come meanwhile are not searched.
    watcher.onFrame = undefined
    delays.push((at ?? 0) - due)
  }
  watcher.close()
  fact('each of them', delays.map((delay) => ms(delay, 0)).join(', '))
  const slowest = Math.max(...delays)
  return row(
    'a due instant beside 10,000 automations, until its run is shown',
    ms(slowest, 0),
    atMost(1, slowest / 1000, 'one second'),
  )
}
