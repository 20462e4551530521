import { catalogOf } from '../../catalog/catalog.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { notifySpace } from '../../kernel/space.ts'
import { agentsOf } from '../agents/agents.ts'
import { annotatedSession } from '../../channels/annotations-channel.ts'
import { fetchTurns } from '../../channels/history.ts'
import { needsShownForms } from '../../channels/oversized.ts'
import { needsRows } from '../../channels/snapshot.ts'
import type { View } from '../../kernel/link.ts'
import { part } from '../../kernel/part.ts'
import { chatNamed, wake, wakeIfSound } from '../../channels/wake.ts'
import { whenCommitted } from '../../kernel/deferred-response.ts'

/** Subscriptions to channels, and older turns for subscribers. */
export const subscriptions = part({
  name: 'subscriptions',
  rules: {
    methods: {
      subscribe: (core, link, { channel: uri, view, delivery }, name) => {
        link.checkRoom(uri)
        const followed = link.follow(uri)
        if (followed instanceof AhpError) throw followed
        if (followed) return {}
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
      fetchTurns: async (core, link, { channel: uri, cursor }, name) => {
        const chat = await chatNamed(core, uri, name)
        return whenCommitted(core, { seq: await fetchTurns(core, link, chat, cursor) }, {})
      },
    },
  },
})

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
