import { homedir } from 'node:os'
import type { Agent, AgentAction, AgentCommand, Chat } from '@atrium/host/ports/agent'
import type { Uri } from '@atrium/protocol/channel'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { withTimeout } from '../process/timeout.ts'
import type { AcpSession, SessionContext } from './acp-session.ts'
import { agentInfo, isSignedOut, profileOf } from './agent-info.ts'
import type { Profile } from './agent-info.ts'
import { configSchema } from './config-options.ts'
import { foldersOf } from './folders.ts'
import { commandsFor, withCommands } from './remembered-commands.ts'
import type { RememberedCommands } from './remembered-commands.ts'
import { OutputStream } from './calls/output-stream.ts'
import { TurnRun } from './run-turn.ts'
import { sessionMemory } from './session-memory.ts'
import { SessionProcess } from './session-process.ts'
import type { TurnParts } from './turn-parts.ts'
import { ToolServer } from './tool-server/tool-server.ts'
import { steers } from './process/connection.ts'
import type { AcpConnection } from './process/connection.ts'
import { IdleProcesses } from './process/idle-processes.ts'
import { Launcher } from './process/launch.ts'
import type { AcpProgram, LaunchContext } from './process/launch.ts'
import { isEnabled } from './process/mcp-servers.ts'
import type { AcpServer } from './process/mcp-servers.ts'

export type { Profile } from './agent-info.ts'

/** What is known about an agent before its program is started. */
export interface KnownAgent {
  readonly profile?: Profile | undefined
  /** Why the program cannot be used. */
  readonly problem?: string | undefined
}

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
  #probing: Probing | undefined
  /** The ACP session that a probe opened. The first session of the host uses its connection. */
  #spare: AcpSession | undefined
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
    this.#idle = context.idle ?? new IdleProcesses(context.later)
  }

  get info(): AgentInfo {
    const { program } = this.#launcher
    return agentInfo({
      program,
      servers: this.#servers,
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
   * agent has taken a limited time. A first turn then waits for the end of the start, and reports the problem.
   */
  probe(): Promise<void> {
    if (this.#profile && !this.#problem) return Promise.resolve()
    this.#probing ??= this.#beginProbe()
    return this.#probing.enough
  }

  #beginProbe(): Probing {
    const done = this.#probe().finally(() => {
      this.#probing = undefined
    })
    return { done, enough: withTimeout(this.#launcher.context.later, probeMs, done, () => {}) }
  }

  async *run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction> {
    const process = this.#processOf(chat.sessionUri)
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
      const run = this.#turnParts(chat, process, output).then((parts) =>
        new TurnRun(parts).run(signal, (opened) => {
          connection = opened
        }),
      )
      run.then(
        () => {
          this.#problem = undefined
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

  #processOf(session: Uri): SessionProcess {
    const known = this.#processes.get(session)
    if (known) return known
    const process = this.#newProcess((signal) => this.#connect(signal))
    this.#processes.set(session, process)
    return process
  }

  #newProcess(connect: (signal: AbortSignal) => Promise<AcpConnection>): SessionProcess {
    return new SessionProcess(connect, this.#idle, (folder, commands) => {
      this.#commands = withCommands(this.#commands, folder, commands)
      if (this.#profile?.commands !== this.#commands) this.#learn({ commands: this.#commands })
    })
  }

  async #connect(signal: AbortSignal): Promise<AcpConnection> {
    await this.#endOfProbe(signal)
    const spare = this.#spare
    this.#spare = undefined
    void spare?.end('delete')
    if (this.#closed) throw this.#launcher.failure('it is no longer on this host')
    if (spare?.connection.open) return spare.connection
    try {
      const connection = await this.#launcher.start(signal)
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

  /**
   * Starts a process and opens an ACP session, to learn the agent's config options. The process is kept for a while, so that
   * the first session can use it.
   */
  async #probe(): Promise<void> {
    const { context } = this.#launcher
    let connection: AcpConnection | undefined
    try {
      const opened = await this.#launcher.start()
      connection = opened
      const process = this.#newProcess(() => Promise.resolve(opened))
      const cwd = context.probeDirectory ?? homedir()
      const session = await process.createSession('', { cwd, mcpServers: [] })
      this.#profile = profileOf(session, this.#commands)
      this.#problem = undefined
      if (this.#closed) return await opened.process.end()
      this.#keepSpare(session)
    } catch (error) {
      await connection?.process.end()
      this.#problem = this.#launcher.userError(error)
    }
  }

  #learn(facts: Partial<Profile>): void {
    if (this.#profile) this.#profile = { ...this.#profile, ...facts }
  }

  #keepSpare(session: AcpSession): void {
    this.#spare = session
    const { process } = session.connection
    const cancelTimer = this.#launcher.context.later(spareMs, () => {
      if (this.#spare !== session) return
      this.#spare = undefined
      void session.end('delete').then(() => process.end())
    })
    void process.ended.then(cancelTimer)
  }

  get #servers(): readonly AcpServer[] {
    return this.#launcher.context.mcpServers ?? []
  }

  async #turnParts(chat: Chat, process: SessionProcess, output: OutputStream): Promise<TurnParts> {
    const context = this.#sessionContext(chat)
    const common = { chat, process, output, launcher: this.#launcher }
    const name = this.#servers.some((server) => server.name === 'atrium') ? 'atrium-tools' : 'atrium'
    // A chat gets the host's MCP server when its session has tools or comments for the first time, and keeps it: a change
    // of the MCP servers costs a restart of the agent.
    const hasTools = chat.tools.list().length > 0 || chat.comments.exist
    const isWanted = hasTools || sessionMemory(chat)?.servers.includes(name)
    if (!isWanted) return { ...common, context }
    const opened = await this.#tools.endpoint(`${chat.sessionUri} ${chat.uri}`, name).catch(() => undefined)
    // If the MCP server could not be opened, the agent works as if there were no tools.
    if (!opened) return { ...common, context }
    const mcpServers = [...context.mcpServers, opened.server]
    return { ...common, context: { ...context, mcpServers }, tools: { name, endpoint: opened.endpoint } }
  }

  /**
   * Returns the context of a chat: the directories of the chat, or of its session if the chat has none, and the enabled MCP
   * servers.
   */
  #sessionContext(chat: Chat): SessionContext {
    const ownDirectories = chat.state.workingDirectories ?? []
    const [cwd, ...others] = foldersOf(
      ownDirectories.length > 0 ? ownDirectories : chat.session.workingDirectories,
    )
    const additional =
      this.#profile?.directories && others.length > 0 ? { additionalDirectories: others } : {}
    const mcpServers = this.#servers.filter((server) => isEnabled(server, chat.session.customizations))
    return { cwd, ...additional, mcpServers }
  }
}

/** A start of the agent for its description. `enough` resolves when a caller that only wants the description has waited long enough. */
interface Probing {
  readonly done: Promise<void>
  readonly enough: Promise<void>
}

const spareMs = 60_000
const probeMs = 5000
