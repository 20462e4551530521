import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import type { ActiveTurn, ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { callIn, callsOf, lenderOf, onlyWaits, openIn } from './call.ts'
import type { Disk } from './disk.ts'
import { met } from './tally.ts'
import type { Fact, Truth } from './truth.ts'

type Fail = (invariant: string, problem: string) => void
type Chats = readonly (readonly [Uri, ChatState])[]

/** What becomes of decisions: what is done for a call, what waits over a restart, and what a session shows of it. */
export class Deeds {
  readonly #truth: Truth
  readonly #disk: Disk
  readonly #fail: Fail
  /** The calls that something was done for, each with how much was durable then. */
  readonly #done = new Map<string, number>()
  /** What waited for people when a life began. */
  #waiting: Chats = []
  #starting = true

  constructor(truth: Truth, disk: Disk, fail: Fail) {
    this.#truth = truth
    this.#disk = disk
    this.#fail = fail
  }

  /** X4, I6: something is done for a call that somebody, or a rule, has surely agreed to; as it was agreed; and once. */
  acts(chat: Uri, toolCallId: string, input: string): void {
    const state = this.#truth.stateAt(chat, Infinity) as ChatState | undefined
    const call = state && callIn(state, toolCallId)
    const facts = (this.#truth.stories.get(chat)?.facts ?? []).filter((fact) => isOf(fact, toolCallId))
    const agreed = facts.findLast(({ action }) => decides.has(action.type))
    if (call?.status !== 'running' || !agreed || !lets(agreed))
      return this.#fail('X4', `something is done for ${toolCallId} of ${chat}, which nobody approved`)
    if (call.contributor?.kind === 'client')
      this.#fail('X7', `something is done here for ${toolCallId} of ${chat}, which a client lends`)
    if ((agreed.at ?? Infinity) >= this.#disk.durable)
      this.#fail('I7', `something is done for ${toolCallId} of ${chat} before its approval was durable`)
    const { editedToolInput } = agreed.action as { readonly editedToolInput?: string }
    const asked = facts.findLast(({ action }) => action.type === 'chat/toolCallReady')
    const wanted =
      editedToolInput ?? (asked?.action as { readonly toolInput?: string } | undefined)?.toolInput
    // Who does not wait does not know what was agreed to.
    if (input !== 'rash' && input !== wanted)
      this.#fail('X1', `${toolCallId} of ${chat} does ${input}, and ${wanted} was agreed to`)
    const key = `${chat} ${toolCallId}`
    if (this.#done.has(key)) this.#fail('I6', `${toolCallId} of ${chat} is done a second time`)
    this.#done.set(key, this.#disk.durable)
    met(editedToolInput === undefined ? 'done' : 'done as edited')
  }

  crashed(left: number): void {
    for (const [key, durable] of this.#done) if (durable > left) this.#done.delete(key)
  }

  /** A life begins: what only waits for people goes on waiting, and a worker with the one it works for. */
  begins(chats: Chats): void {
    this.#starting = true
    const there = new Map(chats)
    const stays = ({ activeTurn, origin }: ChatState): boolean => {
      const employer = origin?.kind === 'tool' ? there.get(origin.chat) : undefined
      if (!activeTurn || !onlyWaits(activeTurn)) return false
      return origin?.kind !== 'tool' || (employer !== undefined && stays(employer))
    }
    this.#waiting = chats.filter(([, state]) => stays(state))
  }

  /** X5: the life has begun, and nobody could answer yet. */
  begun(sessions: readonly Uri[]): void {
    this.#starting = false
    for (const session of sessions) this.picture(session)
    for (const [uri, { activeTurn }] of this.#waiting) {
      const now = (this.#truth.stateAt(uri, Infinity) as ChatState | undefined)?.activeTurn
      const lost = askedIn(activeTurn).find((id) => now?.id !== activeTurn?.id || !askedIn(now).includes(id))
      if (lost !== undefined)
        this.#fail('X5', `${lost} of ${uri} waited for an answer, and does not after a start`)
      for (const _ of askedIn(activeTurn)) met('waits after a restart')
    }
    this.#waiting = []
  }

  /** I18, X7: a session shows what its chats wait for, and of lent tools only those run that somebody lends. */
  picture(session: Uri): void {
    const there = session.startsWith('ahp-session:') && this.#truth.living(session)
    if (!there) return
    const { chats, inputNeeded = [], activeClients } = this.#truth.stateAt(session, Infinity) as SessionState
    const states = chats.map(({ resource }) => this.#truth.stateAt(resource, Infinity) as ChatState)
    const open = states.flatMap((chat) => (chat.activeTurn ? shownOf(chat, chat.activeTurn) : []))
    const shown = inputNeeded.map((request) => [
      request.chat,
      request.kind,
      request.kind === 'chatInput' ? request.request : request.toolCall,
    ])
    const lacks = open.find((each) => !shown.some((one) => equal(one, each)))
    if (lacks || open.length !== shown.length)
      this.#fail(
        'I18',
        `${session} shows ${JSON.stringify(shown)}, and its chats ask ${JSON.stringify(open)}`,
      )
    // A host that starts looks at one after the other, and lets nobody in before it has seen all.
    if (!this.#starting) this.#lenders(states, activeClients)
  }

  #lenders(chats: readonly ChatState[], activeClients: SessionState['activeClients']): void {
    for (const { activeTurn, resource } of chats)
      for (const call of callsOf(activeTurn)) {
        const lender = lenderOf(call)
        if (lender !== undefined && !activeClients.some(({ clientId }) => clientId === lender))
          this.#fail('X7', `${call.toolCallId} of ${resource} waits for ${lender}, who lends nothing`)
      }
  }

  /** X7: when everyone has left for good nobody is waited for. */
  alone(chats: Chats): void {
    for (const [uri, { activeTurn }] of chats)
      if (activeTurn && openIn(activeTurn).includes('client'))
        this.#fail('X7', `a tool of somebody who has left is waited for in ${uri}`)
  }
}

/** What a person is asked in a turn. */
function askedIn(turn: ActiveTurn | undefined): readonly string[] {
  return (turn?.responseParts ?? []).flatMap((part) => {
    if (part.kind === 'inputRequest') return part.response === undefined ? [part.request.id] : []
    return part.kind === 'toolCall' && part.toolCall.status.startsWith('pending')
      ? [part.toolCall.toolCallId]
      : []
  })
}

function shownOf({ resource }: ChatState, { responseParts }: ActiveTurn): readonly unknown[] {
  return responseParts.flatMap((part): readonly unknown[] => {
    if (part.kind === 'inputRequest')
      return part.response === undefined ? [[resource, 'chatInput', part.request]] : []
    if (part.kind !== 'toolCall') return []
    const { toolCall } = part
    if (toolCall.status.startsWith('pending')) return [[resource, 'toolConfirmation', toolCall]]
    return lenderOf(toolCall) === undefined ? [] : [[resource, 'toolClientExecution', toolCall]]
  })
}

function isOf({ action }: Fact, toolCallId: string): boolean {
  return (action as { readonly toolCallId?: string }).toolCallId === toolCallId
}

/** The last of these says whether a call may run. */
const decides = new Set(['chat/toolCallReady', 'chat/toolCallConfirmed'])

function lets({ action, origin }: Fact): boolean {
  const { approved, confirmed } = action as { readonly approved?: boolean; readonly confirmed?: string }
  return action.type === 'chat/toolCallConfirmed'
    ? approved === true && origin !== undefined
    : confirmed === 'setting'
}
