import { isDeepStrictEqual } from 'node:util'
import { AhpError } from '@atrium/protocol/errors'
import type { AcpSession, SessionContext } from './acp-session.ts'
import type { AcpTurn } from './acp-turn.ts'
import { transcriptBlock } from './prompt.ts'
import type { TurnParts } from './turn-parts.ts'
import { supportedContext } from './session-context.ts'
import { sessionMemory, storeSessionMemory } from './session-memory.ts'
import type { SessionMemory } from './session-memory.ts'
import type { AcpConnection } from './process/connection.ts'
import { authRequired } from './process/schema.ts'
import type { ContentBlock } from './process/schema.ts'

/** The ACP session for a turn. */
export interface OpenedSession {
  readonly session: AcpSession
  /** A transcript of the chat. Only a new ACP session gets one, because it has no memory of the chat. */
  readonly transcript?: ContentBlock
}

/**
 * Opens the ACP session of a chat. Uses the session that is open in the process, else restores the stored session, else
 * creates a new session and a transcript.
 */
export class SessionOpener {
  readonly #parts: TurnParts
  readonly #turn: AcpTurn
  readonly #signal: AbortSignal

  constructor(parts: TurnParts, turn: AcpTurn, signal: AbortSignal) {
    this.#parts = parts
    this.#turn = turn
    this.#signal = signal
  }

  /**
   * Opens the session, and waits until the agent has ended its previous prompt. If the agent ignored the cancel of
   * that prompt, the host has ended its process meanwhile. Then the session is opened again, in a new process.
   */
  async openIdle(): Promise<OpenedSession> {
    const opened = await this.open()
    await opened.session.idle
    return opened.session.connection.open ? opened : this.open()
  }

  async open(): Promise<OpenedSession> {
    const { chat, process } = this.#parts
    const open = await process.openedSession(chat.uri)
    // A turn that was cancelled during the wait stops here. Otherwise it would open a second ACP session, or end the process
    // that the next turn uses.
    this.#signal.throwIfAborted()
    const memory = sessionMemory(chat)
    // A session that was prepared before the first turn has no memory of the chat. The stored one may have.
    const isPrepared = open?.prompted === false
    const isWanted = open && (!isPrepared || memory === undefined || memory.id === open.id)
    const kept = isWanted && (await this.#canStay(open)) ? open : undefined
    if (kept?.prompted) return { session: kept }
    const context = supportedContext(this.#parts.context, await process.connection())
    this.#signal.throwIfAborted()
    const restored = kept ? undefined : await this.#restore(memory, context)
    if (typeof restored === 'object') return { session: restored }
    const { activeTurn } = chat.state
    const transcript = activeTurn && (await transcriptBlock(chat, activeTurn))
    this.#signal.throwIfAborted()
    const session = kept ?? (await process.createSession(chat.uri, context))
    if (!transcript) return { session }
    this.#turn.notify(this.#transcriptNotice(restored))
    return { session, transcript }
  }

  /**
   * Tells whether an open session can be used. The context of a session cannot change while its process runs. So if the chat
   * now has another context, the process is ended, unless another turn uses the process.
   */
  async #canStay(session: AcpSession): Promise<boolean> {
    const wanted = supportedContext(this.#parts.context, session.connection)
    if (isDeepStrictEqual(session.context, wanted)) return true
    // The contexts may differ only by the host's own MCP server. Then a restart would gain only the tools of this
    // server. But an agent that cannot restore its session would forget the chat. So the process of such an agent is
    // kept.
    if (!canRestore(session.connection) && isDeepStrictEqual(session.context, this.#withoutTools(wanted)))
      return true
    // The process can open another session in place of one that has no memory.
    if (!session.prompted) return false
    return !(await this.#parts.process.endIfUnshared())
  }

  /** Returns the context without the host's own MCP server. */
  #withoutTools(context: SessionContext): SessionContext {
    const own = this.#parts.tools?.name
    return { ...context, mcpServers: context.mcpServers.filter(({ name }) => name !== own) }
  }

  /**
   * Restores the stored session. Returns a description of the problem if the session cannot be restored, and undefined if no
   * session is stored.
   */
  async #restore(
    memory: SessionMemory | undefined,
    context: SessionContext,
  ): Promise<AcpSession | string | undefined> {
    if (!memory) return undefined
    const { chat, process, output, launcher } = this.#parts
    const given = new Set(context.mcpServers.map(({ name }) => name))
    const removed = memory.servers.filter((name) => !given.has(name))
    // The session is not restored if an MCP server was switched off since its last turn: some agents would also
    // restore the MCP servers that the session had before.
    if (removed.length > 0) return `it had the MCP servers ${removed.join(', ')}, which it gets no more`
    try {
      // The names of the MCP servers are stored before the attempt: the agent has these servers from then on, even if
      // the turn is cancelled.
      storeSessionMemory(chat, output, memory.id, context)
      return await process.restoreSession(chat.uri, memory.id, context)
    } catch (error) {
      if (!(error instanceof AhpError) || error.code === authRequired) throw error
      return launcher.redact(error.message)
    }
  }

  #transcriptNotice(problem: string | undefined): string {
    const { displayName } = this.#parts.launcher.program
    const reason =
      problem === undefined
        ? `${displayName} has no memory of this chat`
        : `${displayName} could not continue its session (${problem})`
    return `${reason}, so it was given a transcript of the chat.`
  }
}

function canRestore({ initialized: { agentCapabilities } }: AcpConnection): boolean {
  return agentCapabilities?.loadSession === true || Boolean(agentCapabilities?.sessionCapabilities?.resume)
}
