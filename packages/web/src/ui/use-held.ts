import { useCallback, useEffect, useRef } from 'preact/hooks'
import type { Notice } from './notices.tsx'

/** Something that a person has decided, and can take back for a while. */
export interface Held {
  /** The sentence that says what happens. */
  readonly text: string
  /** How long it can be taken back, in milliseconds. */
  readonly ms: number
  readonly act: () => void
  readonly undo: () => void
}

/** Holds a decision, with a notice that has a button to take it back. Returns a function that acts at once. */
export type Hold = (held: Held) => () => void

interface Board {
  readonly say: (text: string, action?: Notice['action']) => string
  readonly dismiss: (id: string) => void
}

/**
 * Holds decisions that the host cannot undo, so that a person can. When the page is left, all that are held are done:
 * nobody has taken them back.
 */
export function useHeld({ say, dismiss }: Board): Hold {
  const waiting = useRef(new Set<() => void>())
  useEffect(() => {
    const leave = () => waiting.current.forEach((act) => act())
    addEventListener('pagehide', leave)
    return () => removeEventListener('pagehide', leave)
  }, [])
  return useCallback(
    ({ text, ms, act, undo }) => {
      const end = () => {
        clearTimeout(timer)
        return waiting.current.delete(now)
      }
      const now = () => {
        if (!end()) return
        dismiss(notice)
        act()
      }
      const timer = setTimeout(now, ms)
      waiting.current.add(now)
      const notice = say(text, { label: 'Undo', run: () => end() && undo() })
      return now
    },
    [say, dismiss],
  )
}
