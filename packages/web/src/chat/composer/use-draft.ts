import type { Client } from '@atrium/client/client'
import type { ModelSelection } from '@atrium/protocol/chat/message'
import type { ChatState } from '@atrium/protocol/chat/state'
import { useCallback, useRef, useState } from 'preact/hooks'
import { failureWords } from '../../link/outcome-words.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { send } from './messages.ts'
import type { Delivery, Draft } from './messages.ts'

const nothing: Draft = { text: '', attachments: [] }

/** The unsent messages by chat, so that they are there when a person comes back to a chat. */
const drafts = new Map<string, Draft>()

export interface DraftState {
  readonly draft: Draft
  /** A sentence that says why the last message was not sent. Its text is in the field again. */
  readonly problem: string | undefined
  readonly change: (draft: Draft) => void
  readonly compose: (text: string) => void
  /** Chooses the model of this message and of later ones. */
  readonly chooseModel: (model: ModelSelection) => void
  readonly send: (delivery: Delivery) => void
}

/** The message that a person writes. A message that was not accepted comes back into the field, with the reason. */
export function useDraft(
  client: Client,
  chat: string,
  state: ChatState | undefined,
  say: (text: string) => void,
): DraftState {
  const [draft, setDraft] = useState<Draft>(drafts.get(chat) ?? nothing)
  const [problem, setProblem] = useState<string>()
  const now = useRef(draft)
  now.current = draft
  drafts.set(chat, draft)
  const change = useCallback((next: Draft) => {
    setProblem(undefined)
    setDraft(next)
  }, [])
  const compose = useCallback((text: string) => {
    const before = now.current.text.trim() === '' ? '' : `${now.current.text}\n\n`
    setDraft({ ...now.current, text: `${before}${text}` })
  }, [])
  const chooseModel = useCallback((model: ModelSelection) => setDraft({ ...now.current, model }), [])
  const submit = useLatest((delivery: Delivery) => {
    if (!state) return
    const sent = draft
    // The chosen model stays for later messages.
    const next = sent.model ? { ...nothing, model: sent.model } : nothing
    setDraft(next)
    setProblem(undefined)
    void send(client, state, sent, delivery).then((outcome) => {
      if (outcome.outcome === 'accepted') return
      if (now.current === next) {
        setDraft(sent)
        setProblem(failureWords(outcome, 'The message was not sent', 'the message was sent'))
      } else {
        const quoted = `“${sent.text.slice(0, 80)}”`
        say(failureWords(outcome, `${quoted} was not sent`, `${quoted} was sent`))
      }
    })
  })
  return { draft, problem, change, compose, chooseModel, send: submit }
}
