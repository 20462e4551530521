import { dueInstants, parseSchedule } from '@atrium/protocol/automation/schedule'
import { automationsUri } from '@atrium/protocol/uri'
import type { AutomationEntry } from '@atrium/protocol/automation/state'
import { expect, test } from 'vitest'
import { trials } from '../../../../protocol/test/search.ts'
import { seeded } from '../../../../protocol/test/seeded.ts'
import { automated, hourMs, minuteMs, one } from '../../../test/automations/automated.ts'
import { evaluate } from './due-or-missed.ts'
import type { Missed } from './due-or-missed.ts'
import type { MissNote } from './stored.ts'

const zones = ['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Australia/Lord_Howe', 'Asia/Kolkata']

/** Times before and after changes of summer time, and in between. */
const starts = [
  '2026-03-07T20:00:00Z',
  '2026-03-28T20:00:00Z',
  '2026-10-24T20:00:00Z',
  '2026-07-01T00:00:00Z',
]

const choices = (seed: number) => {
  const random = seeded(seed)
  const below = (bound: number) => Math.floor(random() * bound)
  const of = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const expression = () =>
    `${of(['*', '*/7', '0', '30', '5,50', '10-20/5'])} ${of(['*', '*/3', '2', '1-3', '9,17'])} ${of(['*', '*', '1-7'])} * ${of(['*', '*', '1-5', 'SUN'])}`
  return { below, of, schedule: () => ({ expression: expression(), timeZone: of(zones) }) }
}

function scheduleOf(given: { expression: string; timeZone: string }) {
  const read = parseSchedule(given)
  if (!read.ok) throw new Error(read.problem)
  return read.value
}

/** The due instants after one moment, up to another. */
function dueIn(
  given: { expression: string; timeZone: string },
  after: number,
  upTo: number,
): readonly number[] {
  const found: number[] = []
  for (const instant of dueInstants(scheduleOf(given), after)) {
    if (instant > upTo) break
    found.push(instant)
  }
  return found
}

/** The instants of notes: as many as they count, from their first one on. */
function noted(
  given: { expression: string; timeZone: string },
  notes: readonly Pick<Missed, 'from' | 'to' | 'count'>[],
): readonly number[] {
  return notes.flatMap(({ from, to, count }) => {
    const instants = dueIn(given, from - 1, to)
    expect(instants).toHaveLength(count)
    return instants
  })
}

/** The first instants that are not claimed exactly as often as they are due. */
function difference(claimed: readonly number[], due: readonly number[]): readonly string[] {
  const counts = new Map<number, number>()
  for (const instant of due) counts.set(instant, (counts.get(instant) ?? 0) - 1)
  for (const instant of claimed) counts.set(instant, (counts.get(instant) ?? 0) + 1)
  return [...counts]
    .flatMap(([at, count]) => (count === 0 ? [] : `${new Date(at).toISOString()}: ${count}`))
    .slice(0, 5)
}

test('[H42.1] over random schedules and clocks each due instant is a run or is missed, once', () => {
  for (let seed = 0; seed < trials(4_000, 1_000); seed++) {
    const { below, of, schedule } = choices(seed)
    const given = schedule()
    const created = Date.parse(of(starts)) + below(1440) * minuteMs
    let [cursor, now, latest] = [created, created, created]
    const runs: number[] = []
    const missed: Missed[] = []
    for (let step = 0; step < 6; step++) {
      // Short waits, sleeps, and clocks that are set back.
      now += of([below(60) * 1000, below(90) * minuteMs, below(30) * hourMs, -below(30) * hourMs])
      latest = Math.max(latest, now)
      for (let more = true; more;) {
        const evaluation = evaluate(
          scheduleOf(given),
          cursor,
          {
            now,
            upTo: now,
            enabled: below(4) > 0,
            catchesUp: below(2) > 0,
            busy: below(4) === 0,
            lateBecause: () => 'skip',
          },
          of([40, 200, 200_000]),
        )
        cursor = evaluation.cursor
        missed.push(...evaluation.missed)
        if (evaluation.run) runs.push(evaluation.run.scheduledFor)
        more = evaluation.more
      }
    }
    const all = [...runs, ...noted(given, missed)].toSorted((a, b) => a - b)
    expect(difference(all, dueIn(given, created, latest)), `seed ${seed}`).toEqual([])
  }
})

test('[H42.1] [H42.2] the same for a host that sleeps, crashes and ends, and whose automations are edited', async () => {
  const counts = { runs: 0, missed: 0, restarts: 0 }
  for (let seed = 0; seed < trials(48, 12); seed++) {
    const { below, of, schedule } = choices(seed)
    const host = await automated({ limits: { automationHistory: 10_000, automationMisses: 100_000 } })
    const { all, agent } = host
    const { world } = all
    let ann = host.ann
    const dispatch = async (action: Record<string, unknown> & { type: string }) => {
      const { rejectionReason } = await ann.echo(ann.dispatch(automationsUri, action))
      expect(rejectionReason, `seed ${seed}`).toBeUndefined()
      await host.pass(0)
    }
    let given = schedule()
    /** Each schedule with the time in which it was the one of the trigger. `past` schedules have ended. */
    const past: { given: typeof given; from: number; to: number }[] = []
    await host.pass(Date.parse(of(starts)) - world.now())
    let from = world.now()
    const triggersOf = (policy: string) => [
      { kind: 'schedule', id: 't', schedule: given, misfirePolicy: policy },
    ]
    await host.create({
      triggers: triggersOf('runOnce') as never,
      _meta: { 'x-atrium': { overlap: of(['skip', 'queue', 'parallel']) } },
    })
    let policy = 'runOnce'
    let latest = world.now()
    for (let step = 0; step < 10; step++) {
      const what = below(10)
      if (what < 4) await host.pass(of([below(60) * 1000, below(90) * minuteMs, below(50) * hourMs]))
      else if (what < 6) for (const run of agent.runs.splice(0)) run.end()
      else if (what === 6)
        await dispatch({
          type: 'automation/updateRequested',
          resource: one,
          changes: { enabled: below(2) > 0 },
        })
      else if (what === 7) {
        // Whether an instant that a wrong clock has shown is claimed depends on the edit. So the clock is right here.
        latest = Math.max(latest, world.now())
        await host.pass(latest - world.now())
        past.push({ given, from, to: world.now() })
        given = schedule()
        from = world.now()
        policy = of(['skip', 'runOnce'])
        await dispatch({
          type: 'automation/updateRequested',
          resource: one,
          changes: { triggers: triggersOf(policy) },
        })
      } else if (what === 8) {
        counts.restarts++
        await all.restart(of(['crash', 'close']))
        agent.runs.splice(0)
        world.advance(below(3) * hourMs)
        ann = await all.join('ann', { subscribe: [automationsUri] })
        await host.pass(0)
      } else {
        latest = Math.max(latest, world.now())
        world.advance(-below(5) * hourMs)
      }
      await host.pass(0)
    }
    await host.pass(200 * hourMs)
    const { items } = (await ann.peer.request('x-atrium/missedRuns', {
      channel: automationsUri,
      automation: one,
    })) as { items: readonly MissNote[] }
    const entry = () =>
      (ann.state(automationsUri) as { entries: AutomationEntry[] }).entries[0] as AutomationEntry
    while (entry().runsNextCursor !== undefined) {
      await ann.ask('fetchAutomationRuns', { channel: automationsUri, automation: one })
      await host.pass(0)
    }
    const claimed = [
      ...entry().runs.flatMap(({ origin }) =>
        origin.kind === 'trigger' ? [Date.parse(origin.scheduledFor ?? '')] : [],
      ),
      ...items.flatMap(({ expression = '', timeZone = '', from: first, to, count }) =>
        noted({ expression, timeZone }, [{ from: Date.parse(first), to: Date.parse(to), count }]),
      ),
    ].toSorted((a, b) => a - b)
    const expected = [...past, { given, from, to: world.now() }].flatMap((time) =>
      dueIn(time.given, time.from, time.to),
    )
    expect(difference(claimed, expected), `seed ${seed}`).toEqual([])
    counts.runs += entry().runs.length
    counts.missed += claimed.length - entry().runs.length
    await all.host().close()
  }
  // The search is of no use if nothing runs, or nothing is missed.
  expect(Math.min(counts.runs, counts.missed, counts.restarts)).toBeGreaterThan(5)
})
