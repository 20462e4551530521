import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import { Problem } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { findAddressee } from '../session/find.ts'
import type { Addressee } from '../session/find.ts'
import { trip } from '../link/with-client.ts'
import { voice } from '../terminal/output.ts'
import type { Manners } from '../terminal/output.ts'
import { accepted } from '../link/dispatch.ts'

interface Flags extends Whereabouts, Manners {
  readonly queued?: boolean
}

/** `atrium cancel`: ends what goes on in a session, in all of its chats, or in the one that is named. */
export function cancel(name: string, flags: Flags): Promise<void> {
  const { did, note } = voice(flags)
  return trip(flags, async (client) => {
    const addressee = await findAddressee(client, name)
    let ended = 0
    for (const uri of await chatsOf(client, addressee, flags.queued === true)) {
      const chat = client.subscribe('chat', uri, { view: { turns: 1 } })
      const state = await chat.ready()
      for (const gone of flags.queued ? waitingOf(state) : []) {
        accepted(await chat.dispatch(gone))
        ended++
        did(
          { session: addressee.session.resource, chat: uri, message: gone.id },
          () => 'Taken out of the queue.',
        )
      }
      const turn = state.activeTurn
      if (!turn) continue
      const duration = Math.max(0, Date.now() - Date.parse(turn.startedAt) || 0)
      const outcome = await chat.dispatch({ type: 'chat/turnCancelled', turnId: turn.id, duration })
      // It may have ended by itself in this moment, which is what was wanted.
      if (chat.confirmed?.activeTurn?.id === turn.id) accepted(outcome)
      ended++
      did({ session: addressee.session.resource, chat: uri, turn: turn.id }, () => 'Cancelled.')
      // As it was before: what waited may be over by now.
      if (!flags.queued && waitingOf(state).length > 0)
        note('More waits behind it, and begins now; next time take it along with --queued.')
    }
    if (ended === 0) throw new Problem(`Nothing goes on in '${name}'.`)
  })
}

/** Where something goes on; or all, also where something only waits. Those of workers end with the turn that wanted them. */
async function chatsOf(
  client: Client,
  { session, chat, narrow }: Addressee,
  all: boolean,
): Promise<readonly Uri[]> {
  if (narrow) return [chat]
  const { chats } = await client.subscribe('session', session.resource).ready()
  const meant = chats.filter(({ status, origin }) => {
    const activity = activityOf(status)
    const busy = activity === Activity.InProgress || activity === Activity.InputNeeded
    return origin?.kind !== 'tool' && (all || busy)
  })
  return meant.map(({ resource }) => resource)
}

function waitingOf({ queuedMessages = [], steeringMessage }: ChatState) {
  const removed = (kind: 'queued' | 'steering') => (message: { readonly id: string }) =>
    ({ type: 'chat/pendingMessageRemoved', kind, id: message.id }) as const
  return [
    ...queuedMessages.map(removed('queued')),
    ...(steeringMessage ? [steeringMessage].map(removed('steering')) : []),
  ]
}
