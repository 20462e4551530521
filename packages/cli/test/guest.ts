import { trusting } from '@atrium/client/shared/check'
import { Client } from '@atrium/client/client'
import { newId, world } from '@atrium/client/shared/globals'
import type { Subscription } from '@atrium/client/sync/handle'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Life } from './life.ts'

/** Another client of the same host, as a window beside the terminal is. */
export function guestOf(life: Life): Client {
  const clientId = newId()
  return new Client({
    clientId,
    versions: ['1.0.0'],
    world,
    check: trusting,
    open: () => life.dial(),
  }).connect()
}

/** A session with the guide, which has a title and so is listed. */
export async function sessionOf(
  client: Client,
  name: string,
  folder?: string,
): Promise<Subscription<'chat'>> {
  const channel = `ahp-session:/${name}`
  const where = folder === undefined ? {} : { workingDirectories: [fileUri(folder)] }
  await client.ask('createSession', { channel, provider: 'guide', ...where })
  await client.dispatch(channel, { type: 'session/titleChanged', title: `about ${name}` } as never)
  const chat = client.subscribe('chat', defaultChatUri(channel))
  await chat.ready()
  return chat
}

/** Says something and waits until the turn is over, or waits for somebody. */
export async function say(chat: Subscription<'chat'>, text: string): Promise<string> {
  const turnId = newId()
  const message = { text, origin: { kind: 'user' } } as const
  await chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message })
  await chat.until(({ activeTurn, status }) => !activeTurn || (status & 31) === 24)
  return turnId
}
