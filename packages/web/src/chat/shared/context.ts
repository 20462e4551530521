import type { Client } from '@atrium/client/client'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { failureOf } from '../../link/outcome-words.ts'

/** The values that all parts of a chat share, besides its state. */
export interface ChatContext {
  readonly client: Client
  readonly session: string
  readonly chat: string
  readonly dispatch: (action: ChatAction) => Promise<Outcome>
  readonly openChat: (chat: string) => void
  /** Puts a text into the field of the next message. */
  readonly compose: (text: string) => void
  readonly say: (text: string) => void
}

const Context = createContext<ChatContext | undefined>(undefined)

export const ChatProvider = Context.Provider

export function useChat(): ChatContext {
  const found = useContext(Context)
  if (!found) throw new Error('there is no chat around this part')
  return found
}

/** Dispatches a decision of a person, and says why if the host refuses it. */
export function useDecide(): (action: ChatAction) => void {
  const { dispatch, say } = useChat()
  return (action) =>
    void dispatch(action).then((outcome) => {
      const failure = failureOf(outcome)
      if (failure !== undefined) say(failure)
    })
}
