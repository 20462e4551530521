import { useLayoutEffect, useRef } from 'preact/hooks'
import { Block } from './block.tsx'
import { Blocks } from './blocks.ts'
import { useRevealed } from './use-revealed.ts'

interface Props {
  readonly text: string
  /** Whether the text still grows. */
  readonly streaming?: boolean
  /**
   * Is told whether some of the text is not drawn yet. If it is given, nothing stands below the text, so that the rest of a
   * text that has ended may follow frame by frame. Otherwise a text that has ended is drawn as a whole, so that nothing
   * below it moves any more.
   */
  readonly onBehind?: ((behind: boolean) => void) | undefined
}

/** A text in Markdown. While it grows, only its last block is drawn again, and each frame adds what it can draw in time. */
export function Markdown({ text, streaming = false, onBehind }: Props) {
  const blocks = useRef<Blocks>(undefined)
  blocks.current ??= new Blocks()
  const shown = useRevealed(text, streaming, onBehind !== undefined)
  const behind = shown.length < text.length
  useLayoutEffect(() => {
    onBehind?.(behind)
    // Another part may follow this one, which then tells no more.
    return () => onBehind?.(false)
  }, [onBehind, behind])
  return (
    <div class="markdown">
      {blocks.current.of(shown, streaming || behind).map((block, at) => (
        <Block key={at} block={block} />
      ))}
    </div>
  )
}
