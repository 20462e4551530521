import type { Plan, PlanStep } from '@atrium/protocol/chat/plan'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { Circle, CircleCheck, CircleDot, ListTodo } from 'lucide'
import { Markdown } from '../../markdown/markdown.tsx'
import { Icon } from '../../ui/icon.tsx'
import { MessageText } from '../shared/message-text.tsx'
import { visibleText } from '../shared/text.ts'

interface Props {
  readonly plan: Plan
  readonly call: ToolCallState
}

const looks = {
  pending: { icon: Circle, word: 'open' },
  in_progress: { icon: CircleDot, word: 'now' },
  completed: { icon: CircleCheck, word: 'done' },
} as const

/** The most steps that a pinned plan shows without scrolling. */
const fewSteps = 6

/** The plan of an agent: its steps, each with its state, and how many of them are done. */
export function PlanView({ plan: { steps }, call }: Props) {
  const done = steps.filter(({ status }) => status === 'completed').length
  const finished = steps.length > 0 && done === steps.length
  return (
    <section class="plan" aria-label="Plan">
      <header class="tool-head">
        <span class={`tool-icon ${finished ? 'good' : 'quiet'}`}>
          <Icon of={ListTodo} />
        </span>
        <span class="tool-title">Plan</span>
        {steps.length > 0 && (
          <>
            <progress aria-hidden="true" value={done} max={steps.length} />
            <span class={`tool-state ${finished ? 'good' : 'quiet'}`}>
              {done} of {steps.length} done
            </span>
          </>
        )}
      </header>
      {steps.length > 0 ? (
        // A long plan scrolls while it is pinned, and those who use a keyboard must be able to reach it.
        <ol {...(steps.length > fewSteps && { tabIndex: 0 })}>
          {steps.map((step, at) => (
            <Step key={at} step={step} />
          ))}
        </ol>
      ) : (
        'content' in call &&
        call.content?.map((each, at) =>
          each.type === 'text' ? <Markdown key={at} text={visibleText(each.text)} /> : undefined,
        )
      )}
    </section>
  )
}

function Step({ step: { content, status } }: { readonly step: PlanStep }) {
  const { icon, word } = looks[status]
  return (
    <li class={word}>
      <Icon of={icon} />
      <span>
        <span class="hidden">{word}: </span>
        <MessageText text={{ markdown: content }} />
      </span>
    </li>
  )
}
