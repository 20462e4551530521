import { planOf } from '@atrium/protocol/chat/plan'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { Check, CircleAlert, CircleHelp, Loader, Minus } from 'lucide'
import { useState } from 'preact/hooks'
import { RoleNote } from '../../link/role-note.tsx'
import { useMay } from '../../link/role.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useDecide } from '../shared/context.ts'
import { decisionAbout, resultDecisionAbout } from './decision.ts'
import { MessageText } from '../shared/message-text.tsx'
import { PlanView } from './plan-view.tsx'
import { SignIn } from './sign-in.tsx'
import { plainText, visibleText } from '../shared/text.ts'
import { ToolApproval } from './tool-approval.tsx'
import { ToolResult } from './tool-result.tsx'
import { inputText, shortInput, toolWords } from './tool-words.ts'

interface Props {
  readonly turnId: string
  readonly call: ToolCallState
}

interface CardProps extends Props {
  /** Whether the card is opened at first. Later it stays as a person has left it. */
  readonly opened: boolean
}

const icons = { quiet: Minus, busy: Loader, asks: CircleHelp, good: Check, bad: CircleAlert } as const

/** A tool call through its whole life: written, asked about, running, done. */
export function ToolCard({ turnId, call, opened }: CardProps) {
  const { title, state, tone } = toolWords(call)
  const [open, setOpen] = useState(opened)
  const plan = planOf(call)
  if (plan) return <PlanView plan={plan} call={call} />
  const decided = [decisionAbout(call), resultDecisionAbout(call)].filter((each) => each !== undefined)
  const short = tone === 'asks' || showsEdit(call) ? '' : shortInput(call, title)
  const head = (
    <>
      <span class={`tool-icon ${tone}`}>
        <Icon of={icons[tone]} />
      </span>
      <span class="tool-title">
        <MessageText text={title} />
        {short !== '' && <code class="tool-short">{visibleText(short)}</code>}
      </span>
      {decided.length > 0 && <span class="decided">{decided.join(', ')}</span>}
      <span class={`tool-state ${tone}`}>{state}</span>
    </>
  )
  if (tone === 'asks')
    return (
      <section class="tool asks" aria-label={`${plainText(title)}: ${state}`}>
        <header class="tool-head">{head}</header>
        <div class="tool-body">
          <Question turnId={turnId} call={call} />
        </div>
      </section>
    )
  return (
    <details class={`tool ${tone}`} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="tool-head">{head}</summary>
      <div class="tool-body">
        <Details call={call} folded={short !== '' || isOver(call)} />
      </div>
    </details>
  )
}

function Question({ turnId, call }: Props) {
  if (call.status === 'pending-confirmation') return <ToolApproval turnId={turnId} call={call} />
  if (call.status === 'auth-required') return <SignIn turnId={turnId} call={call} />
  return <ResultApproval turnId={turnId} call={call} />
}

/** The question whether the agent may use a result. */
function ResultApproval({ turnId, call }: Props) {
  const decide = useDecide()
  const approves = useMay('approve')
  if (call.status !== 'pending-result-confirmation') return null
  const answer = (approved: boolean) =>
    decide({ type: 'chat/toolCallResultConfirmed', turnId, toolCallId: call.toolCallId, approved })
  return (
    <div class="approval">
      <p class="approval-title">May the agent use this result?</p>
      <ToolResult content={call.content ?? []} />
      <RoleNote needed="approve" to="answer this" />
      {approves && (
        <div class="choices" role="group" aria-label="Answers">
          <Button look="primary" onClick={() => answer(true)}>
            Use it
          </Button>
          <Button look="quiet" onClick={() => answer(false)}>
            Deny the result
          </Button>
        </div>
      )}
    </div>
  )
}

/** Whether the result shows the change of a file, which the input would only repeat. */
function showsEdit(call: ToolCallState): boolean {
  return 'content' in call && (call.content ?? []).some(({ type }) => type === 'fileEdit')
}

function isOver({ status }: ToolCallState): boolean {
  return status === 'completed' || status === 'cancelled'
}

/** What the agent gave the tool. */
function Input({
  name,
  text,
  folded,
}: {
  readonly name: string
  readonly text: string
  readonly folded: boolean
}) {
  const shown = (
    <pre class="tool-input" tabIndex={0}>
      {text}
    </pre>
  )
  if (!folded) return shown
  return (
    <details class="tool-given">
      <summary class="quiet">Input of {visibleText(name)}</summary>
      {shown}
    </details>
  )
}

interface DetailsProps {
  readonly call: ToolCallState
  /** Whether the input is shown only after a click: the title has it, or the call is over. */
  readonly folded: boolean
}

function Details({ call, folded }: DetailsProps) {
  const input = inputText(call)
  const error = call.status === 'completed' ? call.error?.message : undefined
  const reason = call.status === 'cancelled' ? plainText(call.reasonMessage) : ''
  const content = 'content' in call ? (call.content ?? []) : []
  return (
    <>
      {input !== undefined && <Input name={call.toolName} text={input} folded={folded} />}
      <ToolResult content={content} />
      {error !== undefined && <p class="problem">{visibleText(error)}</p>}
      {reason !== '' && <p class="quiet">“{visibleText(reason)}”</p>}
    </>
  )
}
