import { trusting } from '@atrium/client/shared/check'
import { Client } from '@atrium/client/client'
import { newId, world } from '@atrium/client/shared/globals'
import type { Subscription } from '@atrium/client/sync/handle'
import { fileUri } from '@atrium/protocol/file-uri'
import { Activity, activityOf } from '@atrium/protocol/status'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { HostProcess } from './host-process.ts'

/** Connects another client to the host that the command under test uses. */
export function clientOf(host: HostProcess): Client {
  const clientId = newId()
  return new Client({
    clientId,
    versions: ['1.0.0'],
    world,
    check: trusting,
    open: () => host.dial(),
  }).connect()
}

/** Creates a session with the guide. Its title makes it appear in the session list. */
export async function sessionOf(
  client: Client,
  name: string,
  folder?: string,
): Promise<Subscription<'chat'>> {
  const channel = `ahp-session:/${name}`
  const where = folder === undefined ? {} : { workingDirectories: [fileUri(folder)] }
  await client.ask('createSession', { channel, provider: 'guide', ...where })
  await setTitle(client, channel, `about ${name}`)
  const chat = client.subscribe('chat', defaultChatUri(channel))
  await chat.ready()
  return chat
}

export async function setTitle(client: Client, session: string, title: string): Promise<void> {
  const action = { type: 'session/titleChanged', title }
  await client.dispatch(session, action)
}

/**
 * Resolves when a client has all that the host did before this call, for example for a command that has ended: an
 * action comes back after all that came before it.
 */
export async function catchUp(client: Client, name: string): Promise<void> {
  await setTitle(client, `ahp-session:/${name}`, `later about ${name}`)
}

/** Starts a turn, and waits until it has ended or needs input. */
export async function say(chat: Subscription<'chat'>, text: string, turnId = newId()): Promise<string> {
  const message = { text, origin: { kind: 'user' } } as const
  await chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message })
  await chat.until(({ activeTurn, status }) => !activeTurn || isInputNeeded(status))
  return turnId
}

export function isInputNeeded(status: number): boolean {
  return activityOf(status) === Activity.InputNeeded
}
