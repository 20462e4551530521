import type { Chat } from '@atrium/host/ports/agent'
import type { Voice } from './output-stream.ts'
import type { ContentBlock } from './process/schema.ts'

/**
 * What an agent writes, as parts that grow. A part ends where another kind of thing comes, or another message begins; many agents do
 * not say where that is.
 */
export class Speech {
  readonly #chat: Chat
  readonly #voice: Voice
  readonly #newId: () => string
  #open:
    | { readonly kind: 'markdown' | 'reasoning'; readonly id: string; readonly messageId: string | undefined }
    | undefined

  constructor(chat: Chat, voice: Voice, newId: () => string) {
    this.#chat = chat
    this.#voice = voice
    this.#newId = newId
  }

  /** Only what is not text takes time: it is kept first. */
  take(
    kind: 'markdown' | 'reasoning',
    block: ContentBlock,
    messageId: string | undefined,
  ): void | Promise<void> {
    if (block.type === 'text') return this.#write(kind, String(block.text ?? ''), messageId)
    return this.#attach(block)
  }

  /** Something else comes in between. */
  pause(): void {
    this.#open = undefined
  }

  #write(kind: 'markdown' | 'reasoning', content: string, messageId: string | undefined): void {
    if (content === '') return
    const open = this.#open
    if (open?.kind === kind && open.messageId === messageId) {
      const type = kind === 'markdown' ? 'chat/delta' : 'chat/reasoning'
      return this.#voice.say({ type, partId: open.id, content })
    }
    const id = this.#newId()
    this.#open = { kind, id, messageId }
    this.#voice.say({ type: 'chat/responsePart', part: { kind, id, content } })
  }

  async #attach(block: ContentBlock): Promise<void> {
    this.pause()
    const part = await this.#refer(block)
    if (part) this.#voice.say({ type: 'chat/responsePart', part: { kind: 'contentRef', ...part } })
  }

  async #refer(block: ContentBlock) {
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
