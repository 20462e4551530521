import { X } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.tsx'
import { useShown } from './shown.ts'

interface Props {
  readonly title: string
  readonly children: ComponentChildren
  readonly wide?: boolean
  readonly onClose: () => void
}

/** A dialog of the browser itself: it keeps the focus inside, closes with Escape, and gives the focus back. */
export function Dialog({ title, children, wide = false, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const shown = useShown()
  // Its cleanup runs while the dialog is still in the document: only then does the browser give the focus back.
  useLayoutEffect(() => {
    // A modal dialog in a part that nobody sees would block the whole page.
    if (!shown) return
    const { current } = dialog
    current?.showModal()
    return () => current?.close()
  }, [shown])
  return (
    <dialog
      ref={dialog}
      class={`dialog${wide ? ' wide' : ''}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        // A click on the backdrop has the dialog itself as its target. A click inside has a part of its content.
        if (event.target === dialog.current) onClose()
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <Button icon={X} label="Close" look="quiet" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  )
}
