import { useEffect, useRef } from 'preact/hooks'

export interface Suggestion {
  readonly label: string
  readonly about?: string | undefined
}

interface Props {
  /** The id of the list. The id of an option is this id, followed by the number of the option. */
  readonly id: string
  readonly label: string
  readonly items: readonly Suggestion[]
  readonly active: number
  readonly onActive: (at: number) => void
  readonly onPick: (at: number) => void
}

export function optionId(list: string, at: number): string {
  return `${list}-${at}`
}

/** The suggestions for a field. The field keeps the focus and says which one is active. */
export function Suggestions({ id, label, items, active, onActive, onPick }: Props) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active, items])
  return (
    <ul ref={list} id={id} class="suggestions" role="listbox" aria-label={label}>
      {items.map((item, at) => (
        <li
          key={at}
          id={optionId(id, at)}
          role="option"
          aria-selected={at === active}
          class={at === active ? 'active' : ''}
          onMouseMove={() => at !== active && onActive(at)}
          onMouseDown={(event) => {
            // Without this, the click would take the focus from the field.
            event.preventDefault()
            onPick(at)
          }}
        >
          <span class="suggestion-label">{item.label}</span>
          {item.about !== undefined && <span class="suggestion-about">{item.about}</span>}
        </li>
      ))}
    </ul>
  )
}
