import { loremText } from '@atrium/adapters/guide/words'
import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { median } from '../percentiles.ts'
import { fact, row } from '../table.ts'
import { Wire } from '../wire.ts'
import { greet } from './chat.ts'
import { Watchers } from './watchers.ts'
import type { Shown } from './watchers.ts'

const words = 3000
const { length } = loremText(words)
const rounds = 9
/** So many turns until both have compiled what they run. */
const warming = 20

/** Who watches: how many, how many of them at 0.9, and what they say about waiting. */
interface Crowd {
  readonly who: string
  readonly count: number
  readonly older?: number
  readonly latency?: number
  readonly goal?: number
}

const crowds: readonly Crowd[] = [
  { who: '1 watcher', count: 1, goal: 2 },
  { who: '10 watchers', count: 10, goal: 2 },
  { who: '10 watchers, 5 of them at 0.9', count: 10, older: 5, goal: 2 },
  { who: '50 watchers', count: 50, goal: 2 },
  { who: '50 watchers who want each word', count: 50, latency: 0 },
]

/** A turn of 3,000 words, as fast as it goes, beside as many messages of a bare host to the same watchers. */
export async function streamTable(): Promise<boolean> {
  console.log(`\nstream: a turn of ${words} words, stored and told, beside ${words} naive ws.send to each`)
  const [host, bare] = await Promise.all([start('host-child', [], ['guide']), start('bare-child')])
  const watchers = new Watchers()
  const maker = await greet(await Wire.open(host.port), 'maker')
  const before = await host.memory()
  let met = true
  let turns = 0
  const play = async (crowd: Crowd, times: number) => {
    const results: Result[] = []
    while (results.length < times) {
      const session = `ahp-session:/stream-${turns++}`
      await maker.ask('createSession', { channel: session, provider: 'guide' })
      results.push(await beside(watchers, { host, bare }, crowd, session))
    }
    return results
  }
  await play({ who: 'nobody', count: 2 }, warming)
  for (const crowd of crowds) met = print(crowd, await play(crowd, rounds)) && met
  const after = await host.memory()
  fact('RSS of the host before, and after all of it', `${mb(before.rss)}, ${mb(after.rss)}`)
  fact('heap of the host before, and after all of it', `${mb(before.heap)}, ${mb(after.heap)}`)
  watchers.end()
  maker.close()
  await Promise.all([host.stop(), bare.stop()])
  return met
}

interface Result {
  readonly ours: Shown
  readonly theirs: Shown
}

/** In turns, so that a busy moment of the machine falls on both alike. */
async function beside(
  watchers: Watchers,
  { host, bare }: { readonly host: Child; readonly bare: Child },
  { count, older = 0, latency }: Crowd,
  session: string,
): Promise<Result> {
  const show = { session, count, older, words, length, ...(latency !== undefined && { latency }) }
  const ours = await watchers.watch({ ...show, port: host.port })
  const theirs = await watchers.watch({ ...show, port: bare.port })
  return { ours, theirs }
}

function print({ who, goal }: Crowd, results: readonly Result[]): boolean {
  const mid = (figure: (result: Result) => number) => median(results.map(figure))
  const rate = mid(({ ours }) => (words / ours.took) * 1000)
  const ratio = mid(({ ours, theirs }) => theirs.took / ours.took)
  const first = mid(({ ours }) => ours.first)
  const theirFirst = mid(({ theirs }) => theirs.first)
  const frames = mid(({ ours }) => ours.frames)
  const figure = `${(rate / 1000).toFixed(0)}k/s`
  const met =
    goal === undefined
      ? (fact(`words a second to the slowest of ${who}`, `${figure}  ${ratio.toFixed(2)}x bare`), true)
      : row(`words a second to the slowest of ${who}`, figure, ratio, goal, 'at least')
  fact(
    '  asked to the first word; messages to each',
    `${first.toFixed(1)} ms, bare ${theirFirst.toFixed(1)} ms; ${frames}`,
  )
  return met
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
