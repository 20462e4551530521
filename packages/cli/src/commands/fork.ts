import { newId } from '@atrium/client/shared/globals'
import { withTurns } from '@atrium/client/history'
import type { ChatState } from '@atrium/protocol/chat/state'
import { chatUri } from '@atrium/protocol/uri'
import { Problem, exits } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { findAddressee, shortName } from '../session/find.ts'
import { trip } from '../link/with-client.ts'
import { voice } from '../terminal/output.ts'
import type { Manners } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly turn?: string
}

/** `atrium fork`: a chat that begins with the turns of another, up to one of them. */
export function fork(name: string, flags: Flags): Promise<void> {
  const { tell, note } = voice(flags)
  return trip(flags, async (client) => {
    const { session, chat: source } = await findAddressee(client, name)
    const turnId = turnIn(await withTurns(client, client.subscribe('chat', source)), flags.turn)
    const chat = chatUri(newId())
    const from = { kind: 'fork', chat: source, turnId } as const
    await client.ask('createChat', { channel: session.resource, chat, source: from })
    tell({ session: session.resource, chat, source: from }, () => chat)
    note(`Go on there with: atrium send ${shortName(chat)} "…"`)
  })
}

/** By its id, or by its number: 1 is the first, -1 the last. Without either, the last that has ended. */
function turnIn({ turns }: ChatState, wanted = '-1'): string {
  const named = turns.find(({ id }) => id === wanted)
  if (named) return named.id
  const number = /^-?[1-9]\d{0,8}$/.test(wanted) ? Number(wanted) : 0
  const counted = turns.at(number > 0 ? number - 1 : number)
  if (counted && number !== 0) return counted.id
  if (turns.length === 0) throw new Problem('No turn has ended there yet, so there is nothing to begin with.')
  throw new Problem(`There is no turn '${wanted}'; there are 1 to ${turns.length}.`, exits.usage)
}
