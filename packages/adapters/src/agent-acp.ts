import { homedir, tmpdir } from 'node:os'
import type { Agent, AgentCommand, Chat, Said } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import type { Conversation, Surroundings } from './agent-acp-conversation.ts'
import { agentEnvironment } from './agent-acp-environment.ts'
import type { Variables } from './agent-acp-environment.ts'
import { House } from './agent-acp-house.ts'
import { Link } from './agent-acp-link.ts'
import { AgentProcess } from './agent-acp-process.ts'
import { goOnText, handOver, messageBlocks } from './agent-acp-prompt.ts'
import { keyOf, modelsOf, schemaOf } from './agent-acp-settings.ts'
import type { Knob } from './agent-acp-settings.ts'
import { signInText } from './agent-acp-sign-in.ts'
import { AcpTurn } from './agent-acp-turn.ts'
import { Voice } from './agent-acp-voice.ts'
import { authRequired } from './agent-acp-wire.ts'
import type { AuthMethod, ContentBlock } from './agent-acp-wire.ts'
import type { Watchdog } from './terminals-pty-watchdog.ts'

/** A program that speaks ACP, and how it is started. */
export interface AcpProgram {
  /** Under this name sessions know it. */
  readonly name: string
  readonly displayName: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Variables
  /** Which variables of the host it may know besides the usual ones. */
  readonly variables: RegExp
  /** How somebody signs in, where the agent does not say it. */
  readonly signIn?: string
  readonly memoryBytes?: number
  /** After so long, in milliseconds, a turn is ended. Absent: never. */
  readonly turnMs?: number
}

export interface AcpMeans {
  readonly later: World['later']
  readonly watchdog: Watchdog
  readonly mark: string
  readonly environment: Variables
  readonly version: string
  /** What every session gets, as ACP says it. */
  readonly mcpServers?: readonly object[]
}

/** What was found out by asking, so that it need not be asked again. */
export interface Profile {
  readonly knobs: readonly Knob[]
  /** Whether its sessions may have several directories. */
  readonly directories?: boolean
  readonly problem?: string
}

export class AcpAgent implements Agent {
  readonly resumes = true
  readonly program: AcpProgram
  readonly #means: AcpMeans
  readonly #houses = new Map<Uri, House>()
  #profile: Profile | undefined
  #probing: Promise<void> | undefined
  /** Started to find out, and free for whoever comes first. */
  #spare: Link | undefined
  #lastWords: readonly string[] = []
  #authMethods: readonly AuthMethod[] = []

  constructor(program: AcpProgram, means: AcpMeans, profile?: Profile) {
    this.program = program
    this.#means = means
    this.#profile = profile
  }

  get info(): AgentInfo {
    const { name: provider, displayName, command } = this.program
    const { knobs = [], directories, problem } = this.#profile ?? {}
    return {
      provider,
      displayName,
      description: problem ?? `${displayName}, as ${command} on this machine`,
      models: [...modelsOf(provider, knobs)],
      capabilities: {
        multipleChats: { fork: true, sideChat: true },
        ...(directories && { multipleWorkingDirectories: { immutablePrimary: true } }),
      },
    }
  }

  get settings(): NonNullable<Agent['settings']> {
    return { schema: schemaOf(this.program.name, this.#profile?.knobs ?? []) }
  }

  get profile(): Profile | undefined {
    return this.#profile
  }

  /** What it said last beside the protocol, for `doctor`. */
  get lastWords(): readonly string[] {
    return this.#lastWords
  }

  probe(): Promise<void> {
    if (this.#profile && this.#profile.problem === undefined) return Promise.resolve()
    return (this.#probing ??= this.#find().finally(() => {
      this.#probing = undefined
    }))
  }

  async *run(chat: Chat, signal: AbortSignal): AsyncIterable<Said> {
    const house = this.#houseOf(chat.sessionUri)
    let link: Link | undefined
    const voice = new Voice({
      pause: () => link?.process.lines.pause(),
      resume: () => link?.process.lines.resume(),
    })
    const leave = house.enter()
    const stop = () => voice.end()
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    else {
      const opened = (known: Link) => {
        link = known
      }
      this.#work(chat, signal, house, voice, opened).then(
        () => voice.end(),
        (error: unknown) => voice.end(error),
      )
    }
    try {
      for await (const said of voice.words()) {
        if (signal.aborted) return
        yield said
      }
    } finally {
      signal.removeEventListener('abort', stop)
      leave()
    }
  }

  async commands(session: SessionState): Promise<readonly AgentCommand[]> {
    const own = new Set(session.chats.map(({ resource }) => resource))
    for (const house of this.#houses.values())
      for (const uri of own) {
        const found = house.conversation(uri)?.commands ?? []
        if (found.length > 0) return found
      }
    return []
  }

  async dispose(session: Uri): Promise<void> {
    const house = this.#houses.get(session)
    this.#houses.delete(session)
    await house?.close()
  }

  /** Ends all that was started. */
  async close(): Promise<void> {
    const all = [...this.#houses.values()].map((house) => house.close())
    this.#houses.clear()
    await Promise.all([...all, this.#spare?.process.end()])
  }

  async #work(
    chat: Chat,
    signal: AbortSignal,
    house: House,
    voice: Voice,
    opened: (link: Link) => void,
  ): Promise<void> {
    const { activeTurn } = chat.state
    if (activeTurn?.id !== chat.turnId) return
    const where = this.#surroundings(chat)
    try {
      const turn = new AcpTurn(chat, voice, where.cwd)
      const { conversation, before } = await this.#talk(chat, house, where, turn)
      opened(conversation.link)
      // Each time: a turn that was cancelled meanwhile may have lost the word.
      if (chat.session._meta?.[metaKey(chat.uri)] !== conversation.id)
        voice.say({ type: 'session/metaChanged', _meta: { [metaKey(chat.uri)]: conversation.id } })
      await this.#rested(house, conversation)
      await this.#tune(chat, conversation, voice)
      const resumed = activeTurn.responseParts.length > 0
      const { promptCapabilities } = conversation.link.initialized.agentCapabilities ?? {}
      const message =
        resumed && !before ? [] : await messageBlocks(activeTurn.message, chat, promptCapabilities)
      const goOn: ContentBlock[] = resumed ? [{ type: 'text', text: goOnText(activeTurn) }] : []
      if (signal.aborted) return
      await this.#prompt(conversation, turn, [...(before ?? []), ...message, ...goOn], signal)
      this.#sayTitle(chat, conversation, voice)
      this.#sayKnobs(chat, conversation, voice)
    } catch (error) {
      throw this.#inWords(error)
    }
  }

  async #prompt(
    conversation: Conversation,
    turn: AcpTurn,
    blocks: readonly ContentBlock[],
    signal: AbortSignal,
  ): Promise<void> {
    const { turnMs } = this.program
    const cancel = () => conversation.cancel(turn)
    signal.addEventListener('abort', cancel)
    let late = false
    const undo =
      turnMs === undefined
        ? () => {}
        : this.#means.later(turnMs, () => {
            late = true
            cancel()
          })
    try {
      const prompted = await conversation.prompt(turn, blocks)
      await turn.end(prompted)
      if (turn.silent && !signal.aborted && prompted.stopReason !== 'cancelled')
        turn.note(this.#silence(conversation.link.process.lastWords))
    } catch (error) {
      await turn.breakOff('the agent broke off')
      throw error
    } finally {
      undo()
      signal.removeEventListener('abort', cancel)
    }
    if (late)
      throw this.#failed(`it worked for longer than ${Math.round((turnMs ?? 0) / 60_000)} minutes`, 'time')
  }

  /** The agent's session for a chat: the one that is there, the one that was, or a new one that is told what happened. */
  async #talk(
    chat: Chat,
    house: House,
    where: Surroundings,
    turn: AcpTurn,
  ): Promise<{ readonly conversation: Conversation; readonly before?: readonly ContentBlock[] }> {
    const there = house.conversation(chat.uri)
    if (there) return { conversation: there }
    const known = chat.session._meta?.[metaKey(chat.uri)]
    let problem: string | undefined
    if (typeof known === 'string')
      try {
        return { conversation: await house.restore(chat.uri, known, where) }
      } catch (error) {
        if (!(error instanceof AhpError) || error.code === authRequired) throw error
        problem = error.message
      }
    const { activeTurn } = chat.state
    const before = activeTurn && (await handOver(chat, activeTurn))
    const conversation = await house.begin(chat.uri, where)
    if (!before) return { conversation }
    turn.note(this.#handedOver(problem))
    return { conversation, before: [before] }
  }

  #handedOver(problem: string | undefined): string {
    const { displayName } = this.program
    const why =
      problem === undefined
        ? `${displayName} has no memory of this chat`
        : `${displayName} could not take up its session again (${problem})`
    return `${why}, so it was handed a transcript of it.`
  }

  /** An agent that was told to stop, and does not, is ended: the next turn must not wait for it for ever. */
  async #rested(house: House, conversation: Conversation): Promise<void> {
    let undo = () => {}
    const late = new Promise<'late'>((resolve) => {
      undo = this.#means.later(restMs, () => resolve('late'))
    })
    const how = await Promise.race([conversation.rested, late])
    undo()
    if (how !== 'late') return
    await house.end()
    throw this.#failed('it went on with what it was told to stop, and was ended', 'agent', true)
  }

  /** Sets the agent's session as people have set theirs. */
  async #tune(chat: Chat, conversation: Conversation, voice: Voice): Promise<void> {
    const { name } = this.program
    const values = chat.session.config?.values ?? {}
    const wished = (knob: Knob) =>
      knob.isModel ? chat.state.activeTurn?.message.model?.id : values[keyOf(name, knob)]
    for (const knob of conversation.knobs) {
      const value = wished(knob)
      if ((typeof value !== 'string' && typeof value !== 'boolean') || value === knob.current) continue
      await conversation.set(knob, value).catch((error: unknown) => {
        if (!(error instanceof AhpError)) throw error
        throw this.#failed(`it cannot be set to ${JSON.stringify(value)} (${error.message})`, 'settings')
      })
    }
    this.#sayKnobs(chat, conversation, voice)
  }

  /** What the agent is really set to, as far as the session has a place for it. */
  #sayKnobs(chat: Chat, conversation: Conversation, voice: Voice): void {
    const { schema, values = {} } = chat.session.config ?? {}
    const changed = conversation.knobs.flatMap((knob) => {
      const key = keyOf(this.program.name, knob)
      const known = schema && Object.hasOwn(schema.properties, key)
      return known && knob.current !== undefined && values[key] !== knob.current
        ? [[key, knob.current] as const]
        : []
    })
    if (changed.length > 0) voice.say({ type: 'session/configChanged', config: Object.fromEntries(changed) })
  }

  #sayTitle(chat: Chat, { title }: Conversation, voice: Voice): void {
    const isDefault = (chat.session.defaultChat ?? chat.uri) === chat.uri
    if (title !== undefined && isDefault && title !== chat.session.title)
      voice.say({ type: 'session/titleChanged', title: title.slice(0, longestTitle) })
  }

  #houseOf(session: Uri): House {
    const known = this.#houses.get(session)
    if (known) return known
    const house = new House(() => this.#link(homedir()), this.#means.later)
    this.#houses.set(session, house)
    return house
  }

  async #link(cwd: string): Promise<Link> {
    const spare = this.#spare
    this.#spare = undefined
    if (spare?.open) return spare
    const { command, args, env, variables, memoryBytes = usualMemory } = this.program
    const { environment: host, mark, watchdog, version, later } = this.#means
    const environment = agentEnvironment(host, { own: variables, given: env, mark })
    const starting = { command, args, cwd, environment, memory: memoryBytes, longestLine }
    const agentProcess = new AgentProcess(starting, watchdog)
    const describe = (problem: string, errorType = 'agent') => {
      this.#lastWords = agentProcess.lastWords
      return this.#failed(problem, errorType, true, agentProcess.lastWords)
    }
    try {
      const link = await Link.open(agentProcess, { capabilities, version }, later, describe)
      this.#authMethods = link.initialized.authMethods ?? []
      return link
    } catch (error) {
      await agentProcess.end()
      throw error
    }
  }

  /** Asks a session for what can be set, and keeps the process for whoever comes first. */
  async #find(): Promise<void> {
    try {
      const link = await this.#link(tmpdir())
      const house = new House(() => Promise.resolve(link), this.#means.later)
      const { knobs } = await house.begin('', { cwd: tmpdir(), mcpServers: [] })
      const { sessionCapabilities } = link.initialized.agentCapabilities ?? {}
      this.#profile = { knobs, ...(sessionCapabilities?.additionalDirectories && { directories: true }) }
      this.#spare = link
      const undo = this.#means.later(spareMs, () => {
        if (this.#spare !== link) return
        this.#spare = undefined
        void link.process.end()
      })
      void link.process.ended.then(undo)
    } catch (error) {
      this.#profile = { knobs: this.#profile?.knobs ?? [], problem: this.#inWords(error).message }
    }
  }

  #surroundings(chat: Chat): Surroundings {
    const own = chat.state.workingDirectories ?? []
    const uris = own.length > 0 ? own : (chat.session.workingDirectories ?? [])
    const paths = uris.flatMap((uri) => {
      const named = pathOf(uri)
      return named.ok ? [named.path] : []
    })
    const [cwd = homedir(), ...others] = paths
    const more = this.#profile?.directories && others.length > 0 ? { additionalDirectories: others } : {}
    return { cwd, ...more, mcpServers: this.#means.mcpServers ?? [] }
  }

  #inWords(error: unknown): Error {
    if (error instanceof TurnFailed) return error
    if (!(error instanceof AhpError)) return error instanceof Error ? error : new Error(String(error))
    if (error.code === authRequired) return this.#signIn()
    return this.#failed(detailed(error), 'agent', true)
  }

  #signIn(): TurnFailed {
    const { displayName, command, signIn } = this.program
    const how = signInText(this.#authMethods, command, signIn)
    return new TurnFailed('auth', `${displayName} is not signed in. ${how}`, true)
  }

  #failed(problem: string, errorType = 'agent', resumable = true, words: readonly string[] = []): TurnFailed {
    const { displayName } = this.program
    return new TurnFailed(errorType, `${displayName}: ${problem}.${quoted(words)}`, resumable)
  }

  /** Some fail without a word. */
  #silence(words: readonly string[]): string {
    return `${this.program.displayName} ended its turn without a word. It may have failed.${quoted(words)}`
  }
}

function quoted(words: readonly string[]): string {
  return words.length === 0 ? '' : `\n\nIts last words:\n\n${words.map((line) => `    ${line}`).join('\n')}`
}

/** Reading is left to agents: they run as the same user, and read what they like. */
const capabilities = {
  fs: { readTextFile: false, writeTextFile: true },
  terminal: true,
  session: { configOptions: { boolean: true }, notices: {}, compaction: {} },
  elicitation: { form: {}, url: {} },
}

function metaKey(chat: Uri): string {
  return `x-atrium.acp:${chat}`
}

function detailed({ message, data, code }: AhpError): string {
  const { details, message: inner } = (typeof data === 'object' && data !== null ? data : {}) as {
    readonly details?: unknown
    readonly message?: unknown
  }
  const more = [details, inner, data].find((each) => typeof each === 'string' && each !== message)
  const words = typeof more === 'string' ? `${message}: ${more}` : message || `error ${code}`
  return words.slice(0, longestProblem).replace(/\.$/, '')
}

const usualMemory = 8 * 2 ** 30
const longestLine = 64 * 2 ** 20
const longestTitle = 200
const longestProblem = 2000
const restMs = 10_000
const spareMs = 60_000
