import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import { CommandError } from '../terminal/exit.ts'
import type { HostOptions } from '../link/connect.ts'
import { findTarget } from '../session/find.ts'
import type { Target } from '../session/find.ts'
import { withClient } from '../link/with-client.ts'
import { output } from '../terminal/output.ts'
import type { OutputOptions } from '../terminal/output.ts'
import { assertAccepted } from '../link/dispatch.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly queued?: boolean
}

/** `atrium cancel`: cancels the active turns in all chats of a session, or in one chat. */
export function cancel(name: string, flags: Flags): Promise<void> {
  const { report, note } = output(flags)
  return withClient(flags, async (client) => {
    const target = await findTarget(client, name)
    let ended = 0
    for (const uri of await chatsOf(client, target, flags.queued === true)) {
      const chat = client.subscribe('chat', uri, { view: { turns: 1 } })
      const state = await chat.ready()
      for (const removal of flags.queued ? removalsOf(state) : []) {
        assertAccepted(await chat.dispatch(removal))
        ended++
        report(
          { session: target.session.resource, chat: uri, message: removal.id },
          () => 'Taken out of the queue.',
        )
      }
      const turn = state.activeTurn
      if (!turn) continue
      const duration = Math.max(0, Date.now() - Date.parse(turn.startedAt) || 0)
      const outcome = await chat.dispatch({ type: 'chat/turnCancelled', turnId: turn.id, duration })
      // A refusal is fine if the turn ended by itself at the same moment.
      if (chat.confirmed?.activeTurn?.id === turn.id) assertAccepted(outcome)
      ended++
      report({ session: target.session.resource, chat: uri, turn: turn.id }, () => 'Cancelled.')
      if (!flags.queued && removalsOf(state).length > 0)
        note(
          'The queued messages wait until a turn has completed. Send a message, or type /next in atrium attach, to go on. atrium cancel --queued removes them.',
        )
    }
    if (ended === 0) throw new CommandError(`No turn is active in '${name}'.`)
  })
}

/**
 * Returns the chat that the user has named. For a session, returns its busy chats; with `all`, its idle chats too. In
 * a session, chats that a tool call has started are left out: they end with the turn of that call.
 */
async function chatsOf(
  client: Client,
  { session, chat, chatOnly }: Target,
  all: boolean,
): Promise<readonly Uri[]> {
  if (chatOnly) return [chat]
  const { chats } = await client.subscribe('session', session.resource).ready()
  const chosen = chats.filter(({ status, origin }) => {
    const activity = activityOf(status)
    const busy = activity === Activity.InProgress || activity === Activity.InputNeeded
    return origin?.kind !== 'tool' && (all || busy)
  })
  return chosen.map(({ resource }) => resource)
}

/** The actions that remove all pending messages of a chat. */
function removalsOf({ queuedMessages = [], steeringMessage }: ChatState) {
  const removed = (kind: 'queued' | 'steering') => (message: { readonly id: string }) =>
    ({ type: 'chat/pendingMessageRemoved', kind, id: message.id }) as const
  return [
    ...queuedMessages.map(removed('queued')),
    ...(steeringMessage ? [steeringMessage].map(removed('steering')) : []),
  ]
}
