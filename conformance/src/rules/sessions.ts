import { errorCodes } from '@atrium/protocol/errors'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { notifications } from '@atrium/protocol/commands'
import { Skipped, check, checkShape, same } from '../kit/check.ts'
import type { Failed } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import type { Notification } from '../kit/link.ts'
import { listSessions, listPages, isSummaryOf } from '../kit/list.ts'
import type { Topic } from '../kit/rule.ts'
import { withClient } from '../kit/openings.ts'
import { createInUse, use } from '../kit/session-in-use.ts'

export const sessions: Topic = {
  name: 'sessions',
  rules: [
    {
      id: 'K80',
      title: 'a session in use is in the list, with its URI and its provider',
      source: 'sessions: createSession and listSessions',
      run: withClient(async (client, kit) => {
        const session = await kit.mustCreate(client, kit.unusedUri())
        await use(kit, client, session)
        const found = (await listSessions(client)).find(({ resource }) => resource === session)
        check(found !== undefined, `${session} in the list`, 'a list without it')
        same('its provider', kit.facts.provider, found.provider)
      }),
    },
    {
      id: 'K81',
      title: 'a session in use is announced to the subscribers of the root',
      source: 'sessions: root/sessionAdded, at creation or at the first use',
      async run(kit) {
        const [ann, ben] = [await kit.join(), await kit.join({ initialSubscriptions: [rootUri] })]
        const session = await createInUse(kit, ann)
        await rootNotification(ben, 'root/sessionAdded', isSummaryOf(session))
      },
    },
    {
      id: 'K82',
      title: 'creating a session under a URI in use is refused with -32003, for every client',
      source: 'sessions: a URI names one session',
      async run(kit) {
        const channel = await kit.session()
        for (const client of [await kit.join(), await kit.join()])
          await client.mustFail('createSession', kit.creationParams(channel), errorCodes.SessionAlreadyExists)
      },
    },
    {
      id: 'K83',
      title: 'creating a session with an unknown provider is refused with -32002',
      source: 'errors: ProviderNotFound',
      sessionless: true,
      run: withClient(async (client, kit) => {
        const channel = kit.unusedUri()
        kit.disposeLater(channel)
        await client.mustFail(
          'createSession',
          { channel, provider: client.clientId },
          errorCodes.ProviderNotFound,
        )
      }),
    },
    {
      id: 'K84',
      title: 'a disposed session is announced as removed and is no longer in the list',
      source: 'sessions: disposeSession and root/sessionRemoved',
      async run(kit) {
        const [ann, ben] = [await kit.join(), await kit.join({ initialSubscriptions: [rootUri] })]
        const channel = await createInUse(kit, ann)
        await ann.mustSucceed('disposeSession', { channel })
        await rootNotification(ben, 'root/sessionRemoved', ({ session }) => session === channel)
        const found = (await listSessions(ben)).filter(({ resource }) => resource === channel)
        same('entries of the session', [], found)
      },
    },
    {
      id: 'K85',
      title: 'a disposed session cannot be subscribed to',
      source: 'sessions: disposeSession; errors: not found',
      run: withClient(async (client, kit) => {
        const channel = await kit.create(client)
        await client.mustSucceed('disposeSession', { channel })
        const { NotFound, SessionNotFound } = errorCodes
        await client.mustFail('subscribe', { channel }, NotFound, SessionNotFound)
      }),
    },
    {
      id: 'K86',
      title: 'disposing of a session that does not exist is refused as not found',
      source: 'errors: SessionNotFound or NotFound',
      recommended: true,
      sessionless: true,
      run: withClient(async (client, kit) => {
        const { NotFound, SessionNotFound } = errorCodes
        await client.mustFail('disposeSession', { channel: kit.unusedUri() }, SessionNotFound, NotFound)
      }),
    },
    {
      id: 'K87',
      title: 'following the cursors of the list returns every session once',
      source: 'paging: a cursor leads to the next page',
      run: withClient(async (client, kit) => {
        const own = [
          await createInUse(kit, client),
          await createInUse(kit, client),
          await createInUse(kit, client),
        ]
        const { items } = await paged(client)
        const found = items.filter(({ resource }) => own.includes(resource)).map(({ resource }) => resource)
        same('the sessions of the rule', own.toSorted(), found.toSorted())
      }),
    },
    {
      id: 'K88',
      title: 'a list cursor that the host has not issued is refused with -32602',
      source: 'paging: invalid cursors',
      recommended: true,
      run: withClient(async (client, kit) => {
        for (let n = 0; n < 2; n++) await createInUse(kit, client)
        await paged(client)
        await client.mustFail(
          'listSessions',
          { cursor: `conformance ${client.clientId}` },
          errorCodes.InvalidParams,
        )
      }),
    },
    {
      id: 'K89',
      title: 'a change of a session summary does not repeat the identity of the session',
      source: 'root/sessionSummaryChanged: resource, provider and createdAt are left out',
      async run(kit) {
        const client = await kit.join({ initialSubscriptions: [rootUri] })
        const channel = await createInUse(kit, client)
        // Wait for root/sessionAdded, because the host may put an earlier change of the title into that notification.
        await client.receivesNotification('root/sessionAdded', isSummaryOf(channel))
        await client.retitle(channel)
        const about = ({ session }: Notification['params']) => session === channel
        const notification = await rootNotification(client, 'root/sessionSummaryChanged', about).catch(
          (error: Failed) => {
            // AHP only recommends this notification, so its absence skips the rule. A malformed one fails it.
            throw client.notifications.some(({ params }) => about(params))
              ? error
              : new Skipped(error.message)
          },
        )
        const { changes } = notification.params as { changes: object }
        const repeated = Object.keys(changes).filter((key) =>
          ['resource', 'provider', 'createdAt'].includes(key),
        )
        same('identity fields in the changes', [], repeated)
      },
    },
  ],
}

/** Waits for a notification on the root and checks its shape. */
async function rootNotification(
  client: Client,
  method: string,
  matches: (params: Notification['params']) => boolean,
): Promise<Notification> {
  const notification = await client.receivesNotification(method, matches)
  const schema = notifications.get(method)?.params
  if (schema) checkShape(`the params of ${method}`, schema, notification.params)
  same('its channel', rootUri, notification.params['channel'])
  return notification
}

/** The whole session list, requested in about three pages. The rule is skipped if the host ignores the limit. */
async function paged(client: Client): Promise<{ readonly items: readonly SessionSummary[] }> {
  const all = await listSessions(client)
  const pages = await listPages(client, Math.max(1, Math.floor(all.length / 3)))
  if (pages.length < 2) throw new Skipped('the host returns its list in one page, whatever the limit')
  return { items: pages.flat() }
}
