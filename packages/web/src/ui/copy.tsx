import { Check, Copy as CopyIcon } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from './button.tsx'

interface Props {
  readonly text: string
  readonly label: string
}

/** A button that copies a text and says so. */
export function Copy({ text, label }: Props) {
  const [done, setDone] = useState(false)
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => {
      setDone(true)
      setTimeout(() => setDone(false), 1500)
    })
  }
  return <Button icon={done ? Check : CopyIcon} label={done ? 'Copied' : label} look="quiet" onClick={copy} />
}
