import type { Client } from '@atrium/client/client'
import type { SessionState } from '@atrium/protocol/session/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import { denialAction, approvalAction } from '../session/answer.ts'
import type { AnswerOptions } from '../session/answer.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import type { HostOptions } from '../link/connect.ts'
import { approvalText } from '../live/approval-text.ts'
import { titleOf } from '../render/approval.ts'
import { folderOf } from '../session/summary-words.ts'
import { printList } from '../render/table.ts'
import { allSessions, findTarget, readSessions, shortName } from '../session/find.ts'
import { withClient } from '../link/with-client.ts'
import { sanitize, onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions, Output } from '../terminal/output.ts'
import { openRequests, pendingRequestsIn, requestIdOf, withOnlyChat } from '../session/pending-requests.ts'
import type { PendingRequest } from '../session/pending-requests.ts'
import { resolutionIn } from '../session/resolution.ts'
import { assertAccepted } from '../link/dispatch.ts'

interface Flags extends HostOptions, OutputOptions, AnswerOptions {
  readonly call?: string
  readonly show?: boolean
}

/** `atrium approve`: approves the open request of a session or a chat. Without a name, lists the open requests of all. */
export function approve(name: string | undefined, flags: Flags): Promise<Exit> {
  return withClient(flags, (client) =>
    name === undefined ? listAll(client, flags) : answer(client, name, flags, true),
  )
}

/** `atrium deny`: denies the open request of a session or a chat. */
export function deny(name: string, flags: Flags): Promise<Exit> {
  return withClient(flags, (client) => answer(client, name, flags, false))
}

async function answer(client: Client, name: string, flags: Flags, yes: boolean): Promise<Exit> {
  const out = output(flags)
  const { session: found, chat, chatOnly } = await findTarget(client, name)
  const { resource } = found
  const session = client.subscribe('session', resource)
  const whole = await session.ready()
  const state = chatOnly ? withOnlyChat(whole, chat) : whole
  const all = pendingRequestsIn(state).map((each) => ({ ...each, ...placeOf(whole), session: resource }))
  const [one, ...others] = flags.call === undefined ? all : called(all, flags.call)
  if (!one) throw await noRequest(client, state, name, flags.call)
  if (others.length > 0) {
    list(out, flags.call === undefined ? all : [one, ...others])
    throw new CommandError(`${others.length + 1} requests are open there; name one with --call.`, exits.usage)
  }
  if (flags.show) return show(client, state, one, out)
  const action = yes ? approvalAction(one, flags) : denialAction(one, flags)
  const outcome = await client.dispatch(one.chat, action)
  if (outcome.outcome !== 'accepted') {
    const resolution = await resolutionIn(client, state, one.id)
    const isOpen = pendingRequestsIn(session.state ?? state).some(({ id }) => id === one.id)
    if (resolution !== undefined && !isOpen) throw tooLate(resolution)
    assertAccepted(outcome)
  }
  out.report({ session: resource, chat: one.chat, id: one.id, approved: yes }, () => {
    return `${yes ? 'Approved' : 'Denied'}: ${onOneLine(one.what)}`
  })
  return exits.ok
}

/** Returns the requests whose id is `call`. If there are none, returns those whose ids begin with `call`. */
/** Prints all that the user must see to decide, and answers nothing. */
async function show(client: Client, state: SessionState, one: PendingRequest, out: Output): Promise<Exit> {
  const request = openRequests(state).find((each) => requestIdOf(each) === one.id)
  const asks = request && request.kind === 'toolConfirmation' ? request.toolCall : undefined
  const { lines } = asks ? await approvalText(client, asks, out.style) : { lines: [] }
  const title = sanitize(asks ? titleOf(asks) : one.what)
  out.print({ ...one, lines: lines.map((line) => line.replace(/^ {2}/, '')) }, () =>
    [title, ...lines].join('\n'),
  )
  return exits.ok
}

function called<T extends PendingRequest>(all: readonly T[], call: string): readonly T[] {
  const exact = all.filter(({ id }) => id === call)
  return exact.length > 0 ? exact : all.filter(({ id }) => id.startsWith(call))
}

async function noRequest(
  client: Client,
  state: SessionState,
  name: string,
  call?: string,
): Promise<CommandError> {
  const resolution = call === undefined ? undefined : await resolutionIn(client, state, call)
  if (resolution !== undefined) return tooLate(resolution)
  return new CommandError(
    call === undefined
      ? `Nothing waits for an answer in '${name}'.`
      : `Nothing called '${call}' waits in '${name}'.`,
  )
}

function tooLate(resolution: string): CommandError {
  return new CommandError(`This is not open: ${resolution}.`)
}

async function listAll(client: Client, flags: Flags): Promise<Exit> {
  const sessions = (await allSessions(client)).filter(
    ({ status }) => activityOf(status) === Activity.InputNeeded,
  )
  const found: Listed[] = []
  await readSessions(client, sessions, (state, session) => {
    for (const each of pendingRequestsIn(state)) found.push({ ...each, ...placeOf(state), session })
  })
  if (found.length === 0) throw new CommandError('Nothing waits for an answer.')
  list(output(flags), found)
  return exits.ok
}

/** A request with the session that it waits in. */
interface Listed extends PendingRequest {
  readonly session: string
  readonly title: string
  readonly workingDirectories: readonly string[]
}

function placeOf({ title, workingDirectories = [] }: SessionState) {
  return { title, workingDirectories }
}

function list(out: Output, all: readonly Listed[]): void {
  const { cyan, dim } = out.style
  printList(out, all, {
    document: (request) => request,
    row: ({ session, id, kind, tool, what, title, workingDirectories }) => [
      cyan(shortName(session)),
      shortened(onOneLine(title)),
      folderOf({ workingDirectories: [...workingDirectories] }),
      dim(sanitize(id)),
      sanitize(tool ?? kind),
      onOneLine(what),
    ],
  })
}

function shortened(title: string): string {
  return title.length > longestTitle ? `${title.slice(0, longestTitle)}…` : title
}

const longestTitle = 30
