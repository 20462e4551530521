import { text as readAll } from 'node:stream/consumers'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Turn } from '@atrium/protocol/chat/state'
import { takesSteering } from '@atrium/protocol/root/readiness'
import { Activity, activityOf } from '@atrium/protocol/status'
import { rootUri } from '@atrium/protocol/uri'
import { CommandError, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import type { HostOptions } from '../link/connect.ts'
import { findTarget, shortName, whileSessionExists } from '../session/find.ts'
import { answerText, endedTurn, exitOf, failureOf, sendMessage } from '../session/turns.ts'
import type { Sent } from '../session/turns.ts'
import { parseSeconds, withClient, withTimeout } from '../link/with-client.ts'
import { sanitize, onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions, Output } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly steer?: boolean
  readonly wait?: boolean
  readonly timeout?: string
}

/** `atrium send`: sends a message to a session, and with `--wait` prints the answer. */
export async function send(name: string, words: readonly string[], flags: Flags): Promise<Exit> {
  const { print, report, note } = output(flags)
  const seconds = parseSeconds(flags.timeout, '--timeout')
  const text = await messageText(words)
  return withClient(flags, async (client) => {
    const { session, chat: uri } = await findTarget(client, name)
    const chat = client.subscribe('chat', uri, { view: { turns: 5 } })
    return whileSessionExists(client, session.resource, async () => {
      const sent = await sendMessage(chat, text, flags.steer)
      const { agents } = await client.subscribe('root', rootUri).ready()
      const isLate = sent.as === 'steering' && takesSteering(agents, session.provider) === false
      const sentence = isLate ? afterTurn : sentences[sent.as]
      const document = { session: session.resource, chat: uri, ...sent }
      if (!flags.wait) {
        report(document, () => sentence)
        return exits.ok
      }
      note(sentence)
      noteHints(chat, shortName(session.resource), note)
      const advice = ` It goes on; see it with: atrium attach ${shortName(session.resource)}`
      const turn = await withTimeout(seconds, endedTurn(chat, sent), 'The turn did not end', advice)
      print({ ...document, turn }, () => sanitize(answerText(turn)))
      return noteEnd(turn, note)
    })
  })
}

/** Notes, while the user waits, how to cancel the turn and how to answer a request. */
function noteHints(chat: Subscription<'chat'>, name: string, note: Output['note']): void {
  process.prependListener('SIGINT', () => note(`It goes on without you; end it with: atrium cancel ${name}`))
  let before = false
  chat.onChange(() => {
    const inputNeeded = activityOf(chat.state?.status ?? 0) === Activity.InputNeeded
    if (inputNeeded && !before) note(`It waits for an answer; see it and answer with: atrium attach ${name}`)
    before = inputNeeded
  })
}

/** Prints how the turn ended on stderr, and returns the exit code. Throws the error of a failed turn. */
function noteEnd(turn: Turn, note: Output['note']): Exit {
  const exit = exitOf(turn)
  if (exit === exits.interrupted) note('Somebody cancelled the turn.')
  if (exit === exits.denied) note('One of its tools was denied.')
  if (exit !== exits.error) return exit
  throw new CommandError(`The turn failed: ${onOneLine(failureOf(turn) ?? 'without a reason')}`)
}

const sentences: { readonly [A in Sent['as']]: string } = {
  turn: 'Sent.',
  queued: 'Queued: it waits for the end of the active turn.',
  steering: 'Sent to the active turn.',
}

/** The sentence for a steering message to an agent that takes none. */
const afterTurn = 'The agent takes no messages while it works: it gets this after this turn.'

/** Returns the message from the arguments, or from stdin for `-`. */
async function messageText(words: readonly string[]): Promise<string> {
  const text =
    words.length === 1 && words[0] === '-' ? (await readAll(process.stdin)).trimEnd() : words.join(' ')
  if (text.trim() !== '') return text
  throw new CommandError('There is nothing to send; type a message, or - to read stdin.', exits.usage)
}
