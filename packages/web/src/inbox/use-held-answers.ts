import type { Client } from '@atrium/client/client'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ChatContext } from '../chat/shared/context.ts'
import { go } from '../ui/route.ts'
import type { Hold } from '../ui/use-held.ts'

interface Props {
  readonly client: Client
  readonly session: string
  readonly title: string
  readonly hold: Hold
  readonly say: (text: string) => void
}

/** The time in which an answer can be taken back, in milliseconds. The host gets it only then, because it cannot undo it. */
const undoMs = 5000

/**
 * The context of questions that are answered outside of their chat. An answer is sent after a while in which it can be taken
 * back, or when the question leaves the screen.
 */
export function useHeldAnswers({ client, session, title, hold, say }: Props) {
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set())
  const sends = useRef(new Set<() => void>())
  useEffect(() => () => sends.current.forEach((send) => send()), [])
  const answer = (chat: string, action: ChatAction, id: string, text: string) => {
    setAnswered((now) => new Set([...now, id]))
    return new Promise<Awaited<ReturnType<ChatContext['dispatch']>>>((done) => {
      const undo = () => {
        sends.current.delete(send)
        setAnswered((now) => new Set([...now].filter((each) => each !== id)))
      }
      const act = () => {
        sends.current.delete(send)
        void client.dispatch(chat, action).then((outcome) => {
          if (outcome.outcome !== 'accepted') undo()
          done(outcome)
        })
      }
      const send = hold({ text: `${title}: ${text}.`, ms: undoMs, act, undo })
      sends.current.add(send)
    })
  }
  const contextOf = (chat: string): ChatContext => ({
    client,
    session,
    chat,
    dispatch: (action) => {
      if (action.type === 'chat/toolCallConfirmed')
        return answer(chat, action, action.toolCallId, action.approved ? 'allowed' : 'denied')
      if (action.type === 'chat/inputCompleted')
        return answer(chat, action, action.requestId, formWords[action.response])
      return client.dispatch(chat, action)
    },
    openChat: (next) => go({ session, chat: next }),
    compose: () => go({ session, chat }),
    say,
  })
  return { contextOf, isAnswered: (id: string) => answered.has(id) }
}

const formWords = { accept: 'answered', decline: 'declined', cancel: 'cancelled' } as const
