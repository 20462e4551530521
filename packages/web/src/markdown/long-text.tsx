import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The length from which a growing text is cut, in characters: about fifteen lines. */
const cutLength = 1200
/**
 * The time after which the blocks of a complete text are joined, in milliseconds. What the page does at the end of a
 * turn is over by then.
 */
const joinMs = 1500

interface Props {
  readonly text: string
  /** Whether the text still grows. */
  readonly open: boolean
}

/**
 * A growing paragraph of plain words. A browser lays a paragraph out as a whole, so each new word of a long paragraph
 * would cost more than the one before. Therefore the complete lines become blocks of their own, which look the same
 * and are not laid out again. Some time after the text is complete, or when the page gets another width, all blocks
 * become one paragraph again.
 */
export function LongText({ text, open }: Props) {
  const [cuts, setCuts] = useState<readonly number[]>([])
  const tail = useRef<HTMLSpanElement>(null)
  const from = cuts.at(-1) ?? 0
  const isLong = open && text.length - from > cutLength
  useLayoutEffect(() => {
    if (!isLong) return
    // At the beginning of a frame, the text of the last one is laid out, so that finding its lines is cheap. The frame is
    // asked for here, before the text around this asks for the frame in which it grows.
    const frame = requestAnimationFrame(() => {
      const node = tail.current?.firstChild
      const start = node ? lastLineStart(node) : 0
      if (start > 0) setCuts([...cuts, from + start])
    })
    return () => cancelAnimationFrame(frame)
  }, [isLong, cuts, from])
  useEffect(() => {
    const joined = () => setCuts([])
    addEventListener('resize', joined)
    return () => removeEventListener('resize', joined)
  }, [])
  const isCut = cuts.length > 0
  useEffect(() => {
    if (open || !isCut) return
    const timer = setTimeout(() => setCuts([]), joinMs)
    return () => clearTimeout(timer)
  }, [open, isCut])
  if (!open && !isCut) return <>{text}</>
  return (
    <>
      {cuts.map((cut, at) => (
        <span key={cut} class="lines">
          {text.slice(cuts[at - 1] ?? 0, cut)}
        </span>
      ))}
      <span ref={tail}>{text.slice(from)}</span>
    </>
  )
}

/** Returns the index at which the last line of a text begins. 0 if the text has one line, or is not on the screen. */
function lastLineStart(node: Node): number {
  const length = node.textContent?.length ?? 0
  const range = document.createRange()
  const topAt = (at: number): number => {
    range.setStart(node, at)
    range.setEnd(node, at + 1)
    return range.getBoundingClientRect().top
  }
  // The last character may be a space that hangs at the end of a line, and has no box then.
  const last = topAt(Math.max(0, length - 2))
  let [low, high] = [0, Math.max(0, length - 2)]
  while (low < high) {
    const middle = (low + high) >> 1
    if (topAt(middle) < last) low = middle + 1
    else high = middle
  }
  return low
}
