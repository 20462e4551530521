import { loremText } from '@atrium/adapters/guide/words'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { start } from '../child.ts'
import { fact, row } from '../figures.ts'
import type { Goal } from '../figures.ts'
import { opened } from '../messages.ts'
import { median } from '../percentiles.ts'
import { inTurns, ratioOf } from '../sides.ts'
import { Watchers } from './watchers.ts'

const words = 3000
const { length } = loremText(words)

/** The clients that watch a turn. */
interface Audience {
  readonly name: string
  readonly count: number
  /**
   * The versions of AHP that the clients speak: the first client the first version, and so on, from the start again
   * after the last. Absent: all speak 1.0.0.
   */
  readonly versions?: readonly Version[]
  /** The `maxLatencyMs` of the subscriptions. */
  readonly latency?: number
  /** The goal for the rate, relative to the bare host, or to as many clients at 1.0. Absent: the figure is only shown. */
  readonly goal?: Goal
  readonly to: 'a bare ws host' | 'clients at 1.0'
}

/** The bare host sends each word in a message of its own. Watchers without `latency` get many words in one message. */
const audiences: readonly Audience[] = [
  { name: '1 watcher', count: 1, latency: 0, goal: { atLeast: 0.25 }, to: 'a bare ws host' },
  { name: '10 watchers', count: 10, latency: 0, goal: { atLeast: 0.5 }, to: 'a bare ws host' },
  { name: '50 watchers', count: 50, latency: 0, goal: { atLeast: 1 }, to: 'a bare ws host' },
  { name: '50 watchers, words collected', count: 50, to: 'a bare ws host' },
  {
    name: '50 watchers, ten each at 0.1, 0.4, 0.6, 0.9 and 1.0',
    count: 50,
    versions: ['1.0.0', '0.9.0', '0.6.0', '0.4.0', '0.1.0'],
    goal: { atLeast: 0.6 },
    to: 'clients at 1.0',
  },
  { name: 'one watcher at 0.1', count: 1, versions: ['0.1.0'], goal: { atLeast: 0.7 }, to: 'clients at 1.0' },
]

/** Measures a turn of 3,000 words at full speed, to the last word at the slowest watcher. */
export async function turnBench(): Promise<boolean> {
  const [host, bare] = await Promise.all([start('host-child', 'guide'), start('bare-child')])
  const watchers = new Watchers()
  const maker = await opened(host, 'maker')
  let turns = 0
  const play = async (port: number, { count, versions = ['1.0.0'], latency }: Partial<Audience>) => {
    const session = `ahp-session:/stream-${turns++}`
    await maker.ask('createSession', { channel: session, provider: 'guide' })
    const turn = { port, session, count: count ?? 1, versions, words, length }
    return (await watchers.watch({ ...turn, ...(latency !== undefined && { latency }) })).took
  }
  for (let warm = 0; warm < 20; warm++) await play(host.port, { count: 2 })
  let met = true
  for (const audience of audiences) {
    const { name, count, goal, to } = audience
    const reference = () => (to === 'clients at 1.0' ? play(host.port, { count }) : play(bare.port, audience))
    const times = await inTurns({ rounds: 9 }, { ours: () => play(host.port, audience), bare: reference })
    const ratio = ratioOf(times.bare, times.ours)
    const figure = `${(words / median(times.ours)).toFixed(0)}k/s`
    const what = `words a second to the slowest of ${name}`
    if (goal) met = row(what, figure, { ratio, to: `the rate of ${to}`, goal }) && met
    else fact(what, `${figure}, ${ratio.toFixed(2)}x ${to}`)
  }
  watchers.end()
  maker.close()
  await Promise.all([host.stop(), bare.stop()])
  return met
}
