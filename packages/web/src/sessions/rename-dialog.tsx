import { useState } from 'preact/hooks'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface Props {
  readonly title: string
  readonly onRename: (title: string) => void
  readonly onClose: () => void
}

/** Asks for another title of a session. */
export function RenameDialog({ title, onRename, onClose }: Props) {
  const [text, setText] = useState(title)
  return (
    <Dialog title="Rename the session" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '') onRename(text.trim())
          onClose()
        }}
      >
        <label class="field">
          <span>Title</span>
          <input
            type="text"
            value={text}
            maxLength={200}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button submit look="primary" disabled={text.trim() === ''}>
            Rename
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
