import { guide } from '@atrium/adapters/guide'
import { nodeWorld } from '@atrium/adapters/process/world'
import { memoryStore } from '@atrium/adapters/store/memory'
import { createHost } from '@atrium/host'
import type { Step } from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'
import { pair } from '@atrium/protocol/rpc/pair'
import { Peer } from '@atrium/protocol/rpc/peer'
import { defaultChatUri } from '@atrium/protocol/uri'

/** Everything that a host stores for one session with one turn. Copies of it fill a store without a host. */
export interface RecordedSession {
  readonly session: string
  readonly chat: string
  readonly turnId: string
  readonly steps: readonly Step[]
  readonly records: readonly (readonly [key: string, text: string])[]
}

const session = 'ahp-session:/recorded-session'
const chat = defaultChatUri(session)
const turnId = 'recorded-turn'
const message = { text: 'say hello to everybody who reads this', origin: { kind: 'user' } }
const startedAt = '2026-01-01T00:00:00.000Z'

/** Runs a host in memory, with one session and one turn of the built-in agent. Returns what the host stored. */
export async function recordSession(): Promise<RecordedSession> {
  const steps: Step[] = []
  const records = new Map<string, string>()
  const world = nodeWorld(() => {})
  // With `headEvery: 1` the host stores the state of a channel, its head, after every action. So the last head is the
  // state after the turn.
  const host = await createHost({
    store: recording(memoryStore(), steps, records),
    world,
    agents: [guide(world.later)],
    headEvery: 1,
  })
  const [near, far] = pair()
  host.connect(near, 'owner')
  let ended = () => {}
  const end = new Promise<void>((resolve) => (ended = resolve))
  const peer = new Peer(far, {
    request: () => null,
    notification: (_, params) => {
      if (JSON.stringify(params).includes('chat/turnComplete')) ended()
    },
  })
  const channel = 'ahp-root://'
  await peer.request('initialize', { channel, protocolVersions: ['1.0.0'], clientId: 'bench' })
  await peer.request('createSession', { channel: session, provider: 'guide' })
  await peer.request('subscribe', { channel: chat })
  const action = { type: 'chat/turnStarted', turnId, startedAt, message }
  peer.notify('dispatchAction', { channel: chat, clientSeq: 1, action })
  await end
  await host.close()
  return { session, chat, turnId, steps, records: [...records] }
}

/** The store, with a copy of everything that is written to it. */
function recording(store: Store, steps: Step[], records: Map<string, string>): Store {
  return {
    ...store,
    log: {
      upTo: store.log.upTo,
      append: (step) => {
        steps.push(step)
        store.log.append(step)
      },
      flush: () => store.log.flush(),
      read: (...given) => store.log.read(...given),
      dispatchedBy: (...given) => store.log.dispatchedBy(...given),
      load: (...given) => store.log.load(...given),
      seal: (...given) => store.log.seal(...given),
      creation: (...given) => store.log.creation(...given),
      forget: (...given) => store.log.forget(...given),
      shrink: () => store.log.shrink(),
      rows: (...given) => store.log.rows(...given),
      close: () => store.log.close(),
    },
    records: {
      get: (key) => store.records.get(key),
      list: (prefix) => store.records.list(prefix),
      put: (key, text) => {
        records.set(key, text)
        store.records.put(key, text)
      },
      delete: (key) => {
        records.delete(key)
        store.records.delete(key)
      },
    },
  }
}
