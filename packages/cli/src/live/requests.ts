import { isProtected } from '@atrium/host/access/protected-files'
import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { Approval } from '../render/approval.ts'
import { Form } from '../render/form.ts'
import type { Question } from '../render/question.ts'
import { SignIn } from '../render/sign-in.ts'
import { shortName } from '../session/find.ts'
import { subjectOf } from '../session/pending-requests.ts'
import type { Request } from '../session/pending-requests.ts'
import { approvalText } from './approval-text.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import { onOneLine } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** The error of a command without a terminal: it says what waits for an answer, and which command answers it. */
export function unanswered(request: Request, session: Uri): CommandError {
  const asked = onOneLine(subjectOf(request))
  const what = asked.length > 200 ? `${asked.slice(0, 200)}…` : asked.replace(/\.$/, '')
  const name = shortName(session)
  const approve =
    request.kind === 'toolConfirmation'
      ? `atrium approve ${name}, or see all of it with: atrium approve ${name} --show`
      : ''
  const how = approve || `atrium attach ${name}`
  return new CommandError(`It waits for an answer: ${what}. Give one with: ${how}`, exits.denied)
}

/**
 * Identifies the content of a request. If the fingerprint of a request differs, the request has changed since it was
 * shown, and an answer to the old content does not apply. The drafted answers of a form are not part of the fingerprint.
 */
export function fingerprintOf(request: Request): string {
  if (request.kind !== 'chatInput') return JSON.stringify(request.toolCall)
  const { answers: _, ...form } = request.request
  return JSON.stringify(form)
}

/**
 * Whether a call edits a protected file, for example one that changes the permissions of an agent. Such a call is never
 * preapproved.
 */
export function isSensitive(call: ToolCallState): boolean {
  const edits = call.status === 'pending-confirmation' ? (call.edits?.items ?? []) : []
  return edits.some(({ before, after }) => [before, after].some((side) => side && isProtected(side.uri)))
}

/** Returns the question for the terminal, with all that the user must see before the answer. */
export async function questionOf(client: Client, request: Request, style: Style): Promise<Question> {
  if (request.kind === 'chatInput') return new Form(request.request)
  if (request.kind === 'toolAuthentication') return new SignIn(request.turnId, request.toolCall)
  const { toolCall, turnId } = request
  return new Approval(turnId, toolCall, await approvalText(client, toolCall, style))
}
