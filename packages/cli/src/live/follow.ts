import { createInterface } from 'node:readline'
import { isQueueHeld } from '@atrium/protocol/chat/queue'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { shortName } from '../session/find.ts'
import { openRequests, subjectOf } from '../session/pending-requests.ts'
import { exits } from '../terminal/exit.ts'
import { sanitize } from '../terminal/output.ts'
import { sendLine } from './send.ts'
import { ConversationView } from './view.ts'
import type { ViewOptions } from './view.ts'

/**
 * A chat that `attach` follows without a terminal. Each line of stdin is sent to the chat. After the end of stdin the
 * command ends as soon as the chat is idle.
 */
export class FollowView extends ConversationView {
  /** The number of lines that the host has not answered yet. */
  #sending = 0
  #inputEnded = false

  constructor(options: ViewOptions) {
    super(options, true)
  }

  protected override opened(): void {
    const interrupted = () => this.finish(exits.interrupted)
    process.on('SIGINT', interrupted).on('SIGTERM', interrupted)
    const lines = createInterface({ input: process.stdin, terminal: false })
    lines.on('line', (line) => void this.#send(line))
    lines.on('close', () => {
      this.#inputEnded = true
      this.refresh()
    })
  }

  async #send(line: string): Promise<void> {
    if (line.trim() === '') return
    this.#sending++
    const reason = await sendLine(this.conversation, line)
    this.#sending--
    if (reason !== undefined) this.note(`atrium: ${sanitize(reason)}`)
    this.refresh()
  }

  protected override update(session: SessionState, chat: ChatState): void {
    for (const event of this.newEvents(chat)) this.show(event)
    const name = shortName(this.conversation.session.uri)
    for (const request of this.report(openRequests(session)))
      this.note(`? ${sanitize(subjectOf(request)).split('\n')[0]} (answer with: atrium attach ${name})`)
    const busy = chat.activeTurn !== undefined || (chat.queuedMessages !== undefined && !isQueueHeld(chat))
    if (this.#inputEnded && this.#sending === 0 && !busy) this.finish(exits.ok)
  }
}
