import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chance } from '../../chance.ts'
import { Client } from '../client.ts'
import { flipped, tails } from '../damage.ts'
import type { Damage } from '../damage.ts'
import type { Stored } from '../history.ts'
import { HostProcess } from '../host.ts'
import { canonical, comparable, kindOf } from '../judge/truth.ts'
import { readStored } from '../stored.ts'
import { progress } from '../tally.ts'
import type { Tally } from '../tally.ts'
import { Trial, newData } from '../trial.ts'
import { twoAtATime } from './scene.ts'
import type { Stage } from './scene.ts'

/**
 * F-03, F-04 on the file itself, closed and whole before: whatever is wrong in it, what comes out is the truth, a channel
 * that is set aside, or a refusal with a sentence. Read through the store, and by the real command.
 */
export async function hurtFiles(stage: Stage): Promise<void> {
  const { tally, chance, quick, exhaustive } = stage
  const trial = new Trial(tally, 'files', chance.branch())
  for (const id of ['ann', 'ben']) trial.client(id)
  try {
    if (!(await trial.begin())) throw new Error(`the host does not start: ${trial.host.said}`)
    await trial.live(15)
    await trial.host.kill()
    await trial.finish()
    const truth = await readStored(trial.data, trial.sessions.live)
    const bytes = readFileSync(join(trial.data, 'atrium.db'))
    const used = [...bytes.keys()].filter((at) => bytes[at] !== 0)
    const every = exhaustive ? 1 : Math.ceil(used.length / (quick ? 20 : 300))
    const flips = used.filter((_, i) => i % every === 0).map((at) => bit(at, chance.between(0, 7)))
    const ends = Array.from({ length: quick ? 1 : 8 }, () => tails).flat()
    await twoAtATime([...flips, ...ends], (damage) => byStore(tally, trial.data, truth, damage, chance))
    progress(`${flips.length} bits flipped of ${used.length} bytes, ${ends.length} ends hurt`)
    const some = [...chance.shuffled(flips).slice(0, quick ? 2 : 20), ...ends.slice(0, quick ? 2 : 10)]
    await twoAtATime(some, (damage, at) => byHost(tally, trial.data, truth, damage, chance, at))
    progress(`${some.length} of them shown to the command`)
  } finally {
    await trial.end()
  }
}

const bit = (at: number, which: number): Damage => ({
  name: 'a flipped bit',
  apply: (bytes) => flipped(bytes, at, which),
})

async function byStore(
  tally: Tally,
  data: string,
  truth: Stored,
  damage: Damage,
  chance: Chance,
): Promise<void> {
  const copy = copyOf(data, damage, chance)
  const expected = truth.channels.map(({ uri }) => uri)
  const found = await readStored(copy, expected).catch((error: unknown) => String(error))
  const outcome = (how: string): void => tally.outcome(`file: ${damage.name}, ${how}`)
  if (typeof found === 'string') {
    if (!found.includes(copy))
      tally.problem(`F-04: ${damage.name}: refused without naming the folder: ${found}`)
    outcome('refused')
  } else {
    const wrong = differences(truth, found)
    for (const sentence of wrong) tally.problem(`F-04: ${damage.name}: ${sentence}`)
    outcome(found.damaged.length > 0 ? 'set aside' : 'the truth')
  }
  rmSync(copy, { recursive: true })
}

async function byHost(
  tally: Tally,
  data: string,
  truth: Stored,
  damage: Damage,
  chance: Chance,
  at: number,
): Promise<void> {
  const copy = copyOf(data, damage, chance)
  const { size } = statSync(join(copy, 'atrium.db'))
  const host = new HostProcess(copy, {})
  const address = await host.ready
  const outcome = (how: string): void => tally.outcome(`command: ${damage.name}, ${how}`)
  if (!address) {
    const [sentence = '', ...more] = host.said.split('\n').filter((line) => line.startsWith('atrium: '))
    if (sentence.length < 20 || more.length > 0) tally.problem(`F-04: no clear sentence: ${host.said}`)
    outcome('refused')
  } else {
    const client = new Client(join(tally.folder, 'hurt'), `reader-${at}`)
    const wrong = await client.come(address).then(
      () => shownBy(client, truth),
      (error: unknown) => [`no handshake: ${String(error)}`],
    )
    for (const sentence of wrong) tally.problem(`F-04: ${damage.name}: ${sentence}`)
    outcome(client.following.size > truth.channels.length - 1 ? 'the truth' : 'set aside')
    client.cut()
    client.flush()
  }
  await host.kill()
  if (statSync(join(copy, 'atrium.db')).size < size)
    tally.problem(`F-04: ${damage.name}: the file became shorter`)
  rmSync(copy, { recursive: true })
}

/** What a client is shown that is not the truth; what it is refused is fine. */
async function shownBy(client: Client, truth: Stored): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const { uri, state } of truth.channels) {
    const kind = kindOf(uri)
    await client.subscribe(uri)
    const shown = client.shown.get(uri)
    if (client.gone.has(uri)) wrong.push(`${uri} is gone without a word`)
    else if (kind && shown !== undefined && comparable(kind, shown) !== comparable(kind, state))
      wrong.push(`${uri} is shown as ${JSON.stringify(shown)}, and was ${JSON.stringify(state)}`)
  }
  return wrong
}

function differences(truth: Stored, found: Stored): readonly string[] {
  return truth.channels.flatMap((channel) => {
    const { uri } = channel
    if (found.damaged.some((damaged) => damaged.uri === uri)) return []
    const now = found.channels.find((other) => other.uri === uri)
    if (!now) return [`${uri} is gone without a word`]
    const same = (['kind', 'state', 'envelopes'] as const).every(
      (key) => canonical(now[key]) === canonical(channel[key]),
    )
    return same ? [] : [`${uri} has another history`]
  })
}

function copyOf(data: string, damage: Damage, chance: Chance): string {
  const copy = newData()
  cpSync(data, copy, { recursive: true })
  const path = join(copy, 'atrium.db')
  writeFileSync(path, damage.apply(readFileSync(path), chance))
  return copy
}
