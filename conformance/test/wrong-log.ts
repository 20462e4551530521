import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { Reduce } from '@atrium/protocol/reduce'
import { reducers } from '@atrium/protocol/reducers'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { patch } from '@atrium/protocol/update'
import { rootUri } from '@atrium/protocol/uri'
import type { Fault } from './faults.ts'
import { lostAnswer, misread } from './wrong-answers.ts'
import type { Wish } from './wrong-answers.ts'
import { followChat } from './wrong-chats.ts'

type Kind = 'root' | 'session' | 'chat'

export interface Channel {
  readonly kind: Kind
  state: unknown
}

/** One client, as far as it is told things. */
export interface Follower {
  /** The number at which it came. */
  readonly since: number
  clientId: string
  readonly following: Set<Uri>
  /** How many turns of a chat it has seen, where that is not all. */
  readonly views: Map<Uri, number>
  tell(envelope: Envelope): void
  send(message: object): void
  close(): void
}

/** What happened, and to whom it is told. */
export class WrongLog {
  readonly fault: Fault | undefined
  readonly channels = new Map<Uri, Channel>()
  readonly summaries = new Map<Uri, SessionSummary>()
  /** Sessions that nobody has been told of. */
  readonly quiet = new Set<Uri>()
  /** The session of each chat. */
  readonly owners = new Map<Uri, Uri>()
  readonly links = new Set<Follower>()
  /** What each client followed when it was last here. */
  readonly clients = new Map<string, Set<Uri>>()
  readonly log: Envelope[] = []
  seq = 0

  constructor(fault: Fault | undefined) {
    this.fault = fault
    const begun = this.has('forkless') ? {} : { fork: true, sideChat: true }
    const several = !this.has('oneChat') && { capabilities: { multipleChats: begun } }
    const agent = { provider: 'mock', displayName: 'Mock', description: '', models: [], ...several }
    const agents = this.has('agentless') ? [] : [agent, ...(this.has('unguarded') ? [] : [guarded])]
    this.channels.set(rootUri, { kind: 'root', state: { agents, activeSessions: 0 } })
  }

  has(fault: Fault): boolean {
    return this.fault === fault
  }

  /** Numbers, reduces, keeps and tells. */
  append(uri: Uri, action: Action, by?: Follower, clientSeq = 0): void {
    const channel = this.channels.get(uri)
    if (!channel) return
    const before = channel.state
    if (!this.#lost(channel, action))
      channel.state = (reducers[channel.kind] as Reduce<unknown>)(channel.state, action)
    if (channel.kind === 'chat')
      channel.state = misread(this, before as ChatState, channel.state as ChatState, action as Wish)
    if (this.has('endingLost') && action.type === 'chat/turnComplete')
      channel.state = withoutUsage(channel.state as ChatState)
    const number = this.has('numbersPerChannel')
      ? this.log.filter((envelope) => envelope.channel === uri).length + 1
      : this.seq + 1
    this.seq++
    const hidden = this.has('turnEchoAnonymous') && action.type === 'chat/turnStarted'
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
    const secret =
      (this.has('draftPrivate') && action.type === 'chat/draftChanged') ||
      (this.has('draftsPrivate') && action.type === 'chat/inputAnswerChanged')
    const told = (link: Follower) =>
      !secret && (link.following.has(uri) || (this.has('toldToAll') && link.clientId !== ''))
    for (const link of this.links)
      if (link === by || told(link)) link.tell(link === by ? envelope : this.#forOthers(envelope))
    if (channel.kind === 'session') this.#summarize(uri, channel.state as SessionState)
    if (channel.kind === 'chat') followChat(this, uri, action)
  }

  refuse(uri: Uri, action: Action, by: Follower, clientSeq: number, rejectionReason: string): void {
    const origin = { clientId: by.clientId, clientSeq }
    const envelope = { channel: uri, action, serverSeq: ++this.seq, origin, rejectionReason }
    for (const link of this.links)
      if (link === by || (this.has('rejectionBroadcast') && link.following.has(uri))) link.tell(envelope)
    if (this.has('rejectionTwice')) by.tell(envelope)
    const channel = this.channels.get(uri)
    if (channel && this.has('rejectedAnyway') && 'title' in action)
      channel.state = { ...(channel.state as object), ...action }
  }

  note(method: string, params: object): void {
    for (const link of this.links)
      if (link.following.has(rootUri) || (this.has('notesToAll') && link.clientId !== ''))
        link.send({ method, params: { channel: rootUri, ...params } })
  }

  announce(uri: Uri): void {
    this.quiet.delete(uri)
    this.countSessions()
    const elsewhere = this.has('addedElsewhere') ? { channel: uri } : {}
    this.note('root/sessionAdded', { summary: this.summaries.get(uri), ...elsewhere })
  }

  countSessions(): void {
    const activeSessions = this.summaries.size - this.quiet.size
    const root = this.channels.get(rootUri)
    if (root && this.has('rootSilent')) root.state = { ...(root.state as object), activeSessions }
    else this.append(rootUri, { type: 'root/activeSessionsChanged', activeSessions } as Action)
  }

  /** Told, and then not done. */
  #lost({ kind, state }: Channel, action: Action): boolean {
    const { type } = action
    return (
      (kind === 'chat' && lostAnswer(this, state as ChatState, action as Wish)) ||
      (this.has('wrongReducer') && type === 'session/isArchivedChanged') ||
      (this.has('chatReadLost') && type === 'chat/isReadChanged')
    )
  }

  #forOthers(envelope: Envelope): Envelope {
    const { origin: _, ...rest } = envelope
    if (this.has('originHidden')) return rest
    if (!this.has('othersToldOtherwise')) return envelope
    return { ...envelope, action: { ...envelope.action, title: 'something else' } as Action }
  }

  #summarize(uri: Uri, { title, status }: SessionState): void {
    const before = this.summaries.get(uri)
    if (!before || (before.title === title && before.status === status)) return
    this.summaries.set(uri, { ...before, ...(!this.has('listedStale') && { title }), status })
    if (this.quiet.has(uri)) return this.announce(uri)
    if (this.has('summaryKept')) return
    const changes = { title, status, ...(this.has('summaryRepeats') && { provider: 'mock' }) }
    this.note('root/sessionSummaryChanged', { session: uri, changes })
  }
}

/** An agent that nobody can use without a login. */
export const guarded = {
  provider: 'guarded',
  displayName: 'Guarded',
  description: '',
  models: [],
  protectedResources: [{ resource: 'https://guarded.example' }],
}

function withoutUsage(state: ChatState): ChatState {
  return { ...state, turns: state.turns.map((turn) => patch(turn, { usage: undefined })) }
}
