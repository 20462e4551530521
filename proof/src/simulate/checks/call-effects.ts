import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import type { ActiveTurn, ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { callIn, callsOf, clientRunning, waitsOnlyForAnswers, waitsFor } from '../tool-calls.ts'
import type { Disk } from '../disk.ts'
import { count } from '../tally.ts'
import type { ModelEntry, ReferenceModel } from './reference-model.ts'

type Fail = (invariant: string, problem: string) => void
type Chats = readonly (readonly [Uri, ChatState])[]

/**
 * Checks the effects of decisions about tool calls: when a call is carried out, which calls still wait after a restart, and what
 * a session shows of a call.
 */
export class CallEffects {
  readonly #model: ReferenceModel
  readonly #disk: Disk
  readonly #fail: Fail
  /** Calls that were carried out, each with the number of durable transactions at that time. */
  readonly #done = new Map<string, number>()
  /** Chats that waited for users when the host run began. */
  #waiting: Chats = []
  #starting = true

  constructor(model: ReferenceModel, disk: Disk, fail: Fail) {
    this.#model = model
    this.#disk = disk
    this.#fail = fail
  }

  /**
   * Records that a call is carried out. Checks X4, X1 and I6: this happens only after a durable approval, with the
   * approved input, and once.
   */
  carriedOut(chat: Uri, toolCallId: string, input: string): void {
    const state = this.#model.chat(chat)
    const call = state && callIn(state, toolCallId)
    const entries = (this.#model.channels.get(chat)?.entries ?? []).filter((entry) => isOf(entry, toolCallId))
    const approval = entries.findLast(({ action }) => decisionTypes.has(action.type))
    if (call?.status !== 'running' || !approval || !allows(approval))
      return this.#fail('X4', `${toolCallId} of ${chat} is carried out without an approval`)
    if (call.contributor?.kind === 'client')
      this.#fail('X7', `${toolCallId} of ${chat} is carried out by the host, but a client runs it`)
    if ((approval.at ?? Infinity) >= this.#disk.durable)
      this.#fail('I7', `${toolCallId} of ${chat} is carried out before its approval was durable`)
    const { editedToolInput } = approval.action as { readonly editedToolInput?: string }
    const asked = entries.findLast(({ action }) => action.type === 'chat/toolCallReady')
    const wanted =
      editedToolInput ?? (asked?.action as { readonly toolInput?: string } | undefined)?.toolInput
    // An agent that did not wait passes `rash`, because it does not know the approved input.
    if (input !== 'rash' && input !== wanted)
      this.#fail('X1', `${toolCallId} of ${chat} runs with ${input}, but ${wanted} was approved`)
    const key = `${chat} ${toolCallId}`
    if (this.#done.has(key)) this.#fail('I6', `${toolCallId} of ${chat} is carried out a second time`)
    this.#done.set(key, this.#disk.durable)
    count(editedToolInput === undefined ? 'done' : 'done as edited')
  }

  crashed(left: number): void {
    for (const [key, durable] of this.#done) if (durable > left) this.#done.delete(key)
  }

  /**
   * Called when a host run begins. Notes the chats whose turns must stay open across the restart: those that wait
   * only for users. A worker is a chat that does a task for a turn of another chat, its employer. Its turn stays open
   * only if the turn of its employer does.
   */
  hostStarting(chats: Chats): void {
    this.#starting = true
    const states = new Map(chats)
    const stays = ({ activeTurn, origin }: ChatState): boolean => {
      const employer = origin?.kind === 'tool' ? states.get(origin.chat) : undefined
      if (!activeTurn || !waitsOnlyForAnswers(activeTurn)) return false
      return origin?.kind !== 'tool' || (employer !== undefined && stays(employer))
    }
    this.#waiting = chats.filter(([, state]) => stays(state))
  }

  /**
   * Called when the host has started. Checks X5: no user could answer yet, so everything that waited for a user still
   * waits.
   */
  hostStarted(sessions: readonly Uri[]): void {
    this.#starting = false
    for (const session of sessions) this.checkInputNeeded(session)
    for (const [uri, { activeTurn }] of this.#waiting) {
      const now = this.#model.chat(uri)?.activeTurn
      const lost = askedIn(activeTurn).find((id) => now?.id !== activeTurn?.id || !askedIn(now).includes(id))
      if (lost !== undefined)
        this.#fail('X5', `${lost} of ${uri} waited for an answer before the restart, and does not any more`)
      for (const _ of askedIn(activeTurn)) count('waits after a restart')
    }
    this.#waiting = []
  }

  /**
   * Checks I18, X7: a session shows what its chats wait for, and a client tool runs only while its client takes part.
   */
  checkInputNeeded(session: Uri): void {
    const state = this.#model.live(session) && this.#model.session(session)
    if (!state) return
    const { chats, inputNeeded = [], activeClients } = state
    const states = chats.flatMap(({ resource }) => this.#model.chat(resource) ?? [])
    const open = states.flatMap((chat) => (chat.activeTurn ? shownOf(chat, chat.activeTurn) : []))
    const shown = inputNeeded.map((request) => [
      request.chat,
      request.kind,
      request.kind === 'chatInput' ? request.request : request.toolCall,
    ])
    const missing = open.find((each) => !shown.some((one) => equal(one, each)))
    if (missing || open.length !== shown.length)
      this.#fail(
        'I18',
        `${session} shows ${JSON.stringify(shown)}, but its chats ask ${JSON.stringify(open)}`,
      )
    // While the host starts, X7 may not hold yet, because the host visits the sessions one by one. No client sees
    // this: the host accepts clients only after its start.
    if (!this.#starting) this.#checkClientTools(states, activeClients)
  }

  #checkClientTools(chats: readonly ChatState[], activeClients: SessionState['activeClients']): void {
    for (const { activeTurn, resource } of chats)
      for (const call of callsOf(activeTurn)) {
        const executor = clientRunning(call)
        if (executor !== undefined && !activeClients.some(({ clientId }) => clientId === executor))
          this.#fail(
            'X7',
            `${call.toolCallId} of ${resource} waits for ${executor}, which is not an active client`,
          )
      }
  }

  /** Checks X7: after all clients have left for good, no call waits for a client. */
  checkWithoutClients(chats: Chats): void {
    for (const [uri, { activeTurn }] of chats)
      if (activeTurn && waitsFor(activeTurn).includes('client'))
        this.#fail('X7', `${uri} waits for a tool of a client that has left`)
  }
}

/** Returns the ids of the questions and calls of a turn that wait for a user. */
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
    return clientRunning(toolCall) === undefined ? [] : [[resource, 'toolClientExecution', toolCall]]
  })
}

function isOf({ action }: ModelEntry, toolCallId: string): boolean {
  return (action as { readonly toolCallId?: string }).toolCallId === toolCallId
}

/** The last of these actions decides whether a call may run. */
const decisionTypes = new Set(['chat/toolCallReady', 'chat/toolCallConfirmed'])

function allows({ action, origin }: ModelEntry): boolean {
  const { approved, confirmed } = action as { readonly approved?: boolean; readonly confirmed?: string }
  return action.type === 'chat/toolCallConfirmed'
    ? approved === true && origin !== undefined
    : confirmed === 'setting'
}
