import type { ActiveTurn } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import type { Customized } from '@atrium/host/ports/customized'
import type { AcpSession } from './acp-session.ts'
import { AcpTurn } from './acp-turn.ts'
import { SessionOpener } from './open-session.ts'
import { refusalsIn } from './refusals.ts'
import { customText, messageBlocks, resumeText, textBlocks, withoutConsent } from './prompt.ts'
import { Steering } from './steering.ts'
import { storeSessionMemory } from './session-memory.ts'
import { applyOptions, reportOptions, reportServers, reportTitle } from './session-report.ts'
import type { TurnParts } from './turn-parts.ts'
import type { AcpConnection } from './process/connection.ts'
import { authRequired } from './process/schema.ts'
import type { ContentBlock } from './process/schema.ts'

/** One run of a turn: opens the ACP session, applies its options, prompts the agent, and reports what changed. */
export class TurnRun {
  readonly #parts: TurnParts

  constructor(parts: TurnParts) {
    this.#parts = parts
  }

  async run(signal: AbortSignal, onConnection: (connection: AcpConnection) => void): Promise<void> {
    const { chat, process, launcher } = this.#parts
    const { activeTurn } = chat.state
    if (activeTurn?.id !== chat.turnId) return
    try {
      await this.#run(activeTurn, signal, onConnection)
    } catch (error) {
      // A running agent process does not notice that the user signs in later. So the process is ended, and the next turn
      // starts another.
      if (error instanceof AhpError && error.code === authRequired) void process.endIfUnshared()
      throw launcher.userError(error)
    }
  }

  async #run(
    activeTurn: ActiveTurn,
    signal: AbortSignal,
    onConnection: (connection: AcpConnection) => void,
  ): Promise<void> {
    const { chat, output, context } = this.#parts
    const { tools } = this.#parts
    const turn = new AcpTurn(chat, output, context.cwd, tools?.name)
    const endServing = tools?.endpoint.serve(turn.offered)
    try {
      await this.#runTurn(activeTurn, turn, signal, onConnection)
    } finally {
      endServing?.()
    }
  }

  async #runTurn(
    activeTurn: ActiveTurn,
    turn: AcpTurn,
    signal: AbortSignal,
    onConnection: (connection: AcpConnection) => void,
  ): Promise<void> {
    const { chat, output } = this.#parts
    const { session, transcript } = await new SessionOpener(this.#parts, turn, signal).openIdle()
    onConnection(session.connection)
    storeSessionMemory(chat, output, session.id, session.context)
    const customized = await chat.customized()
    // Only now does the session's state have every server of the host's config.
    reportServers(session, this.#parts)
    await applyOptions(session, this.#parts)
    const blocks = await this.#promptBlocks(activeTurn, session, { transcript, customized })
    if (signal.aborted) return
    const valuesBefore = new Map(session.options.map(({ id, current }) => [id, current]))
    await this.#prompt(session, turn, blocks, signal).finally(() => {
      reportTitle(session, this.#parts)
      // Only options that the agent changed are reported. If a user set an option during the turn, the agent still
      // has the old value: the user's value is applied before the next turn.
      const changed = session.options.filter(({ id, current }) => valuesBefore.get(id) !== current)
      reportOptions(changed, this.#parts)
    })
  }

  /**
   * Returns the blocks that the agent needs: the transcript for a new ACP session, the rules and skills that are new
   * to the agent, the message if the agent does not have it, and the instruction to resume if the turn was
   * interrupted.
   */
  async #promptBlocks(
    activeTurn: ActiveTurn,
    session: AcpSession,
    {
      transcript,
      customized,
    }: { readonly transcript: ContentBlock | undefined; readonly customized: Customized },
  ): Promise<readonly ContentBlock[]> {
    const resumes = hasAgentOutput(activeTurn)
    const { promptCapabilities } = session.connection.initialized.agentCapabilities ?? {}
    const hasMessage = resumes && !transcript
    const { prompt = activeTurn.message.text } = customized
    const message = hasMessage
      ? []
      : await messageBlocks({ ...activeTurn.message, text: prompt }, this.#parts.chat, promptCapabilities)
    const custom = session.newInstructions(customText(customized, this.#parts.launcher.program.name))
    const resume: ContentBlock[] = resumes ? [{ type: 'text', text: resumeText(activeTurn) }] : []
    const refusals = this.#newRefusals(activeTurn, session)
    return [...(transcript ? [transcript] : []), ...textBlocks(custom), ...refusals, ...message, ...resume]
  }

  /** The reasons of refusals that the agent did not get in the turn before, or before this turn was interrupted. */
  #newRefusals({ responseParts }: ActiveTurn, session: AcpSession): readonly ContentBlock[] {
    const before = this.#parts.chat.state.turns.at(-1)?.responseParts ?? []
    const refusals = refusalsIn([...before, ...responseParts], session.told)
    for (const { id } of refusals) session.told.add(id)
    return textBlocks(refusals.map(({ text }) => text).join('\n'))
  }

  /**
   * Prompts the agent. Cancels the prompt if the signal is aborted, or if the turn takes longer than the time limit in
   * the agent's config.
   */
  async #prompt(
    session: AcpSession,
    turn: AcpTurn,
    blocks: readonly ContentBlock[],
    signal: AbortSignal,
  ): Promise<void> {
    const { launcher } = this.#parts
    const { turnMs } = launcher.program
    const cancel = () => this.#cancel(session, turn)
    signal.addEventListener('abort', cancel)
    let timedOut = false
    const cancelTimer =
      turnMs === undefined
        ? () => {}
        : launcher.context.later(turnMs, () => {
            timedOut = true
            cancel()
          })
    try {
      const prompted = session.prompt(turn, blocks, this.#parts.chat.traceparent)
      void new Steering(this.#parts, session, turn).run()
      const response = await prompted
      await turn.end(response)
      if (turn.silent && !signal.aborted && response.stopReason !== 'cancelled')
        turn.notify(launcher.silentTurnNotice(await session.connection.process.readDiagnostics()))
    } catch (error) {
      await turn.close('the agent failed before it reported the result')
      if (!timedOut) throw error
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', cancel)
    }
    if (!timedOut) return
    const minutes = Math.round((turnMs ?? 0) / 60_000)
    throw launcher.failure(`it worked for longer than ${minutes} minutes, and was stopped`, 'time')
  }

  /**
   * Cancels the prompt. An agent that ignores the cancel is ended after a while, because the next turn waits for the end of
   * the prompt.
   */
  #cancel(session: AcpSession, turn: AcpTurn): void {
    if (!session.cancel(turn)) return
    const cancelTimer = this.#parts.launcher.context.later(cancelMs, () => {
      void session.connection.process.end()
    })
    void session.idle.then(cancelTimer)
  }
}

/**
 * Tells whether the turn has output of the agent. Without output it is not certain that the agent received the message of the
 * turn.
 */
function hasAgentOutput(turn: ActiveTurn): boolean {
  return withoutConsent(turn).some(({ kind }) => kind !== 'error' && kind !== 'systemNotification')
}

const cancelMs = 10_000
