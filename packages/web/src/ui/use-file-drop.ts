import { useEffect, useState } from 'preact/hooks'
import { useLatest } from './use-latest.ts'

/**
 * Takes files that a person drops anywhere on the page, and returns whether files are dragged over it now. A browser would
 * leave the page for a dropped file, so the page takes them even where nobody wants them. A dialog over the page takes none.
 *
 * @param onFiles Undefined: files are not wanted.
 */
export function useFileDrop(onFiles: ((files: readonly File[]) => void) | undefined): boolean {
  const [over, setOver] = useState(false)
  const wanted = onFiles !== undefined
  const take = useLatest((files: readonly File[]) => onFiles?.(files))
  useEffect(() => {
    const isWanted = () => wanted && !document.querySelector('dialog[open]')
    const dragged = (event: DragEvent) => {
      const { dataTransfer } = event
      if (!dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      if (!isWanted()) return
      dataTransfer.dropEffect = 'copy'
      setOver(true)
    }
    const dropped = (event: DragEvent) => {
      setOver(false)
      const { dataTransfer } = event
      if (!dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      if (isWanted() && dataTransfer.files.length > 0) take([...dataTransfer.files])
    }
    // Between two elements of the page, the event names the next one. It names none if the drag has left the window.
    const left = ({ relatedTarget }: DragEvent) => {
      if (relatedTarget === null) setOver(false)
    }
    addEventListener('dragover', dragged)
    addEventListener('drop', dropped)
    addEventListener('dragleave', left)
    return () => {
      removeEventListener('dragover', dragged)
      removeEventListener('drop', dropped)
      removeEventListener('dragleave', left)
      setOver(false)
    }
  }, [wanted, take])
  return over
}
