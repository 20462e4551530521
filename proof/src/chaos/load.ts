import type { Action, Uri } from '@atrium/protocol/channel'
import { defaultChatUri, rootUri, sessionUri } from '@atrium/protocol/uri'
import type { Chance } from '../chance.ts'
import { LinkLost } from './client.ts'
import type { Address, Client } from './client.ts'

/** The sessions of a run: those that surely were created, and that nobody tried to dispose of. */
export class Sessions {
  readonly live: Uri[] = []
  #made = 0

  /** Its creator talks to it at once; the others when it is surely there. */
  make(client: Client): void {
    const uri = sessionUri(`s${++this.#made}`)
    client.create(uri, () => this.live.push(uri))
    client.dispatch(uri, titled(`${client.id} was here`))
  }

  /** Forgets those that are no more. */
  keep(there: readonly Uri[]): void {
    this.live.splice(0, Infinity, ...this.live.filter((uri) => there.includes(uri)))
  }

  /** The oldest. */
  take(): Uri | undefined {
    return this.live.shift()
  }
}

const window = 6
const most = 8
const least = 3

/**
 * One client at work: titles, configs, turns, things that change nothing and things that are refused, sessions that come
 * and go, links that break. Ends with the link, or after so many steps. A step waits only for answers.
 */
export async function work(
  client: Client,
  sessions: Sessions,
  chance: Chance,
  address: () => Address,
  steps = Infinity,
): Promise<void> {
  try {
    for (let step = 0; step < steps; step++) {
      await act(client, sessions, chance, address)
      if (client.pending >= 2 * window) await client.settle()
      await client.until(() => client.pending < window)
    }
  } catch (error) {
    if (!(error instanceof LinkLost)) throw error
  }
}

async function act(
  client: Client,
  sessions: Sessions,
  chance: Chance,
  address: () => Address,
): Promise<void> {
  const dice = chance.between(0, 99)
  const session = chance.pick(sessions.live.filter((uri) => !client.gone.has(uri)))
  if (session === undefined || (dice < 3 && sessions.live.length < most)) return sessions.make(client)
  if (dice < 5 && sessions.live.length > least) {
    const oldest = sessions.take()
    return oldest === undefined ? undefined : client.dispose(oldest)
  }
  if (dice < 8) return client.following.has(session) ? client.unsubscribe(session) : client.subscribe(session)
  if (dice < 10) {
    client.cut()
    return client.come(address())
  }
  if (dice < 20) return client.dispatch(rootUri, rootConfig(client.id, chance))
  if (dice < 40) return talk(client, defaultChatUri(session), chance)
  client.dispatch(session, sessionAction(client.id, chance))
}

/** What the guide is asked: most is said at once, some of it long enough to be broken off. */
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

async function talk(client: Client, chat: Uri, chance: Chance): Promise<void> {
  if (!client.following.has(chat) && chance.between(0, 2) > 0) return client.subscribe(chat)
  client.dispatch(chat, chatAction(client, chat, chance))
}

function chatAction(client: Client, chat: Uri, chance: Chance): Action {
  const dice = chance.between(0, 9)
  const message = { text: chance.pick(messages) ?? '', origin: { kind: 'user' } }
  const turnId = `${client.id}-${chance.next()}`
  const last = client.turns.get(chat) ?? turnId
  const queued = { type: 'chat/pendingMessageSet', kind: 'queued', id: turnId, message }
  if (dice === 0) return { type: 'chat/draftChanged', draft: message } as Action
  if (dice === 1) return queued as Action
  // Its own last turn: refused where that is over, or never was.
  if (dice === 2) return { type: 'chat/turnCancelled', turnId: last, duration: 1 } as Action
  if (dice === 3) return { type: 'chat/turnResume', turnId: last } as Action
  if (dice === 4) return { type: 'chat/truncated', turnId: last } as Action
  client.turns.set(chat, turnId)
  return { type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message } as Action
}

function rootConfig(id: string, chance: Chance): Action {
  // Replacing the whole is refused.
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
  // Refused: nobody speaks for another.
  if (dice === 2) return { type: 'session/activeClientRemoved', clientId: `not-${id}` } as Action
  if (dice === 3) return { type: 'session/workingDirectorySet', directory: `file:///${number % 5}` } as Action
  return titled(`${id} ${number}`)
}

function titled(title: string): Action {
  const action = { type: 'session/titleChanged', title }
  return action
}
