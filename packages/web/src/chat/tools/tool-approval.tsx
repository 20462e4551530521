import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ToolCallPendingConfirmation } from '@atrium/protocol/chat/tool'
import { useState } from 'preact/hooks'
import { RoleNote } from '../../link/role-note.tsx'
import { useMay } from '../../link/role.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { GrowingText } from '../../ui/growing-text.tsx'
import { useChat, useDecide } from '../shared/context.ts'
import { AskedInput } from './asked-input.tsx'
import { UnseenProvider, useUnseen } from '../../ui/unseen.ts'
import { FileEditView } from './file-edit.tsx'
import { MessageText } from '../shared/message-text.tsx'
import { plainText, visibleText } from '../shared/text.ts'
import { choicesOf } from './tool-choices.ts'
import type { ToolChoice } from './tool-choices.ts'

interface Props {
  readonly turnId: string
  readonly call: ToolCallPendingConfirmation
}

/** The question of a tool whether it may run: what it would do, and every answer that it offers. */
export function ToolApproval({ turnId, call }: Props) {
  const { client } = useChat()
  const approves = useMay('approve')
  const decide = useDecide()
  const [edited, setEdited] = useState<string>()
  const [why, setWhy] = useState<{ readonly choice: ToolChoice; readonly text: string }>()
  const { unseen, count } = useUnseen()
  /** The answer that a person has chosen while some lines were never on the screen, and their number. */
  const [again, setAgain] = useState<{ readonly choice: ToolChoice; readonly lines: number }>()
  const answer = (choice: ToolChoice, reason = '') =>
    decide(decision({ turnId, call, choice, edited, reason }))
  const editable = call.editable === true && typeof call.toolInput === 'string' ? call.toolInput : undefined
  const choose = (choice: ToolChoice) => {
    if (choice.why) return setWhy({ choice, text: '' })
    const lines = choice.approved ? unseen.count() : 0
    if (lines > 0) setAgain({ choice, lines })
    else answer(choice)
  }
  return (
    <div class="approval">
      {call.confirmationTitle !== undefined && (
        <p class="approval-title">
          <MessageText text={call.confirmationTitle} />
        </p>
      )}
      {call.riskAssessment?.status === 'complete' && (
        <p class="quiet">{visibleText(plainText(call.riskAssessment.reason))}</p>
      )}
      <UnseenProvider value={unseen}>
        {edited === undefined ? (
          <AskedInput call={call} />
        ) : (
          <GrowingText value={edited} label="Input of the tool" onInput={setEdited} />
        )}
        {call.edits?.items.map((edit, at) => (
          <FileEditView key={at} client={client} edit={edit} />
        ))}
      </UnseenProvider>
      {why && (
        <form
          class="why"
          onSubmit={(event) => {
            event.preventDefault()
            answer(why.choice, why.text)
          }}
        >
          <label class="field">
            <span>Why not? The agent reads this.</span>
            <input
              type="text"
              value={why.text}
              onInput={({ currentTarget }) => setWhy({ ...why, text: currentTarget.value })}
            />
          </label>
          <Button submit look="primary">
            Deny
          </Button>
          <Button look="quiet" onClick={() => setWhy(undefined)}>
            Back
          </Button>
        </form>
      )}
      <RoleNote needed="approve" to="answer this" />
      {approves && count > 0 && (
        <p class="quiet unseen">
          {unseenWords(count)} An answer for later calls is offered when all of it was.
        </p>
      )}
      {again && (
        <Confirm
          title="Not all of this was on the screen"
          text={`${unseenWords(again.lines)} Allow all of it?`}
          action="Allow unseen"
          cancel="Back"
          careful
          onConfirm={() => answer(again.choice)}
          onClose={() => setAgain(undefined)}
        />
      )}
      {approves && !why && (
        <div class="choices" role="group" aria-label="Answers">
          {choicesOf(call)
            .filter(({ approved, lasts }) => count === 0 || !approved || !lasts)
            .map((choice, at) => (
              <Button
                key={choice.optionId ?? choice.label}
                answer={choice.approved ? 'allow' : 'deny'}
                look={at === 0 && choice.approved ? 'primary' : choice.approved ? 'plain' : 'quiet'}
                onClick={() => choose(choice)}
              >
                {edited !== undefined && at === 0
                  ? `${visibleText(choice.label)}, as edited`
                  : visibleText(choice.label)}
              </Button>
            ))}
          {editable !== undefined && edited === undefined && count === 0 && (
            <Button look="quiet" onClick={() => setEdited(editable)}>
              Edit first
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

function unseenWords(lines: number): string {
  return `${lines === 1 ? '1 line was' : `${lines.toLocaleString('en')} lines were`} never on the screen.`
}

interface Answer extends Props {
  readonly choice: ToolChoice
  readonly edited: string | undefined
  readonly reason: string
}

function decision({ turnId, call: { toolCallId }, choice, edited, reason }: Answer): ChatAction {
  const { approved, optionId } = choice
  const chosen = { turnId, toolCallId, ...(optionId !== undefined && { selectedOptionId: optionId }) }
  const type = 'chat/toolCallConfirmed'
  if (approved)
    return {
      type,
      ...chosen,
      approved,
      confirmed: 'user-action',
      ...(edited !== undefined && { editedToolInput: edited }),
    }
  return {
    type,
    ...chosen,
    approved: false,
    reason: 'denied',
    ...(reason.trim() !== '' && { reasonMessage: reason }),
  }
}
