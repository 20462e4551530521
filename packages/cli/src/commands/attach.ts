import { Conversation } from '../session/conversation.ts'
import { FollowView } from '../live/follow.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { connect } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { findTarget } from '../session/find.ts'
import { openScreen } from '../live/screen.ts'
import { AttachView } from '../live/attach.ts'
import { output } from '../terminal/output.ts'
import type { OutputOptions } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly turns?: string
}

/** `atrium attach`: follows a session live. At a terminal the user can take part in it. */
export async function attach(name: string | undefined, flags: Flags): Promise<Exit> {
  const turns = parseTurns(flags.turns)
  const out = output(flags)
  const client = await connect(flags)
  const { session, chat } = await findTarget(client, name ?? 'last').catch((error: unknown) => {
    throw name === undefined && error instanceof CommandError ? noSessions() : error
  })
  const conversation = await Conversation.open(client, session.resource, Math.max(1, turns), chat)
  const options = { conversation, output: out, screen: openScreen(), turns }
  if (out.interactive) conversation.join('atrium attach')
  try {
    return await (out.interactive ? new AttachView(options) : new FollowView(options)).done()
  } finally {
    await conversation.leave()
  }
}

function noSessions(): CommandError {
  return new CommandError('There are no sessions yet; begin one with: atrium run "…"', exits.notFound)
}

function parseTurns(text = '3'): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw new CommandError(`--turns must be a whole number from 0 to 9999, and not '${text}'.`, exits.usage)
}
