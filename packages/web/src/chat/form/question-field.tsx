import type { ChatInputAnswerValue, ChatInputOption, ChatInputQuestion } from '@atrium/protocol/chat/request'
import { useId } from 'preact/hooks'
import { visibleText } from '../shared/text.ts'

interface Props {
  readonly question: ChatInputQuestion
  readonly value: ChatInputAnswerValue | undefined
  readonly problem: string | undefined
  readonly onChange: (value: ChatInputAnswerValue) => void
}

/** A question of a form, with the field of its kind. */
export function QuestionField(props: Props) {
  const { question, problem } = props
  const id = useId()
  return (
    <fieldset class="question" aria-describedby={problem === undefined ? undefined : id}>
      <legend>
        {question.title !== undefined && <span class="question-title">{visibleText(question.title)}</span>}
        {visibleText(question.message)}
        {question.required === true && <span class="required"> (required)</span>}
      </legend>
      <Field {...props} />
      {problem !== undefined && (
        <p id={id} class="problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  )
}

function Field({ question, value, onChange }: Props) {
  const label = visibleText(question.message)
  switch (question.kind) {
    case 'boolean':
      return (
        <div class="options">
          {[true, false].map((each) => (
            <label key={String(each)} class="option">
              <input
                type="radio"
                name={question.id}
                checked={value?.kind === 'boolean' && value.value === each}
                onChange={() => onChange({ kind: 'boolean', value: each })}
              />
              <span>{each ? 'Yes' : 'No'}</span>
            </label>
          ))}
        </div>
      )
    case 'single-select':
      return (
        <Options
          type="radio"
          name={question.id}
          options={question.options}
          chosen={value?.kind === 'selected' ? [value.value] : []}
          free={question.allowFreeformInput === true ? freeOf(value) : undefined}
          onChange={([one = ''], free) =>
            onChange({
              kind: 'selected',
              value: free === '' ? one : '',
              ...(free !== '' && { freeformValues: [free] }),
            })
          }
        />
      )
    case 'multi-select':
      return (
        <Options
          type="checkbox"
          name={question.id}
          options={question.options}
          chosen={value?.kind === 'selected-many' ? value.value : []}
          free={question.allowFreeformInput === true ? freeOf(value) : undefined}
          onChange={(chosen, free) =>
            onChange({ kind: 'selected-many', value: chosen, ...(free !== '' && { freeformValues: [free] }) })
          }
        />
      )
    case 'number':
    case 'integer':
      return (
        <input
          type="number"
          aria-label={label}
          step={question.kind === 'integer' ? 1 : 'any'}
          min={question.min}
          max={question.max}
          value={value?.kind === 'number' && !Number.isNaN(value.value) ? value.value : ''}
          onInput={(event) => onChange({ kind: 'number', value: event.currentTarget.valueAsNumber })}
        />
      )
    default:
      // A text, or a kind that is newer than this page: both can be answered with words.
      return (
        <input
          type="text"
          aria-label={label}
          value={value?.kind === 'text' ? value.value : ''}
          onInput={(event) => onChange({ kind: 'text', value: event.currentTarget.value })}
        />
      )
  }
}

interface OptionsProps {
  readonly type: 'radio' | 'checkbox'
  readonly name: string
  readonly options: readonly ChatInputOption[]
  readonly chosen: readonly string[]
  /** What the person has written in place of an option. Undefined: only options are accepted. */
  readonly free: string | undefined
  readonly onChange: (chosen: readonly string[], free: string) => void
}

function Options({ type, name, options, chosen, free, onChange }: OptionsProps) {
  const toggled = (id: string) =>
    type === 'radio' ? [id] : chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]
  return (
    <div class="options">
      {options.map(({ id, label, description, recommended }) => (
        <label key={id} class="option">
          <input
            type={type}
            name={name}
            checked={chosen.includes(id)}
            onChange={() => onChange(toggled(id), type === 'radio' ? '' : (free ?? ''))}
          />
          <span>
            {visibleText(label)}
            {recommended === true && <span class="tag ready">recommended</span>}
            {description !== undefined && <small>{visibleText(description)}</small>}
          </span>
        </label>
      ))}
      {free !== undefined && (
        <input
          type="text"
          aria-label="Words of your own"
          placeholder="Or in words of your own"
          value={free}
          onInput={(event) => onChange(type === 'radio' ? [] : chosen, event.currentTarget.value)}
        />
      )}
    </div>
  )
}

function freeOf(value: ChatInputAnswerValue | undefined): string {
  return value && 'freeformValues' in value ? (value.freeformValues?.[0] ?? '') : ''
}
