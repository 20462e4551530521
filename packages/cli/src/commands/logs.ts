import type { Client } from '@atrium/client/client'
import { withTurns } from '@atrium/client/history'
import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { rootUri } from '@atrium/protocol/uri'
import { Problem, exits } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { actionLine, turnLines } from '../render/log.ts'
import { findAddressee, whileThere, shortName } from '../session/find.ts'
import type { Addressee } from '../session/find.ts'
import { trip } from '../link/with-client.ts'
import { onOneLine, voice } from '../terminal/output.ts'
import type { Manners, Voice } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly follow?: boolean
  readonly turns?: string
}

/**
 * `atrium logs`: what happened in a session. A host tells the past as turns and only the present as numbered actions, so
 * that is what is shown: the newest turns, then, with `-f`, each action as it happens.
 */
export async function logs(name: string, flags: Flags): Promise<void> {
  const out = voice(flags)
  const most = countOf(flags.turns)
  await trip(flags, async (client) => {
    const addressee = await findAddressee(client, name)
    const follow = flags.follow ? follower(client, addressee, out) : undefined
    const chats = await chatsOf(client, addressee)
    for (const { uri, heading } of chats) {
      const chat = client.subscribe('chat', uri, text)
      tellTurns(await withTurns(client, chat), chats.length > 1 ? heading : '', most, out)
      if (!follow) chat.release()
    }
    if (!follow) return
    out.note('Following; Ctrl-C ends it.')
    follow.begin()
    // It ends with its reader, with Ctrl-C, with the session, or with the host.
    await whileThere(client, addressee.session.resource, () => new Promise(() => {}))
  })
}

function tellTurns(chat: ChatState, heading: string, most: number, { tell, json, style }: Voice): void {
  const { turns, activeTurn, resource } = chat
  if (heading !== '' && most > 0 && !json) tell({}, () => style.bold(heading))
  const all = activeTurn ? [...turns, activeTurn] : turns
  for (const [at, turn] of all.entries())
    if (at >= all.length - most)
      tell({ kind: 'turn', chat: resource, number: at + 1, turn }, () => turnLines(turn, at + 1, style))
}

/** Words that come in a stretch of half a second are one action. */
const text = { delivery: { maxLatencyMs: 500 } }

/** Tells what happens in the session and all its chats, also in those that begin later. What comes early waits. */
function follower(client: Client, { session, chat, narrow }: Addressee, { tell, note, style }: Voice) {
  let early: Envelope[] | undefined = []
  const show = (envelope: Envelope) => {
    const where =
      envelope.channel === chat || envelope.channel === session.resource ? '' : shortName(envelope.channel)
    tell({ kind: 'action', ...envelope }, () => actionLine(envelope, where, style))
  }
  client.onAction((envelope) => {
    const { summary } = envelope.action as { readonly summary?: { readonly resource?: Uri } }
    const born = envelope.action.type === 'session/chatAdded' ? summary?.resource : undefined
    if (born !== undefined && !narrow) client.subscribe('chat', born, text)
    // The root is followed for its notes alone.
    if (envelope.channel === rootUri) return
    if (early) early.push(envelope)
    else show(envelope)
  })
  client.onLink(({ state }) => {
    if (state === 'stale') note('The host is silent; what it remembers of this is shown when it is back.')
    if (state === 'live') note('The host is back.')
  })
  return {
    begin: () => {
      for (const envelope of early ?? []) if (envelope.action.type !== 'chat/turnsLoaded') show(envelope)
      early = undefined
    },
  }
}

async function chatsOf(
  client: Client,
  { session, chat, narrow }: Addressee,
): Promise<readonly { readonly uri: Uri; readonly heading: string }[]> {
  if (narrow) return [{ uri: chat, heading: '' }]
  const { chats } = await client.subscribe('session', session.resource).ready()
  return chats.map(({ resource, title }) => {
    // The default chat goes by the name of its session.
    const name = resource === chat ? [] : [shortName(resource)]
    return { uri: resource, heading: ['chat', ...name, onOneLine(title)].join(' ') }
  })
}

function countOf(text = '10'): number {
  if (text === 'all') return Infinity
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new Problem(`--turns must be a number, or 'all', and not '${text}'.`, exits.usage)
}
