import { catalogOf } from '../core/catalog.ts'
import { changesOf } from '../core/changes/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Method, Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { JsonResult } from '@atrium/protocol/rpc/peer'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../kernel/core.ts'
import type { Link } from '../kernel/link.ts'
import { notifySpace } from '../kernel/space.ts'
import { agentsOf, resolveSessionConfig, sessionConfigCompletions } from '../agents/agents.ts'
import { authenticate } from '../auth/auth.ts'
import { createChat, disposeChat } from '../chat/chat.ts'
import { completions } from '../completions/completions.ts'
import { annotatedSession } from '../channels/annotations-channel.ts'
import { fetchTurns } from '../channels/history.ts'
import { moveChat } from '../session/move-chat.ts'
import {
  resourceCopy,
  resourceDelete,
  resourceMkdir,
  resourceMove,
  resourceRequest,
  resourceResolve,
  resourceWrite,
} from '../resources/resources.ts'
import { answerList, answerRead } from '../resources/read.ts'
import { createSession, disposeSession } from '../session/session.ts'
import { needsShownForms } from '../channels/oversized.ts'
import { needsRows } from '../channels/snapshot.ts'
import type { View } from '../channels/snapshot.ts'
import { createTerminal, disposeTerminal } from '../terminal/terminal.ts'
import { wake, wakeIfSound } from '../channels/wake.ts'
import { DeferredResponse, whenCommitted } from './deferred-response.ts'
import { createResourceWatch } from '../resources/watch.ts'

/** A connection that can subscribe to channels. */
export interface Subscriber extends Link {
  /** Throws if the connection already has the maximum number of subscriptions. */
  checkRoom(uri: Uri): void
  /** Whether a client of this protocol version can address the channel by this name. */
  reaches(channel: Channel, name: Uri): boolean
  /** The other channels that a subscription to a channel includes in the client's protocol version. */
  includedWith(uri: Uri): readonly Uri[]
  /** Subscribes to a channel under the name that the client uses. Returns the snapshot as JSON. */
  subscribe(channel: Channel, name: Uri, view?: View, latency?: number): string
  /** Makes a response from JSON text. The response is sent before everything that is delivered after this call. */
  answer(text: string): JsonResult
}

/** Runs a command. `name` is the channel's name as the client wrote it. */
type Run<M extends Method> = (core: Core, link: Subscriber, params: Params<M>, name: Uri) => unknown

/** The commands of an open connection. Any other method is unknown. */
const table: { readonly [M in Method]?: Run<M> } = {
  subscribe: (core, link, { channel: uri, view, delivery }, name) => {
    link.checkRoom(uri)
    const answer = (channel: Channel | undefined) => {
      if (!channel || !link.reaches(channel, name)) throw missingChannel(core, uri, name)
      const text = `{"snapshot":${link.subscribe(channel, name, view, delivery?.maxLatencyMs)}}`
      const response = link.answer(text)
      if (core.log.diskFull) notifySpace(core, link, true)
      return response
    }
    const uris = [uri, ...link.includedWith(uri)]
    if (uris.every((each) => isReady(core, each, view))) return answer(core.log.channel(uri))
    return wakeTogether(core, uris, view ?? {}).then(answer)
  },
  authenticate: (core, link, params) =>
    // An agent or an MCP server may need long to check the sign-in, and the client's later requests must not wait so long.
    new DeferredResponse(
      authenticate(core, link, params)
        .then(({ seq }) => core.log.reached(seq))
        .then(() => ({})),
    ),
  listSessions: (core, _, { limit, cursor }) => catalogOf(core).page(limit, cursor),
  createSession: async (core, link, params) => whenCommitted(core, await createSession(core, link, params)),
  disposeSession: async (core, _, params) => whenCommitted(core, await disposeSession(core, params)),
  resolveSessionConfig: (core, _, params) => resolveSessionConfig(core, params),
  sessionConfigCompletions: (core, _, params) => sessionConfigCompletions(core, params),
  createChat: async (core, _, params) => whenCommitted(core, await createChat(core, params)),
  disposeChat: async (core, _, params) => whenCommitted(core, await disposeChat(core, params)),
  moveChat: async (core, link, params) => {
    const moving = moveChat(core, link, params)
    const committed = async () => {
      const { seq, session } = await moving
      await core.log.reached(seq)
      return { session }
    }
    // An agent may need a long time to create a session, and the client's later requests must not wait so long.
    if (params.destination.kind !== 'newSession') await moving
    return new DeferredResponse(committed())
  },
  createTerminal: async (core, link, params) => whenCommitted(core, await createTerminal(core, link, params)),
  disposeTerminal: async (core, _, params) => whenCommitted(core, await disposeTerminal(core, params)),
  resourceRead: (core, link, params) => reads(link, answerRead(core, link, params)),
  resourceList: (core, link, params) => reads(link, answerList(core, link, params)),
  resourceResolve: (core, link, params) => reads(link, resourceResolve(core, link, params)),
  resourceWrite: (core, link, params) => writes(link, () => resourceWrite(core, link, params)),
  resourceMkdir: (core, link, params) => writes(link, () => resourceMkdir(core, link, params)),
  resourceDelete: (core, link, params) => writes(link, () => resourceDelete(core, link, params)),
  resourceCopy: (core, link, params) => writes(link, () => resourceCopy(core, params)),
  resourceMove: (core, link, params) => writes(link, () => resourceMove(core, params)),
  resourceRequest: (core, _, params) => resourceRequest(core, params),
  invokeChangesetOperation: (core, _, params) => {
    const changes = changesOf(core)
    if (!changes) throw AhpError.methodNotFound('invokeChangesetOperation')
    // An operation may wait for others, and the client's later requests must not wait so long.
    return new DeferredResponse(changes.invoke(params))
  },
  createResourceWatch: (core, _, params) => createResourceWatch(core, params),
  completions: async (core, _, params, name) => {
    // VS Code asks on the channel of the session, and means its default chat.
    const uri = catalogOf(core).get(params.channel)?.defaultChat ?? params.channel
    const chat = await chatNamed(core, uri, name)
    // Later requests do not wait for completions: completions change no state, and the user goes on typing.
    return new DeferredResponse(completions(core, chat, params))
  },
  fetchTurns: async (core, link, { channel: uri, cursor }, name) => {
    const chat = await chatNamed(core, uri, name)
    return whenCommitted(core, { seq: await fetchTurns(core, link, chat, cursor) }, {})
  },
}

/** Whether a channel is in memory with everything that a snapshot of the view needs. */
function isReady(core: Core, uri: Uri, view: View | undefined): boolean {
  const awake = core.log.channel(uri)
  if (awake?.committed === undefined || changesOf(core)?.isStale(awake)) return false
  return !needsRows(core, awake, view) && !needsShownForms(core, awake)
}

/**
 * Loads a channel, and the channels that its snapshot includes, into memory. Returns the channel as soon as all of
 * these channels, as far as they exist, are in memory at the same time.
 */
async function wakeTogether(core: Core, uris: readonly Uri[], view: View): Promise<Channel | undefined> {
  for (;;) {
    // A damaged changeset must not keep a client from the session that includes it.
    const needed = (uri: Uri, at: number) => at === 0 || catalogOf(core).sessionOf(uri) !== undefined
    const wakeEach = (uri: Uri, at: number) => (needed(uri, at) ? wake : wakeIfSound)(core, uri, view)
    const channels = await Promise.all(uris.map(wakeEach))
    for (const channel of channels) if (channel) await changesOf(core)?.markStale(channel)
    if (channels.every((channel) => !channel || core.log.channel(channel.uri) === channel)) return channels[0]
  }
}

/**
 * The error of a subscription to a missing channel. The annotations of a session may be missing only because a
 * read-only host cannot create them; then the error says why.
 */
function missingChannel(core: Core, uri: Uri, name: Uri): AhpError {
  const reason = annotatedSession(core, uri) === undefined ? undefined : core.readOnlyReason()
  if (reason !== undefined) return AhpError.permissionDenied(reason)
  if (namesSession(core, uri)) return AhpError.sessionNotFound(name)
  return AhpError.notFound(`no channel ${JSON.stringify(name.slice(0, 200))}`)
}

/** Whether a URI has one of the forms that clients give to sessions: `ahp-session:/<id>` or `<provider>:/<id>`. */
function namesSession(core: Core, uri: Uri): boolean {
  const scheme = /^([^:]+):\/[^/]+$/.exec(uri)?.[1]
  return scheme === 'ahp-session' || agentsOf(core).list.some(({ info }) => info.provider === scheme)
}

async function chatNamed(core: Core, uri: Uri, name: Uri): Promise<Channel<'chat'>> {
  const chat = await wake(core, uri)
  if (!chat?.is('chat')) throw AhpError.notFound(`no chat ${JSON.stringify(name.slice(0, 200))}`)
  return chat
}

type AnyRun = (core: Core, link: Subscriber, params: unknown, name: Uri) => unknown

/**
 * The commands by method. The caller has checked the params by the schema of the method. The type of the map cannot
 * express this, hence the cast.
 */
export const hostCommands: ReadonlyMap<string, AnyRun> = new Map(Object.entries(table) as [string, AnyRun][])

/** Runs a read of files concurrently with other reads, because a client that opens a folder requests a hundred files at once. */
function reads(link: Subscriber, reading: Promise<object>): DeferredResponse {
  const others = readsOf.get(link) ?? new Set()
  readsOf.set(link, others.add(reading))
  void reading.finally(() => others.delete(reading)).catch(() => {})
  return new DeferredResponse(reading)
}

/** Runs a write of files after all earlier reads of the same client. The client's later requests wait for the write. */
async function writes(link: Subscriber, write: () => Promise<object>): Promise<object> {
  const before: readonly Promise<object>[] = [...(readsOf.get(link) ?? [])]
  await Promise.allSettled(before)
  return write()
}

const readsOf = new WeakMap<Subscriber, Set<Promise<object>>>()
