import type { Chat } from '@atrium/host/ports/agent'
import type { OutputStream } from '../calls/output-stream.ts'
import type { ContentBlock, ContentChunk } from '../process/schema.ts'

type TextKind = 'markdown' | 'reasoning'

/**
 * Converts the message chunks of an agent to response parts that grow. A part ends when content of another kind
 * comes, or when a chunk with another message id comes. Many agents send no message ids, and then only the kind
 * counts.
 */
export class MessageChunks {
  readonly #chat: Chat
  readonly #output: OutputStream
  readonly #newId: () => string
  #openPart:
    | { readonly kind: TextKind; readonly id: string; readonly messageId: string | undefined }
    | undefined

  constructor(chat: Chat, output: OutputStream, newId: () => string) {
    this.#chat = chat
    this.#output = output
    this.#newId = newId
  }

  /**
   * Adds a chunk. Text is written at once. Other content is stored first, and the returned promise resolves when it is
   * written.
   */
  add(kind: TextKind, block: ContentBlock, messageId: ContentChunk['messageId']): void | Promise<void> {
    if (block.type === 'text') return this.#addText(kind, String(block.text ?? ''), messageId ?? undefined)
    return this.#addStored(block)
  }

  /** Ends the open part, because other content follows. */
  endPart(): void {
    this.#openPart = undefined
  }

  #addText(kind: TextKind, content: string, messageId: string | undefined): void {
    if (content === '') return
    const open = this.#openPart
    if (open?.kind === kind && open.messageId === messageId) {
      const type = kind === 'markdown' ? 'chat/delta' : 'chat/reasoning'
      return this.#output.write({ type, partId: open.id, content })
    }
    const id = this.#newId()
    this.#openPart = { kind, id, messageId }
    this.#output.write({ type: 'chat/responsePart', part: { kind, id, content } })
  }

  async #addStored(block: ContentBlock): Promise<void> {
    this.endPart()
    const reference = await this.#store(block)
    const name = block.type === 'text' || block.type === 'resource_link' ? undefined : nameOf(block)
    if (!reference) return
    const about = name !== undefined && { _meta: { 'x-atrium': { name } } }
    this.#output.write({ type: 'chat/responsePart', part: { kind: 'contentRef', ...reference, ...about } })
  }

  /** Stores content with the session and returns a reference to it. A link is not stored, and is returned unchanged. */
  async #store(block: ContentBlock) {
    if (block.type === 'resource_link')
      return { uri: block.uri, ...(block.mimeType && { contentType: block.mimeType }) }
    if (block.type === 'image' || block.type === 'audio')
      return typeof block.data === 'string' && typeof block.mimeType === 'string'
        ? this.#chat.keep(Buffer.from(block.data, 'base64'), block.mimeType)
        : undefined
    if (block.type !== 'resource') return undefined
    const { text, blob, mimeType } = block.resource ?? {}
    const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(blob ?? '', 'base64')
    return this.#chat.keep(
      bytes,
      mimeType ?? (typeof text === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream'),
    )
  }
}

/** The name of stored content: the last part of its URI at the agent. The URI of the stored content has no name. */
function nameOf(block: ContentBlock): string | undefined {
  const uri = 'resource' in block ? block.resource?.uri : 'uri' in block ? block.uri : undefined
  const last = typeof uri === 'string' ? uri.slice(0, longestUri).split(/[/\\]/).at(-1) : undefined
  try {
    return decodeURIComponent(last ?? '') || undefined
  } catch {
    return last
  }
}

/** The longest URI of which a name is taken, in characters. A name of a file has at most 255 bytes. */
const longestUri = 4096
