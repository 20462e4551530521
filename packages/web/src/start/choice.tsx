import { useId } from 'preact/hooks'

interface Option {
  readonly value: string
  readonly label: string
  readonly disabled?: boolean
}

interface Props {
  readonly label: string
  readonly options: readonly Option[]
  readonly chosen: string
  readonly title?: string | undefined
  readonly onChoose: (value: string) => void
}

/** A choice in the row below a message: its name and what is chosen, in little room. */
export function Choice({ label, options, chosen, title, onChoose }: Props) {
  const id = useId()
  return (
    <span class="choice" title={title}>
      <label for={id}>{label}</label>
      <select id={id} value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {options.map((each) => (
          <option key={each.value} value={each.value} disabled={each.disabled ?? false}>
            {each.label}
          </option>
        ))}
      </select>
    </span>
  )
}
