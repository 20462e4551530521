import { start } from '../child.ts'
import type { Child, Delay } from '../child.ts'
import { median, spread } from '../percentiles.ts'
import type { Spread } from '../percentiles.ts'
import { check, fact, row } from '../table.ts'
import { arrivals } from './pace.ts'
import { Rooms } from './rooms.ts'

const rate = 2000
const seconds = 5
const rounds = 5

/** What one round of one server gave. */
interface Round {
  readonly own: Spread
  readonly last: Spread
  readonly missing: number
  /** How late the generator was with what it sent. */
  readonly late: Spread
  readonly achieved: number
  readonly delay: Delay
}

/**
 * Actions at a rate that does not ask whether the server keeps up. The servers take turns, so that a busy moment of the
 * machine falls on all of them alike.
 */
export async function rateTable(): Promise<boolean> {
  const servers = {
    host: await start('host-child'),
    durable: await start('bare-child', [], ['durable']),
    bare: await start('bare-child'),
  }
  const names = ['host', 'durable', 'bare'] as const
  const results: Record<(typeof names)[number], Round[]> = { host: [], durable: [], bare: [] }
  const rooms = new Map<string, Rooms>()
  for (const name of names) rooms.set(name, await Rooms.open(servers[name].port))
  const { sessions = 0, followers = 0 } = rooms.get('host') ?? {}
  console.log(`\nrate: ${rate} actions/s for ${rounds} x ${seconds} s, ${sessions} sessions of ${followers}`)
  // The first is for warming up.
  for (let turn = 0; turn <= rounds; turn++)
    for (const name of names) {
      const round = await play(servers[name], rooms.get(name), turn)
      if (turn > 0) results[name].push(round)
    }
  await Promise.all(names.map((name) => servers[name].stop()))
  return print(results)
}

async function play(child: Child, rooms: Rooms | undefined, turn: number): Promise<Round> {
  if (!rooms) throw new Error('nobody is there')
  const times = arrivals(rate, seconds, turn + 1)
  await child.delay()
  const { own, last, late, took } = await rooms.play(times)
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
    fact(`${name}: the event loop was late by`, delays(all))
    fact(
      `${name}: the generator was late by`,
      line(all, ({ late }) => late),
    )
  }
  const achieved = Math.min(...host.map((round) => round.achieved))
  const missing = host.reduce((sum, round) => sum + round.missing, 0)
  const beside = (others: readonly Round[], figure: (round: Round) => number) =>
    median(host.map((round, i) => figure(round) / figure(others[i] ?? round)))
  const compare = (what: string, goal: number, figure: (round: Round) => number) => {
    const ms = `${median(host.map(figure)).toFixed(1)} ms`
    return row(`${what}, beside bare with fdatasync`, ms, beside(durable, figure), goal, 'at most')
  }
  const late = median(host.map((round) => round.late.p99))
  const alone = median(bare.map(({ own }) => own.p99))
  if (late > 20 || alone > 50)
    console.log(
      `  this machine is busy with other things: the generator was late by ${late.toFixed(0)} ms, a bare host in memory by ${alone.toFixed(0)} ms (p99); measure again when it is quiet`,
    )
  // How dear a disk is depends on who else is using it: without one there is no goal, only a figure.
  const [p50, p99] = [beside(bare, ({ own }) => own.p50), beside(bare, ({ own }) => own.p99)]
  fact('own echo, beside bare without a disk', `p50 ${p50.toFixed(1)}x  p99 ${p99.toFixed(1)}x`)
  return [
    check('kept the rate, in the worst round', `${achieved.toFixed(0)}/s`, achieved >= rate * 0.95),
    check('actions that some subscriber never saw', `${missing}`, missing === 0),
    compare('own echo p50', 3, ({ own }) => own.p50),
    compare('own echo p99', 4, ({ own }) => own.p99),
    compare('last subscriber p50', 3, ({ last }) => last.p50),
    compare('last subscriber p99', 4, ({ last }) => last.p99),
  ].every(Boolean)
}

/** The median of the rounds, and the worst of them all. */
function line(all: readonly Round[], of: (round: Round) => Spread): string {
  const mid = (figure: (one: Spread) => number) => median(all.map((round) => figure(of(round)))).toFixed(1)
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
