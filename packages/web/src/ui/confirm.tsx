import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly cancel?: string
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before something is done that is hard to take back. */
export function Confirm({ title, text, action, cancel = 'Cancel', onConfirm, onClose }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="confirm-text">{text}</p>
      <footer class="dialog-foot">
        <Button onClick={onClose}>{cancel}</Button>
        <Button
          look="primary"
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
