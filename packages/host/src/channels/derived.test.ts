import type { Uri } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { KindName } from '@atrium/protocol/reducers'
import type { SessionAction } from '@atrium/protocol/session/actions'
import { sessionStatus } from '@atrium/protocol/session/activity'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { v09 } from '@atrium/protocol/versions/steps/v0-9'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { actionOf, createEveryKind, kindNames, uriOf } from '../../test/every-kind.ts'
import { fakeTerminals } from '../../test/fake-terminals.ts'
import { session, title } from '../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../test/scripted-agent.ts'
import { foldOf, isEphemeral, recordingStore } from '../../test/store/recorded-log.ts'
import type { State } from '../../test/store/recorded-log.ts'
import { testHost } from '../../test/test-host.ts'
import type { Client, TestHost } from '../../test/test-host.ts'
import { asks, completed, confirmed, ready, result, toolCallStarted } from '../../test/tool-call-actions.ts'
import { accepted, chat, chatOf, sessionOf, started } from '../../test/two-client-session.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { AgentAction } from '../ports/agent.ts'
import { snapshotText } from './snapshot.ts'

/**
 * The only fields in which a snapshot may differ from the reduced log, and the reasons. Every other field of every kind must
 * be equal.
 */
const exceptions: readonly {
  readonly kind: KindName
  readonly path: readonly string[]
  readonly why: string
}[] = [
  { kind: 'root', path: ['_meta'], why: 'names the build that runs now; the log outlives the build' },
  { kind: 'root', path: ['config', 'schema'], why: 'lists the settings of the build that runs now' },
  { kind: 'chat', path: ['title'], why: 'no chat action changes it: the entry in the session has it' },
  {
    kind: 'chat',
    path: ['interactivity'],
    why: 'no chat action changes it: the entry in the session has it',
  },
  { kind: 'chat', path: ['changes'], why: 'no chat action changes it: the entry in the session has it' },
]

function plain(kind: KindName, given: State): State {
  const state = structuredClone(given)
  for (const { path } of exceptions.filter((one) => one.kind === kind)) {
    const holder = path.slice(0, -1).reduce((inner, key) => (inner[key] ?? {}) as State, state)
    delete holder[path.at(-1) ?? '']
  }
  return state
}

/** Chats in one order: 0.9 has no action that reorders the chats of a session (V6). */
function unordered(state: State): State {
  if (!('activeClients' in state)) return state
  return {
    ...state,
    chats: (state as unknown as SessionState).chats.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)),
  }
}

const versions = ['1.0.0', '0.9.0'] as const
type Version = (typeof versions)[number]
const x = 'ahp-chat:/x'
const terminal = 'ahp-terminal:/1'

async function join(all: TestHost, clientId: string, version: Version, channels: readonly Uri[]) {
  const client = all.link()
  client.clientId = clientId
  await client.ask('initialize', { protocolVersions: [version], clientId, initialSubscriptions: [rootUri] })
  for (const channel of channels) await client.ask('subscribe', { channel })
  return client
}

/** A host, clients that follow every channel from its creation on, and the steps that the store received. */
async function story() {
  const { disk, steps } = recordingStore()
  const agent = new ScriptedAgent()
  const terminals = fakeTerminals()
  const all = await testHost({ disk, agents: [agent], machine: { terminals } })
  const live = new Map<Version, Client>()
  for (const version of versions) live.set(version, await join(all, `live ${version}`, version, []))
  const ann = await all.join('ann', { subscribe: [rootUri] })
  const follow = async (...channels: readonly Uri[]) => {
    for (const client of [ann, ...live.values()])
      for (const channel of channels) await client.ask('subscribe', { channel })
  }
  return { all, agent, terminals, ann, live, steps, follow }
}

type Story = Awaited<ReturnType<typeof story>>
let newcomers = 0

/** Expects that the clients that stayed, new clients, and the log have the same states, at both versions. */
async function expectSameEverywhere({ all, live, steps }: Story, channels: readonly Uri[]): Promise<void> {
  await all.core().log.settled()
  // A response comes after all actions that were sent before it.
  for (const client of live.values()) await client.ask('ping', {})
  for (const version of versions) {
    const fresh = await join(all, `new ${++newcomers}`, version, channels)
    const folds = foldOf(steps)
    const down = (kind: KindName, state: State) =>
      version === '0.9.0' ? unordered(v09.stateDown(kind, state) as State) : state
    for (const channel of [rootUri, ...channels]) {
      const kind = fresh.kinds.get(channel) as KindName
      const given = down(kind, plain(kind, fresh.state(channel)))
      const stayed = live.get(version)?.states.get(channel) as State | undefined
      if (stayed)
        expect(down(kind, plain(kind, stayed)), `${channel} of a ${version} client that stayed`).toEqual(
          given,
        )
      const fold = folds.get(channel)?.state as State
      if (!isEphemeral(kind))
        expect(given, `${channel} of a new ${version} client`).toEqual(down(kind, plain(kind, fold)))
    }
    // Each exception is judged by its own rule: a chat shows what its entry in the session says.
    for (const entry of (fresh.state(session) as unknown as SessionState).chats) {
      const { title: shown, interactivity, changes } = fresh.state(entry.resource) as unknown as ChatState
      expect({ title: shown, interactivity, changes }).toEqual({
        title: entry.title,
        interactivity: entry.interactivity,
        changes: entry.changes,
      })
    }
    fresh.peer.close()
  }
}

/** Starts a turn as Ann. The agent sends these actions in the turn. */
async function turnIn({ all, agent, ann }: Story, uri: Uri, turnId: string, said: readonly AgentAction[]) {
  const before = agent.runs.length
  await accepted(ann, uri, started(turnId))
  const run = await agent.given(before)
  run.say(...said)
  await until(() => run.waits)
  await all.core().log.settled()
  return run
}

test('[L7] [H10] [I4] [H10.3] [L7.1] every field of every snapshot is the reduced log, at 1.0 and at 0.9', async () => {
  const all = await story()
  const { ann, follow } = all
  await ann.ask('createSession', { channel: session, workingDirectories: ['file:///a'] })
  await follow(session, chat)
  await until(() => sessionOf(all.all).lifecycle === 'ready')
  const same = (...more: readonly Uri[]) => expectSameEverywhere(all, [session, chat, ...more])
  await accepted(ann, session, title('Mine'))
  await same()

  // A call that a person approves: while it waits, while it runs, and after the turn.
  const run = await turnIn(all, chat, 't1', [toolCallStarted(), ready()])
  await same()
  await accepted(ann, chat, confirmed)
  await same()
  run.say({ type: 'chat/toolCallComplete', toolCallId: 'c1', ...result(true) } as AgentAction)
  run.end()
  await until(() => chatOf(all.all).turns.length === 1)
  await same()
  const { status, chats } = sessionOf(all.all)
  expect([status, sessionStatus(sessionOf(all.all)), chats[0]?.status]).toEqual([8, 1, 1])
  expect(await ann.ask('listSessions', {})).toMatchObject({ items: [{ status: 1 }] })

  // A question, flags, and a second chat whose turn fails.
  const asking = await turnIn(all, chat, 't2', [asks])
  await same()
  await accepted(ann, chat, completed('r1', { response: 'cancel' }))
  await accepted(ann, session, { type: 'session/isReadChanged', isRead: true })
  await ann.ask('createChat', { channel: session, chat: x })
  await follow(x)
  const failing = await turnIn(all, x, 't3', [])
  await same(x)
  failing.fail(new Error('no'))
  await until(() => chatOf(all.all, x).turns.length === 1)
  await same(x)
  expect(await ann.ask('listSessions', {})).toMatchObject({ items: [{ status: 2 }] })
  asking.end()
  await until(() => chatOf(all.all).turns.length === 2)

  // Each exception is in use. The order of chats changes at 1.0 only.
  const changes = { title: 'Other', interactivity: 'read-only', changes: { files: 1 } }
  const channel = all.all.core().log.channel(session, 'session')
  if (channel)
    all.all.core().log.append(channel, { type: 'session/chatUpdated', chat: x, changes } as SessionAction)
  await all.all.core().log.settled()
  await ann.ask('moveChat', { channel: x, destination: { kind: 'session', session } })
  expect(sessionOf(all.all).chats.map(({ resource }) => resource)).toEqual([x, chat])
  await same(x)

  // A terminal: its output is not in the log.
  await ann.ask('createTerminal', { channel: terminal, claim: { kind: 'client', clientId: 'ann' } })
  await follow(terminal)
  all.terminals.shells[0]?.data('hello')
  await ann.until(() => JSON.stringify(ann.state(terminal)).includes('hello'))
  await same(x, terminal)

  await all.all.restart('close')
  all.live.clear()
  await same(x)
})

test('[L7] every field of a generated state of every kind is the reduced log, at 1.0 and at 0.9', async () => {
  const { disk, steps } = recordingStore()
  const all = await testHost({ disk })
  const { log } = all.core()
  createEveryKind(all.core())
  for (const kind of kindNames.filter((name) => name !== 'root')) {
    const channel = log.channel(uriOf(kind))
    const action = fc.constantFrom(...kinds[kind].actions.keys()).chain(actionOf)
    for (const one of fc.sample(action, { numRuns: 60, seed: 11 }))
      if (channel && kinds[kind].classes.get(one.type) !== 'ephemeral') log.append(channel, one as never)
    await log.settled()
    const fold = foldOf(steps).get(uriOf(kind))?.state as State
    for (const lens of [undefined, v09]) {
      const { state } = JSON.parse(snapshotText(all.core(), channel as Channel, {}, { lens })) as {
        state: State
      }
      expect(state, `${kind} at ${lens?.version ?? '1.0.0'}`).toEqual(
        lens ? lens.stateDown(kind, fold) : fold,
      )
    }
  }
})
