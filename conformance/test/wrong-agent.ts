import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { asks } from './wrong-asking.ts'
import type { WrongLog } from './wrong-log.ts'

const tickMs = 2
/** Who comes while a turn runs is waited for, so that it comes in the middle however slow the machine is. */
const mostTicks = 100

/** Asks where it is told to; else it answers with the same words, a step at a time, until the turn is over. */
export function answer(host: WrongLog, chat: Uri, turnId: string, text: string): void {
  if (asks(host, chat, text)) return
  const say = (step: Step) => host.append(chat, { ...step, turnId } as Action)
  const runs = () => (host.channels.get(chat)?.state as ChatState | undefined)?.activeTurn?.id === turnId
  const [began, steps] = [host.seq, words(host)]
  const comes = () => [...host.links].some(({ since, following }) => since >= began && !following.has(chat))
  let ticks = 0
  const next = (): void => {
    if (!runs() && !host.has('agentGoesOn')) return
    const rests = ++ticks < mostTicks && (ticks % 2 === 0 || comes())
    const step = rests ? undefined : steps.shift()
    if (step) say(step)
    else if (!rests) return ending(host).forEach(say)
    setTimeout(next, tickMs)
  }
  setTimeout(next, tickMs)
}

type Step = Action & { readonly [key: string]: unknown }

const hello: Step = { type: 'chat/delta', partId: 'text', content: 'Hello' }

function words(host: WrongLog): Step[] {
  const made: Step = { type: 'chat/responsePart', part: { kind: 'markdown', id: 'text', content: '' } }
  return [
    ...(host.has('deltaFirst') ? [hello, made] : [made, hello]),
    { type: 'chat/responsePart', part: { kind: 'reasoning', id: 'thought', content: 'Be' } },
    { type: 'chat/reasoning', partId: 'thought', content: ' short.' },
    { type: 'chat/delta', partId: 'text', content: ' there.' },
    { type: 'chat/usage', usage: { inputTokens: host.has('usageInWords') ? 'seven' : 7 } },
  ]
}

function ending(host: WrongLog): readonly Step[] {
  if (host.has('turnNeverEnds')) return []
  const end: Step = { type: 'chat/turnComplete', duration: host.has('negativeDuration') ? -1 : 20 }
  return [end, ...(host.has('turnEndsTwice') ? [end] : []), ...(host.has('lateDelta') ? [hello] : [])]
}
