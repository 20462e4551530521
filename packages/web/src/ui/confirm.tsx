import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly cancel?: string
  /** Whether going back is the answer that is suggested. */
  readonly careful?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before something is done that is hard to take back. */
export function Confirm({
  title,
  text,
  action,
  cancel = 'Cancel',
  careful = false,
  onConfirm,
  onClose,
}: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="confirm-text">{text}</p>
      <footer class="dialog-foot">
        <Button look={careful ? 'primary' : 'plain'} onClick={onClose}>
          {cancel}
        </Button>
        <Button
          look={careful ? 'plain' : 'primary'}
          onClick={() => {
            onConfirm()
            onClose()
          }}
        >
          {action}
        </Button>
      </footer>
    </Dialog>
  )
}
