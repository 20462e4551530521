import { randomUUID } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import { ChatState } from '@atrium/protocol/chat/state'
import { errorCodes } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { Skipped, check, checkShape, same, excerpt } from '../kit/check.ts'
import { fold } from '../kit/fold.ts'
import type { Notification } from '../kit/link.ts'
import type { Topic } from '../kit/rule.ts'
import { withClient } from '../kit/openings.ts'
import { listSessions } from '../kit/list.ts'
import { openChat, inConversation } from '../kit/conversation.ts'
import { createInUse } from '../kit/session-in-use.ts'

export const lifecycle: Topic = {
  name: 'lifecycle',
  rules: [
    {
      id: 'K100',
      title: 'a new session is creating, ready or failed, and ends up ready or failed',
      source: 'sessions: creation ends with session/ready or session/creationFailed',
      run: withClient(async (client, kit) => {
        const start = await client.subscribe(await kit.create(client))
        const lifecycleNow = () => fold('session', start, client.envelopes).lifecycle
        check(
          ['creating', 'ready', 'failed'].includes(lifecycleNow()),
          'creating, ready or failed',
          lifecycleNow(),
        )
        if (kit.habits.readyAtFirstTurn) await (await openChat(kit, start.resource)).runTurn()
        await client.until(
          'the session to be ready or failed',
          () => lifecycleNow() !== 'creating' || undefined,
        )
        check(['ready', 'failed'].includes(lifecycleNow()), 'ready or failed', lifecycleNow())
      }),
    },
    {
      id: 'K101',
      title: 'createSession makes only its caller an active client',
      source: 'sessions: activeClient is the caller; another client id is refused',
      async run(kit) {
        const [ann, ben] = [await kit.join(), await kit.join()]
        const channel = kit.unusedUri()
        kit.disposeLater(channel)
        const activeClient = { clientId: ben.clientId, tools: [] }
        const answer = await ann.request('createSession', kit.creationParams(channel, { activeClient }))
        if ('error' in answer) return
        const { activeClients } = fold('session', await ann.subscribe(channel), [])
        const others = activeClients.filter(({ clientId }) => clientId === ben.clientId)
        same('active clients other than the caller', [], others)
      },
    },
    {
      id: 'K102',
      title: 'the chats of a new session can be subscribed to, and its default chat is one of them',
      source: 'sessions: chats lists the existing chats; defaultChat names one of them',
      run: inConversation(async (conversation) => {
        // K43 judges the shape of the state, so a required field may be missing here.
        const { defaultChat, chats = [] } = conversation.sessionState() as Partial<SessionState>
        for (const { resource } of chats) {
          const { state } = await conversation.client.subscribe(resource)
          same('the chat', resource, checkShape('a chat state', ChatState, state).resource)
        }
        const uris = chats.map(({ resource }) => resource)
        check(defaultChat === undefined || uris.includes(defaultChat), `${defaultChat} in the list`, uris)
      }),
    },
    {
      id: 'K103',
      title: 'disposing of a session disposes of its chats',
      source: 'sessions: disposeSession includes every chat; errors: not found',
      run: inConversation(async ({ client, session, chat }, kit) => {
        await client.mustSucceed('disposeSession', { channel: session })
        const { NotFound, SessionNotFound } = errorCodes
        const other = await kit.join()
        await other.mustFail('subscribe', { channel: chat }, NotFound, SessionNotFound)
      }),
    },
    {
      id: 'K104',
      title: 'the list shows the title that a client has set',
      source: 'sessions: a session and its summary agree',
      run: withClient(async (client, kit) => {
        const channel = await createInUse(kit, client)
        const { action } = await client.retitle(channel)
        const found = (await listSessions(client)).find(({ resource }) => resource === channel)
        same('its title', (action as { title?: unknown }).title, found?.title)
      }),
    },
    {
      id: 'K105',
      title: 'a setting that is not sessionMutable keeps its value',
      source: 'session/configChanged: the settings that may change after creation',
      run: withClient(async (client, kit) => {
        const channel: Uri = await kit.create(client)
        const start = await client.subscribe(channel)
        const config = () => fold('session', start, client.envelopes).config
        await client.retitle(channel)
        const fixed = Object.entries(config()?.schema.properties ?? {}).find(
          ([, { sessionMutable }]) => sessionMutable !== true,
        )
        if (!fixed) throw new Skipped('every setting of a new session is sessionMutable')
        const [key, { type, enum: choices = [] }] = fixed
        const before = config()?.values[key]
        const value = choices.find((choice) => choice !== before) ?? otherValue(type, before)
        const action = { type: 'session/configChanged', config: { [key]: value } }
        await client.outcome(client.dispatch(channel, action))
        // The old value shows that the host has rejected the action: the reducer of every client would apply an
        // accepted one.
        same(`the setting ${excerpt(key)}`, before, config()?.values[key])
        const late = fold('session', await (await kit.join()).subscribe(channel), [])
        same(`the setting ${excerpt(key)} in a snapshot`, before, late.config?.values[key])
      }),
    },
    {
      id: 'K106',
      title: 'progress never decreases, ends with progress equal to total, and then stops',
      source: 'root/progress: the notifications for one progressToken',
      run: withClient(async (client, kit) => {
        const [channel, progressToken] = [kit.unusedUri(), randomUUID()]
        const frames = () =>
          client.notifications.flatMap(({ method, params }) => progressOf(method, params, progressToken))
        await kit.create(client, channel, { progressToken })
        const start = await client.subscribe(channel)
        const lifecycleNow = () => fold('session', start, client.envelopes).lifecycle
        if (kit.habits.readyAtFirstTurn) await (await openChat(kit, channel)).runTurn()
        await client.until('the session to be created', () => lifecycleNow() !== 'creating' || undefined)
        await client.retitle(channel)
        if (frames().length === 0) throw new Skipped('the host reports no progress for a new session')
        await client.until('a last notification with progress equal to total', () => frames().find(isLast))
        await client.retitle(channel)
        same(
          'progress that does not decrease',
          frames().toSorted((a, b) => a.progress - b.progress),
          frames(),
        )
        same('notifications after the last', [], frames().slice(frames().findIndex(isLast) + 1))
      }),
    },
  ],
}

interface Progress {
  readonly progress: number
  readonly total?: number
}

function progressOf(method: string, params: Notification['params'], token: string): readonly Progress[] {
  const mine = method === 'root/progress' && params['progressToken'] === token
  return mine ? [params as unknown as Progress] : []
}

function isLast({ progress, total }: Progress): boolean {
  return progress === total
}

/** Another value of the same type, so that the host cannot refuse the change because of the type. */
function otherValue(type: string, value: unknown): unknown {
  if (type === 'boolean') return value !== true
  if (type === 'number') return Number(value ?? 0) + 1
  if (type === 'array') return []
  if (type === 'object') return {}
  return `conformance ${randomUUID()}`
}
