import type { ChatInputAnswerValue, ChatInputRequest } from '@atrium/protocol/chat/request'
import type { InputRequestPart } from '@atrium/protocol/chat/state'
import { ExternalLink } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { RoleNote } from '../../link/role-note.tsx'
import { useMay } from '../../link/role.ts'
import { safeLink } from '../../markdown/safe-link.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { answerWords, problemOf, shownAnswers, submittedAnswers, valueOf } from './answers.ts'
import type { TypedAnswers } from './answers.ts'
import { useChat, useDecide } from '../shared/context.ts'
import { QuestionField } from './question-field.tsx'
import { visibleText } from '../shared/text.ts'

const responses = { accept: 'answered', decline: 'declined', cancel: 'cancelled' } as const

/** A form of an agent. It is open until somebody has answered it, here or elsewhere. */
export function FormView({ part: { request, response } }: { readonly part: InputRequestPart }) {
  if (response === undefined) return <OpenForm request={request} />
  return (
    <section class="form answered">
      <p>
        {visibleText(request.message ?? 'A question')} <span class="tag">{responses[response]}</span>
      </p>
      {/* A form that was not answered has drafts and defaults, which nobody gave as answers. */}
      {response === 'accept' && (
        <dl>
          {(request.questions ?? []).map((question) => (
            <div key={question.id}>
              <dt>{visibleText(question.title ?? question.message)}</dt>
              <dd>{visibleText(answerWords(question, valueOf(question, request.answers?.[question.id])))}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

function OpenForm({ request }: { readonly request: ChatInputRequest }) {
  const { answers, change, settle } = useSharedAnswers(request)
  const decide = useDecide()
  const answersIt = useMay('approve')
  const [checked, setChecked] = useState(false)
  const questions = request.questions ?? []
  const link = request.url === undefined ? undefined : safeLink(request.url)
  const problems = new Map(
    questions.map((question) => [question.id, problemOf(question, valueOf(question, answers[question.id]))]),
  )
  const submit = () => {
    setChecked(true)
    if ([...problems.values()].some((problem) => problem !== undefined)) return
    settle()
    const given = questions.length > 0 && { answers: submittedAnswers(request, answers) }
    decide({ type: 'chat/inputCompleted', requestId: request.id, response: 'accept', ...given })
  }
  return (
    <form
      class="form"
      aria-label="Questions of the agent"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <p class="approval-title">{visibleText(request.message ?? 'The agent asks')}</p>
      {link !== undefined && (
        <a href={link} target="_blank" rel="noopener noreferrer">
          <Icon of={ExternalLink} /> {link}
        </a>
      )}
      <fieldset class="stack" disabled={!answersIt}>
        {questions.map((question) => (
          <QuestionField
            key={question.id}
            question={question}
            value={valueOf(question, answers[question.id])}
            problem={checked ? problems.get(question.id) : undefined}
            onChange={(value) => change(question.id, value)}
          />
        ))}
      </fieldset>
      <RoleNote needed="approve" to="answer this" />
      {answersIt && (
        <div class="choices">
          <Button submit look="primary">
            {questions.length > 0 ? 'Send answers' : 'Done'}
          </Button>
          <Button
            look="quiet"
            onClick={() => {
              settle()
              decide({ type: 'chat/inputCompleted', requestId: request.id, response: 'decline' })
            }}
          >
            Decline
          </Button>
        </div>
      )}
    </form>
  )
}

/** The pause in typing after which the draft answer is sent to the other clients, in milliseconds. */
const shareAfterMs = 400

/**
 * The draft answers of a form, which all clients share. What is typed here is shown at once, and sent after a pause. An
 * answer of somebody else replaces what is shown, unless this person is still typing it.
 */
function useSharedAnswers({ id: requestId, answers: shared = {} }: ChatInputRequest) {
  const { dispatch } = useChat()
  const [typed, setTyped] = useState<TypedAnswers>({})
  /** What was typed and not sent yet, by question. */
  const waiting = useRef(new Map<string, { readonly timer: number; readonly share: () => void }>())
  const drawn = useRef(shared)
  drawn.current = shared
  // A form that leaves the screen sends what was typed last. It is drawn again from what the host has.
  useEffect(() => () => waiting.current.forEach(({ share }) => share()), [])
  /** Forgets what was not sent yet, because the form is decided, with or without it. */
  const settle = () => {
    waiting.current.forEach(({ timer }) => clearTimeout(timer))
    waiting.current.clear()
  }
  const change = (questionId: string, value: ChatInputAnswerValue) => {
    const answer = { state: 'draft' as const, value }
    setTyped((now) => ({ ...now, [questionId]: { answer } }))
    clearTimeout(waiting.current.get(questionId)?.timer)
    waiting.current.delete(questionId)
    // An empty number field is NaN, which JSON cannot express, so it is not shared.
    if (value.kind === 'number' && Number.isNaN(value.value)) return
    const share = () => {
      clearTimeout(timer)
      waiting.current.delete(questionId)
      const accepted = { before: drawn.current[questionId] }
      void dispatch({ type: 'chat/inputAnswerChanged', requestId, questionId, answer }).then(({ outcome }) =>
        setTyped((now) => {
          if (now[questionId]?.answer !== answer) return now
          const { [questionId]: _, ...others } = now
          return outcome === 'accepted' ? { ...others, [questionId]: { answer, accepted } } : others
        }),
      )
    }
    const timer = setTimeout(share, shareAfterMs)
    waiting.current.set(questionId, { timer, share })
  }
  return { answers: shownAnswers(shared, typed), change, settle }
}
