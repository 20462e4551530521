import { newId } from '@atrium/client/shared/globals'
import { withTurns } from '@atrium/client/history'
import type { ChatState } from '@atrium/protocol/chat/state'
import { chatUri } from '@atrium/protocol/uri'
import { CommandError, exits } from '../../terminal/exit.ts'
import type { HostOptions } from '../../link/connect.ts'
import { findTarget, shortName } from '../../session/find.ts'
import { withClient } from '../../link/with-client.ts'
import { output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly turn?: string
}

/** `atrium fork`: creates a chat with a copy of the turns of another chat, up to one of them. */
export function fork(name: string, flags: Flags): Promise<void> {
  const { print, note } = output(flags)
  return withClient(flags, async (client) => {
    const { session, chat: source } = await findTarget(client, name)
    const turnId = turnIn(await withTurns(client, client.subscribe('chat', source)), flags.turn)
    const chat = chatUri(newId())
    const from = { kind: 'fork', chat: source, turnId } as const
    await client.ask('createChat', { channel: session.resource, chat, source: from })
    print({ session: session.resource, chat, source: from }, () => chat)
    note(`Go on there with: atrium send ${shortName(chat)} "…"`)
  })
}

/** Finds a turn by its id, or by its number: 1 is the first, -1 the last ended turn. */
function turnIn({ turns }: ChatState, wanted = '-1'): string {
  const named = turns.find(({ id }) => id === wanted)
  if (named) return named.id
  const number = /^-?[1-9]\d{0,8}$/.test(wanted) ? Number(wanted) : 0
  const counted = turns.at(number > 0 ? number - 1 : number)
  if (counted && number !== 0) return counted.id
  if (turns.length === 0)
    throw new CommandError('No turn has ended there yet, so there is nothing to begin with.')
  throw new CommandError(`There is no turn '${wanted}'; there are 1 to ${turns.length}.`, exits.usage)
}
