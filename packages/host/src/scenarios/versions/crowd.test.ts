import type { Version } from '@atrium/protocol/versions/negotiate'
import { beforeEach, describe, expect, test } from 'vitest'
import { desk } from '../../../test/approvals.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import type { TestHost } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'
import { supportedVersions } from '../../kernel/generation.ts'

const session = 's:/1'

/** A client of each version in one session. */
async function crowd() {
  const { all, ann } = await desk()
  const clients = supportedVersions.map((version) => new OlderClient(all, version))
  for (const client of clients) {
    await client.open([client.root, session])
    if (!client.merged) await client.subscribe(client.turnsOf(session))
  }
  return { all, ann, clients, at: (version: Version) => clients.find((each) => each.version === version) }
}

/** Compares each client's states with those that a new client of the same version gets. */
async function expectConverged(all: TestHost, clients: readonly OlderClient[]): Promise<void> {
  await untilIdle()
  for (const client of clients) {
    const fresh = new OlderClient(all, client.version, `fresh ${client.version} ${++last}`)
    await fresh.open()
    for (const [uri, state] of client.states) {
      await fresh.subscribe(uri)
      expect(comparable(state), `${client.version} ${uri}`).toEqual(comparable(fresh.state(uri)))
    }
  }
}
let last = 0

/** A state without what each side computes from its own clock, and without what no action of a chat changes. */
function comparable(state: Value): unknown {
  const { title: _title, interactivity: _interactivity, changes: _changes, ...chat } = state
  const shown = 'lifecycle' in state ? state : chat
  return JSON.parse(JSON.stringify(shown, (key, value) => (key === 'modifiedAt' ? undefined : value)))
}

describe('[V8] clients of all versions in one session', () => {
  let all: TestHost
  let clients: readonly OlderClient[]
  beforeEach(async () => {
    ;({ all, clients } = await crowd())
  })

  /** Starts a turn as a client of that version does. */
  const prompt = (client: OlderClient, turnId: string, text: string) =>
    client.dispatch(client.turnsOf(session), {
      type: client.turnType('turnStarted'),
      turnId,
      ...messageOf(client, text),
      startedAt: '2026-01-01T00:00:00Z',
    })
  const messageOf = ({ version }: OlderClient, text: string): Value =>
    version < '0.3' ? { userMessage: { text } } : { message: { text, origin: { kind: 'user' } } }
  const turnsIn = (client: OlderClient) =>
    client.state(client.turnsOf(session))['turns'] as readonly { id: string; state: string }[]
  const activeIn = (client: OlderClient) =>
    client.state(client.turnsOf(session))['activeTurn'] as
      | { id: string; responseParts: readonly { kind: string; toolCall?: Value }[] }
      | undefined
  const ended = (client: OlderClient, turnId: string) =>
    client.until(() => turnsIn(client).some(({ id }) => id === turnId))

  test('all start equal to a new subscriber', () => expectConverged(all, clients))

  test.each(supportedVersions)('a turn that is started at %s is seen by all', async (version) => {
    const starter = clients.find((each) => each.version === version) as OlderClient
    const { rejectionReason } = await starter.echo(prompt(starter, 't1', 'say one two three'))
    expect(rejectionReason).toBeUndefined()
    for (const client of clients) await ended(client, 't1')
    await expectConverged(all, clients)
  })

  test.each(supportedVersions)('a tool call that 1.0 causes is approved at %s', async (version) => {
    const [first] = clients.toReversed()
    if (!first) throw new Error('no client')
    const approver = clients.find((each) => each.version === version) as OlderClient
    prompt(first, 't1', 'write b.txt new text')
    const call = () => activeIn(approver)?.responseParts.find(({ kind }) => kind === 'toolCall')?.toolCall
    await approver.until(() => call()?.['status'] === 'pending-confirmation')
    const confirmed = approver.dispatch(approver.turnsOf(session), {
      type: approver.turnType('toolCallConfirmed'),
      turnId: 't1',
      toolCallId: call()?.['toolCallId'],
      approved: true,
      confirmed: 'user-action',
    })
    expect((await approver.echo(confirmed)).rejectionReason).toBeUndefined()
    for (const client of clients) await ended(client, 't1')
    await expectConverged(all, clients)
  })

  test.each(supportedVersions)(
    '%s renames, marks as read, queues, cancels and truncates',
    async (version) => {
      const one = clients.find((each) => each.version === version) as OlderClient
      const turns = one.turnsOf(session)
      const deeds: readonly (() => number)[] = [
        () => one.dispatch(session, { type: 'session/titleChanged', title: 'Named' }),
        () => one.dispatch(session, { type: 'session/isReadChanged', isRead: true }),
        () => prompt(one, 't1', 'long 200'),
        () =>
          one.dispatch(turns, {
            type: one.turnType('pendingMessageSet'),
            kind: 'queued',
            id: 'q1',
            ...messageOf(one, 'say queued'),
          }),
        () => one.dispatch(turns, { type: one.turnType('turnCancelled'), turnId: 't1', duration: 1 }),
        () => one.dispatch(turns, { type: one.turnType('pendingMessageRemoved'), kind: 'queued', id: 'q1' }),
        () => one.dispatch(turns, { type: one.turnType('truncated') }),
        () => prompt(one, 't2', 'say again'),
      ]
      for (const deed of deeds) expect((await one.echo(deed())).rejectionReason).toBeUndefined()
      for (const client of clients) await ended(client, 't2')
      await expectConverged(all, clients)
    },
  )

  test('after a crash all come back with equal states', async () => {
    const [first] = clients.toReversed()
    if (!first) throw new Error('no client')
    prompt(first, 't1', 'say one two three')
    for (const client of clients) await ended(client, 't1')
    await all.restart()
    for (const client of clients) await client.reconnect()
    await expectConverged(all, clients)
    for (const client of clients) {
      prompt(client, `after ${client.version}`, 'say back')
      for (const other of clients) await ended(other, `after ${client.version}`)
    }
    await expectConverged(all, clients)
  })

  test('who was away gets the missed actions, or a snapshot', async () => {
    const [first, ...others] = clients.toReversed()
    if (!first) throw new Error('no client')
    for (const client of others) client.unplug()
    prompt(first, 't1', 'say one two three')
    await ended(first, 't1')
    for (const client of others) expect(['replay', 'snapshot']).toContain((await client.reconnect())['type'])
    for (const client of others) expect(turnsIn(client)).toHaveLength(1)
    await expectConverged(all, clients)
  })
})
