import type { Action, Uri } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { callIn } from '@atrium/protocol/chat/calls'
import { toolCallActions, turnActions } from '@atrium/protocol/chat/actions'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { Message } from '@atrium/protocol/chat/message'
import { reduceChat } from '@atrium/protocol/chat/reducer'
import type { ChatOrigin, ChatState, Turn } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { TurnFailed } from '../src/ports/agent.ts'
import type { Agent, Chat, AgentAction, EndedCall, Task, Worker } from '../src/ports/agent.ts'
import type { Comments } from '../src/ports/comments.ts'
import { notCustomized } from '../src/ports/customized.ts'
import type { Customized, InstructionFile } from '../src/ports/customized.ts'
import { clientSources, offeredTools } from '../src/parts/tools/offered-tools.ts'
import { whyNotAllowed } from './agent-rules.ts'

export interface HostlessChatOptions {
  readonly uri?: Uri
  readonly origin?: ChatOrigin
  /** The values of the session's config. */
  readonly config?: Record<string, unknown>
}

/** A chat without a host. Actions of the agent are checked and reduced at once, and only the agent sees the result. */
export class HostlessChat {
  agent: Agent
  readonly uri: Uri
  /** The ids of all response parts and tool calls so far. */
  readonly ids = new Set<string>()
  readonly watchers = new Set<(state: ChatState) => void>()
  readonly workers: HostlessChat[] = []
  /** The user's decision about each result that needs one. */
  approvesResults = true
  /** What the customizations of the session give to each turn. */
  customized: Customized = notCustomized
  /** The files with instructions in the working directories. */
  instructions: readonly InstructionFile[] = []
  session: SessionState
  state: ChatState
  #turns = 0

  constructor(agent: Agent, { uri = 'ahp-chat:/stage', origin, config = {} }: HostlessChatOptions = {}) {
    this.agent = agent
    this.uri = uri
    const common = { title: '', status: 1 }
    const modifiedAt = '2026-01-01T00:00:00Z'
    this.state = { ...common, resource: uri, modifiedAt, turns: [], ...(origin && { origin }) }
    const schema = agent.settings?.schema
    this.session = {
      ...common,
      provider: agent.info.provider,
      lifecycle: 'ready',
      activeClients: [],
      chats: [],
      ...(schema && { config: { schema, values: config } }),
    }
  }

  begin(said: string | Partial<Message>): Run {
    const message: Message = { text: '', origin: { kind: 'user' }, ...asMessage(said) }
    const turnId = `turn-${++this.#turns}`
    this.fold({ type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00Z', message })
    return new Run(this, turnId)
  }

  /** Resumes the last turn, which was interrupted. */
  resume(): Run {
    const turnId = this.state.turns.at(-1)?.id ?? ''
    this.fold({ type: 'chat/turnResume', turnId })
    if (!this.state.activeTurn) throw new Error('the last turn cannot be resumed')
    return new Run(this, turnId)
  }

  /** Continues the active turn with another agent, as a host does after a crash. */
  continueWith(agent: Agent): Run {
    this.agent = agent
    return new Run(this, this.state.activeTurn?.id ?? '')
  }

  /** Runs a whole turn. */
  async turn(said: string | Partial<Message>): Promise<Turn> {
    return this.begin(said).end()
  }

  fold(action: ChatAction): void {
    this.state = reduceChat(this.state, action)
    for (const watch of this.watchers) watch(this.state)
    // In this chat, a user who is asked to sign in or to approve a result does so at once.
    if (action.type === 'chat/toolCallAuthRequired') {
      const { turnId, toolCallId } = action
      this.fold({ type: 'chat/toolCallAuthResolved', turnId, toolCallId })
    } else if (action.type === 'chat/toolCallComplete' && action.requiresResultConfirmation) {
      const { turnId, toolCallId } = action
      this.fold({ type: 'chat/toolCallResultConfirmed', turnId, toolCallId, approved: this.approvesResults })
    }
  }
}

/** One run of a turn. */
export class Run {
  readonly said: AgentAction[] = []
  readonly iterator: AsyncIterator<AgentAction>
  /** The error that the agent threw, if any. */
  failure: unknown
  readonly #stage: HostlessChat
  readonly #turnId: string
  readonly #over = new AbortController()

  constructor(stage: HostlessChat, turnId: string) {
    this.#stage = stage
    this.#turnId = turnId
    this.iterator = stage.agent.run(this.#chat(), this.#over.signal)[Symbol.asyncIterator]()
  }

  /**
   * Consumes one action. With `torn`, only the first half of a text is used, as if the host had crashed. Resolves with false
   * at the end of the turn.
   */
  async step(torn = false): Promise<boolean> {
    const { done, value } = await this.iterator.next()
    if (done || this.#over.signal.aborted) return false
    this.said.push(value)
    const action = { ...value, ...(inTurn.has(value.type) && { turnId: this.#turnId }) } as Action
    const wrong = whyNotAllowed(action, this.#stage.state, this.#stage.ids)
    if (wrong !== undefined) throw new Wrong(`${wrong}: ${JSON.stringify(value).slice(0, 300)}`)
    if (action.type.startsWith('session/'))
      this.#stage.session = kinds.session.reduce(this.#stage.session, action)
    else this.#stage.fold((torn ? half(action) : action) as ChatAction)
    return true
  }

  /** Consumes the rest of the turn and ends it as a host does. */
  async end(): Promise<Turn> {
    try {
      while (await this.step());
    } catch (error) {
      if (error instanceof Wrong) throw error
      this.failure = error
    }
    const resumable = this.failure instanceof TurnFailed && this.failure.resumable
    const errorType = this.failure instanceof TurnFailed ? this.failure.errorType : 'internal'
    return this.#close(this.failure === undefined ? undefined : { errorType, resumable })
  }

  /** Aborts the turn: later actions are ignored. */
  abort(): void {
    this.#over.abort()
  }

  /** Simulates a crash after which the host ends the turn as interrupted. */
  async cut(): Promise<void> {
    this.abort()
    await this.iterator.return?.()
    this.#close({ errorType: 'interrupted', resumable: true })
  }

  /** Simulates a crash that leaves the turn as it is. */
  async die(): Promise<void> {
    this.abort()
    await this.iterator.return?.()
  }

  #close(error?: { readonly errorType: string; readonly resumable: boolean }): Turn {
    const ending = { turnId: this.#turnId, duration: 0 }
    if (error) {
      const { errorType, resumable } = error
      const part = { kind: 'error', error: { errorType, message: '' }, resumable } as const
      this.#stage.fold({ type: 'chat/error', ...ending, part })
    } else this.#stage.fold({ type: 'chat/turnComplete', ...ending })
    this.abort()
    const turn = this.#stage.state.turns.at(-1)
    if (turn?.id !== this.#turnId) throw new Wrong('the turn is lost')
    return turn
  }

  #chat(): Chat {
    const stage = this.#stage
    const over = this.#over.signal
    const when = (holds: (state: ChatState) => boolean) =>
      new Promise<ChatState>((resolve, reject) => {
        const watch = (state: ChatState) => {
          if (!holds(state)) return
          stage.watchers.delete(watch)
          resolve(state)
        }
        if (holds(stage.state)) return resolve(stage.state)
        stage.watchers.add(watch)
        onAbort(over, () => reject(new Error('the turn is over')))
      })
    return {
      uri: stage.uri,
      turnId: this.#turnId,
      get state() {
        return stage.state
      },
      get session() {
        return stage.session
      },
      sessionUri: `${stage.uri}/session`,
      files: noFiles,
      comments: noComments,
      customized: async () => stage.customized,
      instructions: async () => stage.instructions,
      run: () => Promise.reject(new TurnFailed('terminal', 'a test chat has no shell')),
      settled: () => (over.aborted ? Promise.reject(new Error('the turn is over')) : Promise.resolve()),
      when,
      tools: {
        list: () =>
          offeredTools(
            clientSources(stage.session),
            (stage.agent.tools ?? []).map(({ name }) => name),
          ),
        ended: async (toolCallId) => {
          const ended = (state: ChatState) => endedCall(state, toolCallId)
          return ended(await when((state) => ended(state) !== undefined)) as EndedCall
        },
      },
      // No turns need to be loaded, because the state contains all turns.
      before: async () => [],
      spawn: (task) => this.#spawn(task),
      read: ({ type }) =>
        type === 'chat'
          ? Promise.resolve({ data: 'The text of the chat.', encoding: 'utf-8' })
          : Promise.reject(new TurnFailed('attachment', 'a test chat has no attachments to read')),
      // Every resource has the same token.
      token: () => 'token',
      keep: async (bytes, contentType) => ({ uri: `ahp-content:/${bytes.length}`, contentType }),
    }
  }

  #spawn({ toolCallId, text, model }: Task): Worker {
    const stage = this.#stage
    const calls = stage.state.activeTurn?.responseParts ?? []
    const open = calls.some(
      (part) =>
        part.kind === 'toolCall' &&
        part.toolCall.toolCallId === toolCallId &&
        part.toolCall.status === 'running',
    )
    if (!open) throw new Wrong(`a worker is spawned for ${toolCallId}, which does not run`)
    const origin = { kind: 'tool', chat: stage.uri, toolCallId } as const
    const uri = `ahp-chat:/worker-${stage.workers.length + 1}`
    const worker = new HostlessChat(stage.agent, { uri, origin, config: stage.session.config?.values ?? {} })
    stage.workers.push(worker)
    const run = worker.begin({ text, ...(model && { model }) })
    const done = new Promise<ChatState>((resolve, reject) => {
      onAbort(this.#over.signal, () => {
        run.abort()
        reject(new Error('the turn is over'))
      })
      run.end().then(() => resolve(worker.state), reject)
    })
    return { chat: uri, done }
  }
}

/** The types of the actions that have a member `turnId`. */
const inTurn = new Set(Object.keys({ ...turnActions, ...toolCallActions }))

/** The error for an action that an agent must not send. */
class Wrong extends Error {}

function asMessage(said: string | Partial<Message>): Partial<Message> {
  return typeof said === 'string' ? { text: said } : said
}

function endedCall(state: ChatState, toolCallId: string): EndedCall | undefined {
  const call = callIn(state, toolCallId)
  return call?.status === 'completed' || call?.status === 'cancelled' ? call : undefined
}

function onAbort(signal: AbortSignal, task: () => void): void {
  if (signal.aborted) task()
  else signal.addEventListener('abort', task, { once: true })
}

function half(action: Action & { content?: unknown }): Action {
  const { content } = action
  const torn = typeof content === 'string' && kinds.chat.classes.get(action.type) === 'relaxed'
  if (!torn) return action
  const kept = { content: content.slice(0, Math.floor(content.length / 2)) }
  return { ...action, ...kept }
}

const noComments: Comments = {
  exist: false,
  list: async () => [],
  add: noComment,
  reply: noComment,
  resolve: noComment,
}

function noComment(): Promise<never> {
  return Promise.reject(new TurnFailed('comments', 'a test chat has no comments'))
}

const noFiles: Chat['files'] = {
  read: () => Promise.reject(new TurnFailed('files', 'a test chat has no files')),
  list: () => Promise.reject(new TurnFailed('files', 'a test chat has no files')),
  search: () => Promise.reject(new TurnFailed('files', 'a test chat has no files')),
  propose: () => Promise.reject(new TurnFailed('files', 'a test chat has no files')),
  apply: () => Promise.reject(new TurnFailed('files', 'a test chat has no files')),
  writesOnly: () => Promise.resolve(),
}
