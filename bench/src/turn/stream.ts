import { loremText } from '@atrium/adapters/guide/words'
import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { median } from '../percentiles.ts'
import { fact, row } from '../table.ts'
import { Wire } from '../wire.ts'
import { initialize } from './chat.ts'
import { Watchers } from './watchers.ts'
import type { WatchResult } from './watchers.ts'

const words = 3000
const { length } = loremText(words)
const rounds = 9
/** The number of warm-up turns on each server. */
const warming = 20

/** The clients that watch a turn. */
interface Audience {
  readonly name: string
  readonly count: number
  /**
   * The versions of AHP that the clients speak: the first client the first version, and so on, from the start again
   * after the last. Absent: all speak 1.0.0.
   */
  readonly versions?: readonly string[]
  /** The `maxLatencyMs` of the clients' subscriptions. */
  readonly latency?: number
  /** The goal for the rate, relative to the bare host. */
  readonly goal?: number
}

/**
 * The goals are for watchers that get each word in a message of its own, as from the bare host. The other watchers get many
 * words in one message. Their figures show what this saves. They have no goal, because the bare host still sends one message
 * per word.
 */
const audiences: readonly Audience[] = [
  { name: '1 watcher', count: 1, latency: 0, goal: 0.25 },
  { name: '10 watchers', count: 10, latency: 0, goal: 0.5 },
  { name: '10 watchers, 5 of them at 0.9', count: 10, versions: ['1.0.0', '0.9.0'], latency: 0, goal: 0.5 },
  { name: '50 watchers', count: 50, latency: 0, goal: 1 },
  { name: '1 watcher, words collected', count: 1 },
  { name: '50 watchers, words collected', count: 50 },
]

/** Measures a turn of 3,000 words at full speed, relative to a bare host that sends one message per word. */
export async function streamTable(): Promise<boolean> {
  console.log(
    `\nstream: a turn of ${words} words, stored and delivered, relative to ${words} ws.send of shared bytes per watcher`,
  )
  const [host, bare] = await Promise.all([start('host-child', [], ['guide']), start('bare-child')])
  const watchers = new Watchers()
  const maker = await initialize(await Wire.open(host.port), 'maker')
  const before = await host.memory()
  let met = true
  let turns = 0
  const play = async (audience: Audience, times: number) => {
    const results: Result[] = []
    while (results.length < times) {
      const session = `ahp-session:/stream-${turns++}`
      await maker.ask('createSession', { channel: session, provider: 'guide' })
      results.push(await compare(watchers, { host, bare }, audience, session))
    }
    return results
  }
  await play({ name: 'warm-up', count: 2 }, warming)
  for (const audience of audiences) met = print(audience, await play(audience, rounds)) && met
  const after = await host.memory()
  fact('RSS of the host before and after', `${mb(before.rss)}, ${mb(after.rss)}`)
  fact('heap of the host before and after', `${mb(before.heap)}, ${mb(after.heap)}`)
  watchers.end()
  maker.close()
  await Promise.all([host.stop(), bare.stop()])
  return met
}

interface Result {
  readonly ours: WatchResult
  readonly theirs: WatchResult
}

/** Runs the same turn on both servers. The servers take turns, so that other load on the machine affects both alike. */
async function compare(
  watchers: Watchers,
  { host, bare }: { readonly host: Child; readonly bare: Child },
  { count, versions = ['1.0.0'], latency }: Audience,
  session: string,
): Promise<Result> {
  const turn = { session, count, versions, words, length, ...(latency !== undefined && { latency }) }
  const ours = await watchers.watch({ ...turn, port: host.port })
  const theirs = await watchers.watch({ ...turn, port: bare.port })
  return { ours, theirs }
}

function print({ name, goal }: Audience, results: readonly Result[]): boolean {
  const mid = (figure: (result: Result) => number) => median(results.map(figure))
  const rate = mid(({ ours }) => (words / ours.took) * 1000)
  const ratio = mid(({ ours, theirs }) => theirs.took / ours.took)
  const first = mid(({ ours }) => ours.first)
  const theirFirst = mid(({ theirs }) => theirs.first)
  const frames = mid(({ ours }) => ours.frames)
  const figure = `${(rate / 1000).toFixed(0)}k/s`
  const met =
    goal === undefined
      ? (fact(`words a second to the slowest of ${name}`, `${figure}  ${ratio.toFixed(2)}x bare`), true)
      : row(`words a second to the slowest of ${name}`, figure, ratio, { atLeast: goal })
  fact(
    '  time to the first word; messages per watcher',
    `${first.toFixed(1)} ms, bare ${theirFirst.toFixed(1)} ms; ${frames}`,
  )
  return met
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
