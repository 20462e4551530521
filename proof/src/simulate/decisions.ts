import type { Step } from '@atrium/host/ports/log'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { callIn } from './call.ts'
import type { Homes } from './homes.ts'
import { met } from './tally.ts'
import type { Fact, Truth } from './truth.ts'

type Fail = (invariant: string, problem: string) => void
type Later = Step['envelopes']

interface Rule {
  readonly tool: string
  readonly folder?: Uri
  readonly by?: string
}

/** What people decide about tool calls and questions: each word of it, judged by what was so before it. */
export class Decisions {
  readonly #truth: Truth
  readonly #homes: Homes
  readonly #fail: Fail

  constructor(truth: Truth, homes: Homes, fail: Fail) {
    this.#truth = truth
    this.#homes = homes
    this.#fail = fail
  }

  word(chat: Uri, { seq, action, origin }: Fact, before: ChatState, later: Later): void {
    const given = action as Given
    const call = callIn(before, given.toolCallId ?? '')
    const by = origin?.clientId
    if (action.type === 'chat/toolCallReady') this.#asked(chat, seq, given, call)
    if (action.type === 'chat/toolCallConfirmed') this.#confirmed(chat, seq, given, call, later, by)
    if (action.type === 'chat/toolCallResultConfirmed') this.#looked(chat, seq, call, by)
    if (action.type === 'chat/inputCompleted') this.#replied(chat, seq, given, before)
    if (action.type === 'chat/responsePart' && given.part?.kind === 'toolCall')
      this.#fail('N1', `${seq} puts a call into ${chat} that was never started`)
    const ofClients = action.type === 'chat/toolCallComplete' || action.type === 'chat/toolCallContentChanged'
    if (ofClients && by !== undefined) this.#lent(chat, seq, call, by)
    if (ofClients && by === undefined && call?.contributor?.kind === 'client')
      met('a lent call ended by others')
  }

  /** X2: what is allowed changes because somebody said so, or answered so, and not otherwise. */
  rules(uri: Uri, { action, origin }: Step['envelopes'][number], before: Later): void {
    const { type, config } = JSON.parse(action) as { readonly type: string; readonly config?: Values }
    if (!type.endsWith('/configChanged') || !config || !('atrium.permissions' in config) || origin) return
    const answers = before.map((each) => JSON.parse(each.action) as Action)
    if (!answers.some((each) => each.type === 'chat/toolCallConfirmed'))
      this.#fail('X2', `what is allowed in ${uri} has changed, and nobody said so`)
  }

  /** X2, S-35: a rule answers for people where there is one, and nowhere else; what it answers is no agent's to say. */
  #asked(chat: Uri, seq: number, { confirmed, edits }: Given, call: ToolCallState | undefined): void {
    if (!call || !asks.has(call.status)) return
    // What was shown while it asked stands until something else is.
    const shown =
      edits ?? (call.status === 'pending-confirmation' ? (call.edits as Given['edits']) : undefined)
    const files = (shown?.items ?? []).flatMap(({ after }) => after?.uri ?? [])
    const held = files.some((file) => file.includes('/.git/'))
    const covered = !held && this.#covers(chat, call.toolName, seq, files)
    if (confirmed === 'user-action')
      this.#fail('X4', `${seq} says that somebody confirmed ${call.toolCallId}, and nobody did`)
    if (confirmed === 'setting' && !covered)
      this.#fail('X2', `${seq} lets ${call.toolName} run in ${chat}, and no rule covers it`)
    if (confirmed === undefined && covered)
      this.#fail('X2', `${seq} asks for ${call.toolName} in ${chat}, and a rule covers it`)
    met(confirmed === undefined ? 'asked' : `confirmed: ${confirmed}`)
  }

  /** X1: the first answer counts, of what was offered; X2: what it allows for good is written in the same step. */
  #confirmed(
    chat: Uri,
    seq: number,
    given: Given,
    call: ToolCallState | undefined,
    later: Later,
    by: string | undefined,
  ): void {
    const said = `${seq} of ${by} in ${chat}`
    if (call?.status !== 'pending-confirmation')
      return this.#fail('X1', `${said} confirms ${given.toolCallId}, which waits for no answer`)
    if (by === undefined) this.#fail('X4', `${said} confirms ${call.toolCallId}, and is nobody's`)
    met(given.approved ? 'approved' : 'denied')
    const { selectedOptionId: chosen, approved, editedToolInput } = given
    const option = call.options?.find(({ id }) => id === chosen)
    if (chosen !== undefined && option?.kind !== (approved ? 'approve' : 'deny'))
      this.#fail('X1', `${said} chooses ${chosen}, which was not offered for that`)
    if (approved && editedToolInput !== undefined && !call.editable)
      this.#fail('X1', `${said} edits what was not to be edited`)
    const where =
      chosen === 'atrium.session' ? this.#homes.of(chat) : chosen === 'atrium.folder' ? rootUri : undefined
    const written =
      where !== undefined &&
      writes(later, where).some((rule) => rule.tool === call.toolName && rule.by === by)
    // What was allowed before is not written twice.
    if (approved && where !== undefined && !written && !this.#covers(chat, call.toolName, seq))
      this.#fail('X2', `${said} allows ${call.toolName} for more than once, and no rule says so`)
    if (written) met('allowed for more than once')
  }

  #looked(chat: Uri, seq: number, call: ToolCallState | undefined, by: string | undefined): void {
    if (call?.status !== 'pending-result-confirmation' || by === undefined)
      this.#fail('X1', `${seq} of ${by} in ${chat} confirms a result that waits for nobody`)
    met('results confirmed')
  }

  /** X7: what a lent tool does is said by its client. */
  #lent(chat: Uri, seq: number, call: ToolCallState | undefined, by: string): void {
    if (call?.contributor?.kind !== 'client' || call.contributor.clientId !== by || call.status !== 'running')
      this.#fail('X7', `${seq} says in ${chat} what a tool did that ${by} does not run`)
    met('words of lent calls')
  }

  /** X6. */
  #replied(chat: Uri, seq: number, { requestId, response, answers }: Given, { activeTurn }: ChatState): void {
    const part = activeTurn?.responseParts.find(
      (each) => each.kind === 'inputRequest' && each.request.id === requestId && each.response === undefined,
    )
    if (part?.kind !== 'inputRequest')
      return this.#fail('X6', `${seq} answers ${requestId} of ${chat}, which is not open`)
    const all = { ...part.request.answers, ...answers }
    const lacks = part.request.questions?.find(
      ({ id, required }) => required && all[id]?.state !== 'submitted',
    )
    if (response === 'accept' && lacks)
      this.#fail('X6', `${seq} agrees to ${requestId} of ${chat} without ${lacks.id}`)
    met('questions answered')
  }

  /** Whether a rule of the session, or of the folder that all of these files are in, let a tool be used before a number. */
  #covers(chat: Uri, tool: string, before: number, files: readonly string[] = []): boolean {
    const session = this.#truth.stateAt(this.#homes.of(chat) ?? '', before - 1) as SessionState | undefined
    const root = this.#truth.stateAt(rootUri, before - 1) as RootState | undefined
    const own = (this.#truth.stateAt(chat, before - 1) as ChatState).workingDirectories
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

/** The rules that the rest of a step leaves in a channel. */
function writes(later: Later, where: Uri): readonly Rule[] {
  return later.flatMap(({ channel, action }) => {
    if (channel !== where) return []
    return rulesOf((JSON.parse(action) as { readonly config?: Values }).config)
  })
}

/** While a call is so, whoever is asked has something to say. */
const asks = new Set<string>(['streaming', 'running', 'pending-confirmation'])

/** What actions of calls and questions have, one or the other. */
interface Given extends Action {
  readonly toolCallId?: string
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
