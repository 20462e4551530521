import { loremText } from '@atrium/adapters/guide/words'
import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { median } from '../percentiles.ts'
import { fact, row } from '../table.ts'
import { initialize } from '../turn/chat.ts'
import { Watchers } from '../turn/watchers.ts'
import { Wire } from '../wire.ts'
import { reconnectTimes } from './reconnects.ts'

const words = 3000
const { length } = loremText(words)
const rounds = 9
const warming = 10

/**
 * Watchers that speak several AHP versions, compared with as many watchers at 1.0. `goal` is the least rate of
 * deliveries to them, as a fraction of the rate to the watchers at 1.0.
 */
interface Comparison {
  readonly name: string
  readonly count: number
  readonly versions: readonly string[]
  readonly goal: number
}

const comparisons: readonly Comparison[] = [
  {
    name: '50 watchers, ten each at 0.1, 0.4, 0.6, 0.9 and 1.0',
    count: 50,
    versions: ['1.0.0', '0.9.0', '0.6.0', '0.4.0', '0.1.0'],
    goal: 0.6,
  },
  { name: 'one watcher at 0.1', count: 1, versions: ['0.1.0'], goal: 0.7 },
]

/**
 * Measures what older versions of AHP cost: a turn that clients of several versions watch, and a reconnect after many
 * missed actions.
 */
export async function versionsBench(): Promise<boolean> {
  console.log(
    `\nversions: a turn of ${words} words, in relation to as many watchers at 1.0; ${rounds} rounds`,
  )
  const host = await start('host-child', [], ['guide'])
  const watchers = new Watchers()
  const maker = await initialize(await Wire.open(host.port), 'maker')
  const before = await host.memory()
  const play = player(host, maker, watchers)
  for (let n = 0; n < warming; n++) for (const { versions } of comparisons) await play(versions, 5)
  let met = true
  for (const { name, count, versions, goal } of comparisons) {
    const times: { readonly mixed: number; readonly native: number }[] = []
    // The two take turns, so that other load on the machine affects both alike.
    while (times.length < rounds)
      times.push({ mixed: await play(versions, count), native: await play(['1.0.0'], count) })
    const rate = (words * count) / (median(times.map(({ mixed }) => mixed)) / 1000)
    const ratio = median(times.map(({ mixed, native }) => native / mixed))
    met =
      row(`deliveries a second to ${name}`, `${(rate / 1000).toFixed(0)}k/s`, ratio, { atLeast: goal }) && met
  }
  met = (await reconnectRow(host, maker)) && met
  const after = await host.memory()
  fact('RSS of the host before and after', `${mb(before.rss)}, ${mb(after.rss)}`)
  watchers.end()
  maker.close()
  await host.stop()
  return met
}

/**
 * Returns a function that runs a turn for some watchers. It resolves with the milliseconds to the last word at the
 * slowest watcher.
 */
function player(host: Child, maker: Wire, watchers: Watchers) {
  let turns = 0
  return async (versions: readonly string[], count: number): Promise<number> => {
    const session = `ahp-session:/versions-${turns++}`
    await maker.ask('createSession', { channel: session, provider: 'guide' })
    const { took } = await watchers.watch({ port: host.port, session, count, versions, words, length })
    return took
  }
}

async function reconnectRow(host: Child, maker: Wire): Promise<boolean> {
  const { older, native, missed } = await reconnectTimes(host, maker, rounds)
  const figure = `${median(older).toFixed(1)} ms`
  const ratio = median(older.map((time, i) => time / (native[i] ?? 1)))
  return row(`return at 0.1 after ${missed} missed actions`, figure, ratio, { atMost: 2 })
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
