import { start } from '../child.ts'
import { atLeast, atMost, fact, row } from '../figures.ts'
import { median, spread } from '../percentiles.ts'
import type { Spread } from '../percentiles.ts'
import { ms } from '../sides.ts'
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
}

/**
 * Sends actions at a fixed rate, whether or not the server keeps up (open loop). The servers take turns, so that other
 * load on the machine affects them all alike.
 */
export async function rateTable(): Promise<boolean> {
  const servers = { host: await start('host-child'), bare: await start('bare-child', 'durable') }
  const loads = {
    host: await SessionLoad.open(servers.host.port),
    bare: await SessionLoad.open(servers.bare.port),
  }
  const found: Record<keyof typeof servers, Round[]> = { host: [], bare: [] }
  // The first round is a warm-up.
  for (let turn = 0; turn <= rounds; turn++)
    for (const name of ['host', 'bare'] as const) {
      const round = await runRound(loads[name], turn)
      if (turn > 0) found[name].push(round)
    }
  await Promise.all([servers.host.stop(), servers.bare.stop()])
  return print(found.host, found.bare)
}

async function runRound(load: SessionLoad, turn: number): Promise<Round> {
  const { own, last, late, took } = await load.run(arrivals(rate, seconds, turn + 1))
  return {
    own: spread(own.values),
    last: spread(last.values),
    late: spread(late.values),
    missing: last.missing,
    achieved: own.values.length / (took / 1000),
  }
}

function print(host: readonly Round[], bare: readonly Round[]): boolean {
  const missing = host.reduce((sum, round) => sum + round.missing, 0)
  const achieved = Math.min(...host.map((round) => round.achieved))
  fact('delay of the load generator, p99', ms(median(host.map(({ late }) => late.p99))))
  const compare = (what: string, most: number, of: (round: Round) => number) =>
    row(
      `${what}, at ${rate} actions/s to 20 sessions of 10 clients`,
      ms(median(host.map(of))),
      atMost(
        most,
        median(host.map((round, i) => of(round) / of(bare[i] ?? round))),
        'a bare ws host with fdatasync',
      ),
    )
  return [
    row(
      'achieved rate in the worst round',
      `${achieved.toFixed(0)}/s`,
      atLeast(0.95, achieved / rate, 'the schedule'),
    ),
    row('actions that a subscriber never received', `${missing}`, atMost(0, missing, 'one')),
    compare('own echo p50', 3, ({ own }) => own.p50),
    compare('own echo p99', 4, ({ own }) => own.p99),
    compare('last subscriber p99', 4, ({ last }) => last.p99),
  ].every(Boolean)
}
