import type { ComponentChildren } from 'preact'
import { ArrowDown } from 'lucide'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../ui/button.tsx'

interface Props {
  readonly children: ComponentChildren
  /** Identifies the oldest item, so that the view stays where it is when older ones are put before it. */
  readonly first: string
  /** Loads older items. Undefined: there are none. */
  readonly onOlder?: (() => void) | undefined
}

/** How near to the end counts as the end, in pixels. */
const near = 60
/** How near to the beginning older items are loaded, in pixels. */
const olderAt = 600

/**
 * A list that follows its end while a person is there, and stays where it is while a person reads further up. Turns that
 * are out of sight are not laid out by the browser (`content-visibility`), but can be found and read aloud.
 */
export function Timeline({ children, first, onOlder }: Props) {
  const scroll = useRef<HTMLDivElement>(null)
  const column = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  const before = useRef({ first, height: 0, top: 0 })
  const [away, setAway] = useState(false)

  const toEnd = () => {
    const { current } = scroll
    if (!current) return
    current.scrollTop = current.scrollHeight
    before.current = { ...before.current, top: current.scrollTop, height: current.scrollHeight }
  }

  useLayoutEffect(() => {
    const { current } = scroll
    if (!current) return
    if (follows.current) toEnd()
    // Keeps the view in place when older items were added above it, in browsers without scroll anchoring.
    else if (before.current.first !== first && current.scrollTop === before.current.top)
      current.scrollTop += current.scrollHeight - before.current.height
    before.current = { first, height: current.scrollHeight, top: current.scrollTop }
    // This effect runs only when `first` changes. The observer below follows growth at the end, without a layout of
    // its own.
  }, [first])

  useEffect(() => {
    if (!column.current || !scroll.current) return
    // New words, colours of code, pictures and opened cards change the height of the column. Waiting messages and attached
    // pictures below change the height of the box that scrolls. The observer is called after the layout of a frame and
    // before it is drawn, so that reading heights is free.
    const observer = new ResizeObserver(() => {
      if (follows.current) toEnd()
      else if (scroll.current) before.current = { ...before.current, height: scroll.current.scrollHeight }
    })
    for (const each of [column.current, scroll.current]) observer.observe(each)
    return () => observer.disconnect()
  }, [])

  const scrolled = () => {
    const { current } = scroll
    if (!current) return
    const { scrollTop, scrollHeight, clientHeight } = current
    // Only scrolling upwards ends the following. Growing content also moves the end away, and must still be followed.
    if (scrollHeight - clientHeight - scrollTop < near) follows.current = true
    else if (scrollTop < before.current.top - 1) follows.current = false
    before.current = { ...before.current, top: scrollTop, height: scrollHeight }
    setAway(!follows.current)
    if (scrollTop < olderAt) onOlder?.()
  }
  return (
    <div class="timeline-frame">
      <div
        ref={scroll}
        class="timeline"
        onScroll={scrolled}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Conversation"
      >
        <div ref={column} class="column">
          {onOlder && (
            <Button look="quiet" class="older" onClick={onOlder}>
              Load earlier turns
            </Button>
          )}
          {children}
        </div>
      </div>
      {away && (
        <Button
          icon={ArrowDown}
          class="to-end"
          onClick={() => {
            follows.current = true
            setAway(false)
            toEnd()
          }}
        >
          Newest
        </Button>
      )}
    </div>
  )
}
