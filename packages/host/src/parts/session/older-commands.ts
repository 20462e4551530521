import { agentsOf } from '../agents/agents.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { AgentSelection, ModelSelection } from '@atrium/protocol/chat/message'
import { decode, id, natural, object, optional } from '@atrium/protocol/schema'
import type { SessionSummary } from '@atrium/protocol/session/state'
import type { Schema } from '@atrium/protocol/schema'
import { valuesUp } from '@atrium/protocol/versions/config-schema'
import { probeAgent, resolveSessionConfig } from '../agents/agents.ts'
import { withTurnsBefore } from '../../channels/history.ts'
import { cursorBefore } from '../../channels/cursor.ts'
import { sessionDiffs } from '../changes/session-diffs.ts'
import { wake } from '../../channels/wake.ts'
import { disposeChat } from '../chat/chat.ts'
import type { Core } from '../../kernel/core.ts'
import type { OlderMethod, OlderRequest } from '../../kernel/rules.ts'
import { primaryChat } from '../../catalog/primary-chat.ts'
import { createSession, disposeSession } from './session.ts'
import type { SessionFork, SessionSource } from './fork-session.ts'
import { whenCommitted } from '../../kernel/deferred-response.ts'

/** The methods of older versions that do something else than in the newest one. */
export const olderMethods: readonly OlderMethod[] = [
  { method: 'fetchTurns', has: ({ unpaged }) => unpaged, run: pageOfTurns },
  { method: 'listSessions', has: ({ unpaged, nested }) => unpaged && nested, run: allWithDiffs },
  { method: 'listSessions', has: ({ unpaged }) => unpaged, run: allSessions },
  { method: 'createSession', has: ({ strict }) => strict, run: createOlderSession },
  { method: 'resolveSessionConfig', has: ({ single }) => single, run: resolveOlderConfig },
  { method: 'disposeSession', has: ({ merged }) => merged, run: disposeNamed },
]

/**
 * Runs `fetchTurns` of AHP up to 0.5.0, where the page of turns is the result of the request. The page ends before
 * the turn that the client names.
 */
async function pageOfTurns({ core, params, sent }: OlderRequest): Promise<object> {
  const { before, limit } = read(pageParams, sent, 'fetchTurns')
  const chat = await wake(core, primaryChat(core, params.channel) ?? params.channel)
  if (!chat?.is('chat')) throw AhpError.sessionNotFound(params.channel)
  const cursor = before === undefined ? undefined : cursorBefore({ id: before })
  const request = { cursor, ...(limit !== undefined && { limit: Math.max(1, limit) }) }
  return withTurnsBefore(core, chat, request, ({ turns, turnsNextCursor }) => ({
    turns,
    hasMore: turnsNextCursor !== undefined,
  }))
}

/** Runs `listSessions` of AHP up to 0.5.0, where the list has no pages: returns all sessions. */
function allSessions({ core }: Pick<OlderRequest, 'core'>): { readonly items: readonly SessionSummary[] } {
  const items: SessionSummary[] = []
  for (let cursor: string | undefined, more = true; more;) {
    const page = catalogOf(core).page(undefined, cursor)
    items.push(...page.items)
    cursor = page.nextCursor
    more = cursor !== undefined
  }
  return { items }
}

/** Runs `listSessions` of AHP 0.1, where an entry has the files that the session has changed. */
async function allWithDiffs(request: OlderRequest): Promise<object> {
  const items: object[] = []
  // One after the other: the changesets are read from the store.
  for (const summary of allSessions(request).items) {
    const diffs = await sessionDiffs(request.core, summary.resource)
    items.push(diffs ? { ...summary, diffs } : summary)
  }
  return { items }
}

/**
 * Creates a session for a client of an older version. Before 0.9, `createSession` can fork another session. Up to 0.4, it also
 * chooses a model and an agent.
 */
async function createOlderSession(request: OlderRequest): Promise<unknown> {
  const { core, link, params, sent, generation, canonicalUri } = request
  const { fork, model, agent } = read(creationParams, withModelObject(sent), 'createSession')
  const { single, nested } = generation
  const source: SessionSource = {
    ...(fork && { fork: await forkOf(core, canonicalUri(fork.session), fork.turnId) }),
    ...(single && { selection: { model, agent } }),
  }
  // The schema of the method has checked the params.
  const creation = params as Params<'createSession'>
  const provider = creation.provider ?? (nested ? providerIn(core, sent) : undefined)
  const named = provider === undefined ? creation : { ...creation, provider }
  const given = single ? await withChoices(core, named) : named
  return whenCommitted(core, await createSession(core, link, given, source))
}

/** Runs `resolveSessionConfig` of AHP up to 0.4, where all choices of a setting are texts. */
async function resolveOlderConfig({ core, params }: OlderRequest): Promise<object> {
  // The schema of the method has checked the params.
  return resolveSessionConfig(core, await withChoices(core, params as Params<'resolveSessionConfig'>))
}

/**
 * Returns params in whose config each text is replaced by the choice that it means, if the agent's setting has
 * choices that are not texts, such as numbers. Up to AHP 0.4 a client sends the texts.
 */
async function withChoices<P extends { readonly provider?: string; readonly config?: object }>(
  core: Core,
  params: P,
): Promise<P> {
  if (params.config === undefined) return params
  const { settings } = await probeAgent(core, params.provider)
  return { ...params, config: valuesUp(settings?.schema, params.config) }
}

/**
 * Disposes of a session or of a chat. Versions up to 0.3 have no chats: one chat of a session is shown as the session
 * itself, and every other chat as a session of its own.
 */
async function disposeNamed({ core, params }: OlderRequest): Promise<unknown> {
  const isChat = catalogOf(core).sessionOf(params.channel) !== undefined
  return whenCommitted(core, await (isChat ? disposeChat(core, params) : disposeSession(core, params)))
}

/**
 * Finds the chat that has a turn, among the chats of a session. The chat that represents the session in versions
 * without chats (the primary chat) is searched first.
 */
async function forkOf(core: Core, session: Uri, turnId: string): Promise<SessionFork> {
  const summary = catalogOf(core).get(session)
  if (!summary) throw AhpError.sessionNotFound(session)
  const primary = primaryChat(core, session)
  const others = (summary.chats ?? []).map(({ resource }) => resource).filter((uri) => uri !== primary)
  for (const uri of primary === undefined ? others : [primary, ...others]) {
    const chat = await wake(core, uri)
    if (chat?.is('chat') && (chat.has(turnId) || chat.head.activeTurn?.id === turnId))
      return { chat: uri, turnId }
  }
  throw AhpError.invalidParams('createSession: fork: the session has no such turn')
}

/**
 * Returns the provider of a new session in AHP 0.1, where the scheme of the session's URI names it. Undefined if the
 * host has no such agent.
 */
function providerIn(core: Core, sent: object): string | undefined {
  const uri = 'session' in sent && typeof sent.session === 'string' ? sent.session : ''
  const scheme = uri.slice(0, Math.max(0, uri.indexOf(':')))
  return agentsOf(core).list.find(({ info }) => info.provider === scheme)?.info.provider
}

/** Returns the params with `model` as a selection. Some clients of AHP 0.1 send the id of a model in its place. */
function withModelObject(sent: object): object {
  return 'model' in sent && typeof sent.model === 'string' ? { ...sent, model: { id: sent.model } } : sent
}

function read<T>(schema: Schema<T>, sent: object, method: string): T {
  const decoded = decode(schema, sent)
  if (!decoded.ok) throw AhpError.invalidParams(`${method}: ${decoded.problem}`)
  return decoded.value
}

interface PageParams {
  readonly before?: string
  readonly limit?: number
}

interface CreationParams {
  readonly fork?: { readonly session: Uri; readonly turnId: string }
  readonly model?: ModelSelection
  readonly agent?: AgentSelection
}

const pageParams = object<PageParams>('OlderFetchTurnsParams', {
  before: optional(id),
  limit: optional(natural),
})
const forkSource = object<{ readonly session: Uri; readonly turnId: string }>('SessionForkSource', {
  session: id,
  turnId: id,
})
const creationParams = object<CreationParams>('OlderCreateSessionParams', {
  fork: optional(forkSource),
  model: optional(ModelSelection),
  agent: optional(AgentSelection),
})
