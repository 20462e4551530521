import type { Agent, Chat, AgentAction } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { Uri } from '@atrium/protocol/channel'
import { Chance } from '../chance.ts'
import { AgentTools } from './agent-tools.ts'
import { AgentEdits } from './changes/agent-edits.ts'
import type { Workplace } from './changes/agent-edits.ts'
import type { Theme } from './plan.ts'

/** Receives every request to an agent at the moment it is made. */
export interface AgentObserver {
  creates(session: Uri): void
  runs(chat: Uri, turnId: string): void
}

type ScriptStep = () => Promise<IteratorResult<AgentAction>>

/**
 * The agents of one host run. A turn, or a session being created, waits until the plan gives it a step. The seed
 * therefore decides how slow an agent is and whether it obeys an abort.
 */
export class SimulatedAgents {
  readonly runs = new Set<AgentRun>()
  /** Sessions being created, each with the function that ends its creation. */
  readonly creations = new Map<Uri, (error?: Error) => void>()
  /** Where agents change files, in the theme `changes`. */
  workplace: Workplace | undefined
  readonly #observer: AgentObserver
  readonly #names: () => number
  readonly #chance: Chance
  readonly #theme: Theme

  constructor(seed: number, theme: Theme, observer: AgentObserver, names: () => number) {
    this.#theme = theme
    this.#observer = observer
    this.#names = names
    this.#chance = new Chance(seed)
  }

  get agent(): Agent {
    return {
      info: {
        provider: 'sim',
        displayName: 'Sim',
        description: '',
        models: [],
        capabilities: { multipleChats: { fork: true, sideChat: true } },
      },
      resumes: true,
      create: ({ uri }, signal) => this.#create(uri, signal),
      run: (chat, signal) => this.#run(chat, signal),
    }
  }

  /** Gives one waiting creation or turn something to do. */
  act(chance: Chance): void {
    const [session, complete] = chance.pick([...this.creations]) ?? []
    if (session !== undefined && complete && (this.runs.size === 0 || chance.oneIn(3)))
      return complete(chance.oneIn(5) ? failure(chance) : undefined)
    const run = chance.pick([...this.runs])
    for (let n = chance.below(5); n >= 0; n--) run?.give(this.#randomStep(run, chance))
    // A stopped run has nothing left to test.
    if (run?.aborted) this.runs.delete(run)
  }

  /** Ends every turn. */
  finish(): void {
    for (const run of this.runs) run.give(ended)
  }

  /** Makes every turn stream text. */
  prepare(): void {
    for (const run of this.runs) {
      run.give(this.#part(run))
      for (let n = 0; n < 3; n++) run.give(this.#delta(run.parts[0] ?? ''))
      for (let n = 0; n < (this.#theme === 'decisions' ? 2 : 0); n++) run.give(run.tools.step(this.#chance))
      for (let n = 0; n < 6; n++) if (run.edits) run.give(run.edits.step(this.#chance))
    }
  }

  #create(session: Uri, signal: AbortSignal): Promise<void> {
    this.#observer.creates(session)
    // Slow and failing creations belong to the theme `lifecycle`. In other themes a session that is not ready would
    // only be in the way, so they are rare.
    const how =
      this.#chance.below(this.#theme === 'lifecycle' ? 8 : 32) - (this.#theme === 'lifecycle' ? 2 : 26)
    if (how < 1) return Promise.resolve()
    if (how < 2) return Promise.reject(failure(this.#chance))
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        this.creations.delete(session)
        if (error) reject(error)
        else resolve()
      }
      this.creations.set(session, end)
      signal.addEventListener('abort', () => end(new Error('aborted')))
    })
  }

  #run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction> {
    this.#observer.runs(chat.uri, chat.turnId)
    this.workplace?.begins(chat.uri, chat.turnId)
    const tools = new AgentTools(chat, this.#names)
    const obeysAbort = !this.#chance.oneIn(3)
    const onEnd = () => void this.runs.delete(run)
    const edits = this.workplace && new AgentEdits(chat, this.#names, this.workplace)
    const run = new AgentRun({ chat, signal, tools, ...(edits && { edits }), obeysAbort, onEnd })
    this.runs.add(run)
    return { [Symbol.asyncIterator]: () => run }
  }

  #randomStep(run: AgentRun, chance: Chance): ScriptStep {
    const part = chance.pick(run.parts)
    if (this.#theme === 'lifecycle' && chance.oneIn(6))
      return spawnWorker(run, `call-${this.#names()}`, chance.oneIn(3))
    if (this.#theme === 'decisions' && !chance.oneIn(5))
      return chance.oneIn(8) ? this.#question(true) : run.tools.step(chance)
    if (run.edits && !chance.oneIn(3)) return run.edits.step(chance)
    if (run.edits && chance.oneIn(4)) return ended
    // Workers ask more often. Otherwise hardly any worker would wait for a user when its host dies.
    if (run.chat.state.origin?.kind === 'tool' && chance.oneIn(3)) return this.#question()
    if (this.#theme === 'windows' && chance.oneIn(4)) return chance.oneIn(3) ? failed(failure(chance)) : ended
    const dice = chance.below(64)
    if (part === undefined || dice < 4) return this.#part(run)
    if (dice < 41) return this.#delta(part)
    if (dice < 42) return output({ type: 'session/titleChanged', title: `agent ${this.#names()}` })
    if (dice < 44) return output({ type: 'chat/activityChanged', activity: `activity ${this.#names()}` })
    if (dice < 47) return spawnWorker(run, `call-${this.#names()}`, chance.oneIn(2))
    if (dice < 48) return takeSteering(run)
    if (dice < 51) return failed(failure(chance))
    // A forbidden action: an agent may not end its turn with `chat/turnComplete`.
    if (dice < 52) return output({ type: 'chat/turnComplete', duration: 1 } as unknown as AgentAction)
    if (dice < 56) return this.#question()
    return ended
  }

  #delta(partId: string): ScriptStep {
    const name = this.#names()
    // Some text is so long that it has no room in the state.
    return output({ type: 'chat/delta', partId, content: `${name} `.repeat(name % 5 === 0 ? 500 : 1) })
  }

  /** Returns a step that asks the user a question. The agent does not wait for the answer. */
  #question(form = false): ScriptStep {
    const id = `question-${this.#names()}`
    const questions = [{ kind: 'text' as const, id: 'who', message: 'Who?', required: true }]
    return output({ type: 'chat/inputRequested', request: { id, ...(form && { questions }) } })
  }

  #part(run: AgentRun): ScriptStep {
    const id = `part-${this.#names()}`
    run.parts.push(id)
    return output({ type: 'chat/responsePart', part: { kind: 'markdown', id, content: '' } })
  }
}

interface AgentRunOptions {
  readonly chat: Chat
  readonly signal: AbortSignal
  readonly tools: AgentTools
  readonly edits?: AgentEdits
  /** If false, the run goes on after its turn was aborted, and sends more actions. */
  readonly obeysAbort: boolean
  readonly onEnd: () => void
}

/** One turn of an agent. It plays the steps it is given, as fast as the host asks for them. */
export class AgentRun implements AsyncIterator<AgentAction> {
  readonly chat: Chat
  readonly signal: AbortSignal
  readonly parts: string[]
  readonly tools: AgentTools
  readonly edits: AgentEdits | undefined
  /** Steps that the host has not asked for yet. */
  readonly #steps: ScriptStep[] = []
  readonly #onEnd: () => void
  #awaited: ((answer: Promise<IteratorResult<AgentAction>>) => void) | undefined

  constructor({ chat, signal, tools, edits, obeysAbort, onEnd }: AgentRunOptions) {
    this.chat = chat
    this.signal = signal
    this.tools = tools
    this.edits = edits
    this.#onEnd = onEnd
    const { activeTurn } = chat.state
    this.parts = (activeTurn?.responseParts ?? []).flatMap((part) =>
      part.kind === 'markdown' ? [part.id] : [],
    )
    if (!obeysAbort) return
    signal.addEventListener('abort', () => {
      onEnd()
      this.#steps.length = 0
      this.give(ended)
    })
  }

  /** Whether the host has aborted the turn. */
  get aborted(): boolean {
    return this.signal.aborted
  }

  give(step: ScriptStep): void {
    const awaited = this.#awaited
    this.#awaited = undefined
    if (awaited) awaited(this.#play(step))
    else this.#steps.push(step)
  }

  next(): Promise<IteratorResult<AgentAction>> {
    const step = this.#steps.shift()
    if (step) return this.#play(step)
    return new Promise((resolve) => (this.#awaited = resolve))
  }

  #play(step: ScriptStep): Promise<IteratorResult<AgentAction>> {
    const answer = step()
    const done = () => !this.aborted && this.#onEnd()
    answer.then((result) => result.done && done(), done)
    return answer
  }
}

const ended: ScriptStep = () => Promise.resolve({ done: true, value: undefined })

function output(value: AgentAction): ScriptStep {
  return () => Promise.resolve({ done: false, value })
}

function failed(error: Error): ScriptStep {
  return () => Promise.reject(error)
}

function failure(chance: Chance): Error {
  const how = chance.below(3)
  return how === 0 ? new Error('agent failed') : new TurnFailed('sim', 'it failed', how === 1)
}

/**
 * Returns a step that starts a worker (an agent in a chat of its own). With `waits`, the step waits until the worker
 * has finished.
 */
function spawnWorker({ chat }: AgentRun, toolCallId: string, waits: boolean): ScriptStep {
  return async () => {
    const value: AgentAction = { type: 'chat/activityChanged', activity: toolCallId }
    try {
      const { done } = chat.spawn({ toolCallId, title: toolCallId, text: 'work' })
      if (waits) await done
      else done.catch(() => {})
    } catch {
      // The host refused the worker: there are too many workers already, or the turn is over.
    }
    return { done: false, value }
  }
}

/** Returns a step that waits for a steering message, and removes it. */
function takeSteering({ chat }: AgentRun): ScriptStep {
  return async () => {
    const { steeringMessage } = await chat.when((state) => state.steeringMessage !== undefined)
    const id = steeringMessage?.id ?? ''
    return { done: false, value: { type: 'chat/pendingMessageRemoved', kind: 'steering', id } }
  }
}
