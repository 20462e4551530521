import { useRef } from 'preact/hooks'
import { Block } from './block.tsx'
import { Blocks } from './blocks.ts'
import { useRevealed } from './use-revealed.ts'

interface Props {
  readonly text: string
  /** Whether the text still grows. */
  readonly streaming?: boolean
}

/** A text in Markdown. While it grows, only its last block is drawn again, and each frame adds what it can draw in time. */
export function Markdown({ text, streaming = false }: Props) {
  const blocks = useRef<Blocks>(undefined)
  blocks.current ??= new Blocks()
  const shown = useRevealed(text, streaming)
  return (
    <div class="markdown">
      {blocks.current.of(shown, streaming).map((block, at) => (
        <Block key={at} block={block} />
      ))}
    </div>
  )
}
