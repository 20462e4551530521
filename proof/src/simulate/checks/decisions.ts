import type { Step } from '@atrium/host/ports/log'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { rootUri } from '@atrium/protocol/uri'
import { callIn } from '../tool-calls.ts'
import type { ChatIndex } from './chat-index.ts'
import { deciderProblem, permittedName } from './deciders.ts'
import { count } from '../tally.ts'
import type { ModelEntry, ReferenceModel } from './reference-model.ts'

type Fail = (invariant: string, problem: string) => void
/** A part of the envelopes of a step: all before the envelope that is checked, or all after it. */
type Envelopes = Step['envelopes']

interface Confirmation {
  readonly chat: Uri
  readonly seq: number
  readonly given: Fields
  /** The call before the confirmation. */
  readonly call: ToolCallState | undefined
  readonly later: Envelopes
  /** The client that confirms. */
  readonly by: string | undefined
}

interface Rule {
  readonly tool: string
  readonly folder?: Uri
  readonly by?: string
}

/** Checks every decision about a tool call or a question against the state before it. */
export class Decisions {
  readonly #model: ReferenceModel
  readonly #chatIndex: ChatIndex
  readonly #fail: Fail

  constructor(model: ReferenceModel, chatIndex: ChatIndex, fail: Fail) {
    this.#model = model
    this.#chatIndex = chatIndex
    this.#fail = fail
  }

  check(chat: Uri, entry: ModelEntry, before: ChatState, later: Envelopes): void {
    const { seq, action, origin } = entry
    const given = action as Fields
    const call = callIn(before, given.toolCallId ?? '')
    const by = origin?.clientId
    const misnamed = deciderProblem(entry, call)
    if (misnamed !== undefined) this.#fail('X8', `${misnamed} in ${chat}`)
    if (action.type === 'chat/toolCallStart') this.#checkStart(chat, seq, given, later)
    if (action.type === 'chat/toolCallReady') this.#checkReady(chat, seq, given, call)
    if (action.type === 'chat/toolCallConfirmed') this.#checkConfirmed({ chat, seq, given, call, later, by })
    if (action.type === 'chat/toolCallResultConfirmed') this.#checkResult(chat, seq, call, by)
    if (action.type === 'chat/inputCompleted') this.#checkReply(chat, seq, given, before)
    if (action.type === 'chat/responsePart' && given.part?.kind === 'toolCall')
      this.#fail('N1', `${seq} adds a call to ${chat} that was never started`)
    const isToolReport =
      action.type === 'chat/toolCallComplete' || action.type === 'chat/toolCallContentChanged'
    if (isToolReport && by !== undefined) this.#checkClientTool(chat, seq, call, by)
    if (isToolReport && by === undefined && call?.contributor?.kind === 'client')
      count('client call ended by others')
  }

  /** Checks X2: permissions change because a client changed them or answered a call, and for no other reason. */
  checkPermissions(uri: Uri, { action, origin }: Step['envelopes'][number], before: Envelopes): void {
    const { type, config } = JSON.parse(action) as { readonly type: string; readonly config?: Values }
    if (!type.endsWith('/configChanged') || !config || !('atrium.permissions' in config) || origin) return
    const answers = before.map((each) => JSON.parse(each.action) as Action)
    if (!answers.some((each) => each.type === 'chat/toolCallConfirmed'))
      this.#fail('X2', `the permissions of ${uri} changed without a request`)
  }

  /**
   * Checks X2, S-35: the host confirms a tool call without asking a user exactly if a saved permission covers the
   * call. An agent cannot confirm its own call by claiming a permission.
   */
  #checkReady(chat: Uri, seq: number, { confirmed, edits }: Fields, call: ToolCallState | undefined): void {
    if (!call || !asks.has(call.status)) return
    // Edits shown while the call was pending stay valid until new ones are shown.
    const shown =
      edits ?? (call.status === 'pending-confirmation' ? (call.edits as Fields['edits']) : undefined)
    const files = (shown?.items ?? []).flatMap(({ after }) => after?.uri ?? [])
    const isProtected = files.some((file) => file.includes('/.git/'))
    const covered = !isProtected && this.#covers(chat, permittedName(call), seq, files)
    if (confirmed === 'user-action')
      this.#fail('X4', `${seq} says that a user confirmed ${call.toolCallId}, but no user did`)
    if (confirmed === 'setting' && !covered)
      this.#fail('X2', `${seq} lets ${call.toolName} run in ${chat}, but no permission covers it`)
    if (confirmed === undefined && covered)
      this.#fail('X2', `${seq} asks for ${call.toolName} in ${chat}, but a permission covers it`)
    count(confirmed === undefined ? 'asked' : `confirmed: ${confirmed}`)
  }

  /**
   * Checks X1: a client confirms a call that is pending, with an option that was offered. X2: a permanent permission
   * is written in the same step.
   */
  #checkConfirmed({ chat, seq, given, call, later, by }: Confirmation): void {
    const said = `${seq} of ${by} in ${chat}`
    if (call?.status !== 'pending-confirmation')
      return this.#fail('X1', `${said} confirms ${given.toolCallId}, which is not pending`)
    if (by === undefined) this.#fail('X4', `${said} confirms ${call.toolCallId} without an origin`)
    count(given.approved ? 'approved' : 'denied')
    const { selectedOptionId: chosen, approved, editedToolInput } = given
    const option = call.options?.find(({ id }) => id === chosen)
    if (chosen !== undefined && option?.kind !== (approved ? 'approve' : 'deny'))
      this.#fail('X1', `${said} chooses ${chosen}, which was not offered for this answer`)
    if (approved && editedToolInput !== undefined && !call.editable)
      this.#fail('X1', `${said} edits an input that is not editable`)
    const where =
      chosen === 'atrium.session'
        ? this.#chatIndex.sessionOf(chat)
        : chosen === 'atrium.folder'
          ? rootUri
          : undefined
    const written =
      where !== undefined &&
      writes(later, where).some((rule) => rule.tool === permittedName(call) && rule.by === by)
    // A permission that exists already is not written twice.
    if (approved && where !== undefined && !written && !this.#covers(chat, permittedName(call), seq))
      this.#fail('X2', `${said} allows ${call.toolName} permanently, but no permission was written`)
    if (written) count('allowed permanently')
  }

  #checkResult(chat: Uri, seq: number, call: ToolCallState | undefined, by: string | undefined): void {
    if (call?.status !== 'pending-result-confirmation' || by === undefined)
      this.#fail('X1', `${seq} of ${by} in ${chat} confirms a result that is not pending`)
    count('results confirmed')
  }

  /** Checks X9: a call that names a client without the tool fails in the step in which it starts. */
  #checkStart(chat: Uri, seq: number, { contributor, toolName, toolCallId }: Fields, later: Envelopes): void {
    if (contributor?.kind !== 'client') return
    const session = this.#model.session(this.#chatIndex.sessionOf(chat) ?? '', seq - 1)
    const client = session?.activeClients.find(({ clientId }) => clientId === contributor.clientId)
    if (client?.tools.some(({ name }) => name === toolName)) return count('client tools called')
    const failed = later.some(({ channel, action }) => {
      const { type, toolCallId: ended } = JSON.parse(action) as Fields
      return channel === chat && type === 'chat/toolCallComplete' && ended === toolCallId
    })
    if (!failed)
      this.#fail('X9', `${seq} calls ${toolName} in ${chat}, which ${contributor.clientId} does not have`)
    count('client tools forged')
  }

  /** Checks X7: only the client that runs a tool reports its progress and result. */
  #checkClientTool(chat: Uri, seq: number, call: ToolCallState | undefined, by: string): void {
    if (call?.contributor?.kind !== 'client' || call.contributor.clientId !== by || call.status !== 'running')
      this.#fail('X7', `${seq} reports in ${chat} on a tool that ${by} does not run`)
    count('client call updates')
  }

  /** Checks X6: an answer fits an open question and fills in everything required. */
  #checkReply(
    chat: Uri,
    seq: number,
    { requestId, response, answers }: Fields,
    { activeTurn }: ChatState,
  ): void {
    const part = activeTurn?.responseParts.find(
      (each) => each.kind === 'inputRequest' && each.request.id === requestId && each.response === undefined,
    )
    if (part?.kind !== 'inputRequest')
      return this.#fail('X6', `${seq} answers ${requestId} of ${chat}, which is not open`)
    const all = { ...part.request.answers, ...answers }
    const missing = part.request.questions?.find(
      ({ id, required }) => required && all[id]?.state !== 'submitted',
    )
    if (response === 'accept' && missing)
      this.#fail('X6', `${seq} accepts ${requestId} of ${chat} without ${missing.id}`)
    count('questions answered')
  }

  /** Whether a permission of the session, or of the folder that holds all these files, covered the tool before this number. */
  #covers(chat: Uri, tool: string, before: number, files: readonly string[] = []): boolean {
    const session = this.#model.session(this.#chatIndex.sessionOf(chat) ?? '', before - 1)
    const root = this.#model.root(before - 1)
    const own = this.#model.chat(chat, before - 1)?.workingDirectories
    const folder = own?.[0] ?? session?.workingDirectories?.[0]
    const here = rulesOf(session?.config?.values).some((rule) => rule.tool === tool)
    const inside = files.every((file) => file.startsWith(`${folder}/`))
    return (
      here ||
      (inside &&
        rulesOf(root?.config?.values).some(
          (rule) => rule.tool === tool && rule.folder !== undefined && rule.folder === folder,
        ))
    )
  }
}

type Values = { readonly [key: string]: unknown }

function rulesOf(values: Values | undefined): readonly Rule[] {
  return (values?.['atrium.permissions'] ?? []) as readonly Rule[]
}

/** Returns the permissions that the rest of a step writes to a channel. */
function writes(later: Envelopes, where: Uri): readonly Rule[] {
  return later.flatMap(({ channel, action }) => {
    if (channel !== where) return []
    return rulesOf((JSON.parse(action) as { readonly config?: Values }).config)
  })
}

/** The states in which an agent may still ask about a call. */
const asks = new Set<string>(['streaming', 'running', 'pending-confirmation'])

/** Fields of actions on calls and questions; each action has some of them. */
interface Fields extends Action {
  readonly toolCallId?: string
  readonly toolName?: string
  readonly contributor?: ToolCallState['contributor']
  readonly confirmed?: string
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly editedToolInput?: string
  readonly edits?: { readonly items: readonly { readonly after?: { readonly uri: string } }[] }
  readonly requestId?: string
  readonly response?: string
  readonly answers?: { readonly [id: string]: { readonly state: string } }
  readonly part?: { readonly kind: string }
}
