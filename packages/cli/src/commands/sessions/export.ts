import type { Client } from '@atrium/client/client'
import { withTurns } from '@atrium/client/history'
import type { ChatState } from '@atrium/protocol/chat/state'
import { sessionStatus } from '@atrium/protocol/session/activity'
import type { SessionState } from '@atrium/protocol/session/state'
import { CommandError, exits } from '../../terminal/exit.ts'
import type { HostOptions } from '../../link/connect.ts'
import { chatPage } from '../../render/page.ts'
import { findTarget } from '../../session/find.ts'
import type { Target } from '../../session/find.ts'
import { worktreeText } from '../../session/worktree.ts'
import { withClient } from '../../link/with-client.ts'
import { localTime } from '../../terminal/local-time.ts'
import { sanitize, onOneLine, output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly format?: string
}

/** `atrium export`: prints a whole session, with all turns of all chats, as Markdown or as one JSON document. */
export function exportSession(name: string | undefined, flags: Flags): Promise<void> {
  const { format = flags.json ? 'json' : 'markdown' } = flags
  if (!['markdown', 'json'].includes(format))
    throw new CommandError(`--format must be markdown or json, and not '${format}'.`, exits.usage)
  return withClient(flags, async (client) => {
    const target = await findTarget(client, name ?? 'last')
    const state = await client.subscribe('session', target.session.resource).ready()
    const session = { ...state, status: sessionStatus(state) }
    const chats = await chatsOf(client, session, target)
    const { print } = output({ ...flags, json: format === 'json' })
    print({ resource: target.session.resource, session, chats }, () => page(target, session, chats))
  })
}

async function chatsOf(
  client: Client,
  session: SessionState,
  { chat, chatOnly }: Target,
): Promise<readonly ChatState[]> {
  const wanted = chatOnly ? [chat] : session.chats.map(({ resource }) => resource)
  const chats: ChatState[] = []
  // The chats are read one after the other, because each may consist of many pages.
  for (const uri of wanted) {
    const subscription = client.subscribe('chat', uri)
    chats.push(await withTurns(client, subscription))
    subscription.release()
  }
  return chats
}

function page(
  { session: { resource, createdAt } }: Target,
  session: SessionState,
  chats: readonly ChatState[],
): string {
  const { title, provider, workingDirectories = [] } = session
  const worktree = worktreeText(session)
  const facts = [
    `- session: ${sanitize(resource)}`,
    `- agent: ${onOneLine(provider)}`,
    `- begun: ${localTime(createdAt, { zone: true })}`,
    ...workingDirectories.map((directory) => `- folder: ${sanitize(directory)}`),
    ...(worktree === undefined ? [] : [`- worktree: ${onOneLine(worktree)}`]),
  ]
  return [`# ${onOneLine(title) || 'Session'}`, '', ...facts, '', ...chats.map(chatPage)].join('\n')
}
