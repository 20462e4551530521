import { errorCodes } from '@atrium/protocol/errors'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { notifications } from '@atrium/protocol/commands'
import { Skipped, check, fits, same } from '../kit/check.ts'
import type { Failed } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import type { Note } from '../kit/link.ts'
import { listed, pages, summarizes } from '../kit/list.ts'
import type { Topic } from '../kit/rule.ts'

export const sessions: Topic = {
  name: 'sessions',
  rules: [
    {
      id: 'K80',
      title: 'a session in use is in the list, under its URI and its provider',
      source: 'sessions: createSession and listSessions',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const session = await kit.mustCreate(client, kit.unusedUri())
        await kit.use(client, session)
        const found = (await listed(client)).find(({ resource }) => resource === session)
        check(found !== undefined, `${session} in the list`, 'a list without it')
        same('its provider', kit.offer.provider, found.provider)
      },
    },
    {
      id: 'K81',
      title: 'a session in use is announced to the subscribers of the root',
      source: 'sessions: root/sessionAdded, at creation or when somebody first does something with it',
      needs: 'session',
      async run(kit) {
        const [ann, ben] = [await kit.join(), await kit.join({ initialSubscriptions: [rootUri] })]
        const session = await kit.inUse(ann)
        await announced(ben, 'root/sessionAdded', summarizes(session))
      },
    },
    {
      id: 'K82',
      title: 'creating a session under a URI in use is refused with -32003, for everybody',
      source: 'sessions: a URI names one session',
      needs: 'session',
      async run(kit) {
        const channel = await kit.session()
        for (const client of [await kit.join(), await kit.join()])
          await client.refused(
            'createSession',
            { channel, provider: kit.offer.provider },
            errorCodes.SessionAlreadyExists,
          )
      },
    },
    {
      id: 'K83',
      title: 'an unknown provider is refused with -32002',
      source: 'errors: ProviderNotFound',
      async run(kit) {
        const client = await kit.join()
        const channel = kit.unusedUri()
        kit.made(channel)
        await client.refused(
          'createSession',
          { channel, provider: client.clientId },
          errorCodes.ProviderNotFound,
        )
      },
    },
    {
      id: 'K84',
      title: 'a disposed session is announced as removed, and is not in the list any more',
      source: 'sessions: disposeSession and root/sessionRemoved',
      needs: 'session',
      async run(kit) {
        const [ann, ben] = [await kit.join(), await kit.join({ initialSubscriptions: [rootUri] })]
        const channel = await kit.inUse(ann)
        await ann.must('disposeSession', { channel })
        await announced(ben, 'root/sessionRemoved', ({ session }) => session === channel)
        const found = (await listed(ben)).filter(({ resource }) => resource === channel)
        same('entries of it', [], found)
      },
    },
    {
      id: 'K85',
      title: 'a disposed session cannot be subscribed to',
      source: 'sessions: disposeSession; errors: not found',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const channel = await kit.create(client)
        await client.must('disposeSession', { channel })
        const { NotFound, SessionNotFound } = errorCodes
        await client.refused('subscribe', { channel }, NotFound, SessionNotFound)
      },
    },
    {
      id: 'K86',
      title: 'disposing of a session that is not there is refused as not found',
      source: 'errors: SessionNotFound or NotFound',
      async run(kit) {
        const client = await kit.join()
        const { NotFound, SessionNotFound } = errorCodes
        await client.refused('disposeSession', { channel: kit.unusedUri() }, SessionNotFound, NotFound)
      },
    },
    {
      id: 'K87',
      title: 'following the cursors of the list gives each session once',
      source: 'paging: a cursor leads to what comes next',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const own = [await kit.inUse(client), await kit.inUse(client), await kit.inUse(client)]
        const { items } = await paged(client)
        const found = items.filter(({ resource }) => own.includes(resource)).map(({ resource }) => resource)
        same('our sessions', own.toSorted(), found.toSorted())
      },
    },
    {
      id: 'K88',
      title: 'a cursor that the host has not given is refused with -32602',
      source: 'paging: bad cursors',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        for (let n = 0; n < 2; n++) await kit.inUse(client)
        await paged(client)
        await client.refused(
          'listSessions',
          { cursor: `conformance ${client.clientId}` },
          errorCodes.InvalidParams,
        )
      },
    },
    {
      id: 'K89',
      title: 'a change of a summary does not repeat who the session is',
      source: 'root/sessionSummaryChanged: resource, provider and createdAt are left out',
      needs: 'session',
      async run(kit) {
        const client = await kit.join({ initialSubscriptions: [rootUri] })
        const channel = await kit.inUse(client)
        // Until it is announced, a change of it may just as well be announced with it.
        await client.hearsNote('root/sessionAdded', summarizes(channel))
        await client.retitle(channel)
        const about = ({ session }: Note['params']) => session === channel
        const note = await announced(client, 'root/sessionSummaryChanged', about).catch((error: Failed) => {
          // To announce it is only advised.
          throw client.notes.some(({ params }) => about(params)) ? error : new Skipped(error.message)
        })
        const { changes } = note.params as { changes: object }
        const repeated = Object.keys(changes).filter((key) =>
          ['resource', 'provider', 'createdAt'].includes(key),
        )
        same('identity in the changes', [], repeated)
      },
    },
  ],
}

/** Waits for a notification of the root and checks its shape. */
async function announced(
  client: Client,
  method: string,
  wanted: (params: Note['params']) => boolean,
): Promise<Note> {
  const note = await client.hearsNote(method, wanted)
  const schema = notifications.get(method)?.params
  if (schema) fits(`the params of ${method}`, schema, note.params)
  same('its channel', rootUri, note.params['channel'])
  return note
}

/** The whole list in a handful of pages, where the host pages at all. */
async function paged(client: Client): Promise<{ readonly items: readonly SessionSummary[] }> {
  const all = await listed(client)
  const found = await pages(client, Math.max(1, Math.floor(all.length / 3)))
  if (found.length < 2) throw new Skipped('the host gives its list in one page, whatever the limit')
  return { items: found.flat() }
}
