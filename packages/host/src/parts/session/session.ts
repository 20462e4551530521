import { aliasesOf } from '../../catalog/aliases.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import { ownersOf } from '../../catalog/owners.ts'
import { machinesOf } from '../../catalog/machines.ts'
import { sessionResourcesOf } from '../../catalog/session-resources.ts'
import { contentRetentionOf } from '../../catalog/content-retention.ts'
import { listChangesOf } from '../../catalog/session-list/list-changes.ts'
import { sessionFeedOf } from '../../catalog/session-feed.ts'
import { worktreeIdsOf } from '../../catalog/machine.ts'
import { worktreesOf } from '../../catalog/machine.ts'
import { departuresOf } from '../../catalog/departures.ts'
import { customizationsOf } from '../../catalog/customizing.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionState } from '@atrium/protocol/session/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { annotationsUri, defaultChatUri, sessionUri } from '@atrium/protocol/uri'
import { agentOf, chooseAgent, probeAgent } from '../agents/agents.ts'
import { requireSignIn } from '../auth/needed.ts'
import { forgetAnnotations } from '../../channels/annotations-channel.ts'
import { isGone, setGone, wasUnused } from '../../channels/gone.ts'
import { aliasTaken, assignAlias, changeable, isUsed } from '../../channels/names.ts'
import type { Mutation } from '../../channels/names.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Entry } from '../../kernel/log/entry.ts'
import { forgetChat } from '../chat/chat.ts'
import { newChat, newSummary } from '../chat/new-chat.ts'
import { startTurn } from '../chat/start-turn.ts'
import type { Core } from '../../kernel/core.ts'
import type { Link } from '../../kernel/link.ts'
import { runCreation } from './creation.ts'
import { copyForSession, defaultChatOptions } from './fork-session.ts'
import type { SessionSource } from './fork-session.ts'
import { selectionMeta } from './selection.ts'
import type { Agent } from '../../ports/agent.ts'
import { noProgress, progressTo } from './progress.ts'
import { followGit, projectOf } from '../resources/project.ts'
import { sleepWhenIdle } from '../../channels/sleep.ts'
import { announce, countSessions } from '../../catalog/announce.ts'
import type { Effects } from '../../kernel/rules.ts'
import { permissionValuesProblem, sessionSchema, settingProblem, resolvedValues } from '../agents/settings.ts'
import { forgetTerminal } from '../terminal/terminal.ts'
import { withAsking } from '../turn/consent.ts'
import { assignWorktree, removeWorktrees, worktreeProblem } from '../worktrees/worktrees.ts'
import { wake, wakeIfSound } from '../../channels/wake.ts'

/** Who creates a session: a client, or the host itself for a principal. */
type Creator = Link | { readonly principal: string; readonly clientId?: undefined }

export async function createSession(
  core: Core,
  link: Creator,
  params: Params<'createSession'>,
  { fork, selection = {}, origin, begun }: SessionSource = {},
): Mutation {
  changeable(core)
  const { channel: name, activeClient, progressToken } = params
  if (activeClient && activeClient.clientId !== link.clientId)
    throw AhpError.invalidParams('createSession: activeClient.clientId is not the caller')
  const { provider } = chooseAgent(core, params.provider).info
  const again = name.startsWith(`${provider}:/`) && (await wasUnused(core, name))
  // No URI names two channels. So a session that is created again has another URI, and the name becomes its alias (H16.6).
  const uri = again ? sessionUri(core.world.id()) : name
  const chat = defaultChatUri(uri)
  const gone = await Promise.all([uri, chat].map((each) => isGone(core, each)))
  const taken = await aliasTaken(core, uri, provider)
  const project = await projectOf(core, params.workingDirectories?.[0])
  if (chooseAgent(core, params.provider).probe)
    await probeAgent(core, params.provider, params.workingDirectories?.[0])
  // No `await` from here on: the checks and the creation are one step. The exception is the copy of a fork, after which the
  // checks are repeated.
  if (gone.includes(true) || isUsed(core, chat) || isUsed(core, annotationsUri(uri)))
    throw AhpError.sessionAlreadyExists(name)
  checkCreation(core, link, params)
  const summary = newSummary(core, chat, defaultChatOptions(core, fork))
  const check = () => checkCreation(core, link, params)
  const copied = fork && (await copyForSession(core, fork, summary, check))
  const agent = chooseAgent(core, params.provider)
  const _meta = withAsking(selectionMeta(selection), agent)
  const more = { ...(project && { project }), ...(origin && { origin }), ...(_meta && { _meta }) }
  const first = { ...firstState(core, agent, params), ...more }
  const state: SessionState = { ...first, title: summary.title, chats: [summary], defaultChat: chat }
  const session = createSessionChannel(core, link, { uri, state, createdAt: summary.modifiedAt })
  assignWorktree(core, uri, params.config)
  if (again) aliasesOf(core).assign(uri, name)
  else if (taken) assignAlias(core, uri, agent.info.provider)
  const begunChat = newChat(core, uri, summary, copied)
  // Lets the session leave memory as soon as nothing needs it. This comes after the creation of the chat: a chat in
  // memory keeps its session in memory.
  sleepWhenIdle(core, session)
  if (copied || !createsInAdvance(core, link)) announce(core, session)
  begun?.(session, begunChat)
  const seq = core.log.last
  const isAsked = progressToken !== undefined && link.clientId !== undefined
  const progress = isAsked ? progressTo(link, progressToken) : noProgress
  void core.log.reached(seq).then(() => runCreation(core, session, progress))
  return { seq }
}

/** Throws if a session cannot be created now. */
function checkCreation(core: Core, link: Creator, params: Params<'createSession'>): void {
  changeable(core)
  if (isUsed(core, params.channel)) throw AhpError.sessionAlreadyExists(params.channel)
  if (catalogOf(core).size >= core.limits.sessions)
    throw AhpError.permissionDenied(`there are ${catalogOf(core).size} sessions: dispose of some first`)
  const agent = chooseAgent(core, params.provider)
  const problem = creationProblem(core, agent, params)
  if (problem !== undefined) throw AhpError.invalidParams(`createSession: ${problem}`)
  if (!createsInAdvance(core, link)) requireSignIn(core, agent, link.principal)
}

/** Whether the client creates sessions before they are needed. No agent starts before the first turn of such a session. */
function createsInAdvance({ clients }: Core, { clientId }: Creator): boolean {
  return (
    clientId !== undefined &&
    clients.habits(clients.implementationOf(clientId)?.name).createsInAdvance === true
  )
}

interface NewSession {
  readonly uri: Uri
  readonly state: SessionState
  readonly createdAt: string
}

/** Creates the channel of a session. The session is not announced yet. */
export function createSessionChannel(
  core: Core,
  link: Creator,
  { uri, state, createdAt }: NewSession,
): Channel<'session'> {
  const session = core.log.create(uri, 'session', state)
  catalogOf(core).add(uri, createdAt, state, link.clientId ?? '')
  ownersOf(core).assign(uri, link.principal)
  machinesOf(core).assign(uri)
  core.jobs.mark(uri, true)
  if (link.clientId === undefined) return session
  departuresOf(core).join(link.clientId, uri)
  // The client may have disconnected during the reads before this step. No other code would notice its departure from the
  // new session.
  if (core.clients.links.get(link.clientId) !== link) departuresOf(core).departed(link.clientId)
  return session
}

export async function disposeSession(core: Core, { channel: uri }: Params<'disposeSession'>): Mutation {
  changeable(core)
  const session = await wakeAll(core, uri)
  // Another client may have disposed of the session meanwhile.
  if (core.log.channel(uri) !== session) throw AhpError.sessionNotFound(uri)
  return { seq: forgetSession(core, session) }
}

/** Removes a session that is in memory, and all its chats, in one step. Returns the sequence number of that step. */
export function forgetSession(core: Core, session: Channel<'session'>): number {
  const { uri } = session
  const { provider, activeClients, chats } = session.head
  const creator = catalogOf(core).creatorOf(uri)
  const announced = creator === undefined
  const unlisted = catalogOf(core).isUnlisted(uri)
  for (const { resource } of chats) forgetChat(core, resource, uri)
  for (const part of sessionResourcesOf(core).of(uri))
    if (part === annotationsUri(uri)) forgetAnnotations(core, part)
    else forgetTerminal(core, part)
  core.jobs.stop(uri)
  core.jobs.mark(uri, false)
  for (const { clientId } of activeClients) departuresOf(core).leave(clientId, uri)
  if (creator !== undefined) departuresOf(core).leave(creator, uri)
  const alias = aliasesOf(core).forget(uri)
  for (const each of [uri, alias]) if (each !== undefined) setGone(core, each, !announced)
  ownersOf(core).forget(uri)
  machinesOf(core).forget(uri)
  customizationsOf(core)?.forget(uri)
  changesOf(core)?.forgotten(uri)
  catalogOf(core).delete(uri)
  const unreferenced = contentRetentionOf(core)
    .forget(uri)
    .filter((each) => !catalogOf(core).get(each))
  const seq = core.log.drop(session)
  if (announced) {
    listChangesOf(core).removed(uri, { seq, alias })
    countSessions(core)
  }
  core.log
    .reached(seq)
    .then(() => {
      catalogOf(core).listCommitted(uri)
      core.parts.disposed(session)
      if (!unlisted) sessionFeedOf(core).removed(uri)
      const dropped = unreferenced.map((each) => core.store.blobs.drop(each))
      return Promise.all([...dropped, agentOf(core, provider)?.dispose?.(uri)])
    })
    // At this point the agent no longer uses the worktree.
    .then(async () => {
      if (worktreeIdsOf(core).size > 0) await removeWorktrees(core)
    })
    .catch((error: unknown) => core.world.report('cleaning up after a disposed session failed', error))
  return seq
}

export const sessionEffects: Effects<'session'> = {
  'session/ready': (core, session) => {
    followGit(core, session)
    void changesOf(core)?.offer(session)
    void customizationsOf(core)?.refresh(session.uri)
    for (const { resource } of session.committedState.chats) {
      const chat = core.log.channel(resource, 'chat')
      if (chat) startTurn(core, chat)
    }
  },
}

/** Updates the session list after a committed change of a session. Tells the agent when the last client has left. */
export function sessionCommitted(core: Core, session: Channel<'session'>, { action: { type } }: Entry): void {
  const changes = catalogOf(core).update(session.uri, session.committedState)
  if (changes) sessionFeedOf(core).changed(session.uri, changes)
  if (type === 'session/activeClientRemoved') releaseAgent(core, session)
}

/** Tells the agent of an idle session that no client is left, and that none is expected back. */
export function releaseAgent(core: Core, { uri, committedState }: Channel<'session'>): void {
  const { activeClients, chats, provider } = committedState
  const isIdle = chats.every(({ status }) => activityOf(status) !== Activity.InProgress)
  if (activeClients.length === 0 && isIdle && !departuresOf(core).isAwaited(uri))
    agentOf(core, provider)?.release?.(uri)
}

function firstState(
  core: Core,
  { info, settings, tools }: Agent,
  { activeClient, workingDirectories, config }: Params<'createSession'>,
): Omit<SessionState, 'chats'> {
  const schema = sessionSchema(settings?.schema, core)
  return compact<Omit<SessionState, 'chats'>>({
    provider: info.provider,
    title: '',
    status: Activity.Idle,
    lifecycle: 'creating',
    activeClients: activeClient ? [activeClient] : [],
    workingDirectories,
    serverTools: tools,
    customizations: info.customizations,
    config: { schema, values: resolvedValues(schema, config) },
  })
}

export function creationProblem(
  core: Core,
  { info, settings }: Agent,
  { workingDirectories = [], config }: Pick<Params<'createSession'>, 'workingDirectories' | 'config'>,
): string | undefined {
  if (new Set(workingDirectories).size < workingDirectories.length)
    return 'a working directory is given twice'
  for (const directory of workingDirectories) {
    const named = pathOf(directory)
    if (!named.ok) return `${JSON.stringify(directory.slice(0, 200))}: ${named.problem}`
  }
  if (workingDirectories.length > 1 && !info.capabilities?.multipleWorkingDirectories)
    return `${info.displayName} supports one working directory`
  return (
    settingProblem(sessionSchema(settings?.schema, core), config) ??
    permissionValuesProblem(config, core.limits.permissions) ??
    (worktreesOf(core) ? worktreeProblem(config, workingDirectories) : undefined)
  )
}

/**
 * Loads a session and all its chats. Afterwards all of them are in memory at the same time, except for damaged chats.
 */
export async function wakeAll(core: Core, uri: Uri): Promise<Channel<'session'>> {
  const damaged = new Set<Uri>()
  for (;;) {
    const session = core.log.channel(uri) ?? (await wake(core, uri))
    if (!session?.is('session') || !catalogOf(core).get(uri) || core.log.channel(uri) !== session)
      throw AhpError.sessionNotFound(uri)
    const { chats } = session.head
    const asleep = chats.filter(({ resource }) => !core.log.channel(resource) && !damaged.has(resource))
    if (asleep.length === 0) return session
    // The chats are loaded concurrently. One by one, on a slow disk, the first could leave memory again before the
    // last is loaded.
    await Promise.all(
      asleep.map(async ({ resource }) => {
        if (!(await wakeIfSound(core, resource))) damaged.add(resource)
      }),
    )
  }
}
