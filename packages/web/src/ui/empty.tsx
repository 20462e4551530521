import type { ComponentChildren } from 'preact'

interface Props {
  readonly title: string
  readonly children?: ComponentChildren
}

/** What stands where there is nothing yet: what would be here, and how it gets here. */
export function Empty({ title, children }: Props) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}
