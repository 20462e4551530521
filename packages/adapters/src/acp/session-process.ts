import { isDeepStrictEqual } from 'node:util'
import type { Uri } from '@atrium/protocol/channel'
import type { Variables } from '../process/environment.ts'
import { AcpSession } from './acp-session.ts'
import type { CommandListener, SessionContext } from './acp-session.ts'
import type { AcpConnection } from './process/connection.ts'
import type { IdleProcesses } from './process/idle-processes.ts'

/** Connects to the agent in a folder, with the keys that a user has given. */
export type Connect = (folder: string, signal: AbortSignal, keys?: Variables) => Promise<AcpConnection>

/**
 * The agent process of one session of the host. It has one ACP session for each chat. If the process has ended, the next turn
 * starts another. An idle process is ended if the agent can restore its ACP sessions later.
 */
export class SessionProcess {
  /** The folder in which the next process is started. */
  folder: string
  readonly #connect: Connect
  readonly #idle: IdleProcesses
  readonly #onCommands: CommandListener
  readonly #sessions = new Map<Uri, AcpSession>()
  readonly #opening = new Map<Uri, Promise<AcpSession>>()
  #connection: Promise<AcpConnection> | undefined
  /** The keys that the owner of the session has given to the agent. */
  #keys: Variables | undefined
  /** The number of running turns. */
  #turns = 0
  /** Whether a turn has run, so that the agent may remember something. */
  #prompted = false
  readonly #closed = new AbortController()

  constructor(folder: string, connect: Connect, idle: IdleProcesses, onCommands: CommandListener) {
    this.folder = folder
    this.#connect = connect
    this.#idle = idle
    this.#onCommands = onCommands
  }

  /** Returns the connection to the process. Starts the process if it does not run. */
  async connection(): Promise<AcpConnection> {
    if (this.#closed.signal.aborted) throw new Error('the session was disposed')
    const started = (this.#connection ??= this.#start())
    const connection = await started
    if (connection.open) return connection
    // Several turns may find that the process has ended. Only the first of these turns starts the next process.
    if (this.#connection === started) {
      this.#connection = undefined
      this.#sessions.clear()
    }
    return this.connection()
  }

  /** Returns the ACP session of a chat. Waits for a session that a cancelled turn is still opening. */
  async openedSession(chat: Uri): Promise<AcpSession | undefined> {
    await this.#opening.get(chat)?.catch(() => {})
    return this.session(chat)
  }

  session(chat: Uri): AcpSession | undefined {
    const found = this.#sessions.get(chat)
    return found?.connection.open ? found : undefined
  }

  async createSession(chat: Uri, context: SessionContext): Promise<AcpSession> {
    return this.#opened(chat, async () =>
      AcpSession.create(await this.connection(), context, this.#onCommands),
    )
  }

  async restoreSession(chat: Uri, sessionId: string, context: SessionContext): Promise<AcpSession> {
    return this.#opened(chat, async () =>
      AcpSession.restore(await this.connection(), { sessionId, ...context }, this.#onCommands),
    )
  }

  /** Sets the keys for the process. A process keeps the keys that it was started with, so it is ended if they have changed. */
  async useKeys(keys: Variables | undefined): Promise<void> {
    if (isDeepStrictEqual(keys, this.#keys)) return
    this.#keys = keys
    if (this.#turns === 0) await this.end()
  }

  /**
   * Counts a running turn, or the preparation of the first one. The caller must call the returned function when it
   * ends.
   */
  beginTurn(isPreparation = false): () => void {
    this.#turns++
    if (!isPreparation) this.#prompted = true
    this.#idle.remove(this)
    return () => {
      this.#turns--
      void this.#isEndable().then((isEndable) => isEndable && this.#idle.add(this))
    }
  }

  /** Ends the process if it is idle. Called when no client is subscribed to its session any more. */
  async release(): Promise<void> {
    if (await this.#isEndable()) await this.end()
  }

  /** Ends the process. The next turn starts another. */
  async end(): Promise<void> {
    this.#idle.remove(this)
    const connection = this.#connection
    this.#connection = undefined
    this.#sessions.clear()
    await connection?.then(
      ({ process }) => process.end(),
      () => {},
    )
  }

  /** Ends the process unless another turn uses it. Returns whether the process was ended. */
  async endIfUnshared(): Promise<boolean> {
    if (this.#turns > 1) return false
    await this.end()
    return true
  }

  /** Lets the agent forget its ACP sessions, because the session of the host is gone. Then ends the process for good. */
  async dispose(): Promise<void> {
    this.#closed.abort()
    await Promise.all([...this.#sessions.values()].map((session) => session.end('delete')))
    await this.end()
  }

  /** Ends the process. Afterwards no other process is started. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.end()
  }

  #start(): Promise<AcpConnection> {
    const started = this.#connect(this.folder, this.#closed.signal, this.#keys)
    started.catch(() => {
      if (this.#connection === started) this.#connection = undefined
    })
    return started
  }

  /** Whether no turn runs, and nothing is lost: the agent has no memory yet, or can restore its ACP sessions. */
  async #isEndable(): Promise<boolean> {
    const connection = await this.#connection?.catch(() => undefined)
    const { loadSession, sessionCapabilities } = connection?.initialized.agentCapabilities ?? {}
    return this.#turns === 0 && (!this.#prompted || Boolean(loadSession || sessionCapabilities?.resume))
  }

  async #opened(chat: Uri, open: () => Promise<AcpSession>): Promise<AcpSession> {
    const opening = open()
    this.#opening.set(chat, opening)
    try {
      const session = await opening
      const before = this.session(chat)
      this.#sessions.set(chat, session)
      if (before && before.id !== session.id) void before.end('close')
      return session
    } finally {
      if (this.#opening.get(chat) === opening) this.#opening.delete(chat)
    }
  }
}
