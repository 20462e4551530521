import { toolNames } from './agent-tools.ts'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChangesetState } from '@atrium/protocol/changeset/state'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Chance } from '../chance.ts'
import type { Simulation } from './simulation.ts'
import { questionOf } from './turn-actions.ts'

/** Returns a random action for a channel: sensible, forbidden, malformed, or a repetition. */
export function randomAction(sim: Simulation, channel: Uri, clientId: string, chance: Chance): Action {
  const name = String(sim.name())
  const kind = sim.model.channels.get(channel)?.kind.name ?? kindOf(channel)
  const malformed = chance.oneIn(10)
  const candidates = malformed
    ? malformedActions(name)
    : actionsFor({ sim, channel, kind, name, clientId, chance })
  return (chance.pick(candidates) ?? { type: 'nobody/knows' }) as Action
}

/** Returns the kind of a channel that may not exist yet. */
function kindOf(uri: Uri): string {
  return uri.startsWith('ahp-chat:') ? 'chat' : 'session'
}

export function message(text: string): object {
  return { text, origin: { kind: 'user' } }
}

interface Choice {
  readonly sim: Simulation
  readonly channel: Uri
  readonly kind: string
  /** A new name, for titles and ids. */
  readonly name: string
  readonly clientId: string
  readonly chance: Chance
}

function actionsFor({ sim, channel, kind, name, clientId, chance }: Choice): readonly object[] {
  if (kind === 'root') return ofRoot(name, chance)
  if (kind === 'session') return ofSession(name, clientId, chance)
  if (kind === 'chat') return ofChat(sim, channel, name, chance)
  if (kind === 'changeset') return ofChangeset(sim, channel, chance)
  return ofTerminal(name, clientId, chance)
}

/** Returns actions that a host must reject. */
function malformedActions(name: string): readonly object[] {
  return [
    { type: 'session/ready' },
    { type: 'session/titleChanged', title: 5 },
    { type: 'nobody/knows', name },
    { type: 'chat/delta', turnId: 't', partId: 'p', content: name },
    { type: 'chat/turnComplete', turnId: 't', duration: 1 },
  ]
}

function ofRoot(name: string, chance: Chance): readonly object[] {
  return [
    { type: 'root/configChanged', config: { [`sim.${chance.below(3)}`]: name } },
    { type: 'root/configChanged', config: { 'sim.same': true } },
    { type: 'root/configChanged', config: {}, replace: true },
  ]
}

function ofSession(name: string, clientId: string, chance: Chance): readonly object[] {
  return [
    { type: 'session/titleChanged', title: name },
    { type: 'session/titleChanged', title: 'same' },
    { type: 'session/isReadChanged', isRead: chance.oneIn(2) },
    { type: 'session/isArchivedChanged', isArchived: chance.oneIn(2) },
    { type: 'session/activeClientSet', activeClient: { clientId, displayName: name, tools: allTools } },
    { type: 'session/activeClientRemoved', clientId },
  ]
}

/** Marks of whole files. Marks are never taken back, so that a confirmed one must last. */
function ofChangeset(sim: Simulation, channel: Uri, chance: Chance): readonly object[] {
  const { files } = sim.model.stateAt(channel, Infinity) as ChangesetState
  const marked = chance.pick(files)
  return [{ type: 'changeset/filesReviewChanged', files: marked ? [marked.id] : [], reviewed: true }]
}

const allTools = toolNames.map((name) => ({ name }))

function ofTerminal(name: string, clientId: string, chance: Chance): readonly object[] {
  const typed = { type: 'terminal/input', data: `${name}\r` }
  return [
    { type: 'terminal/titleChanged', title: name },
    { type: 'terminal/resized', cols: chance.below(3), rows: 1 },
    typed,
    typed,
    typed,
    { type: 'terminal/claimed', claim: { kind: 'client', clientId: chance.oneIn(2) ? clientId : 'c1' } },
    { type: 'terminal/cleared' },
  ]
}

/** Returns actions in a chat: most refer to existing turns and messages, some do not. */
function ofChat(sim: Simulation, channel: Uri, name: string, chance: Chance): readonly object[] {
  const { turns = [], activeTurn, queuedMessages = [] }: Partial<ChatState> = sim.model.chat(channel) ?? {}
  const fresh = `turn-${name}`
  const known = chance.oneIn(6) ? fresh : (activeTurn?.id ?? turns.at(-1)?.id ?? fresh)
  // In runs with files no turn has the id of a removed one: the judge knows by it who wrote a word.
  const reused = sim.changes ? fresh : known
  const waiting = chance.pick(queuedMessages)?.id
  const cut = chance.pick(turns)
  const requestId = activeTurn && questionOf(activeTurn)
  const answered = {
    type: 'chat/inputCompleted',
    requestId,
    response: chance.oneIn(2) ? 'accept' : 'decline',
  }
  // In half of the plans with older clients, messages name a model and an agent: for a client of 0.4 or older, each such
  // message changes two members of the session's state.
  const names = sim.plan.older.length > 0 && sim.plan.seed % 2 === 0
  const chosen = names ? { model: { id: `model-${name}` }, agent: { uri: `agent:/${name}` } } : {}
  const begun = {
    type: 'chat/turnStarted',
    startedAt: sim.instant,
    message: { ...message(name), ...chosen },
  }
  const queued = { type: 'chat/pendingMessageSet', kind: 'queued', id: name, message: message(name) }
  const cancelled = { type: 'chat/turnCancelled', turnId: known, duration: 1 }
  const resumed = { type: 'chat/turnResume', turnId: known }
  const inTurn = activeTurn
    ? [cancelled, cancelled, cancelled, cancelled]
    : [{ ...begun, turnId: fresh }, resumed, resumed]
  const truncated = { type: 'chat/truncated', ...(cut && !chance.oneIn(4) && { turnId: cut.id }) }
  if (sim.plan.theme === 'windows' && chance.oneIn(2))
    return [{ ...begun, turnId: fresh }, resumed, truncated, ...(activeTurn ? [cancelled] : [])]
  return [
    ...inTurn,
    ...(requestId === undefined ? [] : [answered, answered, answered]),
    { ...begun, turnId: fresh },
    { ...begun, turnId: chance.oneIn(4) ? reused : fresh, ...(waiting && { queuedMessageId: waiting }) },
    chance.oneIn(2) ? cancelled : resumed,
    truncated,
    { type: 'chat/draftChanged', ...(chance.oneIn(3) ? {} : { draft: message(name) }) },
    { type: 'chat/isReadChanged', isRead: chance.oneIn(2) },
    { type: 'chat/isArchivedChanged', isArchived: chance.oneIn(2) },
    queued,
    queued,
    { ...queued, kind: 'steering' },
    { type: 'chat/pendingMessageRemoved', kind: 'queued', id: waiting ?? name },
    { type: 'chat/queuedMessagesReordered', order: queuedMessages.map(({ id }) => id).toReversed() },
  ]
}
