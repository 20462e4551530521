import { start } from '../child.ts'
import type { Child, Delay } from '../child.ts'
import { median, spread } from '../percentiles.ts'
import type { Spread } from '../percentiles.ts'
import { check, fact, row } from '../table.ts'
import { arrivals } from './schedule.ts'
import { SessionLoad } from './session-load.ts'

const rate = 2000
const seconds = 5
const rounds = 5

/** The result of one round with one server. */
interface Round {
  readonly own: Spread
  readonly last: Spread
  readonly missing: number
  /** How many milliseconds after its scheduled time the load generator sent each action. */
  readonly late: Spread
  readonly achieved: number
  readonly delay: Delay
}

/**
 * Sends actions at a fixed rate, whether or not the server keeps up (open loop). The servers take turns, so that other
 * load on the machine affects all of them alike.
 */
export async function rateTable(): Promise<boolean> {
  const servers = {
    host: await start('host-child'),
    durable: await start('bare-child', [], ['durable']),
    bare: await start('bare-child'),
  }
  const names = ['host', 'durable', 'bare'] as const
  const results: Record<(typeof names)[number], Round[]> = { host: [], durable: [], bare: [] }
  const loads = new Map<string, SessionLoad>()
  for (const name of names) loads.set(name, await SessionLoad.open(servers[name].port))
  const { sessions = 0, subscribers = 0 } = loads.get('host') ?? {}
  console.log(
    `\nrate: ${rate} actions/s for ${rounds} x ${seconds} s, ${sessions} sessions of ${subscribers} subscribers`,
  )
  // The first round is a warm-up.
  for (let turn = 0; turn <= rounds; turn++)
    for (const name of names) {
      const round = await runRound(servers[name], loads.get(name), turn)
      if (turn > 0) results[name].push(round)
    }
  await Promise.all(names.map((name) => servers[name].stop()))
  return print(results)
}

async function runRound(child: Child, load: SessionLoad | undefined, turn: number): Promise<Round> {
  if (!load) throw new Error('no clients are connected')
  const times = arrivals(rate, seconds, turn + 1)
  await child.delay()
  const { own, last, late, took } = await load.run(times)
  const delay = await child.delay()
  const achieved = own.values.length / (took / 1000)
  return {
    own: spread(own.values),
    last: spread(last.values),
    late: spread(late.values),
    missing: last.missing,
    achieved,
    delay,
  }
}

function print({ host, durable, bare }: { readonly [name: string]: readonly Round[] }): boolean {
  if (!host || !durable || !bare) return false
  for (const [name, all] of Object.entries({ host, durable, bare })) {
    fact(
      `${name}: dispatch to own echo`,
      line(all, ({ own }) => own),
    )
    fact(
      `${name}: dispatch to the last subscriber`,
      line(all, ({ last }) => last),
    )
    fact(`${name}: event loop delay`, delays(all))
    fact(
      `${name}: delay of the generator`,
      line(all, ({ late }) => late),
    )
  }
  const achieved = Math.min(...host.map((round) => round.achieved))
  const missing = host.reduce((sum, round) => sum + round.missing, 0)
  const relativeTo = (others: readonly Round[], figure: (round: Round) => number) =>
    median(host.map((round, i) => figure(round) / figure(others[i] ?? round)))
  const compare = (what: string, goal: number, figure: (round: Round) => number) => {
    const ms = `${median(host.map(figure)).toFixed(1)} ms`
    return row(`${what}, relative to bare with fdatasync`, ms, relativeTo(durable, figure), { atMost: goal })
  }
  const late = median(host.map((round) => round.late.p99))
  const bareP99 = median(bare.map(({ own }) => own.p99))
  if (late > 20 || bareP99 > 50)
    console.log(
      `  the machine is busy: p99 of the generator delay ${late.toFixed(0)} ms, of a bare host in memory ${bareP99.toFixed(0)} ms; measure again when it is idle`,
    )
  // These ratios have no goal, because the cost of a disk write depends on other users of the disk.
  const [p50, p99] = [relativeTo(bare, ({ own }) => own.p50), relativeTo(bare, ({ own }) => own.p99)]
  fact('own echo, relative to bare without a disk', `p50 ${p50.toFixed(1)}x  p99 ${p99.toFixed(1)}x`)
  return [
    check('achieved rate in the worst round', `${achieved.toFixed(0)}/s`, achieved >= rate * 0.95),
    check('actions that a subscriber never received', `${missing}`, missing === 0),
    compare('own echo p50', 3, ({ own }) => own.p50),
    compare('own echo p99', 4, ({ own }) => own.p99),
    compare('last subscriber p50', 3, ({ last }) => last.p50),
    compare('last subscriber p99', 4, ({ last }) => last.p99),
  ].every(Boolean)
}

/** The median of each percentile over all rounds, and the maximum of all rounds. */
function line(all: readonly Round[], of: (round: Round) => Spread): string {
  const mid = (figure: (spread: Spread) => number) => median(all.map((round) => figure(of(round)))).toFixed(1)
  const worst = Math.max(...all.map((round) => of(round).max)).toFixed(1)
  const { p50, p90, p99, p999 } = {
    p50: mid((one) => one.p50),
    p90: mid((one) => one.p90),
    p99: mid((one) => one.p99),
    p999: mid((one) => one.p999),
  }
  return `p50 ${p50}  p90 ${p90}  p99 ${p99}  p99.9 ${p999}  max ${worst} ms`
}

function delays(all: readonly Round[]): string {
  const mid = (figure: (delay: Delay) => number) => median(all.map(({ delay }) => figure(delay))).toFixed(1)
  const worst = Math.max(...all.map(({ delay }) => delay.max)).toFixed(1)
  return `p50 ${mid(({ p50 }) => p50)}  p99 ${mid(({ p99 }) => p99)}  max ${worst} ms`
}
