import { Button } from './button.tsx'

export interface Notice {
  readonly id: string
  readonly text: string
  readonly action?: { readonly label: string; readonly run: () => void }
}

interface Props {
  readonly notices: readonly Notice[]
  readonly onDismiss: (id: string) => void
}

/** Short messages at the edge of the page. A screen reader reads each once. */
export function Notices({ notices, onDismiss }: Props) {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.map(({ id, text, action }) => (
        <div key={id} class="notice">
          <span>{text}</span>
          {action && (
            <Button
              look="quiet"
              onClick={() => {
                action.run()
                onDismiss(id)
              }}
            >
              {action.label}
            </Button>
          )}
          <Button look="quiet" onClick={() => onDismiss(id)}>
            Dismiss
          </Button>
        </div>
      ))}
    </div>
  )
}
