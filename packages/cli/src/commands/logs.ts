import type { Client } from '@atrium/client/client'
import { withTurns } from '@atrium/client/history'
import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { rootUri } from '@atrium/protocol/uri'
import { CommandError, exits } from '../terminal/exit.ts'
import type { HostOptions } from '../link/connect.ts'
import { actionLine, turnLines } from '../render/log.ts'
import { findTarget, whileSessionExists, shortName } from '../session/find.ts'
import type { Target } from '../session/find.ts'
import { withClient } from '../link/with-client.ts'
import { localTime } from '../terminal/local-time.ts'
import { onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions, Output } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly follow?: boolean
  readonly turns?: string
}

/**
 * `atrium logs`: shows a session. A host keeps the past as turns, and sends only new changes as actions. The output is
 * therefore the newest turns and then, with `-f`, each new action.
 */
export async function logs(name: string | undefined, flags: Flags): Promise<void> {
  const out = output(flags)
  const maxTurns = parseTurns(flags.turns)
  await withClient(flags, async (client) => {
    const target = await findTarget(client, name ?? 'last')
    const follow = flags.follow ? followActions(client, target, out) : undefined
    const chats = await chatsOf(client, target)
    for (const { uri, heading } of chats) {
      const chat = client.subscribe('chat', uri, batched)
      printTurns(await withTurns(client, chat), chats.length > 1 ? heading : '', maxTurns, out)
      if (!follow) chat.release()
    }
    if (!follow) return
    out.note('Following; Ctrl-C ends it.')
    follow.start()
    // The command ends when the reader closes the pipe, at Ctrl-C, or when the session or the host is gone.
    await whileSessionExists(client, target.session.resource, () => new Promise(() => {}))
  })
}

function printTurns(
  chat: ChatState,
  heading: string,
  maxTurns: number,
  { print, json, style }: Output,
): void {
  const { turns, activeTurn, resource } = chat
  if (heading !== '' && maxTurns > 0 && !json) print({}, () => style.bold(heading))
  const all = activeTurn ? [...turns, activeTurn] : turns
  for (const [at, turn] of all.entries())
    if (at >= all.length - maxTurns)
      print({ kind: 'turn', chat: resource, number: at + 1, turn }, () => turnLines(turn, at + 1, style))
}

/** Text deltas within half a second are merged into one action. */
const batched = { delivery: { maxLatencyMs: 500 } }

/**
 * Prints the actions of the session and all its chats, new chats included. Until the returned `start` is called, they
 * are held back.
 */
function followActions(client: Client, { session, chat, chatOnly }: Target, { print, note, style }: Output) {
  let early: Envelope[] | undefined = []
  const show = (envelope: Envelope) => {
    const where =
      envelope.channel === chat || envelope.channel === session.resource ? '' : shortName(envelope.channel)
    print({ kind: 'action', ...envelope }, () => actionLine(localTime(new Date()), envelope, where, style))
  }
  client.onAction((envelope) => {
    const created = createdChat(envelope.action)
    if (created !== undefined && !chatOnly) client.subscribe('chat', created, batched)
    // The root channel is subscribed only for the notification of a removed session.
    if (envelope.channel === rootUri) return
    if (early) early.push(envelope)
    else show(envelope)
  })
  client.onLink(({ state }) => {
    if (state === 'stale') note('The host is away; missed actions are shown when it is back.')
    if (state === 'live') note('The host is back.')
  })
  return {
    start: () => {
      for (const envelope of early ?? []) if (envelope.action.type !== 'chat/turnsLoaded') show(envelope)
      early = undefined
    },
  }
}

function createdChat(action: Action): Uri | undefined {
  if (action.type !== 'session/chatAdded' || !('summary' in action)) return undefined
  const { summary } = action
  return typeof summary === 'object' &&
    summary !== null &&
    'resource' in summary &&
    typeof summary.resource === 'string'
    ? summary.resource
    : undefined
}

async function chatsOf(
  client: Client,
  { session, chat, chatOnly }: Target,
): Promise<readonly { readonly uri: Uri; readonly heading: string }[]> {
  if (chatOnly) return [{ uri: chat, heading: '' }]
  const { chats } = await client.subscribe('session', session.resource).ready()
  return chats.map(({ resource, title }) => {
    // The heading of the default chat shows no name, because commands address this chat by the name of its session.
    const name = resource === chat ? [] : [shortName(resource)]
    return { uri: resource, heading: ['chat', ...name, onOneLine(title)].join(' ') }
  })
}

function parseTurns(text = '10'): number {
  if (text === 'all') return Infinity
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new CommandError(`--turns must be a number, or 'all', and not '${text}'.`, exits.usage)
}
