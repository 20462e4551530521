import { rootUri } from '@atrium/protocol/uri'
import type { Patch } from '../../plant/patch.ts'
import type { Chance } from '../../chance.ts'
import type { Client } from '../client.ts'
import { LinkLost } from '../errors.ts'
import type { Address } from '../host.ts'
import { Proxy } from '../proxy.ts'
import type { Faults } from '../proxy.ts'
import { progress } from '../tally.ts'
import { withTrial } from '../trial.ts'
import type { Scene, SceneContext } from './scene.ts'

/** A short heartbeat, so that a dead link is found within a second. */
const fastHeartbeat: Patch = {
  file: 'adapters/dist/server/heartbeat.js',
  find: '{ pingMs: 5000, deadMs: 20_000 }',
  put: '{ pingMs: 50, deadMs: 500 }',
}

/** Tests a faulty network between correct clients and a correct host. */
export const proxies: Scene = async (context) => {
  await cuts(context)
  await slowness(context)
  await silence(context)
}

/**
 * Tests F-20: repeats a conversation and cuts it after another byte each time, in both directions. The host
 * keeps running.
 */
async function cuts({ tally, chance, quick }: SceneContext): Promise<void> {
  await withTrial({ tally, name: 'cuts', chance: chance.branch() }, async (trial) => {
    await trial.mustStart()
    const proxy = await Proxy.inFrontOf(trial.address, chance.branch())
    const through = proxy.address(trial.address)
    const owner = trial.client('owner')
    await owner.connect(trial.address)
    owner.create(shared)
    await owner.settle()
    await owner.subscribe(shared)
    for (const [name, prepare] of conversations) {
      const cut = async (id: string, faults: Faults): Promise<void> => {
        const client = trial.client(id)
        await prepare(client, through)
        proxy.faults = faults
        await talk(client, through)
        proxy.faults = {}
        await finishConversation(client, through)
        trial.retire(client)
      }
      // The first conversation is not cut. It shows how many bytes there are.
      await cut(`${name}-whole`, {})
      const lengths = { ...proxy.passed }
      for (const direction of ['toHost', 'toClient'] as const) {
        const positions = positionsIn(lengths[direction], quick ? 10 : 100, chance)
        for (const at of positions) await cut(`${name}-${direction}-${at}`, { cut: { direction, after: at } })
        tally.outcome(
          `${name}, cut at some byte ${direction === 'toHost' ? 'to the host' : 'to the client'}`,
          positions.length,
        )
        progress(`${name}: ${positions.length} cuts in ${lengths[direction]} bytes ${direction}`)
      }
    }
    await trial.host.kill()
    proxy.close()
    await trial.finish()
  })
}

/** Tests F-25: data arrives byte by byte, and with delays. Nothing may be lost. */
async function slowness({ tally, chance, quick }: SceneContext): Promise<void> {
  const clients = ['ann', 'ben', 'cid']
  await withTrial({ tally, name: 'slow', chance: chance.branch(), clients }, async (trial) => {
    await trial.mustStart()
    const proxy = await Proxy.inFrontOf(trial.address, chance.branch())
    const through = proxy.address(trial.address)
    for (const [name, faults] of [
      ['single bytes', { bytewise: true }],
      ['delays', { delayMs: 20 }],
    ] as const) {
      proxy.faults = faults
      await trial.converge(() => through)
      await trial.work(quick ? 3 : 40, () => through)
      await trial.converge(() => through)
      tally.outcome(name)
      progress(name)
    }
    await trial.host.kill()
    proxy.close()
    await trial.finish()
  })
}

/** Tests F-19: the host closes links that went silent. Their clients then reconnect without the proxy. */
async function silence({ tally, chance, quick }: SceneContext): Promise<void> {
  const clients = ['ann', 'ben', 'cid']
  await withTrial({ tally, name: 'silent', chance: chance.branch(), clients }, async (trial) => {
    await trial.mustStart({ patches: [fastHeartbeat] })
    for (let round = 0; round < (quick ? 1 : 4); round++) {
      const proxy = await Proxy.inFrontOf(trial.address, chance.branch())
      const through = proxy.address(trial.address)
      await trial.converge(() => through)
      await trial.work(10, () => through)
      await trial.converge(() => through)
      const before = proxy.closedByHost
      proxy.faults = { silent: true }
      // These actions never arrive, and therefore stay pending.
      for (const client of trial.clients) client.dispatch(rootUri, config(client.id, round))
      await proxy.whenClosedByHost(before + trial.clients.length)
      tally.outcome('half-open links freed', trial.clients.length)
      for (const client of trial.clients) client.cut()
      await trial.converge()
      for (const client of trial.clients) client.cut()
      proxy.close()
    }
    await trial.host.kill()
    await trial.finish()
  })
}

const shared = 'ahp-session:/shared'

/** What happens before the conversation that is cut: nothing, or a link that breaks with unanswered actions. */
const conversations: readonly (readonly [string, (client: Client, address: Address) => Promise<void>])[] = [
  ['a first link', async () => {}],
  [
    'a reconnect',
    async (client, address) => {
      await client.connect(address)
      await client.subscribe(shared)
      client.dispatch(shared, title(`${client.id} zero`))
      await client.settle()
      client.dispatch(shared, title(`${client.id} half`))
      client.dispatch(rootUri, config(client.id, 1))
      client.cut()
    },
  ],
]

/** Makes a handshake and a subscription, and dispatches actions. The link may break anywhere. */
async function talk(client: Client, address: Address): Promise<void> {
  try {
    await client.connect(address)
    await client.subscribe(shared)
    for (const word of ['one', 'two']) client.dispatch(shared, title(`${client.id} ${word}`))
    await client.settle()
  } catch (error) {
    if (!(error instanceof LinkLost)) throw error
  }
}

/** Reconnects, sends one more action, and waits for every outcome. */
async function finishConversation(client: Client, address: Address): Promise<void> {
  client.dispatch(shared, title(`${client.id} three`))
  for (;;)
    try {
      if (!client.open) await client.connect(address)
      return await client.settle()
    } catch (error) {
      // The cut came late and ended this link: connect again.
      if (!(error instanceof LinkLost)) throw error
    }
}

/** Returns at most `most` positions, spread over the length. */
function positionsIn(length: number, most: number, chance: Chance): readonly number[] {
  if (most >= length) return Array.from({ length }, (_, at) => at + 1)
  const part = length / most
  const positions = Array.from(
    { length: most },
    (_, n) => Math.floor(n * part) + chance.between(1, Math.ceil(part)),
  )
  return [...new Set(positions)]
}

function title(text: string) {
  return { type: 'session/titleChanged', title: text }
}

function config(id: string, value: number) {
  return { type: 'root/configChanged', config: { [`chaos.silent.${id}`]: value } }
}
