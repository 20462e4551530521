import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface Props {
  readonly count: number
  /** The usual height of a row in pixels, for rows that were not drawn yet. */
  readonly rowHeight: number
  readonly render: (at: number) => ComponentChildren
  /** The element around the rows of a block: `ul` if the rows are `li`. */
  readonly as?: 'div' | 'ul'
}

/** Number of rows that are drawn together. */
const blockRows = 80

/**
 * A long list of which only the rows near the visible part are in the document. Rows may have different heights: a
 * block of rows that goes out of sight leaves a space of its own height. The element that scrolls is marked with
 * `data-scroller`.
 */
export function VirtualBlocks({ count, rowHeight, render, as = 'div' }: Props) {
  const blocks = Array.from({ length: Math.ceil(count / blockRows) }, (_, at) => at * blockRows)
  return (
    <>
      {blocks.map((from) => (
        <RowBlock
          key={from}
          rows={Math.min(blockRows, count - from)}
          rowHeight={rowHeight}
          render={(at) => render(from + at)}
          first={from === 0}
          as={as}
        />
      ))}
    </>
  )
}

interface BlockProps {
  readonly rows: number
  readonly rowHeight: number
  readonly render: (at: number) => ComponentChildren
  readonly first: boolean
  readonly as: 'div' | 'ul'
}

function RowBlock({ rows, rowHeight, render, first, as: Element }: BlockProps) {
  const block = useRef<HTMLElement>(null)
  const [seen, setSeen] = useState(first)
  /** The height that the block had when it was last seen, with the number of its rows then. A list may have grown since. */
  const measured = useRef({ rows, height: rows * rowHeight })
  const drawn = useRef(rows)
  drawn.current = rows
  useEffect(() => {
    const { current } = block
    if (!current) return
    const changed = ([entry]: readonly IntersectionObserverEntry[]) => {
      if (!entry) return
      // A block that has the focus stays, so that a text which somebody writes in it is not lost.
      if (!entry.isIntersecting && current.contains(document.activeElement)) return
      if (!entry.isIntersecting) measured.current = { rows: drawn.current, height: current.offsetHeight }
      setSeen(entry.isIntersecting)
    }
    const root = current.closest('[data-scroller]')
    const observer = new IntersectionObserver(changed, { root, rootMargin: '800px 0px' })
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return (
    <Element
      // The type of the reference is that of one element, and this is one of two: hence the cast.
      ref={block as never}
      class="row-block"
      style={
        seen
          ? {}
          : { height: `${measured.current.rows === rows ? measured.current.height : rows * rowHeight}px` }
      }
    >
      {seen && Array.from({ length: rows }, (_, at) => render(at))}
    </Element>
  )
}
