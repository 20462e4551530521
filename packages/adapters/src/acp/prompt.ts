import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { Customized } from '@atrium/host/ports/customized'
import { isConsent } from '@atrium/host/turn/consent'
import { transcriptOf } from '@atrium/host/turn/transcript'
import type { Message, MessageAttachment } from '@atrium/protocol/chat/message'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import { textOf } from '@atrium/protocol/common/content'
import { byFile, customParagraphs } from '../customization/paragraphs.ts'
import type { AgentCapabilities, ContentBlock } from './process/schema.ts'

type PromptCapabilities = AgentCapabilities['promptCapabilities']

/** Converts a message to ACP content: its text, and each attachment in the best form that the agent supports. */
export async function messageBlocks(
  { text, attachments = [] }: Message,
  chat: Chat,
  capabilities: PromptCapabilities,
): Promise<readonly ContentBlock[]> {
  const blocks: ContentBlock[] = text === '' ? [] : [{ type: 'text', text }]
  for (const attachment of attachments) blocks.push(await attachmentBlock(attachment, chat, capabilities))
  return blocks.length > 0 ? blocks : [{ type: 'text', text: ' ' }]
}

/**
 * Returns the rules and skills of a session as text, because ACP has no other way to give them to an agent. For
 * Claude, the files in `.claude` are left out, because Claude reads them itself.
 */
export function customText(customized: Customized, agent: string): string {
  const own = agent === 'claude' ? /\/\.claude\// : undefined
  const others = <T extends { readonly uri: string }>(list: readonly T[]) =>
    own ? list.filter(({ uri }) => !own.test(uri)) : list
  const { rules, skills } = customized
  const given = { ...customized, rules: others(rules), skills: others(skills) }
  return customParagraphs(given, byFile).join('\n\n')
}

export function textBlocks(text: string): readonly ContentBlock[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

async function attachmentBlock(
  attachment: MessageAttachment,
  chat: Chat,
  capabilities: PromptCapabilities,
): Promise<ContentBlock> {
  const { label } = attachment
  const uri = 'uri' in attachment ? attachment.uri : `atrium:attachment/${encodeURIComponent(label)}`
  // An agent that does not support embedded content gets a link to a file and not its text. It can read the file
  // itself, and then sees the newest version.
  if (attachment.type === 'resource' && uri.startsWith('file:') && !capabilities?.embeddedContext)
    return { type: 'resource_link', uri, name: label }
  const { data, encoding, contentType: mimeType } = await chat.read(attachment)
  if (encoding === 'utf-8')
    return capabilities?.embeddedContext
      ? { type: 'resource', resource: { uri, text: data, ...(mimeType !== undefined && { mimeType }) } }
      : { type: 'text', text: `${label}:\n\n${data}` }
  if (mimeType?.startsWith('image/') && capabilities?.image) return { type: 'image', data, mimeType }
  if (mimeType?.startsWith('audio/') && capabilities?.audio) return { type: 'audio', data, mimeType }
  if (capabilities?.embeddedContext)
    return { type: 'resource', resource: { uri, blob: data, ...(mimeType !== undefined && { mimeType }) } }
  if (uri.startsWith('file:')) return { type: 'resource_link', uri, name: label }
  throw new TurnFailed('attachment', `this agent does not support the attachment ${JSON.stringify(label)}`)
}

/**
 * Returns the prompt that resumes an interrupted turn. The agent remembers its own work, so the prompt tells only the
 * decisions that users made since the interruption.
 */
export function resumeText(turn: ActiveTurn): string {
  const decisions = turn.responseParts.flatMap((part) => {
    if (part.kind !== 'toolCall') return []
    const { toolCall: call } = part
    const title = textOf(call.invocationMessage)
    const shown = 'toolInput' in call ? call.toolInput : undefined
    const input = typeof shown === 'string' ? shown.slice(0, maxInputLength) : ''
    // The input is added to the title, because the title may be a single word, such as the name of a tool.
    const action = `${call.displayName}: ${input === '' || title.includes(input) ? title : `${title}: ${input}`}`
    // The client that provides the tool runs it. The agent gets the stored result if it calls the tool again.
    if (call.contributor) return call.status === 'completed' ? [`Done already: ${action}.`] : []
    if (call.status === 'running' && call.confirmed !== 'not-needed')
      return [`Allowed meanwhile, and not begun: ${action}. Nothing of it is done. Do it now.`]
    if (call.status === 'cancelled' && call.reason === 'denied') return [`Refused meanwhile: ${action}.`]
    return []
  })
  return [
    'This turn was broken off before you had ended it. Go on where you were; do not do again what is done.',
    ...decisions,
  ].join('\n')
}

/**
 * Returns the parts of a turn without the host's question whether the agent may act without asking. The host asks
 * this question itself, so the agent does not know it.
 */
export function withoutConsent({ responseParts }: ActiveTurn): ActiveTurn['responseParts'] {
  return responseParts.filter((part) => part.kind !== 'toolCall' || !isConsent(part.toolCall))
}

/** Returns the newest part of the chat as text, for a new ACP session. Returns undefined if the chat is empty. */
export async function transcriptBlock(chat: Chat, turn: ActiveTurn): Promise<ContentBlock | undefined> {
  const last = chat.state.turns.at(-1)
  const earlier = last
    ? await chat.read({ type: 'chat', label: 'this chat', resource: chat.uri, endTurn: last.id })
    : undefined
  const responseParts = withoutConsent(turn)
  const active =
    responseParts.length > 0
      ? transcriptOf([{ ...turn, responseParts, state: 'error' }], false, maxTurnLength)
      : ''
  const texts = [earlier?.data ?? '', active].filter((text) => text !== '')
  if (texts.length === 0) return undefined
  const intro = 'What was said in this chat before, which you have no memory of:'
  return { type: 'text', text: [intro, ...texts, 'End of what was said before.'].join('\n\n') }
}

/** In characters. */
const maxTurnLength = 100_000
const maxInputLength = 2000
