import type { Uri } from '@atrium/protocol/channel'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { Agent, Chat, AgentAction, Session, Settings } from '../src/ports/agent.ts'

/** One turn of it, as the test leads it. */
export interface Run {
  readonly chat: Chat
  readonly signal: AbortSignal
  say(...said: readonly AgentAction[]): void
  /** Whether all of that was taken, and more is asked for. */
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
  readonly create?: (session: Session, signal: AbortSignal) => Promise<void>
}

/** An agent that says what the test wants when the test wants it. It never looks whether anybody still listens. */
export class Puppet implements Agent {
  readonly info: AgentInfo
  readonly resumes: boolean
  readonly settings: Settings
  readonly runs: Run[] = []
  readonly created: Uri[] = []
  readonly disposed: Uri[] = []
  readonly #options: PuppetOptions

  constructor(options: PuppetOptions = {}) {
    const {
      resumes = false,
      settings = { schema: { type: 'object', properties: {} } },
      capabilities,
      provider = 'mock',
      protectedResources,
      customizations,
    } = options
    this.#options = options
    this.resumes = resumes
    this.settings = settings
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
    const lines = new Lines()
    this.runs.push({
      chat,
      signal,
      say: (...said) => lines.add(...said.map((value) => () => ({ value }))),
      get waits() {
        return lines.waits
      },
      end: () => lines.add(() => undefined),
      fail: (error) =>
        lines.add(() => {
          throw error
        }),
    })
    return lines.spoken()
  }

  async dispose(session: Uri): Promise<void> {
    this.disposed.push(session)
  }

  /** The turn that it was given as the nth, once it was. */
  async given(nth = 0): Promise<Run> {
    await until(() => this.runs.length > nth)
    return this.runs[nth] as Run
  }
}

type Line = () => { readonly value: AgentAction } | undefined

class Lines {
  readonly #lines: Line[] = []
  #wake = () => {}
  waits = false

  add(...lines: readonly Line[]): void {
    this.#lines.push(...lines)
    this.waits = false
    this.#wake()
  }

  async *spoken(): AsyncGenerator<AgentAction> {
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

/** Resolves when it is so: looked at again whenever everything that was under way has had a turn. */
export async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise<void>((resolve) => setImmediate(resolve))
}
