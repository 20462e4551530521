import { isProtected } from '@atrium/host/access/protected-files'
import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { FileEdit, FileEditSide } from '@atrium/protocol/common/content'
import { pathOf } from '@atrium/protocol/file-uri'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import { Approval } from '../render/approval.ts'
import { diffLines } from '../render/diff.ts'
import { Form } from '../render/form.ts'
import type { Question } from '../render/question.ts'
import { SignIn } from '../render/sign-in.ts'
import { shortName } from '../session/find.ts'
import { subjectOf } from '../session/pending-requests.ts'
import type { Request } from '../session/pending-requests.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import { sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** The error of a command without a terminal: it says what waits for an answer, and which command answers it. */
export function unanswered(request: Request, session: Uri): CommandError {
  const what = sanitize(subjectOf(request)).replaceAll(/\s+/g, ' ').slice(0, 200).replace(/\.$/, '')
  const name = shortName(session)
  const approve = request.kind === 'toolConfirmation' ? `atrium approve ${name}, or see it with: ` : ''
  const how = `${approve}atrium attach ${name}`
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

/** Returns the question for the terminal, with a diff of each file that the call would edit. */
export async function questionOf(client: Client, request: Request, style: Style): Promise<Question> {
  if (request.kind === 'chatInput') return new Form(request.request)
  if (request.kind === 'toolAuthentication') return new SignIn(request.turnId, request.toolCall)
  const { toolCall, turnId } = request
  const edits = toolCall.status === 'pending-confirmation' ? (toolCall.edits?.items ?? []) : []
  const shown = await Promise.all(edits.map((edit) => preview(client, edit, style)))
  return new Approval(turnId, toolCall, shown.flat())
}

async function preview(
  client: Client,
  { before, after }: FileEdit,
  style: Style,
): Promise<readonly string[]> {
  const uri = after?.uri ?? before?.uri ?? ''
  const named = pathOf(uri)
  const path = named.ok ? named.path : uri
  try {
    const [old, now] = await Promise.all([contentOf(client, before), contentOf(client, after)])
    return diffLines(
      { path, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) },
      style,
    )
  } catch {
    return [`  ${path}: the change cannot be shown`]
  }
}

async function contentOf(client: Client, side: FileEditSide | undefined): Promise<string | undefined> {
  if (!side) return undefined
  try {
    const { data, encoding } = await client.ask('resourceRead', { uri: side.content.uri, encoding: 'utf-8' })
    return encoding === 'base64' ? Buffer.from(data, 'base64').toString() : data
  } catch (error) {
    // The link broke meanwhile. The file is read again, so that the user sees the diff before the question.
    if (error instanceof LinkClosed) return contentOf(client, side)
    throw error
  }
}
