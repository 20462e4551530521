import type { Snapshot, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { commands } from '@atrium/protocol/commands'
import type { Method, Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { decode } from '@atrium/protocol/schema'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { negotiate } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { actionOf } from '../src/kit/action.ts'
import { defaultChatOf, newChat } from './wrong-creation.ts'
import { createChat, disposeChat, disposeChats, fetchTurns, viewOf } from './wrong-chats.ts'
import { authenticate, needsLogin, protectedAgent } from './wrong-auth.ts'
import { fetchAutomationRuns, runAutomation } from './wrong-automations.ts'
import { complete } from './wrong-completions.ts'
import { moveChat } from './wrong-moves.ts'
import { tracesUri } from './wrong-telemetry.ts'
import type { Subscriber, WrongLog } from './wrong-log.ts'

/** Two settings. Only `mood` can change after the session is created. */
const config = {
  schema: {
    type: 'object',
    properties: {
      place: { type: 'string', title: 'Place', enum: ['here', 'there'] },
      mood: { type: 'string', title: 'Mood', sessionMutable: true },
    },
  },
  values: { place: 'here' },
}

type Run = (params: { readonly [key: string]: unknown }) => unknown

/** The commands that one link may call. */
export function commandsOf(host: WrongLog, link: Subscriber): ReadonlyMap<string, Run> {
  const firstSnapshots = new Map<Uri, Snapshot>()

  const snapshot = (uri: Uri, turns?: number): Snapshot => {
    const { kind, state } = host.channels.get(uri) ?? {}
    const low = host.has('fromSeqTooLow') && kind !== 'chat'
    const fromSeq = low ? Math.max(0, host.seq - 1) : host.seq
    return {
      resource: uri,
      state: kind === 'chat' ? viewOf(host, state as ChatState, turns) : state,
      fromSeq,
    }
  }

  const run = <M extends Method>(method: M, answer: (params: Params<M>) => unknown): [string, Run] => [
    method,
    (received) => {
      const known = commands.get(method)?.params
      if (!known || !host.defines(method)) throw AhpError.methodNotFound(method)
      if (host.has('strictParams') && 'x-conformance' in received)
        throw AhpError.invalidParams('x-conformance')
      if (host.has('nullRefused') && Object.values(received).includes(null))
        throw AhpError.invalidParams('null')
      const decoded = decode(known, received)
      if (decoded.ok) return answer(decoded.value as Params<M>)
      throw host.has('badParamsNotFound')
        ? AhpError.notFound(method)
        : AhpError.invalidParams(decoded.problem)
    },
  ]

  return new Map<string, Run>([
    run('ping', () => {
      if (host.has('pingNeedsInitialize') && link.clientId === '')
        throw AhpError.invalidRequest('initialize first')
      return null
    }),

    run('initialize', ({ protocolVersions, clientId, initialSubscriptions = [], locale }) => {
      if (host.has('localeRefused') && locale !== undefined) throw AhpError.invalidParams('locale')
      const protocolVersion = selectVersion(host, link, protocolVersions)
      link.clientId = clientId
      host.clients.set(clientId, link.subscriptions)
      const existing = initialSubscriptions.filter((uri) => host.channels.has(uri))
      const snapshots = existing.map((uri) => {
        if (uri === rootUri || !host.has('initialNotSubscribed')) link.subscriptions.add(uri)
        return snapshot(uri)
      })
      const returned = host.has('initialRootMissing')
        ? snapshots.filter(({ resource }) => resource !== rootUri)
        : snapshots
      const serverSeq = host.has('serverSeqAhead') ? host.seq + 100 : host.seq
      return {
        protocolVersion,
        serverSeq,
        ...(!host.has('noAutomations') && { automations: { create: {} } }),
        ...(!host.has('noTelemetry') && { telemetry: { traces: tracesUri } }),
        ...(!host.has('noTriggers') && { completionTriggerCharacters: ['@'] }),
        ...(!(host.has('snapshotsLeftOut') && returned.length === 0) && { snapshots: returned }),
      }
    }),

    run('reconnect', ({ clientId, lastSeenServerSeq: seen, subscriptions }) => {
      const before = host.clients.get(clientId)
      if (!before) {
        if (host.has('unknownClientClosed')) link.close()
        throw AhpError.notFound('unknown client')
      }
      link.clientId = clientId
      const existing = subscriptions.filter((uri) => host.channels.has(uri))
      const restored = host.has('allSubscriptionsRestored') ? [...before, ...existing] : existing
      for (const uri of restored) link.subscriptions.add(uri)
      host.clients.set(clientId, link.subscriptions)
      if (host.has('notificationsReplayed')) for (const notification of host.notified) link.send(notification)
      if (host.has('snapshotsOnly') || (seen > host.seq && !host.has('futureNumberReplayed')))
        return { type: 'snapshot', snapshots: existing.map((uri) => snapshot(uri)) }
      const from = host.has('replayInclusive') ? seen - 1 : seen
      const later = host.log.filter(
        ({ channel, serverSeq }) => existing.includes(channel) && serverSeq > from,
      )
      const replayed = host.has('chatsNotReplayed')
        ? later.filter(({ channel }) => host.channels.get(channel)?.kind !== 'chat')
        : later
      const actions = host.has('replayOffByOne') ? replayed.slice(1) : replayed
      if (host.has('replayedAgain')) setImmediate(() => actions.forEach((envelope) => link.deliver(envelope)))
      const missing = subscriptions.filter((uri) => !existing.includes(uri))
      return { type: 'replay', actions, missing: host.has('missingNotReported') ? [] : missing }
    }),

    run('subscribe', ({ channel: uri, view }) => {
      if (uri === tracesUri) {
        link.subscriptions.add(uri)
        return host.has('tracesHaveSnapshot') ? { snapshot: snapshot(rootUri) } : {}
      }
      if (!host.channels.has(uri) && host.has('unknownSubscribed')) return {}
      if (!host.channels.has(uri)) throw AhpError.notFound(uri)
      link.subscriptions.add(uri)
      const fresh = snapshot(uri, view?.turns)
      if (view?.turns !== undefined) link.views.set(uri, view.turns)
      if (!firstSnapshots.has(uri)) firstSnapshots.set(uri, fresh)
      const returned = host.has('staleSnapshot') ? firstSnapshots.get(uri) : fresh
      if (uri === rootUri && host.has('rootStateEmpty')) return { snapshot: { ...fresh, state: {} } }
      const incomplete = host.channels.get(uri)?.kind === 'session' && host.has('sessionStateIncomplete')
      const { activeClients: _, ...rest } = fresh.state as SessionState
      return { snapshot: incomplete ? { ...fresh, state: rest } : returned }
    }),

    run('listSessions', ({ limit = 100, cursor }) => {
      const all = [...host.summaries.values()].filter(({ resource }) => !host.unannounced.has(resource))
      const known = cursor === undefined || /^\d+$/.test(cursor)
      if (!known && !host.has('anyCursorAccepted')) throw AhpError.invalidParams('cursor')
      const start = known ? Number(cursor ?? 0) : 0
      const items = host.has('sessionsNotListed') ? [] : all.slice(start, start + Math.max(1, limit))
      const next = start + Math.max(1, limit) + (host.has('pagesSkipOne') ? 1 : 0)
      if (host.has('onePage')) return { items: all }
      return { items, ...(next < all.length && { nextCursor: String(next) }) }
    }),

    run('createSession', ({ channel: uri, provider = 'mock', activeClient, progressToken }) => {
      if (host.channels.has(uri) && !host.has('usedUriAccepted')) throw AhpError.sessionAlreadyExists(uri)
      if (host.has('noAgent')) throw AhpError.providerNotFound(provider)
      const isProtected = provider === protectedAgent.provider && !host.has('noLogin')
      if (isProtected && !host.loggedIn.has(link)) throw needsLogin(host)
      if (provider !== 'mock' && !isProtected && !host.has('anyProviderAccepted'))
        throw AhpError.providerNotFound(provider)
      if (activeClient && activeClient.clientId !== link.clientId && !host.has('anyActiveClientAccepted'))
        throw AhpError.invalidParams('activeClient')
      const chat = defaultChatOf(host, uri)
      const now = new Date().toISOString()
      const named = host.has('providerUris') ? uri.slice(0, uri.indexOf(':')) : provider
      const shared = { provider: named, title: '', status: 1 }
      const summary = newChat(host, uri, chat)
      const phantom = host.has('phantomChatListed') ? [{ ...summary, resource: `${chat}/phantom` }] : []
      const chats = host.has('noChat') ? { chats: [] } : { chats: [summary, ...phantom], defaultChat: chat }
      const rest = { activeClients: activeClient ? [activeClient] : [], ...chats, config }
      const lifecycle = host.has('neverReady') ? 'provisioning' : 'creating'
      host.channels.set(uri, { kind: 'session', state: { ...shared, lifecycle, ...rest } })
      host.summaries.set(uri, { ...shared, resource: uri, createdAt: now, modifiedAt: now })
      const late = host.has('sessionsAtFirstTurn')
      if (!host.has('neverReady') && !late) host.append(uri, actionOf('session/ready'))
      if (host.has('announcedAtFirstUse') || late) host.unannounced.add(uri)
      else host.announce(uri)
      if (progressToken !== undefined) reportProgress(host, link, progressToken)
      return host.has('createReturnsMore') ? { channel: uri } : null
    }),

    run('disposeSession', ({ channel: uri }) => {
      if (!host.summaries.has(uri) && host.has('anyDisposeAccepted')) return null
      if (!host.summaries.has(uri)) throw AhpError.sessionNotFound(uri)
      if (!host.has('disposedReadable')) host.channels.delete(uri)
      disposeChats(host, uri)
      if (!host.has('disposedListed')) host.summaries.delete(uri)
      if (!host.unannounced.delete(uri)) {
        host.countSessions()
        host.notify('root/sessionRemoved', { session: uri })
      }
      return null
    }),

    run('runAutomation', (params) => runAutomation(host, params)),
    run('fetchAutomationRuns', (params) => fetchAutomationRuns(host, params)),
    run('completions', ({ channel, text, offset }) => complete(host, channel, text, offset)),
    run('authenticate', ({ resource }) => authenticate(host, link, resource)),
    run('createChat', ({ channel, chat, source }) => createChat(host, channel, chat, source)),
    run('moveChat', (params) => moveChat(host, params)),
    run('disposeChat', ({ channel }) => disposeChat(host, channel)),
    run('fetchTurns', ({ channel, cursor }) => fetchTurns(host, link, channel, cursor)),
  ])
}

function reportProgress(host: WrongLog, link: Subscriber, progressToken: string): void {
  if (host.has('noProgress')) return
  const steps = host.has('progressDecreases')
    ? [1, 0, 2]
    : host.has('progressAfterEnd')
      ? [1, 2, 2]
      : [0, 1, 2]
  for (const progress of steps)
    link.send({ method: 'root/progress', params: { channel: rootUri, progressToken, progress, total: 2 } })
}

/** Selects a version from those offered. If no version is common, closes the connection and throws. */
function selectVersion(host: WrongLog, link: Subscriber, offered: readonly string[]): string {
  if (host.has('emptyOfferAccepted') && offered.length === 0) return '1.0.0'
  if (host.has('anyVersionAccepted') && !/^\d+\.\d+\.\d+$/.test(offered[0] ?? '1.0.0'))
    return offered[0] ?? ''
  const supported: readonly Version[] = [host.has('onlyNine') ? '0.9.0' : '1.0.0']
  try {
    const { offered: found } = negotiate(offered, supported)
    if (host.has('firstVersionSelected')) return offered[0] ?? found
    return host.has('versionNotOffered') ? '1.0.0' : found
  } catch (error) {
    if (!(error instanceof AhpError) || error.code !== -32005) throw error
    if (!host.has('linkKeptOpen')) setImmediate(() => link.close())
    if (host.has('supportedVersionsMissing')) throw new AhpError(error.code, error.message)
    const listed = host.has('supportedVersionsWrong') ? ['1.0.0', '0.9.0'] : supported
    throw AhpError.unsupportedProtocolVersion(error.message, listed)
  }
}
