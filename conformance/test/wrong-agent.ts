import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { actionOf } from '../src/kit/action.ts'
import { requestInput } from './wrong-input-requests.ts'
import type { WrongLog } from './wrong-log.ts'

const tickMs = 2
/**
 * The agent waits at most this many ticks for a client that has connected but not yet subscribed, so that the client
 * joins mid-turn.
 */
const mostTicks = 100

/**
 * Runs a turn. A prompt in `prompts` makes the agent ask for input. Any other prompt gets the same answer, one action
 * per tick.
 */
export function runAgent(host: WrongLog, chat: Uri, turnId: string, text: string): void {
  if (requestInput(host, chat, text)) return
  const append = (step: Step) => host.append(chat, actionOf(step.type, { ...step, turnId }))
  const isActive = () => (host.channels.get(chat)?.state as ChatState | undefined)?.activeTurn?.id === turnId
  const [startSeq, steps] = [host.seq, answerSteps(host)]
  const clientJoining = () =>
    [...host.links].some(({ since, subscriptions }) => since >= startSeq && !subscriptions.has(chat))
  let ticks = 0
  const next = (): void => {
    if (!isActive() && !host.has('agentIgnoresCancel')) return
    const waits = ++ticks < mostTicks && (ticks % 2 === 0 || clientJoining())
    const step = waits ? undefined : steps.shift()
    if (step) append(step)
    else if (!waits) return ending(host).forEach(append)
    setTimeout(next, tickMs)
  }
  setTimeout(next, tickMs)
}

type Step = Action & { readonly [key: string]: unknown }

const hello: Step = { type: 'chat/delta', partId: 'text', content: 'Hello' }

function answerSteps(host: WrongLog): Step[] {
  const part: Step = { type: 'chat/responsePart', part: { kind: 'markdown', id: 'text', content: '' } }
  return [
    ...(host.has('deltaBeforePart') ? [hello, part] : [part, hello]),
    { type: 'chat/responsePart', part: { kind: 'reasoning', id: 'thought', content: 'Be' } },
    { type: 'chat/reasoning', partId: 'thought', content: ' short.' },
    { type: 'chat/delta', partId: 'text', content: ' there.' },
    { type: 'chat/usage', usage: { inputTokens: host.has('usageNotNumeric') ? 'seven' : 7 } },
  ]
}

function ending(host: WrongLog): readonly Step[] {
  if (host.has('turnNeverEnds')) return []
  const end: Step = { type: 'chat/turnComplete', duration: host.has('negativeDuration') ? -1 : 20 }
  return [end, ...(host.has('turnEndsTwice') ? [end] : []), ...(host.has('lateDelta') ? [hello] : [])]
}
