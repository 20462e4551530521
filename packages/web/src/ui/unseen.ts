import { createContext } from 'preact'
import type { RefObject } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useShown } from './shown.ts'

/** Something that a person must have had on the screen. Returns how many of its lines never were. */
type Part = () => number

/** Counts the lines of several texts that were never on the screen. */
export class Unseen {
  readonly #parts = new Set<Part>()
  readonly #changed: (count: number) => void

  constructor(changed: (count: number) => void) {
    this.#changed = changed
  }

  add(part: Part): () => void {
    this.#parts.add(part)
    this.count()
    return () => void this.#parts.delete(part)
  }

  /** Looks at what is on the screen now, and returns the number of lines that never were. */
  readonly count = (): number => {
    const count = [...this.#parts].reduce((sum, part) => sum + part(), 0)
    this.#changed(count)
    return count
  }
}

const Context = createContext<Unseen | undefined>(undefined)
export const UnseenProvider = Context.Provider

/** A count of unseen lines for the parts inside. It is brought up to date whenever something scrolls or changes its size. */
export function useUnseen(): { readonly unseen: Unseen; readonly count: number } {
  const [count, setCount] = useState(0)
  const [unseen] = useState(() => new Unseen(setCount))
  const shown = useShown()
  useEffect(() => {
    if (!shown) return
    const { count: look } = unseen
    // Scroll events do not bubble. On their way down they pass the document for every element that scrolls.
    document.addEventListener('scroll', look, { capture: true, passive: true })
    for (const event of ['resize', 'focus']) addEventListener(event, look)
    document.addEventListener('visibilitychange', look)
    return () => {
      document.removeEventListener('scroll', look, { capture: true })
      for (const event of ['resize', 'focus']) removeEventListener(event, look)
      document.removeEventListener('visibilitychange', look)
    }
  }, [unseen, shown])
  return { unseen, count }
}

/**
 * Counts the lines of an element for the count around it, if there is one. The element has its full height, and another
 * one around it may cut it off. `more`: the number of lines that are not in the document.
 */
export function useSeenLines(element: RefObject<HTMLElement | null>, more = 0): void {
  const unseen = useContext(Context)
  const seen = useRef<readonly boolean[]>([])
  const hidden = useRef(more)
  hidden.current = more
  useLayoutEffect(() => {
    const { current } = element
    if (!unseen || !current) return
    const remove = unseen.add(() => {
      seen.current = seenLines(current, seen.current)
      return hidden.current + seen.current.filter((each) => !each).length
    })
    const observer = new ResizeObserver(unseen.count)
    observer.observe(current)
    return () => {
      observer.disconnect()
      remove()
    }
  }, [unseen, element])
  // A change of `more` must be counted, too.
  useLayoutEffect(() => void unseen?.count(), [unseen, more])
}

/** Counts lines that cannot be on the screen: of a text that is not read yet, or cannot be shown. */
export function useHiddenLines(lines: number): void {
  const unseen = useContext(Context)
  useLayoutEffect(() => unseen?.add(() => lines), [unseen, lines])
}

/** Adds the lines of an element that are on the screen now to those that were. */
function seenLines(element: HTMLElement, before: readonly boolean[]): readonly boolean[] {
  const { top, height } = element.getBoundingClientRect()
  const lineHeight = Number.parseFloat(getComputedStyle(element).lineHeight) || 20
  const lines = Math.max(1, Math.round(height / lineHeight))
  const each = height / lines
  const [from, to] = visibleRange(element)
  const isOn = (at: number) =>
    height > 0 && top + (at + 0.25) * each >= from && top + (at + 0.75) * each <= to
  return Array.from({ length: lines }, (_, at) => was(before, at / lines, (at + 1) / lines) || isOn(at))
}

/** Whether a part of a text was seen, when it had another number of lines. */
function was(before: readonly boolean[], from: number, to: number): boolean {
  const [first, end] = [Math.floor(from * before.length + 1e-6), Math.ceil(to * before.length - 1e-6)]
  return before.length > 0 && before.slice(first, end).every(Boolean)
}

/** The rows of pixels in which an element can be seen: what all elements around it and the window leave of it. */
function visibleRange(element: HTMLElement): readonly [number, number] {
  if (document.visibilityState !== 'visible') return [0, 0]
  let [from, to] = [0, innerHeight]
  for (let around = element.parentElement; around; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible') continue
    const { top, bottom } = around.getBoundingClientRect()
    from = Math.max(from, top)
    to = Math.min(to, bottom)
  }
  return [from, to]
}
