import { Conversation } from '../session/conversation.ts'
import { Follower } from '../live/follow.ts'
import { Problem, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { reach } from '../link/connect.ts'
import type { Whereabouts } from '../link/connect.ts'
import { findAddressee } from '../session/find.ts'
import { frontOf } from '../live/screen.ts'
import { Visit } from '../live/attach.ts'
import { voice } from '../terminal/output.ts'
import type { Manners } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly turns?: string
}

/** `atrium attach`: a session as it happens, and a line to take part in it; without a terminal, only what happens. */
export async function attach(name: string | undefined, flags: Flags): Promise<Exit> {
  const turns = turnsOf(flags.turns)
  const speaker = voice(flags)
  const client = await reach(flags)
  const { session, chat } = await findAddressee(client, name ?? 'last').catch((error: unknown) => {
    throw name === undefined && error instanceof Problem ? none() : error
  })
  const conversation = await Conversation.open(client, session.resource, Math.max(1, turns), chat)
  const parts = { conversation, voice: speaker, front: frontOf(), turns }
  if (speaker.asks) conversation.join('atrium attach')
  try {
    return await (speaker.asks ? new Visit(parts) : new Follower(parts)).done()
  } finally {
    await conversation.leave()
  }
}

function none(): Problem {
  return new Problem('There are no sessions yet; begin one with: atrium run "…"', exits.notFound)
}

function turnsOf(text = '3'): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw new Problem(`--turns must be a number of turns, and not '${text}'.`, exits.usage)
}
