import { TurnFailed } from '@atrium/host/ports/agent'
import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import { notCustomized } from '@atrium/host/ports/customized'
import type { InstructionFile } from '@atrium/host/ports/customized'
import type { World } from '@atrium/host/ports/world'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import type { UsageInfo } from '@atrium/protocol/common/content'
import { limits } from '@atrium/protocol/limits'
import type { LanguageModelV3, LanguageModelV3Message } from '@ai-sdk/provider'
import { charactersFor, inputBudget } from './context-budget.ts'
import { resumeCalls, runCalls } from './tool-call.ts'
import type { CallContext } from './tool-call.ts'
import { defaultContextWindow } from './provider/model-list.ts'
import type { ModelConfig } from './provider/config.ts'
import { buildContext } from './context.ts'
import { isWaitingForInput, newInputRequests } from './questions.ts'
import { knownInstructions, metaOf, toMeta } from './meta.ts'
import type { AgentMeta } from './meta.ts'
import { emptyResponse, endedEarly, failedAfter, modelProblem } from './provider/errors.ts'
import type { ModelProblem, Retry } from './provider/errors.ts'
import { systemPrompt } from './prompt.ts'
import { streamModel } from './request.ts'
import type { Request } from './request.ts'
import { streamStep } from './stream-step.ts'
import type { StepResult } from './stream-step.ts'
import { summarize } from './summary.ts'
import { StreamProgress } from './stream-progress.ts'
import { tools } from './tools.ts'
import { addUsage } from './usage.ts'
import type { ModelProvider } from './provider/provider.ts'
import { digestOf, fittedTo, instructionNotice } from '../customization/instructions.ts'
import { pause } from '../process/pause.ts'

/** The model that answers a turn, with its provider and settings. */
export interface ChosenModel {
  readonly provider: ModelProvider
  readonly config: ModelConfig
  readonly model: LanguageModelV3
  /** The API key. Undefined for a provider that needs no key. */
  readonly key: string | undefined
  readonly effort: string | undefined
}

export interface TurnOptions {
  /** Operating system and architecture for the system prompt. */
  readonly platform: string
  readonly later: World['later']
}

/**
 * The delay before each further attempt to reach a model. If the attempt after the last delay fails, the turn
 * fails.
 */
const retryDelaysMs = [1000, 3000, 9000, 27_000]

/**
 * Runs one turn. Asks the model and runs its tool calls, until a response has no calls. All decisions depend on the chat's
 * state only, so the same code resumes an interrupted turn.
 */
export class ModelTurn {
  readonly #chat: Chat
  readonly #chosen: ChosenModel
  readonly #options: TurnOptions
  readonly #signal: AbortSignal
  readonly #progress: StreamProgress
  #usage: UsageInfo | undefined
  #customized = notCustomized
  #instructions: readonly InstructionFile[] = []
  #budget: number

  constructor(chat: Chat, chosen: ChosenModel, options: TurnOptions, signal: AbortSignal) {
    this.#chat = chat
    this.#chosen = chosen
    this.#options = options
    this.#signal = signal
    this.#progress = new StreamProgress(chat)
    this.#usage = chat.state.activeTurn?.usage
    const { maxContextWindow = defaultContextWindow, maxOutputTokens } = chosen.config
    this.#budget = inputBudget(maxContextWindow, maxOutputTokens)
  }

  async *run(): AsyncIterable<AgentAction> {
    const turn = this.#activeTurn
    if (!turn) return
    if (this.#chat.state.activity !== undefined) yield { type: 'chat/activityChanged' }
    this.#customized = await this.#chat.customized()
    yield* this.#readInstructions()
    yield* resumeCalls(turn, this.#callContext)
    // The model had finished before the interruption. Only the end of the turn was not committed.
    if (metaOf(turn.usage).done) return
    for (let steps = 0; steps < limits.modelSteps; steps++) {
      yield* this.#askUsers()
      yield* this.#takeSteering()
      const step = yield* this.#askModel()
      if (!step) continue
      const failure = this.#failureOf(step)
      const wanted = step.calls.length > 0 || this.#chat.state.steeringMessage !== undefined
      const done = !failure && !wanted
      yield this.#addUsage(step, done)
      if (failure) throw failure
      if (step.finish === 'length')
        yield this.#notification('The answer was cut off at the output limit of this model.')
      if (done) return
      yield* runCalls(step.calls, this.#callContext)
    }
    throw new TurnFailed(
      'steps',
      `The model was asked ${limits.modelSteps} times. Resume this turn to continue.`,
      true,
    )
  }

  /** Reads the instructions of the project for this turn, and tells users if they differ from those of the turn before. */
  async *#readInstructions(): AsyncIterable<AgentAction> {
    // The instructions get at most a quarter of the budget, so that a small model has room for the conversation.
    const files = fittedTo(await this.#chat.instructions(), charactersFor(this.#budget) / 4)
    this.#instructions = files
    this.#budget -= Math.ceil(files.reduce((sum, { text }) => sum + text.length, 0) / charactersFor(1))
    const [before, now] = [knownInstructions(this.#chat.state), digestOf(files)]
    if (now !== before)
      yield this.#notification(instructionNotice(files, before === ''), { instructions: now })
  }

  get #activeTurn(): ActiveTurn | undefined {
    const { activeTurn } = this.#chat.state
    return activeTurn?.id === this.#chat.turnId ? activeTurn : undefined
  }

  get #callContext(): CallContext {
    return { chat: this.#chat, later: (task) => this.#options.later(limits.modelLineMs, task) }
  }

  /** Shows the questions of `ask` calls to users and waits for every answer. */
  async *#askUsers(): AsyncIterable<AgentAction> {
    const { activeTurn } = await this.#progress.committed()
    for (const request of activeTurn ? newInputRequests(activeTurn) : []) {
      this.#progress.addPart()
      yield request
    }
    await this.#progress.committed()
    await this.#chat.when((state) => !state.activeTurn || !isWaitingForInput(state.activeTurn))
  }

  /** Moves a steering message from the chat's queue into the turn. */
  async *#takeSteering(): AsyncIterable<AgentAction> {
    const { steeringMessage } = this.#chat.state
    if (!steeringMessage) return
    const { id, message } = steeringMessage
    const taken = (this.#activeTurn?.responseParts ?? []).some(
      (part) => part.kind === 'systemNotification' && metaOf(part).steering?.id === id,
    )
    // If an earlier host died between these two actions, the notification is already in the turn.
    if (!taken) yield this.#notification(message.text, { steering: steeringMessage })
    yield { type: 'chat/pendingMessageRemoved', kind: 'steering', id }
  }

  #notification(content: string, meta?: AgentMeta): AgentAction {
    this.#progress.addPart()
    const part = { kind: 'systemNotification', content, ...(meta && toMeta(meta)) } as const
    return { type: 'chat/responsePart', part }
  }

  #addUsage({ usage }: Pick<StepResult, 'usage'>, done: boolean): AgentAction {
    const { provider, config } = this.#chosen
    const model = `${provider.name}/${config.id}`
    const instructions = digestOf(this.#instructions)
    const action = addUsage(this.#usage, usage, { model, price: config.price, done, instructions })
    this.#usage = action.usage
    return action
  }

  /** Returns the failure of a response that is not complete. Returns undefined for a complete response. */
  #failureOf({ finish, calls }: StepResult): TurnFailed | undefined {
    const { provider } = this.#chosen
    if (finish === 'content-filter')
      return new TurnFailed('refused', `${provider.displayName} blocked this answer with its content filter.`)
    const broken = finish === 'error' || (finish === undefined && calls.length === 0)
    return broken ? endedEarly(provider) : undefined
  }

  /**
   * Makes one request to the model, and repeats it while that may help. Returns undefined if the request was too
   * long for the model. The next request then uses half the budget.
   */
  async *#askModel(): AsyncGenerator<AgentAction, StepResult | undefined> {
    const { provider, config, key } = this.#chosen
    const messages = yield* buildContext({
      chat: this.#chat,
      progress: this.#progress,
      vision: config.supportsVision ?? false,
      imageResults: (config.supportsVision && provider.imageResults) ?? false,
      budget: this.#budget,
      summarize: (old) => this.#summarize(old),
    })
    for (let attempt = 0; ; attempt++) {
      const before = this.#progress.total
      let problem: ModelProblem
      try {
        const request = this.#request(messages)
        const step = yield* streamStep(streamModel(request), this.#progress, request.offered)
        const silent = this.#progress.total === before && step.finish === undefined
        if (!silent || this.#signal.aborted) return step
        problem = emptyResponse(provider)
      } catch (error) {
        if (this.#signal.aborted) throw new Error('the turn is over')
        problem = modelProblem(error, provider, config.id, key)
      }
      const { failure, retry, tooLong } = problem
      // If a part of the response is already in the chat, the request is not repeated, because the chat would then show this
      // part twice. The turn fails. When a user resumes it, the model continues its response.
      if (this.#progress.total !== before) throw new TurnFailed(failure.errorType, failure.message, true)
      if (tooLong && this.#budget > 2000) {
        this.#budget = Math.floor(this.#budget / 2)
        return undefined
      }
      const delay = retryDelaysMs[attempt]
      if (!retry || delay === undefined) throw failedAfter(failure, attempt + 1)
      yield* this.#waitToRetry(retry, delay, attempt)
    }
  }

  #request(messages: readonly LanguageModelV3Message[]): Request {
    const { provider, config, model, effort } = this.#chosen
    // A worker does not get the tool `spawn`. Otherwise one message could start an unlimited chain of workers.
    const isWorker = this.#chat.state.origin?.kind === 'tool'
    return {
      model,
      system: systemPrompt(this.#chat, this.#options.platform, this.#customized, this.#instructions),
      messages,
      tools: Object.keys(tools).filter(
        (name) => (name !== 'spawn' || !isWorker) && (name !== 'skill' || this.#customized.skills.length > 0),
      ),
      // Clients come and go, so the tools are those of this moment.
      offered: this.#chat.tools.list(),
      maxOutputTokens: config.maxOutputTokens,
      options: provider.requestOptions(config.id, effort),
      signal: this.#signal,
    }
  }

  async #summarize(messages: readonly LanguageModelV3Message[]) {
    const { messages: _, tools: _tools, offered: _offered, system: _system, ...request } = this.#request([])
    try {
      const summary = await summarize(messages, Math.floor(charactersFor(this.#budget) / 2), request)
      this.#addUsage(summary, false)
      return summary
    } catch (error) {
      if (this.#signal.aborted) throw error
      return undefined
    }
  }

  /**
   * Tells users that a request is repeated, and waits. Before the first repetition of a request, a notification is
   * added to the turn.
   */
  async *#waitToRetry(
    { reason, afterMs }: Retry,
    delay: number,
    attempt: number,
  ): AsyncIterable<AgentAction> {
    const ms = afterMs ?? delay
    const most = retryDelaysMs.length
    if (attempt === 0) yield this.#notification(`${reason}. The request is repeated, at most ${most} times.`)
    const when = `attempt ${attempt + 2} of ${most + 1} in ${Math.ceil(ms / 1000)} s`
    yield { type: 'chat/activityChanged', activity: `${reason}; ${when}` }
    await pause(this.#options.later, ms, this.#signal)
    yield { type: 'chat/activityChanged' }
  }
}
