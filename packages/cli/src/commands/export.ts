import type { Client } from '@atrium/client/client'
import { withTurns } from '@atrium/client/history'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { Problem, exits } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { chatPage } from '../render/page.ts'
import { findAddressee } from '../session/find.ts'
import type { Addressee } from '../session/find.ts'
import { trip } from '../link/with-client.ts'
import { harmless, onOneLine, voice } from '../terminal/output.ts'
import type { Manners } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly format?: string
}

/** `atrium export`: a whole session, all chats from their first turn on, as one page or one document. */
export function exportSession(name: string, flags: Flags): Promise<void> {
  const { format = flags.json ? 'json' : 'markdown' } = flags
  if (!['markdown', 'json'].includes(format))
    throw new Problem(`--format must be markdown or json, and not '${format}'.`, exits.usage)
  return trip(flags, async (client) => {
    const addressee = await findAddressee(client, name)
    const session = await client.subscribe('session', addressee.session.resource).ready()
    const chats = await chatsOf(client, session, addressee)
    const { tell } = voice({ ...flags, json: format === 'json' })
    tell({ resource: addressee.session.resource, session, chats }, () => page(addressee, session, chats))
  })
}

async function chatsOf(
  client: Client,
  session: SessionState,
  { chat, narrow }: Addressee,
): Promise<readonly ChatState[]> {
  const wanted = narrow ? [chat] : session.chats.map(({ resource }) => resource)
  const chats: ChatState[] = []
  // One after the other: each may have many pages.
  for (const uri of wanted) {
    const followed = client.subscribe('chat', uri)
    chats.push(await withTurns(client, followed))
    followed.release()
  }
  return chats
}

function page(
  { session: { resource, createdAt } }: Addressee,
  session: SessionState,
  chats: readonly ChatState[],
): string {
  const { title, provider, workingDirectories = [] } = session
  const facts = [
    `- session: ${harmless(resource)}`,
    `- agent: ${onOneLine(provider)}`,
    `- begun: ${onOneLine(createdAt)}`,
    ...workingDirectories.map((directory) => `- folder: ${harmless(directory)}`),
  ]
  return [`# ${onOneLine(title) || 'Session'}`, '', ...facts, '', ...chats.map(chatPage)].join('\n')
}
