import type { Chat } from '@atrium/host/ports/agent'
import { requestIn } from '@atrium/protocol/chat/repeated-request'
import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ActiveTurn, InputRequestPart } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import { contentOf, questionsOf } from '../mcp/shapes/form.ts'
import type { Form } from '../mcp/shapes/form.ts'
import type { OutputStream } from './calls/output-stream.ts'

/** The params of `elicitation/create`. */
interface ElicitationRequest {
  readonly message?: string
  readonly url?: string | null
  readonly requestedSchema?: Form
}

/** Answers `elicitation/create`: shows the agent's form as an input request of the chat, and returns the users' answers. */
export async function elicit(params: object, chat: Chat, output: OutputStream, id: string): Promise<object> {
  const { message, url, requestedSchema: form = {} }: ElicitationRequest = params
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
  output.write({ type: 'chat/inputRequested', request })
  const state = await chat.when(({ activeTurn }) => requestPart(activeTurn, id)?.response !== undefined)
  const part = requestPart(state.activeTurn, id)
  if (part?.response !== 'accept') return { action: part?.response ?? 'cancel' }
  return { action: 'accept', content: contentOf(form, part.request.answers) }
}

function isHttpUrl(url: unknown): url is string {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

function requestPart(turn: ActiveTurn | undefined, id: string): InputRequestPart | undefined {
  return requestIn(turn?.responseParts, id)
}
