import type { IconNode } from 'lucide'
import { h } from 'preact'
import { memo } from 'preact/compat'

interface Props {
  readonly of: IconNode
  readonly size?: number
  /** What the icon means. Without a label it is decoration, which screen readers skip. */
  readonly label?: string
}

/** An icon of one colour: that of the text around it. */
export const Icon = memo(function Icon({ of, size = 16, label }: Props) {
  const described =
    label === undefined ? { 'aria-hidden': true as const } : { role: 'img' as const, 'aria-label': label }
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      {...described}
    >
      {of.map(([tag, attributes], at) => h(tag, { key: at, ...attributes }))}
    </svg>
  )
})
