import { isProtected } from '@atrium/host/access/protected-files'
import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { FileEdit, FileEditSide } from '@atrium/protocol/common/content'
import { pathOf } from '@atrium/protocol/file-uri'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'
import { Approval } from '../render/approval.ts'
import type { Question } from '../render/ask.ts'
import { diffLines } from '../render/diff.ts'
import { Form } from '../render/form.ts'
import { SignIn } from '../render/sign-in.ts'
import { Problem, exits } from '../terminal/exit.ts'
import { shortName } from '../session/find.ts'
import { harmless } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** Something that waits for a person. */
export type Ask = Exclude<SessionInputRequest, { readonly kind: 'toolClientExecution' }>

/** What waits for people in a session: in all of it, or in one chat and with those who work for it. */
export function openAsks(session: SessionState, chat?: Uri): readonly Ask[] {
  return (session.inputNeeded ?? []).filter(
    (each): each is Ask =>
      people.has(each.kind) && (chat === undefined || worksFor(session, each.chat, chat)),
  )
}

const people: ReadonlySet<string> = new Set(['chatInput', 'toolConfirmation', 'toolAuthentication'])

function worksFor({ chats }: SessionState, worker: Uri, chat: Uri): boolean {
  const seen = new Set<Uri>()
  for (let at: Uri | undefined = worker; at !== undefined && !seen.has(at);) {
    if (at === chat) return true
    seen.add(at)
    const origin: (typeof chats)[number]['origin'] = chats.find(({ resource }) => resource === at)?.origin
    at = origin?.kind === 'tool' ? origin.chat : undefined
  }
  return false
}

/** What is asked, in a sentence. */
export function subjectOf(ask: Ask): string {
  if (ask.kind === 'chatInput') return ask.request.message ?? 'a question'
  const { invocationMessage } = ask.toolCall
  return typeof invocationMessage === 'string' ? invocationMessage : invocationMessage.markdown
}

/** Nobody is here who could be asked: how somebody can answer. */
export function unanswered(ask: Ask, session: Uri): Problem {
  const what = harmless(subjectOf(ask)).replaceAll(/\s+/g, ' ').slice(0, 200).replace(/\.$/, '')
  const name = shortName(session)
  const approve = ask.kind === 'toolConfirmation' ? `atrium approve ${name}, or see it with: ` : ''
  const how = `${approve}atrium attach ${name}`
  return new Problem(`It waits for an answer: ${what}. Give one with: ${how}`, exits.denied)
}

/** Two with the same mark ask for the same: an answer to one that changed meanwhile would be to something else. */
export function markOf(ask: Ask): string {
  if (ask.kind !== 'chatInput') return JSON.stringify(ask.toolCall)
  const { answers: _, ...request } = ask.request
  return JSON.stringify(request)
}

/** What changes how an agent is held is never agreed to beforehand. */
export function isSensitive(call: ToolCallState): boolean {
  const edits = call.status === 'pending-confirmation' ? (call.edits?.items ?? []) : []
  return edits.some(({ before, after }) => [before, after].some((side) => side && isProtected(side.uri)))
}

/** The question as a person is asked it, with what would be written. */
export async function questionOf(client: Client, ask: Ask, style: Style): Promise<Question> {
  if (ask.kind === 'chatInput') return new Form(ask.request)
  if (ask.kind === 'toolAuthentication') return new SignIn(ask.turnId, ask.toolCall)
  const { toolCall, turnId } = ask
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
    return [`  ${path}: what would change cannot be shown`]
  }
}

async function contentOf(client: Client, side: FileEditSide | undefined): Promise<string | undefined> {
  if (!side) return undefined
  try {
    const { data, encoding } = await client.ask('resourceRead', { uri: side.content.uri, encoding: 'utf-8' })
    return encoding === 'base64' ? Buffer.from(data, 'base64').toString() : data
  } catch (error) {
    // Nobody shall be asked to agree to what could not be shown because a link ended just then.
    if (error instanceof LinkClosed) return contentOf(client, side)
    throw error
  }
}
