import { AhpError } from '@atrium/protocol/errors'
import { objectsIn, wordOf } from './tool-call.ts'
import type { Asked, Link, Party } from './process/connection.ts'
import type { AcpServer } from './process/mcp-servers.ts'
import { knobsOf } from './config-options.ts'
import type { Knob } from './config-options.ts'
import type { AcpTurn } from './acp-turn.ts'
import type { ContentBlock, Opened, Prompted, Update } from './process/schema.ts'

/** Where an agent's session works, and what it is given. */
export interface Surroundings {
  readonly cwd: string
  readonly additionalDirectories?: readonly string[]
  readonly mcpServers: readonly AcpServer[]
}

/** A session of an agent: the memory that it has of one chat. */
export class Conversation implements Party {
  readonly link: Link
  readonly id: string
  readonly where: Surroundings
  commands: readonly { readonly name: string; readonly description?: string }[] = []
  title: string | undefined
  #knobs: readonly Knob[]
  #turn: AcpTurn | undefined
  #updates = 0
  /** The last prompt: an agent has one at a time. */
  #last: Promise<unknown> = Promise.resolve()

  private constructor(link: Link, id: string, where: Surroundings, opened: Opened) {
    this.link = link
    this.id = id
    this.where = where
    this.#knobs = knobsOf(opened)
  }

  static async begin(link: Link, where: Surroundings): Promise<Conversation> {
    const opened = (await link.request('session/new', where, openMs)) as Opened
    if (typeof opened.sessionId !== 'string')
      throw AhpError.invalidParams('session/new was answered without a session')
    return new Conversation(link, opened.sessionId, where, opened).joined()
  }

  /**
   * One that an earlier process of the agent had. An agent that loads says all of it again first: nobody listens, because the
   * log has it. Rejects where the agent cannot, or knows of no such session.
   */
  static async restore(link: Link, sessionId: string, where: Surroundings): Promise<Conversation> {
    const { loadSession, sessionCapabilities } = link.initialized.agentCapabilities ?? {}
    const known = { sessionId, ...where }
    const conversation = new Conversation(link, sessionId, where, {}).joined()
    const resumed = sessionCapabilities?.resume
      ? await link.request('session/resume', known, openMs).catch(unlessRefused)
      : undefined
    if (!resumed && !loadSession) throw AhpError.invalidParams('it cannot take up a session again')
    conversation.#knobs = knobsOf(resumed ?? (await link.request('session/load', known, openMs)))
    // Some say it all again after they have answered: it must not pass for words of the next turn.
    if (!resumed) await conversation.#quiet()
    return conversation
  }

  get knobs(): readonly Knob[] {
    return this.#knobs
  }

  /** Resolves when the agent has ended the prompt before, which it was told to. */
  get rested(): Promise<unknown> {
    return this.#last
  }

  async set(knob: Knob, value: string | boolean): Promise<void> {
    const { id: sessionId } = this
    if (knob.kind === 'mode')
      await this.link.request('session/set_mode', { sessionId, modeId: value }, openMs)
    else if (knob.kind === 'model')
      await this.link.request('session/set_model', { sessionId, modelId: value }, openMs)
    else {
      const typed = typeof value === 'boolean' ? { type: 'boolean' } : {}
      const request = { sessionId, configId: knob.id, value, ...typed }
      const { configOptions } = (await this.link.request(
        'session/set_config_option',
        request,
        openMs,
      )) as Opened
      if (configOptions) return this.#options(configOptions)
    }
    this.#knobs = this.#knobs.map((each) => (each.id === knob.id ? { ...each, current: value } : each))
  }

  async prompt(turn: AcpTurn, prompt: readonly ContentBlock[]): Promise<Prompted> {
    this.#turn = turn
    const asked = this.link.request('session/prompt', { sessionId: this.id, prompt })
    this.#last = asked.catch(() => {})
    try {
      return (await asked) as Prompted
    } finally {
      if (this.#turn === turn) this.#turn = undefined
    }
  }

  /** Nobody listens to this turn any more. Gives whether it went on. */
  cancel(turn: AcpTurn): boolean {
    if (this.#turn !== turn) return false
    this.#turn = undefined
    this.link.notify('session/cancel', { sessionId: this.id })
    return true
  }

  update(update: Update): void {
    this.#updates++
    aboutSession.get(update.sessionUpdate ?? '')?.(this, update)
    this.#turn?.update(update)
  }

  ask(method: string, asked: Asked): Promise<object> {
    if (this.#turn) return this.#turn.ask(method, asked)
    if (method === 'session/request_permission') return Promise.resolve({ outcome: { outcome: 'cancelled' } })
    return Promise.reject(AhpError.invalidParams('no turn goes on in this session'))
  }

  learn({ configOptions, currentModeId, availableCommands, title }: Update): void {
    if (configOptions) this.#options(configOptions)
    if (typeof currentModeId === 'string')
      this.#knobs = this.#knobs.map((knob) =>
        knob.kind === 'mode' ? { ...knob, current: currentModeId } : knob,
      )
    if (availableCommands) this.commands = commandsOf(availableCommands)
    if (typeof title === 'string' && title !== '') this.title = title
  }

  joined(): this {
    this.link.join(this.id, this)
    return this
  }

  async #quiet(): Promise<void> {
    for (let heard = -1; heard !== this.#updates && this.link.open;) {
      heard = this.#updates
      await this.link.pause(quietMs)
    }
  }

  /** A complete list of options takes the place of those before; modes and models are said elsewhere. */
  #options(configOptions: NonNullable<Opened['configOptions']>): void {
    const older = this.#knobs.filter(({ kind }) => kind !== 'option')
    const newer = knobsOf({ configOptions })
    this.#knobs = [...newer, ...older.filter(({ id }) => !newer.some((knob) => knob.id === id))]
  }
}

const learned = (conversation: Conversation, update: Update) => conversation.learn(update)
const aboutSession = new Map([
  ['available_commands_update', learned],
  ['current_mode_update', learned],
  ['config_option_update', learned],
  ['session_info_update', learned],
])

const openMs = 120_000
const quietMs = 200

/** Some announce what they cannot. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof AhpError)) throw error
}

function commandsOf(commands: NonNullable<Update['availableCommands']>): Conversation['commands'] {
  const found = new Map<string, Conversation['commands'][number]>()
  for (const { name, description } of objectsIn(commands).slice(0, mostCommands)) {
    if (typeof name !== 'string' || !/^\S{1,64}$/.test(name) || found.has(name)) continue
    const words = wordOf(description)
    found.set(name, { name, ...(words !== undefined && { description: words }) })
  }
  return [...found.values()]
}

const mostCommands = 1000
