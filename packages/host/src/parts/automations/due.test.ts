import { automationsUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { automated, everyHour, hourMs, minuteMs, one, overlap } from '../../../test/automations/automated.ts'
import type { Automated } from '../../../test/automations/automated.ts'
import { automationsOf } from './automations.ts'
import { evaluate } from './due-or-missed.ts'
import { scheduleOf } from './schedules.ts'
import type { MissNote } from './stored.ts'

const skips = { triggers: [{ ...everyHour, misfirePolicy: 'skip' as const }] }

async function missed({ ann }: Pick<Automated, 'ann'>): Promise<readonly MissNote[]> {
  const params = { channel: automationsUri, automation: one }
  const { items } = (await ann.peer.request('x-atrium/missedRuns', params)) as { items: readonly MissNote[] }
  return items
}

describe('[H42] what becomes of due instants', () => {
  test('[H42.1] a schedule that is late runs once, and the earlier instants are coalesced into that run', async () => {
    const host = await automated()
    await host.create()
    await host.pass(5 * hourMs + 30 * minuteMs)
    const [run] = host.entry().runs
    expect(run?.origin).toMatchObject({ scheduledFor: '2026-01-01T05:00:00.000Z', catchUp: true })
    expect(await missed(host)).toMatchObject([
      {
        because: 'coalesced',
        from: '2026-01-01T01:00:00.000Z',
        to: '2026-01-01T04:00:00.000Z',
        count: 4,
        into: run?.resource,
      },
    ])
    expect(host.entry()._meta?.['x-atrium']).toMatchObject({ missed: { total: 4, newest: { count: 4 } } })
  })

  test('[H42.3] with the policy skip a late instant is missed, with the reason', async () => {
    const host = await automated()
    await host.create(skips)
    await host.pass(90 * minuteMs)
    expect(await missed(host)).toMatchObject([{ because: 'clock jump', count: 1 }])
    await host.all.restart()
    host.all.world.advance(3 * hourMs)
    const ben = await host.all.join('ben', { subscribe: [automationsUri] })
    expect(await missed({ ann: ben })).toMatchObject([{ because: 'clock jump', count: 4 }])
    await host.all.host().close()
    host.all.world.advance(3 * hourMs)
    await host.all.restart()
    const cem = await host.all.join('cem')
    expect((await missed({ ann: cem }))[0]).toMatchObject({ because: 'host away', count: 3 })
  })

  test('[H42.3] 1,000 instants after a month asleep are one run and 999 missed ones', () => {
    const now = Date.parse('2026-02-11T15:00:00Z')
    const schedule = scheduleOf({ expression: '0 * * * *', timeZone: 'UTC' })
    if (!schedule) throw new Error('no schedule')
    const moment = {
      now,
      upTo: now,
      enabled: true,
      catchesUp: true,
      busy: false,
      lateBecause: () => 'skip' as const,
    }
    const { run, missed: rows } = evaluate(schedule, now - 1000 * hourMs, moment)
    expect(run).toEqual({ scheduledFor: now, catchUp: false })
    expect(rows).toMatchObject([{ because: 'coalesced', count: 999 }])
  })

  test('[H42.4] while an automation is disabled its instants are missed, also those before it is enabled', async () => {
    const host = await automated()
    await host.create({ enabled: false })
    await host.pass(3 * hourMs)
    expect(host.entry()).not.toHaveProperty('nextRunAt')
    await host.update({ enabled: true })
    expect(host.entry().nextRunAt).toBe('2026-01-01T04:00:00.000Z')
    expect(host.entry().runs).toEqual([])
    expect(await missed(host)).toMatchObject([{ because: 'disabled', count: 3 }])
  })

  test('[H42.5] on a full disk nothing is claimed; when it has space again, the instant runs late', async () => {
    let full = false
    const host = await automated({ full: () => full })
    await host.create()
    await host.create(skips, 'ahp-automation:/two')
    full = true
    host.ann.dispatch(automationsUri, { type: 'automation/removed', resource: 'ahp-automation:/two' })
    await host.pass(50 * minuteMs)
    await host.pass(20 * minuteMs)
    expect(host.entry().runs).toEqual([])
    full = false
    await host.pass(minuteMs)
    await host.pass(minuteMs)
    expect(host.entry().runs).toMatchObject([
      { origin: { scheduledFor: '2026-01-01T01:00:00.000Z', catchUp: true } },
    ])
  })

  test('[H42.6] a clock that goes back repeats nothing, and says so', async () => {
    const host = await automated()
    await host.create()
    await host.pass(hourMs)
    await host.end()
    await host.pass(-hourMs)
    await host.pass(hourMs + 2 * minuteMs)
    expect(host.entry().runs).toHaveLength(1)
    await host.pass(-3 * hourMs)
    // A timer of the machine does not depend on the clock of the wall.
    automationsOf(host.all.core())?.clock.tick()
    await host.pass(0)
    expect(host.all.world.reports.map(({ event }) => event)).toContain('the clock went back')
    expect(host.entry().runs).toHaveLength(1)
    expect(host.entry().nextRunAt).toBe('2026-01-01T02:00:00.000Z')
    await host.pass(4 * hourMs + minuteMs)
    expect(host.entry().runs).toHaveLength(2)
  })

  test('[H42.7] a condition that is met disables the automation: a number of scheduled runs', async () => {
    const host = await automated()
    await host.create({ disableConditions: [{ kind: 'afterRuns', max: 2 }] })
    expect(host.entry().runCount).toBe(0)
    await host.ann.ask('runAutomation', { channel: automationsUri, automation: one, requestId: 'by hand' })
    await host.pass(0)
    await host.end()
    for (const expected of [1, 2]) {
      await host.pass(hourMs)
      await host.end()
      expect(host.entry().runCount).toBe(expected)
    }
    expect(host.entry().definition.enabled).toBe(false)
    await host.update({ enabled: true })
    expect(host.entry()).toMatchObject({ runCount: 0, definition: { enabled: true } })
    await host.update({ disableConditions: [] })
    expect(host.entry().definition).toMatchObject({ enabled: true, disableConditions: [] })
  })

  test('[H42.7] a condition that is met disables the automation: a date', async () => {
    const host = await automated()
    await host.create({ disableConditions: [{ kind: 'afterDate', date: '2026-01-01T02:30:00+01:00' }] })
    await host.pass(hourMs)
    await host.end()
    await host.pass(40 * minuteMs)
    expect(host.entry().definition.enabled).toBe(false)
    await host.pass(2 * hourMs)
    expect(host.entry().runs).toHaveLength(1)
    expect(await missed(host)).toMatchObject([{ because: 'disabled', count: 2 }])
  })
})

describe('[H44] an instant that is due while a run is active', () => {
  const busy = async (policy: string, limits = {}) => {
    const host = await automated({ limits })
    await host.create(overlap(policy))
    for (let hour = 0; hour < 3; hour++) await host.pass(hourMs)
    return host
  }

  test('[H44.1] is missed, unless the automation says otherwise', async () => {
    const host = await busy('skip')
    expect(host.entry().runs.map(({ lifecycle }) => lifecycle.status)).toEqual(['running'])
    expect(await missed(host)).toMatchObject([{ because: 'overlap', count: 2 }])
  })

  test('[H44.2] waits for the runs before it', async () => {
    const host = await busy('queue')
    const statuses = () => host.entry().runs.map(({ lifecycle }) => lifecycle.status)
    expect(statuses()).toEqual(['pending', 'pending', 'running'])
    await host.end(0)
    expect(statuses()).toEqual(['pending', 'running', 'completed'])
    await host.end(1)
    expect(statuses()).toEqual(['running', 'completed', 'completed'])
  })

  test('[H44.3] runs beside the others', async () => {
    const host = await busy('parallel')
    expect(host.agent.runs).toHaveLength(3)
  })

  test('[S-57 automationActive] at 10 active runs there is room for no other', async () => {
    const host = await automated()
    await host.create(overlap('parallel'))
    for (let hour = 0; hour < 10; hour++) await host.pass(hourMs)
    expect(host.agent.runs).toHaveLength(10)
    expect(await missed(host)).toEqual([])
  })

  test('[S-57 automationActive] past 10 active runs an instant is missed', async () => {
    const host = await automated()
    await host.create(overlap('parallel'))
    for (let hour = 0; hour < 11; hour++) await host.pass(hourMs)
    expect(host.agent.runs).toHaveLength(10)
    expect(await missed(host)).toMatchObject([{ because: 'overlap', count: 1 }])
  })

  const crowd = async (count: number) => {
    const host = await automated()
    for (let n = 0; n < count; n++) await host.create({}, `ahp-automation:/${n}`)
    await host.pass(hourMs)
    return host
  }

  test('[S-57 automationRuns] at 32 automations that are due at once all run', async () => {
    expect((await crowd(32)).agent.runs).toHaveLength(32)
  })

  test('[S-57 automationRuns] past 32 automations that are due at once a run waits until another ends', async () => {
    const host = await crowd(33)
    expect(host.agent.runs).toHaveLength(32)
    await host.end(5)
    expect(host.agent.runs).toHaveLength(33)
  })
})
