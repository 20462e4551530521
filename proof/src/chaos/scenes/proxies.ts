import { rootUri } from '@atrium/protocol/uri'
import type { Patch } from '../../plant/patch.ts'
import type { Chance } from '../../chance.ts'
import { LinkLost } from '../client.ts'
import type { Address, Client } from '../client.ts'
import { Proxy } from '../proxy.ts'
import type { Trouble } from '../proxy.ts'
import { progress } from '../tally.ts'
import { Trial } from '../trial.ts'
import type { Scene, Stage } from './scene.ts'

/** A heart that beats so fast that a dead link is found in a moment. */
const fastPulse: Patch = {
  file: 'adapters/dist/server/heartbeat.js',
  find: '{ pingMs: 5000, deadMs: 20_000 }',
  put: '{ pingMs: 50, deadMs: 500 }',
}

/** A bad network between good clients and a good host. */
export const proxies: Scene = async (stage) => {
  await cuts(stage)
  await slowness(stage)
  await silence(stage)
}

/** F-20: cut after every byte of a conversation, in both directions. The host lives through all of it. */
async function cuts({ tally, chance, quick, exhaustive }: Stage): Promise<void> {
  const trial = new Trial(tally, 'cuts', chance.branch())
  try {
    if (!(await trial.begin())) throw new Error(trial.host.said)
    const proxy = await Proxy.before(trial.address, chance.branch())
    const through = proxy.address(trial.address)
    const keeper = trial.client('keeper')
    await keeper.come(trial.address)
    keeper.create(shared)
    await keeper.settle()
    await keeper.subscribe(shared)
    for (const [name, prepare] of conversations) {
      const cut = async (id: string, trouble: Trouble): Promise<void> => {
        const client = trial.client(id)
        await prepare(client, through)
        proxy.trouble = trouble
        await talk(client, through)
        proxy.trouble = {}
        await again(client, through)
        trial.retire(client)
      }
      // Once without a cut, to know how long it is.
      await cut(`${name}-whole`, {})
      const lengths = { ...proxy.passed }
      for (const way of ['toHost', 'toClient'] as const) {
        const places = placesIn(lengths[way], exhaustive ? Infinity : quick ? 10 : 100, chance)
        for (const at of places) await cut(`${name}-${way}-${at}`, { cut: { way, after: at } })
        tally.outcome(
          `${name}, cut after some byte ${way === 'toHost' ? 'to the host' : 'to the client'}`,
          places.length,
        )
        progress(`${name}: ${places.length} cuts in ${lengths[way]} bytes ${way}`)
      }
    }
    await trial.host.kill()
    proxy.close()
    await trial.finish()
  } finally {
    await trial.end()
  }
}

/** F-25: byte by byte, and late. */
async function slowness({ tally, chance, quick }: Stage): Promise<void> {
  const trial = new Trial(tally, 'slow', chance.branch())
  for (const id of ['ann', 'ben', 'cid']) trial.client(id)
  try {
    if (!(await trial.begin())) throw new Error(trial.host.said)
    const proxy = await Proxy.before(trial.address, chance.branch())
    const through = proxy.address(trial.address)
    for (const [name, trouble] of [
      ['bytes one by one', { bytewise: true }],
      ['delays', { delayMs: 20 }],
    ] as const) {
      proxy.trouble = trouble
      await trial.converge(() => through)
      await trial.work(quick ? 3 : 40, () => through)
      await trial.converge(() => through)
      tally.outcome(name)
      progress(name)
    }
    await trial.host.kill()
    proxy.close()
    await trial.finish()
  } finally {
    await trial.end()
  }
}

/** F-19: links that went away without a word are let go of; their clients come back by another way. */
async function silence({ tally, chance, quick }: Stage): Promise<void> {
  const trial = new Trial(tally, 'silent', chance.branch())
  for (const id of ['ann', 'ben', 'cid']) trial.client(id)
  try {
    if (!(await trial.begin({ patches: [fastPulse] }))) throw new Error(trial.host.said)
    for (let round = 0; round < (quick ? 1 : 4); round++) {
      const proxy = await Proxy.before(trial.address, chance.branch())
      const through = proxy.address(trial.address)
      await trial.converge(() => through)
      await trial.work(10, () => through)
      await trial.converge(() => through)
      const before = proxy.freed
      proxy.trouble = { silent: true }
      // Said into the void, and therefore pending.
      for (const client of trial.clients) client.dispatch(rootUri, config(client.id, round))
      await proxy.whenFreed(before + trial.clients.length)
      tally.outcome('half-open links freed', trial.clients.length)
      for (const client of trial.clients) client.cut()
      await trial.converge()
      for (const client of trial.clients) client.cut()
      proxy.close()
    }
    await trial.host.kill()
    await trial.finish()
  } finally {
    await trial.end()
  }
}

const shared = 'ahp-session:/shared'

/** What comes before the conversation that is cut: nothing, or a link that broke with something under way. */
const conversations: readonly (readonly [string, (client: Client, address: Address) => Promise<void>])[] = [
  ['a first link', async () => {}],
  [
    'a return',
    async (client, address) => {
      await client.come(address)
      await client.subscribe(shared)
      client.dispatch(shared, title(`${client.id} zero`))
      await client.settle()
      client.dispatch(shared, title(`${client.id} half`))
      client.dispatch(rootUri, config(client.id, 1))
      client.cut()
    },
  ],
]

/** A handshake, a subscription, actions. It may break anywhere. */
async function talk(client: Client, address: Address): Promise<void> {
  try {
    await client.come(address)
    await client.subscribe(shared)
    for (const word of ['one', 'two']) client.dispatch(shared, title(`${client.id} ${word}`))
    await client.settle()
  } catch (error) {
    if (!(error instanceof LinkLost)) throw error
  }
}

/** Comes back, says more, and sees the end of everything. */
async function again(client: Client, address: Address): Promise<void> {
  client.dispatch(shared, title(`${client.id} three`))
  for (;;)
    try {
      if (!client.open) await client.come(address)
      return await client.settle()
    } catch (error) {
      // The cut was made, and came late.
      if (!(error instanceof LinkLost)) throw error
    }
}

/** So many places, spread over the length. */
function placesIn(length: number, most: number, chance: Chance): readonly number[] {
  if (most >= length) return Array.from({ length }, (_, at) => at + 1)
  const part = length / most
  const places = Array.from(
    { length: most },
    (_, n) => Math.floor(n * part) + chance.between(1, Math.ceil(part)),
  )
  return [...new Set(places)]
}

function title(text: string) {
  return { type: 'session/titleChanged', title: text }
}

function config(id: string, value: number) {
  return { type: 'root/configChanged', config: { [`chaos.silent.${id}`]: value } }
}
