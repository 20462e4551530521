import type { Client } from '@atrium/client/client'
import type { SessionInputRequest, SessionSummary } from '@atrium/protocol/session/state'
import { FormView } from '../chat/form/form-view.tsx'
import { MessageText } from '../chat/shared/message-text.tsx'
import { ChatProvider } from '../chat/shared/context.ts'
import { visibleText } from '../chat/shared/text.ts'
import { ToolApproval } from '../chat/tools/tool-approval.tsx'
import { useLiveChannel } from '../link/live-channel.ts'
import { moodOf, titleOf } from '../sessions/grouping.ts'
import { Ago } from '../ui/ago.tsx'
import { fragmentOf } from '../ui/route.ts'
import type { Hold } from '../ui/use-held.ts'
import { ChangeCounts } from '../sessions/change-counts.tsx'
import { useHeldAnswers } from './use-held-answers.ts'

interface Props {
  readonly client: Client
  readonly session: SessionSummary
  readonly hold: Hold
  readonly say: (text: string) => void
}

/** A session that waits, with its questions. */
export function InboxEntry({ client, session, hold, say }: Props) {
  const mood = moodOf(session)
  return (
    <li class="entry" tabIndex={0} aria-label={`${titleOf(session)}: ${moodWords[mood]}`}>
      <p class="entry-head">
        <span class={`mood ${mood.replace(' ', '-')}`} aria-hidden="true" />
        <a href={fragmentOf({ session: session.resource })}>{titleOf(session)}</a>
        <span class="quiet">
          {session.provider} · {moodWords[mood]} <ChangeCounts changes={session.changes} />
        </span>
        <Ago moment={session.modifiedAt} />
      </p>
      {mood === 'needs you' && <Questions client={client} session={session} hold={hold} say={say} />}
    </li>
  )
}

const moodWords = {
  'needs you': 'asks',
  failed: 'failed',
  idle: 'to review',
  working: 'working',
} as const

function Questions({ client, session, hold, say }: Props) {
  const { resource } = session
  const { state } = useLiveChannel(client, 'session', resource)
  const { contextOf, isAnswered } = useHeldAnswers({
    client,
    session: resource,
    title: titleOf(session),
    hold,
    say,
  })
  return (
    <>
      {(state?.inputNeeded ?? [])
        .filter(({ kind }) => kind !== 'toolClientExecution')
        .map((request) => (
          // An answered question stays in the document, so that its fields are as they were if the answer is taken back.
          <div key={request.id} hidden={isAnswered(questionOf(request))}>
            <ChatProvider value={contextOf(request.chat)}>
              <Question request={request} />
            </ChatProvider>
          </div>
        ))}
    </>
  )
}

/** The questions of a form that is open from the beginning. A longer one would hide the rest of the inbox. */
const fewQuestions = 3

/** What identifies a question in the actions that answer it. */
function questionOf(request: SessionInputRequest): string {
  return request.kind === 'chatInput' ? request.request.id : request.toolCall.toolCallId
}

function Question({ request }: { readonly request: SessionInputRequest }) {
  if (request.kind === 'chatInput') {
    const form = <FormView part={{ kind: 'inputRequest', request: request.request }} />
    const { questions = [], message } = request.request
    if (questions.length <= fewQuestions) return form
    return (
      <details>
        <summary>
          {visibleText(message ?? 'The agent asks')} <span class="quiet">{questions.length} questions</span>
        </summary>
        {form}
      </details>
    )
  }
  const { toolCall, turnId } = request
  if (toolCall.status === 'pending-confirmation') return <ToolApproval turnId={turnId} call={toolCall} />
  return (
    <p class="quiet">
      <MessageText text={toolCall.invocationMessage} /> waits in its chat.
    </p>
  )
}
