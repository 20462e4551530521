import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Action } from '@atrium/protocol/channel'
import type { Chance } from '../chance.ts'
import type { Client } from '../chaos/client.ts'
import { LinkLost } from '../chaos/errors.ts'
import type { Stored } from '../chaos/history.ts'
import type { Address, HostProcess } from '../chaos/host.ts'
import { work } from '../chaos/load.ts'
import { readStored } from '../chaos/stored.ts'
import type { Tally } from '../chaos/tally.ts'
import { Trial } from '../chaos/trial.ts'

interface Setting {
  readonly tally: Tally
  readonly chance: Chance
  readonly host: HostProcess
  readonly address: Address
  readonly data: string
  readonly clients: number
}

/** A slow reader misses this many actions of 20 KB: more than all buffers between it and the host hold. */
const missed = 800

/**
 * Rounds of load on one host that runs on. Each has new clients and new sessions, is judged by its histories and the
 * store at its end, and leaves no session behind.
 */
export class Rounds {
  readonly #setting: Setting
  #count = 0
  /** The content of the store when the round before was judged. */
  #before: Stored | undefined

  constructor(setting: Setting) {
    this.#setting = setting
  }

  /** Runs a round. Clients of older versions always take part; `slow`: so does a client that stops reading. */
  async run(ms: number, slow = ++this.#count % 5 === 1): Promise<void> {
    const { tally, data, host, address, clients } = this.#setting
    const chance = this.#setting.chance.branch()
    const name = `${tally.runs + 1}`
    const trial = new Trial(tally, `round-${name}`, chance, data)
    trial.join(host, address)
    trial.addOlderClients(`-${name}`)
    for (let n = 0; n < clients; n++) trial.client(`p${name}-${n}`)
    await trial.insist(() => trial.converge())
    const until = performance.now() + ms
    const working = trial.clients.map((client) => busy(trial, client, chance.branch(), until))
    const olderWork = trial.olderWork(Math.ceil(ms / 100))
    await Promise.all([...working, olderWork, ...(slow ? [stopReading(trial, name)] : [])])
    const difference = await trial.insist(() => trial.settle())
    if (difference !== undefined) tally.problem(difference)
    const stored = await this.#stored(trial)
    trial.cut()
    const problems = tally.problems.length
    trial.judgeRun({ ...since(stored, this.#before), rested: true })
    this.#before = stored
    await this.#dispose(trial, stored, name)
    if (tally.problems.length === problems) rmSync(trial.folder, { recursive: true })
  }

  /** Reads a copy of the store: nobody may open the store of a running host. The host is stopped while the files are copied. */
  async #stored({ sessions }: Trial): Promise<Stored> {
    const { host, data } = this.#setting
    const copy = `${data}-copy`
    mkdirSync(copy)
    host.signal('SIGSTOP')
    await sleep(50)
    for (const name of readdirSync(data).filter((each) => each.startsWith('atrium.db')))
      copyFileSync(join(data, name), join(copy, name))
    host.signal('SIGCONT')
    try {
      return await readStored(copy, sessions.live)
    } finally {
      rmSync(copy, { recursive: true })
    }
  }

  async #dispose(trial: Trial, { sessions }: Stored, name: string): Promise<void> {
    const cleaner = trial.client(`cleaner-${name}`)
    await trial.insist(() => cleaner.connect(this.#setting.address))
    for (const session of sessions) cleaner.dispose(session)
    await trial.withTimeout(cleaner.settle(), 'disposing the sessions')
    trial.retire(cleaner)
  }
}

/** Lets a client act like a user, at random moments, until the round is over. Whenever its link ends, it comes back. */
async function busy(trial: Trial, client: Client, chance: Chance, until: number): Promise<void> {
  const { sessions, address } = trial
  while (performance.now() < until)
    try {
      if (!client.open) await client.connect(address)
      // Sometimes a client connects again beside its open link, which the host must then close.
      else if (chance.oneIn(30)) await client.connect(address)
      await work({ client, sessions, chance, address: () => address, steps: chance.between(1, 5) })
      await sleep(chance.between(20, 500))
    } catch (error) {
      if (!(error instanceof LinkLost)) throw error
    }
}

/** A client stops reading while another one writes. The host must end its link, and the judge compares what it gets when it is back. */
async function stopReading(trial: Trial, name: string): Promise<void> {
  const [reader, writer] = [trial.client(`reader-${name}`), trial.client(`writer-${name}`)]
  const session = `ahp-session:/slow-${name}`
  for (const client of [writer, reader]) await trial.insist(() => client.connect(trial.address))
  writer.create(session)
  await writer.settle()
  await reader.subscribe(session)
  reader.link.pause()
  for (let n = 0; n < missed; n++) {
    writer.dispatch(session, largeAction(writer, n))
    await writer.until(() => writer.pending < 40)
  }
  reader.link.resume()
  const lost = await reader.ask('ping').then(
    () => false,
    (error: unknown) => error instanceof LinkLost,
  )
  if (lost) trial.tally.outcome('readers that were too slow')
  else trial.tally.problem('a client that stopped reading kept its link')
  const code = lost ? await reader.link.ended : 0
  // The code is 1006 if the host dropped the connection because the client did not read the close frame either.
  if (lost && code !== 1006 && code !== 1013)
    trial.tally.problem(`a client that stopped reading was closed with ${code}`)
}

function largeAction({ id }: Client, n: number): Action {
  const displayName = `${n} ${'x'.repeat(20_000)}`
  return { type: 'session/activeClientSet', activeClient: { clientId: id, displayName, tools: [] } } as Action
}

/** What the store got since an earlier moment. Channels of that time begin with the state that they had then. */
export function since(stored: Stored, before: Stored | undefined): Stored {
  const earlier = new Map(before?.channels.map((channel) => [channel.uri, channel]))
  const channels = stored.channels.map((channel) => {
    const then = earlier.get(channel.uri)
    if (!then) return channel
    const seq = then.envelopes.at(-1)?.serverSeq ?? then.birth?.seq ?? 0
    const envelopes = channel.envelopes.filter(({ serverSeq }) => serverSeq > seq)
    return { ...channel, envelopes, birth: { seq, state: then.state } }
  })
  return { ...stored, channels }
}
