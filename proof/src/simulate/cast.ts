import type { Agent, Chat, AgentAction } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { Uri } from '@atrium/protocol/channel'
import { Chance } from '../chance.ts'
import type { Theme } from './plan.ts'
import { Tools } from './tools.ts'

/** Who is to know what agents are asked for, in the moment they are. */
export interface Watch {
  creates(session: Uri): void
  runs(chat: Uri, turnId: string): void
}

type Line = () => Promise<IteratorResult<AgentAction>>

/**
 * The agents of one life of the host. They do nothing by themselves: a turn, or a session that is being made, waits until
 * the plan has a line for it. So agents are as slow, as silent and as deaf as the seed wants them.
 */
export class Cast {
  readonly runs = new Set<Run>()
  /** Sessions that are being made, each with how it may end. */
  readonly creations = new Map<Uri, (error?: Error) => void>()
  readonly #watch: Watch
  readonly #names: () => number
  readonly #chance: Chance
  readonly #theme: Theme

  constructor(seed: number, theme: Theme, watch: Watch, names: () => number) {
    this.#theme = theme
    this.#watch = watch
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

  /** One of those who wait gets something to do. */
  act(chance: Chance): void {
    const [session, made] = chance.pick([...this.creations]) ?? []
    if (session !== undefined && made && (this.runs.size === 0 || chance.oneIn(3)))
      return made(chance.oneIn(5) ? failure(chance) : undefined)
    const run = chance.pick([...this.runs])
    for (let n = chance.below(5); n >= 0; n--) run?.give(this.#line(run, chance))
    // Of one that nobody listens to any more there is nothing else to learn.
    if (run?.deaf) this.runs.delete(run)
  }

  /** Every turn ends. */
  finish(): void {
    for (const run of this.runs) run.give(ended)
  }

  /** Every turn streams. */
  prepare(): void {
    for (const run of this.runs) {
      run.give(this.#part(run))
      for (let n = 0; n < 3; n++) run.give(this.#delta(run.parts[0] ?? ''))
      for (let n = 0; n < (this.#theme === 'decisions' ? 2 : 0); n++) run.give(run.tools.line(this.#chance))
    }
  }

  #create(session: Uri, signal: AbortSignal): Promise<void> {
    this.#watch.creates(session)
    // In other plans a session that is not ready would be in the way.
    const how = this.#chance.below(this.#theme === 'births' ? 8 : 32) - (this.#theme === 'births' ? 2 : 26)
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
    this.#watch.runs(chat.uri, chat.turnId)
    const tools = new Tools(chat, this.#names)
    const run = new Run(chat, signal, tools, !this.#chance.oneIn(3), () => this.runs.delete(run))
    this.runs.add(run)
    return { [Symbol.asyncIterator]: () => run }
  }

  #line(run: Run, chance: Chance): Line {
    const part = chance.pick(run.parts)
    if (this.#theme === 'births' && chance.oneIn(6))
      return spawned(run, `call-${this.#names()}`, chance.oneIn(3))
    if (this.#theme === 'decisions' && !chance.oneIn(5))
      return chance.oneIn(8) ? this.#question(true) : run.tools.line(chance)
    // Who works for others asks much: else hardly any would wait for a person when its host dies.
    if (run.chat.state.origin?.kind === 'tool' && chance.oneIn(3)) return this.#question()
    if (this.#theme === 'windows' && chance.oneIn(4)) return chance.oneIn(3) ? failed(failure(chance)) : ended
    const dice = chance.below(64)
    if (part === undefined || dice < 4) return this.#part(run)
    if (dice < 41) return this.#delta(part)
    if (dice < 42) return said({ type: 'session/titleChanged', title: `agent ${this.#names()}` })
    if (dice < 44) return said({ type: 'chat/activityChanged', activity: `activity ${this.#names()}` })
    if (dice < 47) return spawned(run, `call-${this.#names()}`, chance.oneIn(2))
    if (dice < 48) return steered(run)
    if (dice < 51) return failed(failure(chance))
    // What no agent may say ends its turn.
    if (dice < 52) return said({ type: 'chat/turnComplete', duration: 1 } as unknown as AgentAction)
    if (dice < 56) return this.#question()
    return ended
  }

  #delta(partId: string): Line {
    return said({ type: 'chat/delta', partId, content: `${this.#names()} ` })
  }

  /** A person may answer it, and need not: the agent waits for nobody. */
  #question(form = false): Line {
    const id = `question-${this.#names()}`
    const questions = [{ kind: 'text' as const, id: 'who', message: 'Who?', required: true }]
    return said({ type: 'chat/inputRequested', request: { id, ...(form && { questions }) } })
  }

  #part(run: Run): Line {
    const id = `part-${this.#names()}`
    run.parts.push(id)
    return said({ type: 'chat/responsePart', part: { kind: 'markdown', id, content: '' } })
  }
}

/** One turn of an agent: it says what it is given, as fast as it is asked, and else waits. */
export class Run implements AsyncIterator<AgentAction> {
  readonly chat: Chat
  readonly signal: AbortSignal
  readonly parts: string[]
  readonly tools: Tools
  /** What may be waited for; else nobody does. */
  readonly #lines: Line[] = []
  readonly #over: () => void
  #asked: ((answer: Promise<IteratorResult<AgentAction>>) => void) | undefined

  /** One that does not heed goes on when its turn is over, and says more. */
  constructor(chat: Chat, signal: AbortSignal, tools: Tools, heeds: boolean, over: () => void) {
    this.chat = chat
    this.signal = signal
    this.tools = tools
    this.#over = over
    const { activeTurn } = chat.state
    this.parts = (activeTurn?.responseParts ?? []).flatMap((part) =>
      part.kind === 'markdown' ? [part.id] : [],
    )
    if (!heeds) return
    signal.addEventListener('abort', () => {
      over()
      this.#lines.length = 0
      this.give(ended)
    })
  }

  /** It was told that its turn is over. */
  get deaf(): boolean {
    return this.signal.aborted
  }

  give(line: Line): void {
    const asked = this.#asked
    this.#asked = undefined
    if (asked) asked(this.#spoken(line))
    else this.#lines.push(line)
  }

  next(): Promise<IteratorResult<AgentAction>> {
    const line = this.#lines.shift()
    if (line) return this.#spoken(line)
    return new Promise((resolve) => (this.#asked = resolve))
  }

  #spoken(line: Line): Promise<IteratorResult<AgentAction>> {
    const answer = line()
    const done = () => !this.deaf && this.#over()
    answer.then((result) => result.done && done(), done)
    return answer
  }
}

const ended: Line = () => Promise.resolve({ done: true, value: undefined })

function said(value: AgentAction): Line {
  return () => Promise.resolve({ done: false, value })
}

function failed(error: Error): Line {
  return () => Promise.reject(error)
}

function failure(chance: Chance): Error {
  const how = chance.below(3)
  return how === 0 ? new Error('agent failed') : new TurnFailed('sim', 'it failed', how === 1)
}

/** Lets a worker work, and perhaps waits until it is done. */
function spawned({ chat }: Run, toolCallId: string, waits: boolean): Line {
  return async () => {
    const value: AgentAction = { type: 'chat/activityChanged', activity: toolCallId }
    try {
      const { done } = chat.spawn({ toolCallId, title: toolCallId, text: 'work' })
      if (waits) await done
      else done.catch(() => {})
    } catch {
      // There are too many already, or the turn is over.
    }
    return { done: false, value }
  }
}

/** Waits for a word from its user, and takes it. */
function steered({ chat }: Run): Line {
  return async () => {
    const { steeringMessage } = await chat.when((state) => state.steeringMessage !== undefined)
    const id = steeringMessage?.id ?? ''
    return { done: false, value: { type: 'chat/pendingMessageRemoved', kind: 'steering', id } }
  }
}
