import type { Action, Uri } from '@atrium/protocol/channel'
import { defaultChatUri, rootUri, sessionUri } from '@atrium/protocol/uri'
import type { Chance } from '../chance.ts'
import type { Client } from './client.ts'
import { LinkLost } from './errors.ts'
import type { Address } from './host.ts'

/** Sessions of a run that were durably created and that nobody tried to dispose. */
export class Sessions {
  readonly live: Uri[] = []
  readonly #prefix: string
  #created = 0

  constructor(prefix = 's') {
    this.#prefix = prefix
  }

  /** Creates a session. Its creator uses it at once, the other clients after the answer. */
  create(client: Client): void {
    const uri = sessionUri(`${this.#prefix}${++this.#created}`)
    client.create(uri, () => this.live.push(uri))
    client.dispatch(uri, titleAction(`${client.id} was here`))
  }

  /** Forgets sessions that no longer exist. */
  retain(there: readonly Uri[]): void {
    this.live.splice(0, Infinity, ...this.live.filter((uri) => there.includes(uri)))
  }

  /** Removes and returns the oldest session. */
  takeOldest(): Uri | undefined {
    return this.live.shift()
  }
}

/** A client with this many unanswered actions waits for answers before it acts again. */
const maxPending = 6
const maxSessions = 8
const minSessions = 3

interface Load {
  readonly client: Client
  readonly sessions: Sessions
  readonly chance: Chance
  /** The address to reconnect to after a cut. */
  readonly address: () => Address
  readonly steps?: number | undefined
}

/**
 * Lets one client work. At random, each step changes a title, a config or a turn, sends an action that changes
 * nothing or is rejected, creates or disposes a session, or breaks the link. The work ends with the link, or after
 * `steps` steps. A step waits for nothing but answers of the host.
 */
export async function work({ client, steps = Infinity, ...load }: Load): Promise<void> {
  try {
    for (let step = 0; step < steps; step++) {
      await act({ client, ...load })
      if (client.pending >= 2 * maxPending) await client.settle()
      await client.until(() => client.pending < maxPending)
    }
  } catch (error) {
    if (!(error instanceof LinkLost)) throw error
  }
}

async function act({ client, sessions, chance, address }: Load): Promise<void> {
  const dice = chance.between(0, 99)
  const session = chance.pick(sessions.live.filter((uri) => !client.gone.has(uri)))
  if (session === undefined || (dice < 3 && sessions.live.length < maxSessions))
    return sessions.create(client)
  if (dice < 5 && sessions.live.length > minSessions) {
    const oldest = sessions.takeOldest()
    return oldest === undefined ? undefined : client.dispose(oldest)
  }
  if (dice < 8)
    return client.subscriptions.has(session) ? client.unsubscribe(session) : client.subscribe(session)
  if (dice < 10) {
    client.cut()
    return client.connect(address())
  }
  if (dice < 20) return client.dispatch(rootUri, rootConfig(client.id, chance))
  if (dice < 40) return actInChat(client, defaultChatUri(session), chance)
  client.dispatch(session, sessionAction(client.id, chance))
}

/** Messages to the guide, the built-in agent: most are answered at once, some take long enough to be interrupted. */
const messages = [
  'say hello',
  'say a b c',
  'long 200',
  'slow 2',
  'plan',
  'think twice',
  'fail',
  'crash',
  'spawn say hi',
]

async function actInChat(client: Client, chat: Uri, chance: Chance): Promise<void> {
  if (!client.subscriptions.has(chat) && chance.between(0, 2) > 0) return client.subscribe(chat)
  client.dispatch(chat, chatAction(client, chat, chance))
}

function chatAction(client: Client, chat: Uri, chance: Chance): Action {
  const dice = chance.between(0, 9)
  const message = { text: chance.pick(messages) ?? '', origin: { kind: 'user' } }
  const turnId = `${client.id}-${chance.next()}`
  const last = client.lastTurns.get(chat) ?? turnId
  const queued = { type: 'chat/pendingMessageSet', kind: 'queued', id: turnId, message }
  if (dice === 0) return { type: 'chat/draftChanged', draft: message } as Action
  if (dice === 1) return queued as Action
  // Cancels the client's own last turn. The host rejects the action if the turn has ended or never started.
  if (dice === 2) return { type: 'chat/turnCancelled', turnId: last, duration: 1 } as Action
  if (dice === 3) return { type: 'chat/turnResume', turnId: last } as Action
  if (dice === 4) return { type: 'chat/truncated', turnId: last } as Action
  client.lastTurns.set(chat, turnId)
  return { type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message } as Action
}

function rootConfig(id: string, chance: Chance): Action {
  // The host rejects a config change with `replace`.
  const replace = chance.between(0, 3) === 0 ? { replace: true } : {}
  const config = { [`chaos.${id}`]: chance.between(0, 9) }
  const action = { type: 'root/configChanged', config, ...replace }
  return action
}

function sessionAction(id: string, chance: Chance): Action {
  const dice = chance.between(0, 9)
  const number = chance.between(0, 9999)
  if (dice === 0) return { type: 'session/isReadChanged', isRead: chance.between(0, 1) === 0 } as Action
  if (dice === 1) return { type: 'session/isArchivedChanged', isArchived: false } as Action
  // The host rejects this action, because a client cannot remove another client.
  if (dice === 2) return { type: 'session/activeClientRemoved', clientId: `not-${id}` } as Action
  if (dice === 3) return { type: 'session/workingDirectorySet', directory: `file:///${number % 5}` } as Action
  return titleAction(`${id} ${number}`)
}

function titleAction(title: string): Action {
  const action = { type: 'session/titleChanged', title }
  return action
}
