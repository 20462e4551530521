import type { Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionState } from '@atrium/protocol/session/state'
import { Activity } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { defaultChatUri } from '@atrium/protocol/uri'
import { agentOf, chooseAgent, probeAgent } from '../agents/agents.ts'
import { requireSignIn } from '../auth/auth.ts'
import { changeable, goneKey, isUsed } from '../channels/names.ts'
import type { Mutation } from '../channels/names.ts'
import type { Channel } from '../log/channel.ts'
import { startTurn, forgetChat, newChat, newSummary } from '../chat/chat.ts'
import type { Core, Link } from '../core/core.ts'
import { create } from './creation.ts'
import type { Agent } from '../ports/agent.ts'
import { noProgress, progressTo } from './progress.ts'
import { followGit, projectOf } from '../resources/project.ts'
import { sleepWhenIdle } from '../channels/sleep.ts'
import { countSessions } from '../root/root.ts'
import type { Effects } from '../core/rules.ts'
import { permissionValuesProblem, sessionSchema, settingProblem, resolvedValues } from '../agents/settings.ts'
import { forgetTerminal } from '../terminal/terminal.ts'
import { unlessUnsound, wake, wakeIfSound } from '../channels/wake.ts'

export async function createSession(core: Core, link: Link, params: Params<'createSession'>): Mutation {
  changeable(core)
  const { channel: uri, activeClient, progressToken } = params
  if (activeClient && activeClient.clientId !== link.clientId)
    throw AhpError.invalidParams('createSession: activeClient.clientId is not the caller')
  const chat = defaultChatUri(uri)
  const gone = await Promise.all([uri, chat].map((each) => core.records.get(goneKey(each))))
  const project = await projectOf(core, params.workingDirectories?.[0])
  if (chooseAgent(core, params.provider).probe) await probeAgent(core, params.provider)
  // From here on nothing waits: the checks and the birth are one step.
  if (gone.some((record) => record !== undefined) || isUsed(core, uri) || isUsed(core, chat))
    throw AhpError.sessionAlreadyExists(uri)
  if (core.catalog.size >= core.limits.sessions)
    throw AhpError.permissionDenied(`there are ${core.catalog.size} sessions: dispose of some first`)
  const agent = chooseAgent(core, params.provider)
  const problem = creationProblem(core, agent, params)
  if (problem !== undefined) throw AhpError.invalidParams(`createSession: ${problem}`)
  requireSignIn(core, agent, link.principal)
  const summary = newSummary(core, chat, { origin: { kind: 'user' } })
  const first = { ...firstState(agent, params), ...(project && { project }) }
  const state: SessionState = { ...first, chats: [summary], defaultChat: chat }
  const session = createChannels(core, link, uri, state, summary.modifiedAt)
  newChat(core, uri, summary)
  // After its chat, which keeps it awake.
  sleepWhenIdle(core, session)
  const seq = core.log.last
  const progress = progressToken === undefined ? noProgress : progressTo(link, progressToken)
  void core.log.reached(seq).then(() => create(core, session, progress))
  return { seq }
}

/** A session that nobody hears of before it is used: of the client that has this link. */
export function createChannels(
  core: Core,
  link: Link,
  uri: Uri,
  state: SessionState,
  createdAt: string,
): Channel<'session'> {
  const session = core.log.create(uri, 'session', state)
  core.catalog.add(uri, createdAt, state, link.clientId)
  core.owners.assign(uri, link.principal)
  core.jobs.mark(uri, true)
  core.departures.join(link.clientId, uri)
  // It went while the records were asked: nobody else would notice.
  if (core.links.get(link.clientId) !== link) core.departures.departed(link.clientId)
  return session
}

export async function disposeSession(core: Core, { channel: uri }: Params<'disposeSession'>): Mutation {
  changeable(core)
  const session = await wakeAll(core, uri)
  // A moment ago somebody else may have disposed of it.
  if (core.log.channel(uri) !== session) throw AhpError.sessionNotFound(uri)
  return { seq: forgetSession(core, session) }
}

/** A session that is awake, and all its chats, are forgotten in one step. Gives the number after which they are. */
export function forgetSession(core: Core, session: Channel<'session'>): number {
  const { uri } = session
  const { provider, activeClients, chats } = session.head
  const creator = core.catalog.creatorOf(uri)
  const announced = creator === undefined
  const unheard = core.catalog.isUnlisted(uri)
  for (const { resource } of chats) forgetChat(core, resource)
  for (const terminal of core.sessionResources.of(uri)) forgetTerminal(core, terminal)
  core.jobs.stop(uri)
  core.jobs.mark(uri, false)
  for (const { clientId } of activeClients) core.departures.leave(clientId, uri)
  if (creator !== undefined) core.departures.leave(creator, uri)
  core.records.put(goneKey(uri), '')
  core.owners.forget(uri)
  core.catalog.delete(uri)
  const needless = core.contentRetention.forget(uri).filter((each) => !core.catalog.get(each))
  const seq = core.log.drop(session)
  if (announced) countSessions(core)
  core.log
    .reached(seq)
    .then(() => {
      core.catalog.listCommitted(uri)
      if (!unheard) core.sessionFeed.removed(uri)
      const dropped = needless.map((each) => core.store.blobs.drop(each))
      return Promise.all([...dropped, agentOf(core, provider)?.dispose?.(uri)])
    })
    .catch((error: unknown) => core.world.report('a disposed session left something behind', error))
  return seq
}

export const sessionEffects: Effects<'session'> = {
  'session/ready': (core, session) => {
    followGit(core, session)
    for (const { resource } of session.committedState.chats) {
      const chat = core.log.channel(resource, 'chat')
      if (chat) startTurn(core, chat)
    }
  },
}

/** The list follows every change of a session that everyone has been told of. */
export function sessionCommitted(core: Core, session: Channel<'session'>): void {
  const changes = core.catalog.update(session.uri, session.committedState)
  if (changes) core.sessionFeed.changed(session.uri, changes)
}

/** A client has not come back in time: what it made and nobody used goes, and it takes part in nothing any more. */
export async function clientDeparted(core: Core, clientId: string): Promise<void> {
  // Where nothing can be changed it is missed later.
  if (core.readOnlyReason() !== undefined) return core.departures.departed(clientId)
  for (const uri of core.departures.sessionsOf(clientId)) {
    const made = core.catalog.creatorOf(uri) === clientId
    const session = await (made ? wakeAll(core, uri) : wake(core, uri)).catch(unlessUnsound)
    // While it was woken its client may have come back.
    if (core.links.has(clientId)) return
    if (session?.is('session') && core.log.channel(uri) === session) takeLeave(core, session, clientId)
  }
  core.log.scheduleFlush()
}

/** A session that its maker left may have been used while it was woken: then it stays. */
function takeLeave(core: Core, session: Channel<'session'>, clientId: string): void {
  const { uri } = session
  if (core.catalog.creatorOf(uri) === clientId) return void forgetSession(core, session)
  const { activeClients } = session.head
  if (activeClients.some((client) => client.clientId === clientId))
    core.log.append(session, { type: 'session/activeClientRemoved', clientId })
  core.departures.leave(clientId, uri)
}

function firstState(
  { info, settings }: Agent,
  { activeClient, workingDirectories, config }: Params<'createSession'>,
): Omit<SessionState, 'chats'> {
  const schema = sessionSchema(settings?.schema)
  return compact<Omit<SessionState, 'chats'>>({
    provider: info.provider,
    title: '',
    status: Activity.Idle,
    lifecycle: 'creating',
    activeClients: activeClient ? [activeClient] : [],
    workingDirectories,
    customizations: info.customizations,
    config: { schema, values: resolvedValues(schema, config) },
  })
}

function creationProblem(
  { limits }: Core,
  { info, settings }: Agent,
  { workingDirectories = [], config }: Params<'createSession'>,
): string | undefined {
  if (new Set(workingDirectories).size < workingDirectories.length)
    return 'a working directory is named twice'
  for (const directory of workingDirectories) {
    const named = pathOf(directory)
    if (!named.ok) return `${JSON.stringify(directory.slice(0, 200))}: ${named.problem}`
  }
  if (workingDirectories.length > 1 && !info.capabilities?.multipleWorkingDirectories)
    return `${info.displayName} works in one directory`
  return (
    settingProblem(sessionSchema(settings?.schema), config) ??
    permissionValuesProblem(config, limits.permissions)
  )
}

/** A session with all its chats in memory, in one moment, but those that cannot be trusted any more. */
async function wakeAll(core: Core, uri: Uri): Promise<Channel<'session'>> {
  const damaged = new Set<Uri>()
  for (;;) {
    const session = core.log.channel(uri) ?? (await wake(core, uri))
    if (!session?.is('session') || !core.catalog.get(uri) || core.log.channel(uri) !== session)
      throw AhpError.sessionNotFound(uri)
    const { chats } = session.head
    const asleep = chats.filter(({ resource }) => !core.log.channel(resource) && !damaged.has(resource))
    if (asleep.length === 0) return session
    // All at once: on a slow disk the first would else be asleep again before the last is awake.
    await Promise.all(
      asleep.map(async ({ resource }) => {
        if (!(await wakeIfSound(core, resource))) damaged.add(resource)
      }),
    )
  }
}
