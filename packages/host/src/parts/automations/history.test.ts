import { memoryStore } from '@atrium/adapters/store/memory'
import type { AutomationDefinition, AutomationEntry } from '@atrium/protocol/automation/state'
import { limits } from '@atrium/protocol/limits'
import { automationsUri } from '@atrium/protocol/uri'
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
import type { Automated } from '../../../test/automations/automated.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'

const root = { channel: automationsUri, automation: one }

const ask = async ({ ann }: Pick<Automated, 'ann'>, requestId: string) => {
  const { resource } = await ann.ask('runAutomation', { ...root, requestId })
  await untilIdle()
  return resource
}

const entryFor = (client: Client) =>
  (client.state(automationsUri) as { entries: AutomationEntry[] }).entries[0]

describe('[H46] runs that clients ask for, and earlier runs', () => {
  test('[H46.1] a request starts one run, also of a disabled automation, again and after a restart', async () => {
    const host = await automated()
    await host.create({ enabled: false, ...overlap('parallel') })
    const run = await ask(host, 'r1')
    expect(await ask(host, 'r1')).toBe(run)
    expect(await ask(host, 'r2')).not.toBe(run)
    expect(host.entry().runs).toMatchObject([{ origin: { kind: 'manual' } }, { resource: run }])
    expect(host.entry()).not.toHaveProperty('runCount')
    await host.all.restart()
    const ben = await host.all.join('ben')
    expect(await ask({ ann: ben }, 'r1')).toBe(run)
  })

  test('[H46.1] while a run excludes others, a request returns that run', async () => {
    const host = await automated()
    await host.create()
    const run = await ask(host, 'r1')
    expect(await ask(host, 'r2')).toBe(run)
    await host.end()
    expect(await ask(host, 'r2')).toBe(run)
    expect(await ask(host, 'r3')).not.toBe(run)
  })

  test.each([
    ['an unknown automation', { automation: 'ahp-automation:/none', requestId: 'r' }, -32008],
    ['an empty request id', { automation: one, requestId: ' ' }, -32602],
  ])('[H46.1] %s is refused', async (_, params, code) => {
    const host = await automated()
    await host.create()
    await expect(host.ann.ask('runAutomation', { channel: automationsUri, ...params })).rejects.toMatchObject(
      { code },
    )
  })

  test('[H46.2] the catalogue shows the newest runs; more of them are shown to all who ask', async () => {
    const host = await automated()
    await host.create()
    const ben = await host.all.join('ben', { subscribe: [automationsUri] })
    for (let n = 0; n < 8; n++) {
      await ask(host, `r${n}`)
      await host.end()
    }
    const cursor = entryFor(ben)?.runsNextCursor
    expect(entryFor(ben)?.runs).toHaveLength(5)
    await expect(host.ann.ask('fetchAutomationRuns', { ...root, cursor: 'old' })).rejects.toMatchObject({
      code: -32602,
    })
    expect(
      await host.ann.ask('fetchAutomationRuns', { ...root, ...(cursor !== undefined && { cursor }) }),
    ).toEqual({})
    expect(entryFor(ben)?.runs).toHaveLength(8)
    expect(entryFor(ben)).not.toHaveProperty('runsNextCursor')
    expect(await host.ann.ask('fetchAutomationRuns', root)).toEqual({})
    await expect(
      host.ann.ask('fetchAutomationRuns', { ...root, automation: 'ahp-automation:/none' }),
    ).rejects.toMatchObject({ code: -32008 })
  })

  const ran = async (count: number) => {
    const host = await automated()
    await host.create()
    const runs: string[] = []
    for (let n = 0; n < count; n++) {
      runs.push(await ask(host, `r${n}`))
      await host.end()
    }
    return { host, first: runs[0] ?? '' }
  }

  test('[S-57 automationHistory] at 50 ended runs all are kept; [S-57 automationHistory] past 50 the first one is deleted', async () => {
    const { host, first } = await ran(50)
    expect((await host.run(first)).lifecycle.status).toBe('completed')
    await ask(host, 'further')
    await host.end()
    await expect(host.ann.ask('subscribe', { channel: first })).rejects.toMatchObject({ code: -32008 })
  })

  test('[H46.3] a client that does not know automations does not see them', async () => {
    const host = await automated()
    await host.create()
    const old = host.all.link()
    const greeting = await old.ask('initialize', {
      protocolVersions: ['0.8.0'],
      clientId: 'old',
      initialSubscriptions: [],
    })
    expect(greeting).not.toHaveProperty('automations')
    await expect(old.ask('subscribe', { channel: automationsUri })).rejects.toMatchObject({ code: -32008 })
    await expect(old.ask('runAutomation', { ...root, requestId: 'r' })).rejects.toMatchObject({
      code: -32601,
    })
  })

  test('[H46.3] a client of 0.9 gets no conditions, and its edits keep them', async () => {
    const host = await automated()
    const disableConditions: AutomationDefinition['disableConditions'] = [{ kind: 'afterRuns', max: 3 }]
    await host.create({ disableConditions })
    const old = host.all.link()
    old.clientId = 'old'
    await old.ask('initialize', {
      protocolVersions: ['0.9.0'],
      clientId: 'old',
      initialSubscriptions: [automationsUri],
    })
    expect(entryFor(old)?.definition).toEqual(definition())
    const changes = { title: 'Other', triggers: [everyHour] }
    await old.echo(
      old.dispatch(automationsUri, { type: 'automation/updateRequested', resource: one, changes }),
    )
    await untilIdle()
    expect(host.entry().definition).toMatchObject({ title: 'Other', disableConditions })
  })
})

describe('[H43] a run and the end of the host', () => {
  test('[H43.6] goes on after a restart if its turn can be resumed', async () => {
    const host = await automated()
    await host.create()
    await host.pass(hourMs)
    await host.agent.given()
    await host.all.restart()
    const ben = await host.all.join('ben', { subscribe: [automationsUri] })
    await host.pass(0)
    expect(entryFor(ben)?.runs[0]?.lifecycle.status).toBe('running')
    await host.end(1)
    expect(entryFor(ben)?.runs[0]?.lifecycle.status).toBe('completed')
  })

  test('[H43.6] fails after a restart if its agent cannot resume it', async () => {
    const host = await automated()
    await host.create()
    await host.pass(hourMs)
    const { info } = host.agent
    const silent = { info, resumes: false, async *run() {} }
    await host.all.restart('crash', undefined, [silent])
    const ben = await host.all.join('ben', { subscribe: [automationsUri] })
    await host.pass(0)
    expect(entryFor(ben)?.runs[0]?.lifecycle).toMatchObject({
      status: 'failed',
      error: { errorType: 'interrupted' },
    })
  })

  test('[H43.7] fails when it takes longer than its automation allows', async () => {
    const host = await automated()
    await host.create({ _meta: { 'x-atrium': { timeLimitMinutes: 10 } } })
    await ask(host, 'r')
    await host.pass(10 * minuteMs)
    expect(host.entry().runs[0]?.lifecycle.status).toBe('running')
    await host.pass(2 * minuteMs)
    expect(host.entry().runs[0]?.lifecycle).toMatchObject({
      status: 'failed',
      error: { errorType: 'timeLimit', message: 'The run took longer than 10 min.' },
    })
  })

  const longRun = async (ms: number) => {
    const host = await automated()
    await host.create({ triggers: [] })
    await ask(host, 'r')
    await host.pass(ms)
    return host.entry().runs[0]?.lifecycle.status
  }

  test('[S-57 automationRunMs] at 86,400,000 ms a run goes on; [S-57 automationRunMs] past 86,400,000 ms it fails', async () => {
    expect(await longRun(limits.automationRunMs)).toBe('running')
    expect(await longRun(limits.automationRunMs + minuteMs)).toBe('failed')
  })
})

describe('[H40] [H40.7] limits of automations', () => {
  const long = (length: number): Partial<AutomationDefinition> => {
    const bare = JSON.stringify(definition({ title: '' })).length
    return { title: 'x'.repeat(length - bare) }
  }

  test('[S-57 automationLength] at 32,768 characters a definition is accepted', async () => {
    const host = await automated()
    expect(await host.create(long(32_768))).toBeUndefined()
  })

  test('[S-57 automationLength] past 32,768 characters a definition is refused', async () => {
    const host = await automated()
    expect(await host.create(long(32_769))).toMatch(/at most 32768 characters/)
  })

  test('[S-57 automations] at 10,000 automations all are accepted; [S-57 automations] past 10,000 a further one is refused', async () => {
    const small = definition({ triggers: [] })
    const at = '2026-01-01T00:00:00.000Z'
    const entryOf = (n: number): AutomationEntry => ({
      resource: `ahp-automation:/${n}`,
      definition: small,
      runs: [],
      operations: ['update', 'remove', 'run'],
      createdAt: at,
      modifiedAt: at,
    })
    const state = JSON.stringify({ entries: Array.from({ length: 9999 }, (_, n) => entryOf(n + 1)) })
    // The host finds the list in its store, as after a restart: to create so many takes half a minute.
    const disk = memoryStore()
    const created = [{ seq: 1, channel: automationsUri, kind: 'automation', state }]
    disk.log.append({ created, envelopes: [], rows: [], heads: [], dropped: [], upTo: 1 })
    await disk.log.flush()
    const ben = await (await testHost({ agents: [new ScriptedAgent()], disk })).join('ben')
    const ask = (n: number) =>
      ben.dispatch(automationsUri, {
        type: 'automation/createRequested',
        resource: `ahp-automation:/${n}`,
        definition: small,
      })
    expect((await ben.echo(ask(10_000))).rejectionReason).toBeUndefined()
    expect((await ben.echo(ask(10_001))).rejectionReason).toBe(
      'there are 10000 automations: remove some first',
    )
  })

  test('[S-57 automationMinutes] at 1 minute between due instants a schedule is accepted', async () => {
    const host = await automated()
    const schedule = { expression: '* * * * *', timeZone: 'UTC' }
    expect(await host.create({ triggers: [{ ...everyHour, schedule }] })).toBeUndefined()
  })

  test('[S-57 automationMinutes] past 1 event in a minute nothing can be written; a host with a higher limit refuses', async () => {
    const host = await automated({ limits: { automationMinutes: 15 } })
    const schedule = { expression: '*/10 * * * *', timeZone: 'UTC' }
    expect(await host.create({ triggers: [{ ...everyHour, schedule }] })).toMatch(/due every 10 min: 15 min/)
  })

  const notes = async (count: number) => {
    const host = await automated()
    await host.create({ enabled: false })
    const read = async () => {
      const { items } = (await host.ann.peer.request('x-atrium/missedRuns', root)) as { items: unknown[] }
      return items
    }
    // Each trigger has a note of its own.
    const add = async (n: number) => {
      const changes = { triggers: [{ ...everyHour, id: `t${n}` }] }
      await host.ann.echo(
        host.ann.dispatch(automationsUri, { type: 'automation/updateRequested', resource: one, changes }),
      )
      host.all.world.advance(hourMs)
    }
    for (let n = 0; n < count; n++) await add(n)
    return { items: await read(), read, add }
  }

  test('[S-57 automationMisses] at 1,000 notes all are kept; [S-57 automationMisses] past 1,000 the oldest is deleted', async () => {
    const { items, read, add } = await notes(1000)
    expect(items).toHaveLength(1000)
    await add(1000)
    const after = await read()
    expect(after).toHaveLength(1000)
    expect(after.at(-1)).toMatchObject({ triggerId: 't1' })
  })
})
