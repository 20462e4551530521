import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { Activity } from '@atrium/protocol/status'
import { rootUri } from '@atrium/protocol/uri'
import { shared } from './catalog.ts'
import type { Channel } from './channel.ts'
import { tellRoot } from './core.ts'
import type { Core, Link } from './core.ts'
import { countSessions } from './root.ts'
import { rest } from './rest.ts'
import type { Effects, Guards } from './rules.ts'
import { wake } from './wake.ts'

/** Resolved with the number after which a command may be answered. */
type Done = Promise<{ readonly seq: number }>

export async function createSession(core: Core, link: Link, params: Params<'createSession'>): Done {
  changeable(core)
  const { channel: uri, activeClient, workingDirectories } = params
  if (activeClient && activeClient.clientId !== link.clientId)
    throw AhpError.invalidParams('createSession: activeClient.clientId is not the caller')
  const gone = await core.records.get(goneKey(uri))
  // From here on nothing waits: the check and the birth are one step.
  if (gone !== undefined || core.catalog.get(uri) || core.log.channel(uri))
    throw AhpError.sessionAlreadyExists(uri)
  if (core.catalog.size >= core.limits.sessions)
    throw AhpError.permissionDenied(`there are ${core.catalog.size} sessions: dispose of some first`)
  const provider = providerFor(core, params.provider)
  const state: SessionState = {
    provider,
    title: '',
    status: Activity.Idle,
    lifecycle: 'creating',
    activeClients: activeClient ? [activeClient] : [],
    chats: [],
    ...(workingDirectories && { workingDirectories }),
  }
  const session = core.log.born(uri, 'session', state)
  const now = new Date(core.world.now()).toISOString()
  core.catalog.set({ ...shared(state), resource: uri, createdAt: now, modifiedAt: now })
  countSessions(core)
  const { last } = core.log.append(session, { type: 'session/ready' })
  rest(core, session)
  return { seq: last }
}

export async function disposeSession(core: Core, { channel: uri }: Params<'disposeSession'>): Done {
  changeable(core)
  const session = await wake(core, uri)
  if (!session || session.kind.name !== 'session' || !core.catalog.get(uri))
    throw AhpError.sessionNotFound(uri)
  core.catalog.delete(uri)
  core.records.put(goneKey(uri), '')
  const seq = core.log.drop(session)
  countSessions(core)
  core.log
    .reached(seq)
    .then(() => {
      core.catalog.told(uri)
      tellRoot(core, 'root/sessionRemoved', { session: uri })
      return core.store.blobs.drop(uri)
    })
    .catch((error: unknown) => core.world.report('blobs not dropped', error))
  return { seq }
}

export const sessionGuards: Guards<SessionState, SessionAction> = {
  'session/activeClientSet': (_, { activeClient }, by) =>
    activeClient.clientId === by.clientId ? undefined : 'a client can only speak for itself',
  'session/activeClientRemoved': (state, { clientId }, by) => {
    if (clientId !== by.clientId) return 'a client can only speak for itself'
    return state.activeClients.some((client) => client.clientId === clientId)
      ? undefined
      : 'not an active client'
  },
  'session/configChanged': (state, { config }) => {
    const fixed = Object.keys(config).find((key) => !state.config?.schema.properties[key]?.sessionMutable)
    return fixed === undefined ? undefined : `${JSON.stringify(fixed)} cannot be changed in this session`
  },
}

export const sessionEffects: Effects<SessionAction> = {
  'session/ready': (core, { uri }) => {
    core.catalog.told(uri)
    // After the answer to createSession, which is on its way.
    core.world.later(0, () => {
      const summary = core.catalog.get(uri)
      if (summary) tellRoot(core, 'root/sessionAdded', { summary })
    })
  },
}

/** The list follows every change of a session. */
export function followSession(core: Core, session: Channel): void {
  const changes = core.catalog.follow(session.uri, session.told as SessionState)
  if (!changes) return
  const { provider: _, ...told } = changes as Partial<SessionSummary>
  tellRoot(core, 'root/sessionSummaryChanged', { session: session.uri, changes: told })
}

/** Refuses what would have to be kept where nothing can be. */
function changeable(core: Core): void {
  const reason = core.unchangeable()
  if (reason !== undefined) throw AhpError.permissionDenied(reason)
}

function providerFor(core: Core, asked: string | undefined): string {
  const root = core.log.channel(rootUri)?.head as RootState | undefined
  const configured = root?.config?.values['atrium.defaultProvider']
  const wanted = asked ?? (typeof configured === 'string' ? configured : core.agents[0]?.provider) ?? ''
  if (!core.agents.some((agent) => agent.provider === wanted)) throw AhpError.providerNotFound(wanted)
  return wanted
}

/** A URI that was used once names nothing else, ever. */
function goneKey(uri: string): string {
  return `gone/${uri}`
}
