import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chance } from '../../chance.ts'
import { Client } from '../client.ts'
import { flipped, tails } from '../damage.ts'
import type { Damage } from '../damage.ts'
import type { Stored } from '../history.ts'
import { HostProcess } from '../host.ts'
import type { Address } from '../host.ts'
import { canonical, comparable, kindOf } from '../judge/compare.ts'
import { readStored } from '../stored.ts'
import { progress } from '../tally.ts'
import type { Tally } from '../tally.ts'
import { newDataFolder, withTrial } from '../trial.ts'
import { twoAtATime } from './scene.ts'
import type { SceneContext } from './scene.ts'

/**
 * Tests F-03 and F-04 on a store that was closed correctly. After any damage, a reader gets the true state, or finds
 * the channel set aside, or is refused with a reason. The store is read directly, and through the real command.
 */
export async function damagedFiles(context: SceneContext): Promise<void> {
  const { tally, chance, quick } = context
  const clients = ['ann', 'ben']
  await withTrial({ tally, name: 'files', chance: chance.branch(), clients }, async (trial) => {
    await trial.mustStart()
    await trial.workUntilExit(15)
    await trial.host.kill()
    await trial.finish()
    const original = await readStored(trial.data, trial.sessions.live)
    const bytes = readFileSync(join(trial.data, 'atrium.db'))
    const used = [...bytes.keys()].filter((at) => bytes[at] !== 0)
    const every = Math.ceil(used.length / (quick ? 20 : 300))
    const flips = used.filter((_, i) => i % every === 0).map((at) => bit(at, chance.between(0, 7)))
    const ends = Array.from({ length: quick ? 1 : 8 }, () => tails).flat()
    await twoAtATime([...flips, ...ends], (damage) =>
      readByStore({ tally, data: trial.data, original, damage, chance }),
    )
    progress(`${flips.length} bits flipped of ${used.length} bytes, ${ends.length} damaged ends`)
    const some = [...chance.shuffled(flips).slice(0, quick ? 2 : 20), ...ends.slice(0, quick ? 2 : 10)]
    await twoAtATime(some, (damage, at) =>
      readByHost({ tally, data: trial.data, original, damage, chance }, at),
    )
    progress(`${some.length} of these files opened by the command`)
  })
}

const bit = (at: number, which: number): Damage => ({
  name: 'a flipped bit',
  apply: (bytes) => flipped(bytes, at, which),
})

interface DamageTest {
  readonly tally: Tally
  /** The undamaged data folder. The test damages a copy of it. */
  readonly data: string
  /** The content of the undamaged folder. */
  readonly original: Stored
  readonly damage: Damage
  readonly chance: Chance
}

async function readByStore({ tally, data, original, damage, chance }: DamageTest): Promise<void> {
  const copy = copyOf(data, damage, chance)
  const expected = original.channels.map(({ uri }) => uri)
  const found = await readStored(copy, expected).catch((error: unknown) => String(error))
  const outcome = (how: string): void => tally.outcome(`store: ${damage.name}, ${how}`)
  if (typeof found === 'string') {
    if (!found.includes(copy))
      tally.problem(`F-04: ${damage.name}: refused without the folder's name: ${found}`)
    outcome('refused')
  } else {
    const wrong = differences(original, found)
    for (const sentence of wrong) tally.problem(`F-04: ${damage.name}: ${sentence}`)
    outcome(found.damaged.length > 0 ? 'set aside' : 'read correctly')
  }
  rmSync(copy, { recursive: true })
}

async function readByHost({ tally, data, original, damage, chance }: DamageTest, at: number): Promise<void> {
  const copy = copyOf(data, damage, chance)
  const { size } = statSync(join(copy, 'atrium.db'))
  const host = new HostProcess(copy, {})
  const address = await host.ready
  const outcome = (how: string): void => tally.outcome(`command: ${damage.name}, ${how}`)
  if (!address) {
    const [sentence = '', ...more] = host.stderr.split('\n').filter((line) => line.startsWith('atrium: '))
    if (sentence.length < 20 || more.length > 0)
      tally.problem(`F-04: no single clear error line: ${host.stderr}`)
    outcome('refused')
  } else {
    const client = new Client(join(tally.folder, 'hurt'), `reader-${at}`)
    const wrong = await client.connect(address).then(
      () => shownBy(client, original),
      (error: unknown) => [`no handshake: ${String(error)}`],
    )
    const asker = new Client(join(tally.folder, 'hurt'), `asker-${at}`)
    for (const sentence of [...wrong, ...(await untold(asker, client, address))])
      tally.problem(`F-04: ${damage.name}: ${sentence}`)
    outcome(client.subscriptions.size > original.channels.length - 1 ? 'read correctly' : 'set aside')
    client.cut()
    client.flush()
  }
  await host.kill()
  if (statSync(join(copy, 'atrium.db')).size < size)
    tally.problem(`F-04: ${damage.name}: the file became shorter`)
  rmSync(copy, { recursive: true })
}

/** Returns the differences between the states shown to a client and the true ones. A refused channel is fine. */
async function shownBy(client: Client, original: Stored): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const { uri, state } of original.channels) {
    const kind = kindOf(uri)
    await client.subscribe(uri)
    const shown = client.shown.get(uri)
    if (client.gone.has(uri)) wrong.push(`${uri} is gone without an error`)
    else if (kind && shown !== undefined && comparable(kind, shown) !== comparable(kind, state))
      wrong.push(`${uri} is shown as ${JSON.stringify(shown)}, but was ${JSON.stringify(state)}`)
  }
  return wrong
}

/**
 * Returns the channels that the host refuses to show because they are damaged, although it does not report them as
 * damaged in a handshake that requests them.
 */
async function untold(asker: Client, reader: Client, address: Address): Promise<readonly string[]> {
  for (const uri of reader.refused) asker.subscriptions.add(uri)
  await asker.connect(address)
  asker.cut()
  asker.flush()
  // A shown channel counts as told: the handshake shows a chat with damaged turns without these turns.
  const told = new Set([...asker.damaged, ...asker.shown.keys()])
  const not = [...reader.refused].filter((uri) => !told.has(uri))
  return not.map((uri) => `${uri} is damaged, and no handshake says so`)
}

function differences(original: Stored, found: Stored): readonly string[] {
  return original.channels.flatMap((channel) => {
    const { uri } = channel
    if (found.damaged.some((damaged) => damaged.uri === uri)) return []
    const now = found.channels.find((other) => other.uri === uri)
    if (!now) return [`${uri} is gone without an error`]
    const same = (['kind', 'state', 'envelopes'] as const).every(
      (key) => canonical(now[key]) === canonical(channel[key]),
    )
    return same ? [] : [`${uri} has a different history`]
  })
}

function copyOf(data: string, damage: Damage, chance: Chance): string {
  const copy = newDataFolder()
  cpSync(data, copy, { recursive: true })
  const path = join(copy, 'atrium.db')
  writeFileSync(path, damage.apply(readFileSync(path), chance))
  return copy
}
