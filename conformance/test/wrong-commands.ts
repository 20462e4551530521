import type { Action, Snapshot, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { commands } from '@atrium/protocol/commands'
import type { Method, Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { decode } from '@atrium/protocol/schema'
import type { SessionState } from '@atrium/protocol/session/state'
import { chatUri, rootUri } from '@atrium/protocol/uri'
import { negotiate } from '@atrium/protocol/versions/negotiate'
import { bornChat } from './wrong-birth.ts'
import { createChat, disposeChat, disposeChats, fetchTurns, viewOf } from './wrong-chats.ts'
import { authenticate, complete, needsLogin } from './wrong-words.ts'
import { guarded } from './wrong-log.ts'
import { moveChat } from './wrong-moves.ts'
import type { Follower, WrongLog } from './wrong-log.ts'

/** Of two settings only one can be changed later. */
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

/** What one link may ask. */
export function commandsOf(host: WrongLog, link: Follower): ReadonlyMap<string, Run> {
  const first = new Map<Uri, Snapshot>()

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
    (given) => {
      const known = commands.get(method)?.params
      if (!known) throw AhpError.methodNotFound(method)
      if (host.has('strictParams') && 'x-conformance' in given) throw AhpError.invalidParams('x-conformance')
      if (host.has('nullRefused') && Object.values(given).includes(null)) throw AhpError.invalidParams('null')
      const decoded = decode(known, given)
      if (decoded.ok) return answer(decoded.value as Params<M>)
      throw host.has('badParamsNotFound')
        ? AhpError.notFound(method)
        : AhpError.invalidParams(decoded.problem)
    },
  ]

  return new Map<string, Run>([
    run('ping', () => {
      if (host.has('pingWaits') && link.clientId === '') throw AhpError.invalidRequest('initialize first')
      return null
    }),

    run('initialize', ({ protocolVersions, clientId, initialSubscriptions = [], locale }) => {
      if (host.has('localeRefused') && locale !== undefined) throw AhpError.invalidParams('locale')
      const protocolVersion = select(host, link, protocolVersions)
      link.clientId = clientId
      host.clients.set(clientId, link.following)
      const there = initialSubscriptions.filter((uri) => host.channels.has(uri))
      const snapshots = there.map((uri) => {
        if (uri === rootUri || !host.has('initialNotFollowed')) link.following.add(uri)
        return snapshot(uri)
      })
      const shown = host.has('initialRootForgotten')
        ? snapshots.filter(({ resource }) => resource !== rootUri)
        : snapshots
      const serverSeq = host.has('serverSeqAhead') ? host.seq + 100 : host.seq
      return {
        protocolVersion,
        serverSeq,
        ...(!host.has('triggerless') && { completionTriggerCharacters: ['@'] }),
        ...(!(host.has('snapshotsLeftOut') && shown.length === 0) && { snapshots: shown }),
      }
    }),

    run('reconnect', ({ clientId, lastSeenServerSeq: seen, subscriptions }) => {
      const before = host.clients.get(clientId)
      if (!before) {
        if (host.has('strangerShutOut')) link.close()
        throw AhpError.notFound('unknown client')
      }
      link.clientId = clientId
      const there = subscriptions.filter((uri) => host.channels.has(uri))
      const restored = host.has('restoresAll') ? [...before, ...there] : there
      for (const uri of restored) link.following.add(uri)
      host.clients.set(clientId, link.following)
      if (host.has('notesReplayed'))
        for (const summary of host.summaries.values())
          link.send({ method: 'root/sessionAdded', params: { channel: rootUri, summary } })
      if (host.has('snapshotsOnly') || (seen > host.seq && !host.has('futureReplayed')))
        return { type: 'snapshot', snapshots: there.map((uri) => snapshot(uri)) }
      const from = host.has('replayInclusive') ? seen - 1 : seen
      const later = host.log.filter(({ channel, serverSeq }) => there.includes(channel) && serverSeq > from)
      const kept = host.has('chatsNotReplayed')
        ? later.filter(({ channel }) => host.channels.get(channel)?.kind !== 'chat')
        : later
      const actions = host.has('replayOffByOne') ? kept.slice(1) : kept
      if (host.has('replayedAgain')) setImmediate(() => actions.forEach((envelope) => link.tell(envelope)))
      const missing = subscriptions.filter((uri) => !there.includes(uri))
      return { type: 'replay', actions, missing: host.has('missingNotTold') ? [] : missing }
    }),

    run('subscribe', ({ channel: uri, view }) => {
      if (!host.channels.has(uri) && host.has('unknownSubscribed')) return {}
      if (!host.channels.has(uri)) throw AhpError.notFound(uri)
      link.following.add(uri)
      const fresh = snapshot(uri, view?.turns)
      if (view?.turns !== undefined) link.views.set(uri, view.turns)
      if (!first.has(uri)) first.set(uri, fresh)
      const given = host.has('staleSnapshot') ? first.get(uri) : fresh
      if (uri === rootUri && host.has('rootStateBare')) return { snapshot: { ...fresh, state: {} } }
      const bare = host.channels.get(uri)?.kind === 'session' && host.has('sessionStateBare')
      const { activeClients: _, ...rest } = fresh.state as SessionState
      return { snapshot: bare ? { ...fresh, state: rest } : given }
    }),

    run('listSessions', ({ limit = 100, cursor }) => {
      const all = [...host.summaries.values()].filter(({ resource }) => !host.quiet.has(resource))
      const known = cursor === undefined || /^\d+$/.test(cursor)
      if (!known && !host.has('anyCursor')) throw AhpError.invalidParams('cursor')
      const start = known ? Number(cursor ?? 0) : 0
      const items = host.has('unlisted') ? [] : all.slice(start, start + Math.max(1, limit))
      const next = start + Math.max(1, limit) + (host.has('pagesSkip') ? 1 : 0)
      if (host.has('onePage')) return { items: all }
      return { items, ...(next < all.length && { nextCursor: String(next) }) }
    }),

    run('createSession', ({ channel: uri, provider = 'mock', activeClient, progressToken }) => {
      if (host.channels.has(uri) && !host.has('usedUriTaken')) throw AhpError.sessionAlreadyExists(uri)
      if (host.has('agentless')) throw AhpError.providerNotFound(provider)
      if (provider === guarded.provider && !host.has('unguarded')) throw needsLogin(host)
      if (provider !== 'mock' && !host.has('anyProvider')) throw AhpError.providerNotFound(provider)
      if (activeClient && activeClient.clientId !== link.clientId && !host.has('anyActiveClient'))
        throw AhpError.invalidParams('activeClient')
      const chat = chatUri(uri)
      const now = new Date().toISOString()
      const shared = { provider, title: '', status: 1 }
      const summary = bornChat(host, uri, chat)
      const ghost = host.has('ghostChat') ? [{ ...summary, resource: `${chat}/ghost` }] : []
      const chats = host.has('chatless') ? { chats: [] } : { chats: [summary, ...ghost], defaultChat: chat }
      const rest = { activeClients: activeClient ? [activeClient] : [], ...chats, config }
      const lifecycle = host.has('neverReady') ? 'provisioning' : 'creating'
      host.channels.set(uri, { kind: 'session', state: { ...shared, lifecycle, ...rest } })
      host.summaries.set(uri, { ...shared, resource: uri, createdAt: now, modifiedAt: now })
      if (!host.has('neverReady')) host.append(uri, { type: 'session/ready' } as Action)
      if (host.has('announcedInUse')) host.quiet.add(uri)
      else host.announce(uri)
      if (progressToken !== undefined) reportProgress(host, link, progressToken)
      return host.has('createAnswersMore') ? { channel: uri } : null
    }),

    run('disposeSession', ({ channel: uri }) => {
      if (!host.summaries.has(uri) && host.has('anyDisposed')) return null
      if (!host.summaries.has(uri)) throw AhpError.sessionNotFound(uri)
      if (!host.has('disposedReadable')) host.channels.delete(uri)
      disposeChats(host, uri)
      if (!host.has('disposedListed')) host.summaries.delete(uri)
      if (!host.quiet.delete(uri)) {
        host.countSessions()
        host.note('root/sessionRemoved', { session: uri })
      }
      return null
    }),

    run('completions', ({ channel, text, offset }) => complete(host, channel, text, offset)),
    run('authenticate', ({ resource }) => authenticate(host, resource)),
    run('createChat', ({ channel, chat, source }) => createChat(host, channel, chat, source)),
    run('moveChat', (params) => moveChat(host, params)),
    run('disposeChat', ({ channel }) => disposeChat(host, channel)),
    run('fetchTurns', ({ channel, cursor }) => fetchTurns(host, link, channel, cursor)),
  ])
}

function reportProgress(host: WrongLog, link: Follower, progressToken: string): void {
  if (host.has('progressless')) return
  const steps = host.has('progressBack') ? [1, 0, 2] : host.has('progressGoesOn') ? [1, 2, 2] : [0, 1, 2]
  for (const progress of steps)
    link.send({ method: 'root/progress', params: { channel: rootUri, progressToken, progress, total: 2 } })
}

/** The version to answer; what cannot be spoken ends the link. */
function select(host: WrongLog, link: Follower, offered: readonly string[]): string {
  if (host.has('emptyOfferTaken') && offered.length === 0) return '1.0.0'
  if (host.has('anyVersionString') && !/^\d+\.\d+\.\d+$/.test(offered[0] ?? '1.0.0')) return offered[0] ?? ''
  try {
    const { offered: found } = negotiate(offered, ['1.0.0'])
    if (host.has('versionFirst')) return offered[0] ?? found
    return host.has('versionNotOffered') ? '1.0.0' : found
  } catch (error) {
    if (!(error instanceof AhpError) || error.code !== -32005) throw error
    if (!host.has('linkKeptOpen')) setImmediate(() => link.close())
    if (host.has('supportedVersionsMissing')) throw new AhpError(error.code, error.message)
    const listed = host.has('supportedVersionsWrong') ? ['1.0.0', '0.9.0'] : ['1.0.0']
    throw AhpError.unsupportedProtocolVersion(error.message, listed)
  }
}
