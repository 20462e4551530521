import { filesOf } from '../../catalog/machine.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import { ownersOf } from '../../catalog/owners.ts'
import type { Uri } from '@atrium/protocol/channel'
import { fromBase64 } from '@atrium/protocol/text/base64'
import type { ChatAttachment, MessageAttachment } from '@atrium/protocol/chat/message'
import type { Turn } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import { compact } from '@atrium/protocol/update'
import { commentingOf } from '../../catalog/commenting.ts'
import { isFile } from '../resources/client-files.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { cursorBefore } from '../../channels/cursor.ts'
import { turnsBefore } from '../../channels/history.ts'
import { resolveChat } from './pin.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { Content } from '../../ports/agent.ts'
import type { ContentForm } from '../../ports/content-encoder.ts'
import { contentOf, resourceRead } from '../resources/read.ts'
import { lengthOf } from '../../kernel/log/rows.ts'
import { transcriptOf } from './transcript.ts'
import { wake } from '../../channels/wake.ts'

/**
 * Reads the content of a message attachment for an agent. `principal` is the owner of the agent's session: the agent may read
 * what clients of that principal may read. Throws `TurnFailed`, with a message for users, if the content is missing or
 * forbidden.
 */
export async function readAttachment(
  core: Core,
  principal: string,
  attachment: MessageAttachment,
): Promise<Content> {
  try {
    return await read(core, principal, attachment)
  } catch (error) {
    if (!(error instanceof AhpError)) throw error
    throw new TurnFailed('attachment', `${JSON.stringify(attachment.label.slice(0, 200))}: ${error.message}`)
  }
}

async function read(core: Core, principal: string, attachment: MessageAttachment): Promise<Content> {
  switch (attachment.type) {
    case 'simple':
      return { data: attachment.modelRepresentation ?? attachment.label, encoding: 'utf-8' }
    case 'embeddedResource': {
      const bytes = fromBase64(attachment.data)
      if (!bytes) throw AhpError.invalidParams('the embedded data is not base64')
      return contentOf(bytes, compact<ContentForm>({ contentType: attachment.contentType }))
    }
    case 'resource':
      return readResource(core, principal, attachment.uri)
    case 'chat':
      return { data: await transcript(core, principal, attachment), encoding: 'utf-8' }
    case 'annotations':
      return { data: await commentingOf(core).text(principal, attachment), encoding: 'utf-8' }
    default:
      throw AhpError.notFound('this host does not know this kind of attachment')
  }
}

function readResource(core: Core, principal: string, uri: Uri): Promise<Content> {
  if (isFile(uri) && !filesOf(core)) throw AhpError.notFound('this host serves no files')
  return resourceRead(core, { principal }, { uri })
}

/**
 * Returns the transcript of an attached chat up to the turn `endTurn`. If the client has named no turn, the host has
 * added the last completed turn when the message was sent. So if there is still no `endTurn`, the chat had no
 * completed turn at that time, and the transcript is empty.
 */
async function transcript(core: Core, principal: string, attachment: ChatAttachment): Promise<string> {
  const uri = resolveChat(core, attachment.resource)
  const session = catalogOf(core).sessionOf(uri)
  const owned = session !== undefined && ownersOf(core).of(session) === principal
  const chat = owned ? await wake(core, uri) : undefined
  if (!chat?.is('chat')) throw AhpError.notFound('no such chat')
  const { endTurn } = attachment
  if (endTurn === undefined) return ''
  const { turns, more } = await turnsUpTo(core, chat, endTurn)
  return transcriptOf(turns, more, core.limits.transcriptLength)
}

/** The turns of a chat up to `endTurn`, oldest first. Only as many are read as a transcript can hold. */
async function turnsUpTo(
  core: Core,
  chat: Channel<'chat'>,
  endTurn: string,
): Promise<{ readonly turns: readonly Turn[]; readonly more: boolean }> {
  if (!chat.has(endTurn)) throw AhpError.notFound('the turn that the attachment ends with was removed')
  const next = chat.rowIds.at(chat.rowIds.indexOf(endTurn) + 1)
  let cursor = next === undefined ? undefined : cursorBefore({ id: next })
  const turns: Turn[] = []
  // The JSON of turns is longer than their transcript, so more JSON is read than a transcript may have characters.
  const maxLength = core.limits.transcriptLength * 4
  let length = 0
  for (;;) {
    const page = await turnsBefore(core, chat, { cursor })
    // The first page may hold turns after `endTurn`, which have ended since the message was sent.
    const end = turns.length > 0 ? page.turns.length : page.turns.findIndex(({ id }) => id === endTurn) + 1
    turns.unshift(...page.turns.slice(0, end))
    for (const turn of page.turns) length += lengthOf(turn)
    cursor = page.turnsNextCursor
    if (cursor === undefined || length > maxLength) return { turns, more: cursor !== undefined }
  }
}
