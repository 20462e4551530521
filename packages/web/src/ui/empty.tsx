import type { ComponentChildren } from 'preact'

interface Props {
  readonly title: string
  readonly children?: ComponentChildren
}

/** The placeholder of an empty place: says what will be shown there, and how to get it. */
export function Empty({ title, children }: Props) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}
