import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { spinner } from '../render/spinner.ts'
import type { SessionEvent } from '../session/events.ts'
import { shortName } from '../session/find.ts'
import { openRequests } from '../session/pending-requests.ts'
import type { Request } from '../session/pending-requests.ts'
import { exitOf } from '../session/turns.ts'
import type { Key } from '../terminal/keys.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import { sanitize } from '../terminal/output.ts'
import { Preapproved } from './preapproved.ts'
import { PromptingView } from './prompting-view.ts'
import { unanswered } from './requests.ts'
import type { ViewOptions } from './view.ts'

export interface RunViewOptions extends Omit<ViewOptions, 'turns'> {
  readonly turnId: string
  /** The approvals that the user gave in advance. */
  readonly allow?: 'once' | 'session'
}

/** The maximum number of times that a turn is resumed. A host that has crashed in each attempt would crash again. */
const maxResumes = 5

/** One turn that this command started, from its start to its end. */
export class RunView extends PromptingView {
  readonly #turnId: string
  readonly #preapproved: Preapproved | undefined
  #spinning = false
  #interrupted = false
  #resumes = 0
  #timedOut = false

  constructor(options: RunViewOptions) {
    super({ ...options, turns: 0 }, false)
    this.#turnId = options.turnId
    this.#preapproved =
      options.allow && new Preapproved(this.conversation.client, options.allow, () => this.refresh())
  }

  /** Cancels the turn at the first call. The second call ends the command without waiting for the host. */
  interrupt(): void {
    if (this.#interrupted) return this.finish(exits.interrupted)
    this.#interrupted = true
    if (!this.conversation.cancel()) return this.finish(exits.interrupted)
    this.note(this.hostAway ? '· the host is away; once more leaves the turn to itself' : '· cancelling')
  }

  fail(error: CommandError): void {
    this.finish(error)
  }

  /** Cancels the turn after its time limit, and ends the command even if the host does not answer. */
  async expire(seconds: number): Promise<void> {
    this.#timedOut = true
    const gaveUp = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 2_000).unref())
    const result = await Promise.race([this.conversation.cancel(), gaveUp])
    const ends = {
      accepted: 'the turn was cancelled',
      refused: 'the turn had ended just then',
      lost: undefined,
    }
    const what = (result && ends[result.outcome]) ?? 'it may still go on'
    const attach = `atrium attach ${shortName(this.conversation.session.uri)}`
    this.finish(
      new CommandError(`Not done after ${seconds} s: ${what}; see it with: ${attach}`, exits.timeout),
    )
  }

  protected override opened(): void {
    super.opened()
    const { json, quiet } = this.output
    this.#spinning = this.screen.pane.moves && !json && !quiet
    this.tick(this.#spinning)
  }

  protected override requestsIn(session: SessionState, chat: ChatState): readonly Request[] {
    return chat.activeTurn?.id === this.#turnId ? openRequests(session, chat.resource) : []
  }

  protected override ask(requests: readonly Request[]): void {
    this.report(requests)
    const left = requests.filter((request) => !this.#preapproved?.answer(request))
    if (this.output.interactive) return super.ask(left)
    const [first] = left
    if (first) this.finish(unanswered(first, this.conversation.session.uri))
  }

  protected override event(event: SessionEvent): void {
    const turnId = 'turn' in event ? event.turn.id : 'turnId' in event ? event.turnId : undefined
    if (turnId !== this.#turnId) return
    this.show(event)
    if (event.kind === 'ended') this.#ended(event.turn)
  }

  protected override updated({ lifecycle, creationError }: SessionState): void {
    if (lifecycle !== 'failed') return
    const reason = sanitize(creationError?.message ?? 'no reason')
    this.finish(new CommandError(`The session could not be created: ${reason}`))
  }

  #ended(turn: Turn): void {
    if (this.#timedOut) return
    const last = turn.responseParts.at(-1)
    const failure = turn.state === 'error' && last?.kind === 'error' ? last : undefined
    if (
      failure?.resumable &&
      failure.error.errorType === 'interrupted' &&
      !this.#interrupted &&
      this.#resumes < maxResumes
    ) {
      this.#resumes++
      // The host refuses this action if another client resumed the turn first. The turn continues either way.
      return void this.conversation.resume(turn.id)
    }
    this.finish(exitOf(turn))
  }

  protected override press(key: Key): void {
    if (key.name === 'ctrl-c') this.interrupt()
    else if (key.name === 'ctrl-z') this.input.suspend(() => this.draw())
    else this.prompts.press(key)
  }

  protected override line(text: string): void {
    this.prompts.line(text)
  }

  protected override linkNote(away: boolean): string {
    return away
      ? this.screen.style.yellow('· the host is away; going on as soon as it is back')
      : super.linkNote(away)
  }

  protected override render(): void {
    const { pane, style } = this.screen
    if (this.output.json) return
    if (this.prompts.open) {
      this.narrator.pause()
      this.input.open()
      const { rows, cursor } = this.prompts.rows(pane.columns)
      return pane.show(rows, cursor)
    }
    this.input.close()
    const { activity = 'working', activeTurn } = this.conversation.chat.confirmed ?? {}
    const doing = this.hostAway ? 'waiting for the host' : activity
    pane.show(this.#spinning ? [style.dim(spinner(sanitize(doing), activeTurn?.startedAt))] : [])
  }
}
