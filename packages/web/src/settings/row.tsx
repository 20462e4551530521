import type { ComponentChildren } from 'preact'
import { Copy } from '../ui/copy.tsx'

interface SectionProps {
  readonly title: string
  readonly children: ComponentChildren
}

export function Section({ title, children }: SectionProps) {
  return (
    <section class="settings-section" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

interface RowProps {
  readonly title: string
  readonly about?: string | undefined
  /** The command that does the same in a terminal. Undefined: only this page can do it. */
  readonly command?: string | undefined
  /** The controls of the row. */
  readonly children?: ComponentChildren
}

/** A setting: what it is, its controls, and the command that does the same. */
export function Row({ title, about, command, children }: RowProps) {
  return (
    <div class="settings-row" role="group" aria-label={title}>
      <div class="settings-text">
        <p>{title}</p>
        {about !== undefined && about !== '' && <p class="quiet">{about}</p>}
        {command !== undefined && (
          <p class="settings-command">
            <code>{command}</code>
            <Copy text={command} label="Copy the command" />
          </p>
        )}
      </div>
      <div class="settings-controls">{children}</div>
    </div>
  )
}
