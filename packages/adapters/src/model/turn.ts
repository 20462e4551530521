import { TurnFailed } from '@atrium/host/ports/agent'
import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import type { UsageInfo } from '@atrium/protocol/common/content'
import { limits } from '@atrium/protocol/limits'
import type { LanguageModelV3, LanguageModelV3Message } from '@ai-sdk/provider'
import { charactersIn, roomOf } from './context-budget.ts'
import { openCalls, useTools } from './tool-call.ts'
import type { Doing } from './tool-call.ts'
import { usualWindow } from './provider/model-list.ts'
import type { ModelConfig } from './provider/config.ts'
import { contextOf } from './context.ts'
import { isAsking, unasked } from './questions.ts'
import { noteOf, noted } from './meta.ts'
import { brokenOff, problemOf } from './provider/errors.ts'
import { systemPrompt } from './prompt.ts'
import { asked } from './request.ts'
import type { Request } from './request.ts'
import { stepped } from './stream-step.ts'
import type { Stepped } from './stream-step.ts'
import { summaryOf } from './summary.ts'
import { Telling } from './stream-progress.ts'
import { tools } from './tools.ts'
import { usageWith } from './usage.ts'
import type { Vendor } from './provider/provider.ts'
import { pause } from '../process/pause.ts'

/** Which model a turn is worked on with. */
export interface Mind {
  readonly vendor: Vendor
  readonly facts: ModelConfig
  readonly model: LanguageModelV3
  readonly key: string | undefined
  readonly effort: string | undefined
}

export interface Terms {
  readonly platform: string
  readonly later: World['later']
}

/** How long a model that has too much to do is left alone, in milliseconds, again and again; then the turn fails. */
const waits = [1000, 3000, 9000, 27_000]

/**
 * A turn: the model is asked, what it calls for is done, and it is asked again, until it has nothing to call for. All that this depends on is
 * in the chat's state, so a turn that was broken off is gone on with in the same way.
 */
export class ModelTurn {
  readonly #chat: Chat
  readonly #mind: Mind
  readonly #terms: Terms
  readonly #signal: AbortSignal
  readonly #telling: Telling
  #usage: UsageInfo | undefined
  #room: number

  constructor(chat: Chat, mind: Mind, terms: Terms, signal: AbortSignal) {
    this.#chat = chat
    this.#mind = mind
    this.#terms = terms
    this.#signal = signal
    this.#telling = new Telling(chat)
    this.#usage = chat.state.activeTurn?.usage
    const { maxContextWindow = usualWindow, maxOutputTokens } = mind.facts
    this.#room = roomOf(maxContextWindow, maxOutputTokens)
  }

  async *run(): AsyncIterable<AgentAction> {
    const turn = this.#turn
    if (!turn) return
    if (this.#chat.state.activity !== undefined) yield { type: 'chat/activityChanged' }
    yield* openCalls(turn, this.#doing)
    // It had said all, and was cut off before anybody could see that.
    if (noteOf(turn.usage).done) return
    for (let steps = 0; steps < limits.modelSteps; steps++) {
      yield* this.#ask()
      yield* this.#steer()
      const step = yield* this.#step()
      if (!step) continue
      const failure = this.#failureOf(step)
      const wanted = step.calls.length > 0 || this.#chat.state.steeringMessage !== undefined
      const done = !failure && !wanted
      yield this.#used(step, done)
      if (failure) throw failure
      if (step.finish === 'length')
        yield this.#notice('The answer was cut off: it is as long as this model can answer.')
      if (done) return
      yield* useTools(step.calls, this.#doing)
    }
    throw new TurnFailed(
      'steps',
      `The model was asked ${limits.modelSteps} times. Resume this turn to go on.`,
      true,
    )
  }

  get #turn(): ActiveTurn | undefined {
    const { activeTurn } = this.#chat.state
    return activeTurn?.id === this.#chat.turnId ? activeTurn : undefined
  }

  get #doing(): Doing {
    return { chat: this.#chat, later: (task) => this.#terms.later(limits.modelLineMs, task) }
  }

  /** Puts questions to people, and waits until all are answered. */
  async *#ask(): AsyncIterable<AgentAction> {
    const { activeTurn } = await this.#telling.told()
    for (const said of activeTurn ? unasked(activeTurn) : []) {
      this.#telling.made()
      yield said
    }
    await this.#telling.told()
    await this.#chat.when((state) => !state.activeTurn || !isAsking(state.activeTurn))
  }

  /** What somebody wants to say in the midst of it is a part of the turn from here on. */
  async *#steer(): AsyncIterable<AgentAction> {
    const { steeringMessage } = this.#chat.state
    if (!steeringMessage) return
    const { id, message } = steeringMessage
    const taken = (this.#turn?.responseParts ?? []).some(
      (part) => part.kind === 'systemNotification' && noteOf(part).steering?.id === id,
    )
    // A host may have died between the two.
    if (!taken) yield this.#notice(message.text, { steering: steeringMessage })
    yield { type: 'chat/pendingMessageRemoved', kind: 'steering', id }
  }

  #notice(content: string, note?: Parameters<typeof noted>[0]): AgentAction {
    this.#telling.made()
    const part = { kind: 'systemNotification', content, ...(note && noted(note)) } as const
    return { type: 'chat/responsePart', part }
  }

  #used({ usage }: Pick<Stepped, 'usage'>, done: boolean): AgentAction {
    const { vendor, facts } = this.#mind
    const of = { model: `${vendor.name}/${facts.id}`, price: facts.price, done }
    const said = usageWith(this.#usage, usage, of)
    this.#usage = said.usage
    return said
  }

  /** Why a model that has ended has not come to its end, if it has not. */
  #failureOf({ finish, calls }: Stepped): TurnFailed | undefined {
    const { vendor } = this.#mind
    if (finish === 'content-filter')
      return new TurnFailed('refused', `${vendor.displayName} does not answer this.`)
    const broken = finish === 'error' || (finish === undefined && calls.length === 0)
    return broken ? brokenOff(vendor) : undefined
  }

  /** Asks the model once, and again where it had too much to do; nothing where it has to be asked with less. */
  async *#step(): AsyncGenerator<AgentAction, Stepped | undefined> {
    const { vendor, facts, key } = this.#mind
    const messages = yield* contextOf({
      chat: this.#chat,
      telling: this.#telling,
      vision: facts.supportsVision ?? false,
      room: this.#room,
      summarise: (old) => this.#summary(old),
    })
    for (let attempt = 0; ; attempt++) {
      const before = this.#telling.mark
      try {
        const step = yield* stepped(asked(this.#request(messages)), this.#telling)
        const silent = this.#telling.mark === before && step.finish === undefined
        if (!silent || this.#signal.aborted || attempt >= waits.length) return step
      } catch (error) {
        if (this.#signal.aborted) throw new Error('the turn is over')
        const problem = problemOf(error, vendor, facts.id, key)
        const { failure } = problem
        // What was said is said: nobody but the turn itself can go on from there.
        if (this.#telling.mark !== before) throw new TurnFailed(failure.errorType, failure.message, true)
        if (problem.tooLong && this.#room > 2000) {
          this.#room = Math.floor(this.#room / 2)
          return undefined
        }
        if (!problem.again || attempt >= waits.length) throw failure
        yield* this.#patience(problem.waitMs ?? waits[attempt] ?? 0)
      }
    }
  }

  #request(messages: readonly LanguageModelV3Message[]): Request {
    const { vendor, facts, model, effort } = this.#mind
    // A worker lets nobody else work: one message could ask for as many as there are words.
    const working = this.#chat.state.origin?.kind === 'tool'
    return {
      model,
      system: systemPrompt(this.#chat, this.#terms.platform),
      messages,
      tools: Object.keys(tools).filter((name) => name !== 'spawn' || !working),
      maxOutputTokens: facts.maxOutputTokens,
      options: vendor.options(facts.id, effort),
      signal: this.#signal,
    }
  }

  async #summary(messages: readonly LanguageModelV3Message[]) {
    const { messages: _, tools: _tools, system: _system, ...request } = this.#request([])
    try {
      const summary = await summaryOf(messages, Math.floor(charactersIn(this.#room) / 2), request)
      this.#used(summary, false)
      return summary
    } catch (error) {
      if (this.#signal.aborted) throw error
      return undefined
    }
  }

  async *#patience(ms: number): AsyncIterable<AgentAction> {
    const seconds = Math.ceil(ms / 1000)
    const activity = `${this.#mind.vendor.displayName} is busy, and is asked again in ${seconds} s`
    yield { type: 'chat/activityChanged', activity }
    await pause(this.#terms.later, ms, this.#signal)
    yield { type: 'chat/activityChanged' }
  }
}
