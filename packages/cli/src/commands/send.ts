import { text as wholeOf } from 'node:stream/consumers'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Turn } from '@atrium/protocol/chat/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import { Problem, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { findAddressee, shortName, whileThere } from '../session/find.ts'
import { answerIn, endOf, exitOf, failureIn, say } from '../session/turns.ts'
import type { Sent } from '../session/turns.ts'
import { secondsIn, trip, within } from '../link/with-client.ts'
import { harmless, onOneLine, voice } from '../terminal/output.ts'
import type { Manners, Voice } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly steer?: boolean
  readonly wait?: boolean
  readonly timeout?: string
}

/** `atrium send`: a message to a session, and with `--wait` what becomes of it. */
export async function send(name: string, words: readonly string[], flags: Flags): Promise<Exit> {
  const { tell, did, note } = voice(flags)
  const seconds = secondsIn(flags.timeout, '--timeout')
  const text = await textOf(words)
  return trip(flags, async (client) => {
    const { session, chat: uri } = await findAddressee(client, name)
    const chat = client.subscribe('chat', uri, { view: { turns: 5 } })
    return whileThere(client, session.resource, async () => {
      const sent = await say(chat, text, flags.steer)
      const about = { session: session.resource, chat: uri, ...sent }
      if (!flags.wait) {
        did(about, () => sentences[sent.as])
        return exits.ok
      }
      note(sentences[sent.as])
      mention(chat, shortName(session.resource), note)
      const turn = await within(seconds, endOf(chat, sent), 'The turn did not end')
      tell({ ...about, turn }, () => harmless(answerIn(turn)))
      return ending(turn, note)
    })
  })
}

/** What somebody who waits should know. */
function mention(chat: Subscription<'chat'>, name: string, note: Voice['note']): void {
  process.prependListener('SIGINT', () => note(`It goes on without you; end it with: atrium cancel ${name}`))
  let asked = false
  chat.onChange(() => {
    const asks = activityOf(chat.state?.status ?? 0) === Activity.InputNeeded
    if (asks && !asked) note(`It waits for an answer; see what it asks with: atrium approve ${name}`)
    asked = asks
  })
}

function ending(turn: Turn, note: Voice['note']): Exit {
  const exit = exitOf(turn)
  if (exit === exits.interrupted) note('Somebody cancelled the turn.')
  if (exit === exits.denied) note('Somebody said no to one of its tools.')
  if (exit !== exits.error) return exit
  throw new Problem(`The turn failed: ${onOneLine(failureIn(turn) ?? 'nobody said why')}`)
}

const sentences: { readonly [A in Sent['as']]: string } = {
  turn: 'Sent.',
  queued: 'It waits for the end of what goes on.',
  steering: 'Said into what goes on.',
}

/** As it was typed, or from stdin for `-`. */
async function textOf(words: readonly string[]): Promise<string> {
  const text =
    words.length === 1 && words[0] === '-' ? (await wholeOf(process.stdin)).trimEnd() : words.join(' ')
  if (text.trim() !== '') return text
  throw new Problem('There is nothing to send; type a message, or - for what comes from stdin.', exits.usage)
}
