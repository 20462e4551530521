import type { IconNode } from 'lucide'
import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

interface Props {
  readonly children?: ComponentChildren
  readonly icon?: IconNode
  /** The name of a button that shows only an icon. */
  readonly label?: string
  readonly look?: 'plain' | 'primary' | 'quiet' | 'danger'
  readonly disabled?: boolean
  readonly submit?: boolean
  readonly title?: string
  readonly class?: string
  readonly pressed?: boolean
  /** What the button answers to a question, so that a key can do the same. */
  readonly answer?: 'allow' | 'deny'
  readonly onClick?: (event: MouseEvent) => void
}

export function Button({ children, icon, label, look = 'plain', submit = false, pressed, ...rest }: Props) {
  const only = children === undefined
  return (
    <button
      type={submit ? 'submit' : 'button'}
      disabled={rest.disabled ?? false}
      class={`button ${look}${only ? ' only' : ''} ${rest.class ?? ''}`}
      title={rest.title ?? (only ? label : undefined)}
      aria-label={label}
      aria-pressed={pressed}
      data-answer={rest.answer}
      onClick={rest.onClick}
    >
      {icon && <Icon of={icon} />}
      {children}
    </button>
  )
}
