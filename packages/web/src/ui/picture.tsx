import { useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly src: string
  readonly alt: string
  readonly class?: string
}

/** A picture that a click shows in its own size, as far as the window has room. */
export function Picture({ src, alt, class: name }: Props) {
  const [large, setLarge] = useState(false)
  return (
    <>
      <button
        type="button"
        class="picture"
        title="Show it larger"
        onClick={(event) => {
          event.preventDefault()
          setLarge(true)
        }}
      >
        <img class={name} src={src} alt={alt} />
      </button>
      {large && (
        <Dialog title={alt === '' ? 'Picture' : alt} wide onClose={() => setLarge(false)}>
          <img class="picture-large" src={src} alt="" />
        </Dialog>
      )}
    </>
  )
}
