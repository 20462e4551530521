import type { Uri } from '@atrium/protocol/channel'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { Agent, Chat, AgentAction, Session, Settings } from '../src/ports/agent.ts'

/** One turn of the agent, controlled by the test. */
export interface Run {
  readonly chat: Chat
  readonly signal: AbortSignal
  say(...said: readonly AgentAction[]): void
  /** Whether the host has consumed every action and waits for more. */
  readonly waits: boolean
  end(): void
  fail(error: unknown): void
}

interface PuppetOptions {
  readonly resumes?: boolean
  readonly settings?: Settings
  readonly capabilities?: AgentInfo['capabilities']
  readonly provider?: string
  readonly protectedResources?: AgentInfo['protectedResources']
  readonly customizations?: AgentInfo['customizations']
  readonly tools?: Agent['tools']
  readonly create?: (session: Session, signal: AbortSignal) => Promise<void>
  readonly signIn?: NonNullable<Agent['signIn']>
}

/** An agent that sends the actions that the test gives it. It ignores the abort signal. */
export class ScriptedAgent implements Agent {
  readonly info: AgentInfo
  readonly resumes: boolean
  readonly settings: Settings
  readonly tools?: NonNullable<Agent['tools']>
  readonly signIn?: NonNullable<Agent['signIn']>
  readonly runs: Run[] = []
  readonly created: Uri[] = []
  readonly disposed: Uri[] = []
  readonly released: Uri[] = []
  readonly #options: PuppetOptions

  constructor(options: PuppetOptions = {}) {
    const {
      resumes = false,
      settings = { schema: { type: 'object', properties: {} } },
      capabilities,
      provider = 'mock',
      protectedResources,
      customizations,
      tools,
    } = options
    this.#options = options
    this.resumes = resumes
    this.settings = settings
    if (tools) this.tools = tools
    if (options.signIn) this.signIn = options.signIn
    this.info = {
      provider,
      displayName: 'Puppet',
      description: '',
      models: [],
      capabilities: { multipleChats: {}, ...capabilities },
      ...(protectedResources && { protectedResources }),
      ...(customizations && { customizations }),
    }
  }

  async create(session: Session, signal: AbortSignal): Promise<void> {
    this.created.push(session.uri)
    await this.#options.create?.(session, signal)
  }

  run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction> {
    const script = new Script()
    this.runs.push({
      chat,
      signal,
      say: (...said) => script.add(...said.map((value) => () => ({ value }))),
      get waits() {
        return script.waits
      },
      end: () => script.add(() => undefined),
      fail: (error) =>
        script.add(() => {
          throw error
        }),
    })
    return script.actions()
  }

  release(session: Uri): void {
    this.released.push(session)
  }

  async dispose(session: Uri): Promise<void> {
    this.disposed.push(session)
  }

  /** Resolves with the nth turn that the agent was given, as soon as it is given. */
  async given(nth = 0): Promise<Run> {
    await until(() => this.runs.length > nth)
    return this.runs[nth] as Run
  }
}

type Line = () => { readonly value: AgentAction } | undefined

class Script {
  readonly #lines: Line[] = []
  #wake = () => {}
  waits = false

  add(...lines: readonly Line[]): void {
    this.#lines.push(...lines)
    this.waits = false
    this.#wake()
  }

  async *actions(): AsyncGenerator<AgentAction> {
    for (;;) {
      while (this.#lines.length === 0) {
        this.waits = true
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
      const line = this.#lines.shift()?.()
      if (!line) return
      yield line.value
    }
  }
}

/** Resolves when a condition holds. The condition is tested once in each round of the event loop. */
export async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise<void>((resolve) => setImmediate(resolve))
}
