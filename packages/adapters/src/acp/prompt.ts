import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import { transcriptOf } from '@atrium/host/turn/transcript'
import type { Message, MessageAttachment } from '@atrium/protocol/chat/message'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import type { AgentCapabilities, ContentBlock } from './process/schema.ts'

type Takes = AgentCapabilities['promptCapabilities']

/** A message as an agent is sent it: its words, and whatever is attached in the best form that the agent takes. */
export async function messageBlocks(
  { text, attachments = [] }: Message,
  chat: Chat,
  takes: Takes,
): Promise<readonly ContentBlock[]> {
  const blocks: ContentBlock[] = text === '' ? [] : [{ type: 'text', text }]
  for (const attachment of attachments) blocks.push(await attachmentBlock(attachment, chat, takes))
  return blocks.length > 0 ? blocks : [{ type: 'text', text: ' ' }]
}

async function attachmentBlock(
  attachment: MessageAttachment,
  chat: Chat,
  takes: Takes,
): Promise<ContentBlock> {
  const { label } = attachment
  const uri = 'uri' in attachment ? attachment.uri : `atrium:attachment/${encodeURIComponent(label)}`
  // A file of the session's own folders is better read by the agent itself, as it is when it gets there.
  if (attachment.type === 'resource' && uri.startsWith('file:') && !takes?.embeddedContext)
    return { type: 'resource_link', uri, name: label }
  const { data, encoding, contentType: mimeType } = await chat.read(attachment)
  if (encoding === 'utf-8')
    return takes?.embeddedContext
      ? { type: 'resource', resource: { uri, text: data, ...(mimeType !== undefined && { mimeType }) } }
      : { type: 'text', text: `${label}:\n\n${data}` }
  if (mimeType?.startsWith('image/') && takes?.image) return { type: 'image', data, mimeType }
  if (mimeType?.startsWith('audio/') && takes?.audio) return { type: 'audio', data, mimeType }
  if (takes?.embeddedContext)
    return { type: 'resource', resource: { uri, blob: data, ...(mimeType !== undefined && { mimeType }) } }
  if (uri.startsWith('file:')) return { type: 'resource_link', uri, name: label }
  throw new TurnFailed('attachment', `${JSON.stringify(label)} is nothing that this agent takes`)
}

/** What is said to an agent that takes up a turn which was broken off. It knows what it did; what people decided since, it does not. */
export function goOnText(turn: ActiveTurn): string {
  const decided = turn.responseParts.flatMap((part) => {
    if (part.kind !== 'toolCall') return []
    const { toolCall: call } = part
    const what = `${call.displayName}: ${wordsOf(call.invocationMessage)}`
    if (call.status === 'running' && call.confirmed !== 'not-needed')
      return [`Allowed meanwhile: ${what}. Do it now.`]
    if (call.status === 'cancelled' && call.reason === 'denied') return [`Refused meanwhile: ${what}.`]
    return []
  })
  return [
    'This turn was broken off before you had ended it. Go on where you were; do not do again what is done.',
    ...decided,
  ].join('\n')
}

/** What an agent that knows nothing of a chat is told of it, the newest of it, as a text. */
export async function handOver(chat: Chat, turn: ActiveTurn): Promise<ContentBlock | undefined> {
  const last = chat.state.turns.at(-1)
  const earlier = last
    ? await chat.read({ type: 'chat', label: 'this chat', resource: chat.uri, endTurn: last.id })
    : undefined
  const begun =
    turn.responseParts.length > 0 ? transcriptOf([{ ...turn, state: 'error' }], false, mostOfTurn) : ''
  const texts = [earlier?.data ?? '', begun].filter((text) => text !== '')
  if (texts.length === 0) return undefined
  const intro = 'What was said in this chat before, which you have no memory of:'
  return { type: 'text', text: [intro, ...texts, 'End of what was said before.'].join('\n\n') }
}

const mostOfTurn = 100_000

function wordsOf(words: string | { readonly markdown: string } | undefined): string {
  return typeof words === 'object' ? words.markdown : (words ?? '')
}
