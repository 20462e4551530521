import type { Chat } from '@atrium/host/ports/agent'
import { requestIn } from '@atrium/protocol/chat/repeated-request'
import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ChatState } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import { contentOf, questionsOf } from '../../mcp/shapes/form.ts'
import type { Form } from '../../mcp/shapes/form.ts'
import type { OutputStream } from '../calls/output-stream.ts'

/** The params of `elicitation/create`. */
interface ElicitationRequest {
  readonly message?: string
  readonly url?: string | null
  readonly elicitationId?: string
  readonly requestedSchema?: Form
}

/** The forms that an agent shows to users in a turn, and the web pages that it asks them to visit. */
export class Elicitations {
  readonly #chat: Chat
  readonly #output: OutputStream
  /** The ids of the open input requests, by the agent's ids of its pages. */
  readonly #pages = new Map<string, string>()

  constructor(chat: Chat, output: OutputStream) {
    this.#chat = chat
    this.#output = output
  }

  /** Answers `elicitation/create`: shows an input request in the chat, and returns the answers of the users. */
  async ask(params: ElicitationRequest, id: string): Promise<object> {
    const { message, url, elicitationId, requestedSchema: form = {} } = params
    // Some agents send a form with `url: null`.
    const hasUrl = url !== undefined && url !== null
    // Clients open the URL. A URL of a scheme other than http or https could start a program.
    if (hasUrl && !isHttpUrl(url))
      throw AhpError.invalidParams('elicitation/create: only http and https URLs can be opened')
    const questions = questionsOf(form)
    const request: ChatInputRequest = {
      id,
      ...(typeof message === 'string' && { message }),
      ...(hasUrl && { url }),
      ...(questions.length > 0 && { questions }),
    }
    const page = hasUrl && typeof elicitationId === 'string' ? elicitationId : undefined
    if (page !== undefined) this.#pages.set(page, id)
    this.#output.write({ type: 'chat/inputRequested', request })
    const isAnswered = ({ activeTurn }: ChatState) =>
      requestIn(activeTurn?.responseParts, id)?.response !== undefined
    // The turn may end before a user has answered.
    const state = await this.#chat.when(isAnswered).catch(() => undefined)
    const isDone = page !== undefined && !this.#pages.delete(page)
    if (!state) return { action: 'cancel' }
    if (isDone) return { action: 'accept' }
    const { response, request: shown } = requestIn(state.activeTurn?.responseParts, id) ?? {}
    if (response !== 'accept') return { action: response ?? 'cancel' }
    return { action: 'accept', content: contentOf(form, shown?.answers) }
  }

  /** Closes the request to visit a page, because the agent knows that the page has done its work. */
  complete(elicitationId: string): void {
    const requestId = this.#pages.get(elicitationId)
    // Only users accept. So the request is cancelled for them, and accepted for the agent.
    if (requestId !== undefined && this.#pages.delete(elicitationId))
      this.#output.write({ type: 'chat/inputCompleted', requestId, response: 'cancel' })
  }
}

function isHttpUrl(url: unknown): url is string {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}
