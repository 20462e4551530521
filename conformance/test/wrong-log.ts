import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { Reduce } from '@atrium/protocol/reduce'
import { reducers } from '@atrium/protocol/reducers'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { patch } from '@atrium/protocol/update'
import { automationsUri, rootUri } from '@atrium/protocol/uri'
import { knows } from '@atrium/protocol/versions/known'
import { actionOf } from '../src/kit/action.ts'
import type { Fault } from './faults.ts'
import { protectedAgent } from './wrong-auth.ts'
import { isAnswerLost, withFault } from './wrong-answers.ts'
import type { ClientAction } from './wrong-answers.ts'
import { afterAutomationAction } from './wrong-automations.ts'
import { afterChatAction } from './wrong-chats.ts'
import { exportTurn } from './wrong-telemetry.ts'

type Kind = 'root' | 'session' | 'chat' | 'automation' | 'automationRun'

export interface Channel {
  readonly kind: Kind
  state: unknown
}

/** One connection, as the log sees it. */
export interface Subscriber {
  /** The last sequence number at the time of the connection. */
  readonly since: number
  clientId: string
  readonly subscriptions: Set<Uri>
  /** For each chat that the client did not ask for in full, the number of turns that it asked for. */
  readonly views: Map<Uri, number>
  deliver(envelope: Envelope): void
  send(message: object): void
  close(): void
}

interface Rejection {
  readonly uri: Uri
  readonly action: Action
  readonly clientSeq: number
  readonly rejectionReason: string
}

/** The log of the wrong host: appends actions and delivers them. */
export class WrongLog {
  readonly faults: readonly Fault[]
  readonly channels = new Map<Uri, Channel>()
  readonly summaries = new Map<Uri, SessionSummary>()
  /** Sessions for which no root/sessionAdded has been sent yet. */
  readonly unannounced = new Set<Uri>()
  /** The session of each chat. */
  readonly owners = new Map<Uri, Uri>()
  readonly links = new Set<Subscriber>()
  /** The connections that have given a token for the protected agent. */
  readonly loggedIn = new Set<Subscriber>()
  /** For each client, the subscriptions of its last connection. */
  readonly clients = new Map<string, Set<Uri>>()
  readonly log: Envelope[] = []
  /** Every notification that was sent. */
  readonly notified: object[] = []
  seq = 0

  constructor(faults: readonly Fault[]) {
    this.faults = faults
    const sources = this.has('noForks') ? {} : { fork: true, sideChat: true }
    const several = !this.has('oneChat') && { capabilities: { multipleChats: sources } }
    const agent = { provider: 'mock', displayName: 'Mock', description: '', models: [], ...several }
    const agents = this.has('noAgent') ? [] : [agent, ...(this.has('noLogin') ? [] : [protectedAgent])]
    const entries = this.has('automationsStateEmpty') ? {} : { entries: [] }
    this.channels.set(automationsUri, { kind: 'automation', state: entries })
    this.channels.set(rootUri, { kind: 'root', state: { agents, activeSessions: 0 } })
  }

  has(fault: Fault): boolean {
    return this.faults.includes(fault)
  }

  /** Tells whether the version of this host has an action or command of this name. */
  defines(name: string): boolean {
    return knows(this.has('onlyNine') ? '0.9.0' : '1.0.0', name)
  }

  /** Numbers, reduces, stores and delivers an action. */
  append(uri: Uri, action: Action, by?: Subscriber, clientSeq = 0): void {
    const channel = this.channels.get(uri)
    if (!channel) return
    const before = channel.state
    if (!this.#isLost(channel, action))
      channel.state = (reducers[channel.kind] as Reduce<unknown>)(channel.state, action)
    if (channel.kind === 'chat')
      channel.state = withFault(this, before as ChatState, channel.state as ChatState, action as ClientAction)
    if (this.has('usageLostAtEnd') && action.type === 'chat/turnComplete')
      channel.state = withoutUsage(channel.state as ChatState)
    const number = this.has('numbersPerChannel')
      ? this.log.filter((envelope) => envelope.channel === uri).length + 1
      : this.seq + 1
    this.seq++
    const hidden = this.has('turnEchoWithoutOrigin') && action.type === 'chat/turnStarted'
    const origin = by && !hidden ? { clientId: by.clientId, clientSeq } : undefined
    const envelope: Envelope = {
      channel: uri,
      action,
      serverSeq: number,
      ...(origin && { origin }),
      ...(this.has('emptyReason') && { rejectionReason: '' }),
      ...(!origin && this.has('nullOrigin') && ({ origin: null } as object)),
    }
    this.log.push(envelope)
    const unshared =
      (this.has('draftNotShared') && action.type === 'chat/draftChanged') ||
      (this.has('answerDraftsNotShared') && action.type === 'chat/inputAnswerChanged')
    const receives = (link: Subscriber) =>
      !unshared && (link.subscriptions.has(uri) || (this.has('deliveredToAll') && link.clientId !== ''))
    for (const link of this.links)
      if (link === by || receives(link)) link.deliver(link === by ? envelope : this.#forOthers(envelope))
    if (channel.kind === 'session') this.#summarize(uri, channel.state as SessionState)
    if (this.has('undefinedActionSent') && action.type === 'session/isReadChanged')
      this.append(uri, actionOf('session/moodChanged', { mood: 'good' }))
    if (channel.kind === 'automation') afterAutomationAction(this, action)
    if (channel.kind === 'chat') afterChatAction(this, uri, action)
    if (action.type === 'chat/turnComplete') exportTurn(this, uri)
  }

  reject(by: Subscriber, { uri, action, clientSeq, rejectionReason }: Rejection): void {
    const origin = { clientId: by.clientId, clientSeq }
    const envelope = { channel: uri, action, serverSeq: ++this.seq, origin, rejectionReason }
    for (const link of this.links)
      if (link === by || (this.has('rejectionBroadcast') && link.subscriptions.has(uri)))
        link.deliver(envelope)
    if (this.has('rejectionTwice')) by.deliver(envelope)
    const channel = this.channels.get(uri)
    if (channel && this.has('rejectedButApplied') && 'title' in action)
      channel.state = { ...(channel.state as object), ...action }
  }

  notify(method: string, params: object): void {
    this.notified.push({ method, params: { channel: rootUri, ...params } })
    for (const link of this.links)
      if (link.subscriptions.has(rootUri) || (this.has('notificationsToAll') && link.clientId !== ''))
        link.send({ method, params: { channel: rootUri, ...params } })
  }

  announce(uri: Uri): void {
    this.unannounced.delete(uri)
    this.countSessions()
    const elsewhere = this.has('addedOnWrongChannel') ? { channel: uri } : {}
    this.notify('root/sessionAdded', { summary: this.summaries.get(uri), ...elsewhere })
  }

  countSessions(): void {
    const activeSessions = this.summaries.size - this.unannounced.size
    const root = this.channels.get(rootUri)
    if (root && this.has('rootNotUpdated')) root.state = { ...(root.state as object), activeSessions }
    else this.append(rootUri, actionOf('root/activeSessionsChanged', { activeSessions }))
  }

  /** Tells whether a fault makes the host deliver the action without applying it to its own state. */
  #isLost({ kind, state }: Channel, action: Action): boolean {
    const { type } = action
    return (
      (kind === 'chat' && isAnswerLost(this, state as ChatState, action as ClientAction)) ||
      (this.has('removedAutomationStays') && type === 'automation/removed') ||
      (this.has('wrongReducer') && type === 'session/isArchivedChanged') ||
      (this.has('chatReadNotApplied') && type === 'chat/isReadChanged')
    )
  }

  #forOthers(envelope: Envelope): Envelope {
    const { origin: _, ...rest } = envelope
    if (this.has('originOnlyForDispatcher')) return rest
    if (!this.has('othersGetAnotherAction')) return envelope
    return {
      ...envelope,
      action: actionOf(envelope.action.type, { ...envelope.action, title: 'something else' }),
    }
  }

  #summarize(uri: Uri, { title, status }: SessionState): void {
    const before = this.summaries.get(uri)
    if (!before || (before.title === title && before.status === status)) return
    this.summaries.set(uri, { ...before, ...(!this.has('listedTitleStale') && { title }), status })
    if (this.unannounced.has(uri) && this.has('sessionsAtFirstTurn')) return
    if (this.unannounced.has(uri)) return this.announce(uri)
    if (this.has('summaryChangesNotSent')) return
    const changes = { title, status, ...(this.has('summaryRepeats') && { provider: 'mock' }) }
    this.notify('root/sessionSummaryChanged', { session: uri, changes })
  }
}

function withoutUsage(state: ChatState): ChatState {
  return { ...state, turns: state.turns.map((turn) => patch(turn, { usage: undefined })) }
}
