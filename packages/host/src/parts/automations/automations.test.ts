import type { AutomationEntry } from '@atrium/protocol/automation/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { automationsUri, rootUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import {
  automated,
  definition,
  everyHour,
  hourMs,
  minuteMs,
  one,
  overlap,
} from '../../../test/automations/automated.ts'
import { untilIdle } from '../../../test/held-flushes.ts'

describe('[H40] automations', () => {
  test('[H40.1] are offered, and their channel can be subscribed to from the start', async () => {
    const { all } = await automated()
    const greeting = await all.link().initialize('ben', [automationsUri])
    expect(greeting.automations).toEqual({
      create: {},
      schedules: { minIntervalMinutes: 1 },
      runCancellation: {},
      runHistoryLimit: 50,
    })
    expect(greeting.snapshots[0]).toMatchObject({ resource: automationsUri, state: { entries: [] } })
  })

  test('[H40.2] are created by a request: its echo comes first, then the automation', async () => {
    const { ann, create, entry } = await automated()
    expect(await create()).toBeUndefined()
    expect(ann.envelopes.map(({ action }) => action.type)).toEqual([
      'automation/createRequested',
      'automation/set',
    ])
    expect(entry()).toMatchObject({
      definition: definition(),
      nextRunAt: '2026-01-01T01:00:00.000Z',
      runs: [],
      operations: ['update', 'remove', 'run'],
    })
    // The same again is answered in the same way.
    expect(await create()).toBeUndefined()
    expect(await create({ title: 'Another' })).toMatch(/there is another automation/)
  })

  test('[H40.3] keep the agent that was the default when they were created', async () => {
    const { create, entry } = await automated()
    await create({ session: {} })
    expect(entry().definition.session.provider).toBe('mock')
  })

  test.each([
    ['no title', { title: ' ' }, /needs a title/],
    ['a message of a user', { message: { text: 'x', origin: { kind: 'user' } } }, /origin of the message/],
    ['an empty message', { message: { text: ' ', origin: { kind: 'automation' } } }, /is empty/],
    ['two triggers with one id', { triggers: [everyHour, everyHour] }, /same id/],
    ['a trigger without an id', { triggers: [{ ...everyHour, id: '' }] }, /needs an id/],
    [
      'a field that never matches',
      { triggers: [{ ...everyHour, schedule: { expression: '0 0 30 2 *', timeZone: 'UTC' } }] },
      /never falls due/,
    ],
    [
      'a zone that does not exist',
      { triggers: [{ ...everyHour, schedule: { expression: '0 0 * * *', timeZone: 'Not/AZone' } }] },
      /no time zone "Not\/AZone"/,
    ],
    [
      'an unknown misfire policy',
      { triggers: [{ ...everyHour, misfirePolicy: 'twice' }] },
      /misfire policy "twice"/,
    ],
    ['an unknown agent', { session: { provider: 'nobody' } }, /no agent "nobody"; there are: mock/],
    [
      'a folder that is no file',
      { session: { provider: 'mock', workingDirectories: ['https://x/'] } },
      /not a file/,
    ],
    [
      'a condition twice',
      {
        disableConditions: [
          { kind: 'afterRuns', max: 1 },
          { kind: 'afterRuns', max: 2 },
        ],
      },
      /once/,
    ],
    [
      'a date without a time',
      { disableConditions: [{ kind: 'afterDate', date: '2026-10-01' }] },
      /time zone/,
    ],
    [
      'a date without a zone',
      { disableConditions: [{ kind: 'afterDate', date: '2026-10-01T00:00:00' }] },
      /time zone/,
    ],
    [
      'no such day',
      { disableConditions: [{ kind: 'afterDate', date: '2026-02-30T00:00:00Z' }] },
      /no such time/,
    ],
    ['24:00', { disableConditions: [{ kind: 'afterDate', date: '2026-02-20T24:00:00Z' }] }, /2026-02-20T24/],
    ['an unknown overlap', overlap('pile up'), /overlap/],
    ['a time limit of zero', { _meta: { 'x-atrium': { timeLimitMinutes: 0 } } }, /timeLimitMinutes/],
  ])('[H40.4] with %s are refused with the reason, and nothing changes', async (_, given, reason) => {
    const { create, ann } = await automated()
    // The values are what a client may send. The compiler knows better.
    expect(await create(given as never)).toMatch(reason)
    expect(ann.state(automationsUri)).toEqual({ entries: [] })
  })

  test('[H40.4] a URI of another form is refused', async () => {
    const { create } = await automated()
    expect(await create({}, 'ahp-session:/one')).toMatch(/ahp-automation:\/<id>/)
    expect(await create({}, 'ahp-automation:/')).toMatch(/ahp-automation:\/<id>/)
  })

  test('[H40.5] an edit changes what it names; an unchanged trigger keeps its place', async () => {
    const { create, update, entry, pass } = await automated()
    await create({ triggers: [{ ...everyHour, schedule: { expression: '*/40 * * * *', timeZone: 'UTC' } }] })
    await pass(30 * minuteMs)
    const { definition: before, nextRunAt } = entry()
    expect(await update({ ...before, title: 'New' })).toBeUndefined()
    expect(entry()).toMatchObject({ definition: { ...before, title: 'New' }, nextRunAt })
    expect(entry().modifiedAt).not.toBe(entry().createdAt)
    expect(await update({ title: '' })).toMatch(/title/)
    expect(await update({}, 'ahp-automation:/none')).toMatch(/there is no automation/)
  })

  test('[H40.6] removed, an automation is gone with its runs; a second removal changes nothing', async () => {
    const { create, ann, all, entry, end } = await automated()
    await create()
    const { resource } = await ann.ask('runAutomation', {
      channel: automationsUri,
      automation: one,
      requestId: '1',
    })
    await untilIdle()
    const remove = () => ann.echo(ann.dispatch(automationsUri, { type: 'automation/removed', resource: one }))
    expect((await remove()).rejectionReason).toMatch(/a run of the automation is active/)
    expect(entry().operations).toEqual(['update', 'run'])
    await end()
    expect(entry().operations).toEqual(['update', 'remove', 'run'])
    expect((await remove()).rejectionReason).toBeUndefined()
    expect((await remove()).rejectionReason).toBeUndefined()
    await expect(ann.ask('subscribe', { channel: resource })).rejects.toMatchObject({ code: -32008 })
    await all.restart()
    const ben = await all.join('ben', { subscribe: [automationsUri] })
    expect(ben.state(automationsUri)).toEqual({ entries: [] })
  })
})

describe('[H43] a run', () => {
  test('[H43.1] is stored before its session, which says where it comes from', async () => {
    const { create, pass, entry, run, agent, ann, end } = await automated()
    await create()
    await ann.ask('subscribe', { channel: rootUri })
    await pass(hourMs)
    const [summary] = entry().runs
    expect(summary).toMatchObject({
      automation: one,
      origin: { kind: 'trigger', triggerId: 'hourly', scheduledFor: '2026-01-01T01:00:00.000Z' },
      lifecycle: { status: 'running' },
      sessionCount: 1,
    })
    const { chat } = await agent.given()
    expect(chat.state.activeTurn?.message).toMatchObject({
      text: 'look around',
      origin: { kind: 'automation' },
    })
    const session = summary?.primarySession ?? ''
    await ann.ask('subscribe', { channel: session })
    expect((ann.state(session) as unknown as SessionState).origin).toEqual({
      kind: 'automation',
      automation: one,
      run: summary?.resource,
    })
    const listed = await ann.ask('listSessions', {})
    expect(listed.items[0]?.origin).toMatchObject({ kind: 'automation' })
    await end()
    expect(await run(summary?.resource ?? '')).toMatchObject({
      lifecycle: { status: 'completed' },
      sessions: [session],
      primarySession: session,
    })
    expect(entry()).toMatchObject({ nextRunAt: '2026-01-01T02:00:00.000Z', runCount: 1 })
  })

  test('[H43.2] ends when nothing is at work in its session: a queued message is done first', async () => {
    const { create, pass, entry, agent, ann, end } = await automated()
    await create()
    await pass(hourMs)
    const { chat } = await agent.given()
    const message = { text: 'more', origin: { kind: 'user' } }
    await ann.echo(
      ann.dispatch(chat.uri, { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q1', message }),
    )
    await end(0)
    expect(entry().runs[0]?.lifecycle.status).toBe('running')
    await end(1)
    expect(entry().runs[0]?.lifecycle.status).toBe('completed')
  })

  test('[H43.3] fails with the error of its turn, and is cancelled with it', async () => {
    const { create, pass, entry, agent, ann } = await automated()
    await create()
    await pass(hourMs)
    ;(await agent.given()).fail(new Error('secret'))
    await untilIdle()
    expect(entry().runs[0]?.lifecycle).toMatchObject({
      status: 'failed',
      error: { errorType: expect.any(String) },
    })
    await pass(hourMs)
    const { chat } = await agent.given(1)
    const turnId = chat.state.activeTurn?.id
    await ann.echo(ann.dispatch(chat.uri, { type: 'chat/turnCancelled', turnId, duration: 1 }))
    await untilIdle()
    expect(entry().runs[0]?.lifecycle.status).toBe('cancelled')
  })

  test('[H43.4] can be cancelled until it ends; its turn ends in the same step', async () => {
    const { create, pass, entry, agent, ann, run } = await automated()
    await create()
    await pass(hourMs)
    const { chat, signal } = await agent.given()
    const uri = entry().runs[0]?.resource ?? ''
    const cancel = () => ann.echo(ann.dispatch(uri, { type: 'automationRun/cancelRequested' }))
    expect((await cancel()).rejectionReason).toBeUndefined()
    await untilIdle()
    expect(signal.aborted).toBe(true)
    expect(chat.state.turns.at(-1)?.state).toBe('cancelled')
    expect((await run(uri)).lifecycle.status).toBe('cancelled')
    expect((await cancel()).rejectionReason).toBe('the run has ended')
  })

  test.each(['running', 'completed', 'not in memory'])(
    '[H43.8] does not name a session that is disposed of, if it is %s',
    async (how) => {
      const { all, create, pass, entry, agent, end } = await automated()
      await create()
      await pass(hourMs)
      await agent.given()
      const [begun] = entry().runs
      const resource = begun?.resource ?? ''
      if (how !== 'running') await end()
      if (how === 'not in memory') await all.restart('close')
      expect(all.core().log.channel(resource) === undefined).toBe(how === 'not in memory')
      const ben = await all.join('ben', { subscribe: [automationsUri] })
      await ben.ask('disposeSession', { channel: begun?.primarySession ?? '' })
      await untilIdle()
      const state = ben.state(automationsUri) as { readonly entries: readonly AutomationEntry[] }
      const [summary] = state.entries[0]?.runs ?? []
      expect(summary?.lifecycle.status).toBe(how === 'running' ? 'cancelled' : 'completed')
      expect(summary).toMatchObject({ sessionCount: 0 })
      expect(summary).not.toHaveProperty('primarySession')
      const { snapshot } = await ben.ask('subscribe', { channel: resource })
      expect(snapshot?.state).toMatchObject({ sessions: [], lifecycle: summary?.lifecycle })
    },
  )

  test('[H43.5] [S-57 automationWaitMs] at 600,000 ms without its agent it waits; [S-57 automationWaitMs] past 600,000 ms it fails', async () => {
    const { create, pass, all, agent } = await automated()
    await create()
    await all.restart('close', undefined, [])
    const ben = await all.join('ben', { subscribe: [automationsUri] })
    const state = () => ben.state(automationsUri) as { readonly entries: readonly AutomationEntry[] }
    const lifecycle = () => state().entries[0]?.runs[0]?.lifecycle
    await pass(hourMs)
    await pass(10 * minuteMs)
    expect(lifecycle()?.status).toBe('pending')
    await pass(minuteMs)
    expect(lifecycle()).toMatchObject({
      status: 'failed',
      error: { errorType: 'unavailable', message: expect.stringMatching(/no agent/) },
    })
    expect(agent.runs).toEqual([])
  })
})
