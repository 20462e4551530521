import { catalogOf } from '@atrium/host/catalog'
import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { appliedTwice } from '../judge/rules.ts'
import { checkChanges } from './changes/change-checks.ts'
import { checkNoneWaits, isWaiting } from './checks/choices.ts'
import type { MinimalClient } from './minimal-client.ts'
import type { Simulation } from './simulation.ts'

/**
 * Checks everything at rest: all clients agree, nothing is unanswered, nothing was applied twice, and somebody works on
 * everything unfinished.
 */
export function checkAtRest(sim: Simulation<MinimalClient>): void {
  for (const client of sim.clients) checkClient(sim, client)
  checkHost(sim)
  if (sim.changes) checkChanges(sim, sim.changes)
}

/** Makes the checks that do not depend on the kind of client. */
export function checkHost(sim: Simulation): void {
  checkOnce(sim)
  for (const [uri, chat] of sim.invariants.chats()) checkChat(sim, uri, chat)
  for (const [uri, { lifecycle }] of sim.invariants.sessions())
    if (lifecycle === 'creating' && !sim.hostRun?.agents.creations.has(uri))
      sim.fail('I11', `${uri} is being created, but no agent creates it`)
  for (const uri of sim.invariants.stagedChats())
    sim.fail('I20', `${uri} is being created, but nothing completes it`)
  checkList(sim)
  checkNoneWaits(sim.model, sim.invariants.sessions(), (rule, problem) => sim.fail(rule, problem))
  if (!sim.model.live(rootUri)) sim.fail('I11', 'the root does not exist')
}

/** Checks the host after the grace period without clients: unused sessions are gone, and no client is active. */
export function checkWithoutClients(sim: Simulation): void {
  if (!sim.up) return sim.fail('I11', 'the host is down')
  sim.invariants.callEffects.checkWithoutClients(sim.invariants.chats())
  for (const [uri, { activeClients }] of sim.invariants.sessions()) {
    if (!sim.invariants.usedSessions.has(uri))
      sim.fail('I19', `${uri} was never used, but still exists after its creator left`)
    if (activeClients.length > 0)
      sim.fail('I19', `${activeClients[0]?.clientId} has left, but is still active in ${uri}`)
  }
}

/** Checks I4, I5: the client has the final state, and knows the outcome of every action. */
export function checkClient(sim: Simulation, client: MinimalClient): void {
  const { id, clientView, subscriptions } = client
  client.audit?.complete()
  for (const [uri, { kind, state, hasGap }] of subscriptions) {
    const expected = clientView.expected(uri, Infinity)
    if (!sim.model.live(uri) || hasGap || clientView.agrees(uri, kind, state, expected)) continue
    const where = clientView.difference(uri, kind, state, expected)
    sim.fail('I4', `${id} has a wrong state of ${uri} at rest: ${where}`)
  }
  const owed = [...client.pending, ...client.unanswered].find(
    (action) => client.reaches(action) && !isWaiting(sim.model, id, action),
  )
  if (owed) sim.fail('I5', `${id} never learned the outcome of ${owed.clientSeq} ${owed.action.type}`)
}

/** Checks I6: every action of a client is in the log at most once. */
function checkOnce(sim: Simulation): void {
  const log = [...sim.model.channels.values()].flatMap(({ entries }) => entries)
  for (const { action, before, key } of appliedTwice(log))
    sim.fail('I6', `${key} was applied as ${before} and as ${action.seq}`)
}

/**
 * Checks I17: an agent works on an active turn, or the turn waits for its session or a user. Without an active turn,
 * queued messages wait only if the last turn failed or was cancelled.
 */
function checkChat(sim: Simulation, uri: Uri, { activeTurn, queuedMessages, turns }: ChatState): void {
  const session = sim.model.session(sim.invariants.sessionOf(uri) ?? '')
  const runs = [...(sim.hostRun?.agents.runs ?? [])].filter(({ aborted }) => !aborted)
  const hasRun = runs.some(({ chat }) => chat.uri === uri && chat.turnId === activeTurn?.id)
  if (activeTurn && !hasRun && session?.lifecycle !== 'creating' && !sim.invariants.waits(uri, activeTurn))
    sim.fail('I17', `${activeTurn.id} of ${uri} is active, but no agent works on it`)
  const last = turns.at(-1)?.state
  if (!activeTurn && queuedMessages && last !== 'error' && last !== 'cancelled')
    sim.fail('I17', `messages are queued in ${uri} without a reason to wait`)
}

/** Checks I18, I19: the list shows the used sessions, each as its session describes itself. */
function checkList(sim: Simulation): void {
  const items = listedIn(sim)
  const used = sim.invariants.sessions().filter(([uri]) => sim.invariants.usedSessions.has(uri))
  const listed = items.map(({ resource }) => resource)
  const expected = used.map(([uri]) => uri)
  if (listed.toSorted().join() !== expected.toSorted().join())
    sim.fail('I19', `the list shows ${listed.join()}, but should show ${expected.join()}`)
  for (const [uri, state] of used) {
    const item = items.find(({ resource }) => resource === uri)
    if (item && !shows(item, state)) sim.fail('I18', `the list item of ${uri} differs from the session`)
  }
}

const inputNeeded = 16 | 8
const failed = 2

/** Whether a list item agrees with its session, computed independently of the host. */
function shows(
  item: SessionSummary,
  { title, status, chats, defaultChat, lifecycle }: SessionState,
): boolean {
  const withStatus = (bits: number) => chats.find((chat) => (chat.status & 31) === bits)
  const last = chats.toSorted((a, b) => Date.parse(b.modifiedAt) - Date.parse(a.modifiedAt))[0]
  const first = chats.find(({ resource }) => resource === defaultChat) ?? last
  const shownChat = withStatus(inputNeeded) ?? withStatus(failed) ?? first
  const activity = lifecycle === 'failed' ? failed : (shownChat?.status ?? 1) & 31
  // The time is not checked for a session without chats. A session stays empty, for example, if a chat that should
  // move there never came.
  const times = chats.length > 0 ? chats.map(({ modifiedAt }) => modifiedAt) : [item.modifiedAt]
  const newest = Math.max(...times.map((time) => Date.parse(time)))
  return (
    item.title === title &&
    item.status === ((status & ~31) | activity) &&
    (item.activity ?? '') === (shownChat?.activity ?? '') &&
    Date.parse(item.modifiedAt) === newest &&
    equal(
      item.chats?.map((chat) => [chat.resource, chat.title, chat.status]),
      chats.map((chat) => [chat.resource, chat.title, chat.status]),
    )
  )
}

/** The sessions that the host lists. */
export function listedIn({ hostRun }: Simulation): readonly SessionSummary[] {
  return hostRun?.core ? catalogOf(hostRun.core).page().items : []
}
