import { randomUUID } from 'node:crypto'
import type { Action, Uri } from '@atrium/protocol/channel'
import { ChatState } from '@atrium/protocol/chat/state'
import { errorCodes } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { Skipped, check, fits, same, shown } from '../kit/check.ts'
import { fold } from '../kit/fold.ts'
import type { Note } from '../kit/link.ts'
import type { Topic } from '../kit/rule.ts'
import { listed } from '../kit/list.ts'
import { talkOf } from '../kit/talk.ts'

export const lifecycle: Topic = {
  name: 'lifecycle',
  rules: [
    {
      id: 'K100',
      title: 'a new session is creating, ready or failed, and in the end ready or failed',
      source: 'sessions: creation ends with session/ready or session/creationFailed',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const start = await client.subscribe(await kit.create(client))
        const at = () => (fold('session', start, client.envelopes) as SessionState).lifecycle
        check(['creating', 'ready', 'failed'].includes(at()), 'creating, ready or failed', at())
        await client.until('the session to be ready or failed', () => at() !== 'creating' || undefined)
        check(['ready', 'failed'].includes(at()), 'ready or failed', at())
      },
    },
    {
      id: 'K101',
      title: 'createSession makes nobody but its caller an active client',
      source: 'sessions: activeClient is the caller; validation: what is not so is refused',
      needs: 'session',
      async run(kit) {
        const [ann, ben] = [await kit.join(), await kit.join()]
        const channel = kit.unusedUri()
        kit.made(channel)
        const activeClient = { clientId: ben.clientId, tools: [] }
        const answer = await ann.ask('createSession', {
          channel,
          provider: kit.offer.provider,
          activeClient,
        })
        if ('error' in answer) return
        const { activeClients } = (await ann.subscribe(channel)).state as SessionState
        const others = activeClients.filter(({ clientId }) => clientId === ben.clientId)
        same('active clients that did not ask', [], others)
      },
    },
    {
      id: 'K102',
      title: 'the chats of a new session can be subscribed to, and its default chat is one of them',
      source: 'sessions: chats lists the chats that there are; defaultChat names one of the list',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const { defaultChat, chats = [] } = talk.sessionState() as Partial<SessionState>
        for (const { resource } of chats) {
          const { state } = await talk.client.subscribe(resource)
          same('the chat', resource, fits('a chat state', ChatState, state).resource)
        }
        const uris = chats.map(({ resource }) => resource)
        check(defaultChat === undefined || uris.includes(defaultChat), `${defaultChat} in the list`, uris)
      },
    },
    {
      id: 'K103',
      title: 'with a session its chats are disposed of',
      source: 'sessions: disposeSession goes on to every chat; errors: not found',
      needs: 'session',
      async run(kit) {
        const { client, session, chat } = await talkOf(kit)
        await client.must('disposeSession', { channel: session })
        const { NotFound, SessionNotFound } = errorCodes
        const other = await kit.join()
        await other.refused('subscribe', { channel: chat }, NotFound, SessionNotFound)
      },
    },
    {
      id: 'K104',
      title: 'the list shows the title that a client has given',
      source: 'sessions: what a session and its entry in the list have in common is the same',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const channel = await kit.create(client)
        await client.subscribe(channel)
        const { action } = await client.retitle(channel)
        const found = (await listed(client)).find(({ resource }) => resource === channel)
        same('its title', (action as { title?: unknown }).title, found?.title)
      },
    },
    {
      id: 'K105',
      title: 'a setting that is not sessionMutable keeps its value',
      source: 'session/configChanged: what of a config may change after creation',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const channel: Uri = await kit.create(client)
        const start = await client.subscribe(channel)
        const config = () => (fold('session', start, client.envelopes) as SessionState).config
        await client.retitle(channel)
        const fixed = Object.entries(config()?.schema.properties ?? {}).find(
          ([, { sessionMutable }]) => sessionMutable !== true,
        )
        if (!fixed) throw new Skipped('a new session has no setting here that is not sessionMutable')
        const [key, { type, enum: choices = [] }] = fixed
        const before = config()?.values[key]
        const wished = choices.find((choice) => choice !== before) ?? other(type, before)
        const action = { type: 'session/configChanged', config: { [key]: wished } }
        await client.outcome(client.dispatch(channel, action as Action))
        // Accepted as it was wished, it would be changed for everyone who reduces.
        same(`the setting ${shown(key)}`, before, config()?.values[key])
        const late = (await (await kit.join()).subscribe(channel)).state as SessionState
        same(`the setting ${shown(key)} in a snapshot`, before, late.config?.values[key])
      },
    },
    {
      id: 'K106',
      title: 'progress never goes back, its last word is that all is done, and nothing follows that',
      source: 'root/progress: what it says under a token',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const [channel, progressToken] = [kit.unusedUri(), randomUUID()]
        const frames = () =>
          client.notes.flatMap(({ method, params }) => progressOf(method, params, progressToken))
        await kit.create(client, channel, { progressToken })
        const start = await client.subscribe(channel)
        const at = () => (fold('session', start, client.envelopes) as SessionState).lifecycle
        await client.until('the session to be created', () => at() !== 'creating' || undefined)
        await client.retitle(channel)
        if (frames().length === 0) throw new Skipped('the host tells no progress of a new session')
        await client.until('a last word: progress that is the total', () => frames().find(isLast))
        await client.retitle(channel)
        same(
          'progress that does not go back',
          frames().toSorted((a, b) => a.progress - b.progress),
          frames(),
        )
        same('what comes behind the last word', [], frames().slice(frames().findIndex(isLast) + 1))
      },
    },
  ],
}

interface Progress {
  readonly progress: number
  readonly total?: number
}

function progressOf(method: string, params: Note['params'], token: string): readonly Progress[] {
  const mine = method === 'root/progress' && params['progressToken'] === token
  return mine ? [params as unknown as Progress] : []
}

function isLast({ progress, total }: Progress): boolean {
  return progress === total
}

/** A value of the type that is not this one: that it is refused for its type would show nothing. */
function other(type: string, value: unknown): unknown {
  if (type === 'boolean') return value !== true
  if (type === 'number') return Number(value ?? 0) + 1
  if (type === 'array') return []
  if (type === 'object') return {}
  return `conformance ${randomUUID()}`
}
