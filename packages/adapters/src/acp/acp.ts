import { homedir } from 'node:os'
import type { Agent, AgentAction, AgentCommand, Chat, Session } from '@atrium/host/ports/agent'
import type { Uri } from '@atrium/protocol/channel'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { AhpError } from '@atrium/protocol/errors'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { withTimeout } from '../process/timeout.ts'
import type { AcpSession } from './acp-session.ts'
import { agentInfo, isSignedOut, neededSignIns, profileOf } from './agent-info.ts'
import type { KnownAgent, Profile } from './agent-info.ts'
import { configSchema } from './config-options.ts'
import { commandsFor, withCommands } from './remembered-commands.ts'
import type { RememberedCommands } from './remembered-commands.ts'
import { foldersOf, openDefaultChat } from './session-context.ts'
import { OutputStream } from './calls/output-stream.ts'
import { SpareSession } from './spare-session.ts'
import { TurnRun } from './run-turn.ts'
import { SessionProcess } from './session-process.ts'
import type { Connect } from './session-process.ts'
import { turnParts } from './turn-parts.ts'
import { ToolServer } from './tool-server/tool-server.ts'
import { steers } from './process/connection.ts'
import type { AcpConnection } from './process/connection.ts'
import { IdleProcesses } from './process/idle-processes.ts'
import { Launcher } from './process/launch.ts'
import type { AcpProgram, LaunchContext } from './process/launch.ts'
import { keysIn } from './process/sign-in.ts'
import type { Variables } from '../process/environment.ts'

export type { KnownAgent, Profile } from './agent-info.ts'

/** An agent that is a separate program and speaks ACP. Each session of the host has its own process of the program. */
export class AcpAgent implements Agent {
  readonly resumes = true
  readonly #launcher: Launcher
  readonly #tools: ToolServer
  readonly #processes = new Map<Uri, SessionProcess>()
  readonly #idle: IdleProcesses
  #profile: Profile | undefined
  /** Why the program could not be used the last time. */
  #problem: Error | undefined
  #commands: RememberedCommands
  /** `enough` resolves when a caller that only wants the description of the agent has waited long enough. */
  #probing: { readonly done: Promise<void>; readonly enough: Promise<void> } | undefined
  readonly #spare: SpareSession
  #closed = false
  /** The number of running turns. */
  #turns = 0
  #retired = false

  constructor(program: AcpProgram, context: LaunchContext, { profile, problem }: KnownAgent = {}) {
    this.#tools = new ToolServer(context.version)
    this.#launcher = new Launcher(program, { ...context, secrets: { TOKEN: this.#tools.secret } })
    this.#profile = profile
    this.#commands = profile?.commands ?? {}
    if (problem !== undefined) this.#problem = new Error(problem)
    this.#spare = new SpareSession(context.later)
    this.#idle = context.idle ?? new IdleProcesses(context.later)
  }

  get info(): AgentInfo {
    const { program, context } = this.#launcher
    return agentInfo({
      program,
      servers: context.mcpServers ?? [],
      profile: this.#profile,
      problem: this.#problem,
    })
  }

  get settings(): NonNullable<Agent['settings']> {
    return { schema: configSchema(this.#launcher.program.name, this.#profile?.knobs ?? []) }
  }

  get profile(): Profile | undefined {
    return this.#profile
  }

  get lastWords(): readonly string[] {
    return this.#launcher.lastDiagnostics
  }

  /**
   * Starts the agent once to learn its config options, unless they are known. Resolves at the latest when the start of the
   * agent has taken a limited time. A new session then waits for the end of the start, and reports the problem.
   */
  probe(directory?: Uri): Promise<void> {
    if (this.#profile && !this.#problem) return Promise.resolve()
    this.#probing ??= this.#beginProbe(foldersOf(directory === undefined ? [] : [directory])[0])
    return this.#probing.enough
  }

  missing(hasToken: (resource: string) => boolean): readonly ProtectedResourceMetadata[] {
    const ways = neededSignIns(this.#problem)
    return ways.some(({ resource }) => hasToken(resource)) ? [] : ways
  }

  /**
   * Signs in, and asks the agent for a session. A key is only for the sessions of the user who gave it. Any other sign-in is
   * that of the machine.
   */
  async signIn(resource: string, token: string): Promise<void> {
    const way = this.#launcher.signInWays.find((each) => each.resource.resource === resource)
    const keys = way && keysIn([way], () => token)
    const session = await this.#open(homedir(), keys, way?.methodId)
    if (keys) return session.connection.process.end()
    this.#problem = undefined
    this.#spare.keep(session, homedir())
  }

  #beginProbe(folder: string) {
    const done = this.#probe(folder).finally(() => {
      this.#probing = undefined
    })
    return { done, enough: withTimeout(this.#launcher.context.later, probeMs, done, () => {}) }
  }

  /**
   * Opens the ACP session of the default chat. If the program of the agent fails, or wants a sign-in, the first turn opens
   * it again.
   */
  async create({ uri, state, inAdvance, token }: Session, signal: AbortSignal): Promise<void> {
    if (inAdvance || signal.aborted) return
    const process = this.#processOf(uri, state)
    const keys = keysIn(this.#launcher.signInWays, token)
    await process.useKeys(keys)
    const endPreparation = process.beginTurn(true)
    try {
      const session = await openDefaultChat(process, state, this.#launcher.context, this.#profile)
      this.#profile ??= profileOf(session, this.#commands)
      if (!keys) this.#problem = undefined
    } catch (error) {
      const failure = this.#launcher.userError(error)
      if (isSignedOut(failure)) {
        this.#problem = failure
        await process.endIfUnshared()
      } else if (error instanceof AhpError) throw failure
    } finally {
      endPreparation()
    }
  }

  async *run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction> {
    const keys = keysIn(this.#launcher.signInWays, (resource) => chat.token(resource))
    const process = this.#processOf(chat.sessionUri, chat.session)
    await process.useKeys(keys)
    let connection: AcpConnection | undefined
    const output = new OutputStream({
      pause: () => connection?.process.lines.pause(),
      resume: () => connection?.process.lines.resume(),
    })
    const endTurn = process.beginTurn()
    this.#turns++
    const stop = () => output.end()
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    else {
      const run = turnParts(
        { chat, process, output, launcher: this.#launcher },
        this.#tools,
        this.#profile,
      ).then((parts) =>
        new TurnRun(parts).run(signal, (opened) => {
          connection = opened
        }),
      )
      run.then(
        () => {
          if (!keys) this.#problem = undefined
          output.end()
        },
        (error: unknown) => {
          if (isSignedOut(error)) this.#problem = error
          output.end(error)
        },
      )
    }
    try {
      for await (const action of output.actions()) {
        if (signal.aborted) return
        yield action
      }
    } finally {
      signal.removeEventListener('abort', stop)
      endTurn()
      this.#turns--
      if (this.#retired) void this.retire()
    }
  }

  async commands({ workingDirectories }: SessionState): Promise<readonly AgentCommand[]> {
    return commandsFor(this.#commands, foldersOf(workingDirectories)[0])
  }

  release(session: Uri): void {
    void this.#processes.get(session)?.release()
  }

  async dispose(session: Uri): Promise<void> {
    const process = this.#processes.get(session)
    this.#processes.delete(session)
    this.#tools.forget(`${session} `)
    await process?.dispose()
  }

  /** Closes the agent as soon as its last turn has ended. */
  async retire(): Promise<void> {
    this.#retired = true
    if (this.#turns === 0) await this.close()
  }

  /** Ends all processes. Afterwards no process is started. */
  async close(): Promise<void> {
    this.#closed = true
    const closing = [...this.#processes.values()].map((process) => process.close())
    this.#processes.clear()
    await Promise.all([...closing, this.#launcher.end(), this.#tools.close(), this.#probing?.done])
  }

  #processOf(session: Uri, { workingDirectories }: SessionState): SessionProcess {
    const [folder] = foldersOf(workingDirectories)
    const connect: Connect = (...given) => this.#connect(...given)
    const process = this.#processes.get(session) ?? this.#newProcess(folder, connect)
    this.#processes.set(session, Object.assign(process, { folder }))
    return process
  }

  #newProcess(folder: string, connect: Connect): SessionProcess {
    return new SessionProcess(folder, connect, this.#idle, (of, commands) => {
      this.#commands = withCommands(this.#commands, of, commands)
      if (this.#profile?.commands !== this.#commands) this.#learn({ commands: this.#commands })
    })
  }

  async #connect(folder: string, signal: AbortSignal, keys?: Variables): Promise<AcpConnection> {
    if (keys) return this.#launcher.start(folder, signal, keys)
    await this.#endOfProbe(signal)
    const spare = this.#spare.take(folder)
    if (this.#closed) throw this.#launcher.failure('it is no longer on this host')
    if (spare) return spare
    try {
      const connection = await this.#launcher.start(folder, signal)
      if (!isSignedOut(this.#problem)) this.#problem = undefined
      // A profile that an older build has stored does not say whether the agent takes messages while it works.
      if (this.#profile?.steers === undefined) this.#learn({ steers: steers(connection) })
      return connection
    } catch (error) {
      if (!signal.aborted) this.#problem = this.#launcher.userError(error)
      throw error
    }
  }

  /** Waits for a probe that runs. Its process is enough for the session that wants one now, and its failure is that of the session. */
  async #endOfProbe(signal: AbortSignal): Promise<void> {
    if (!this.#probing) return
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    await Promise.race([this.#probing.done, aborted])
    if (this.#problem && !signal.aborted) throw this.#problem
  }

  /** Learns the agent's config options. The process is kept for a while, so that the first session can use it. */
  async #probe(folder: string): Promise<void> {
    try {
      const session = await this.#open(folder)
      this.#problem = undefined
      if (this.#closed) await session.connection.process.end()
      else this.#spare.keep(session, folder)
    } catch (error) {
      this.#problem = this.#launcher.userError(error)
    }
  }

  /** Starts a process, signs in if a method is given, and opens an ACP session. */
  async #open(folder: string, keys?: Variables, methodId?: string): Promise<AcpSession> {
    const connection = await this.#launcher.start(folder, undefined, keys)
    try {
      if (methodId !== undefined) await connection.request('authenticate', { methodId }, signInMs)
      const process = this.#newProcess(folder, () => Promise.resolve(connection))
      const cwd = this.#launcher.context.probeDirectory ?? homedir()
      const session = await process.createSession('', { cwd, mcpServers: [] })
      this.#profile = profileOf(session, this.#commands)
      return session
    } catch (error) {
      await connection.process.end()
      throw this.#launcher.userError(error)
    }
  }

  #learn(facts: Partial<Profile>): void {
    if (this.#profile) this.#profile = { ...this.#profile, ...facts }
  }
}

/** The time that a person has for a sign-in that the agent itself carries out. */
const signInMs = 600_000
const probeMs = 5000
