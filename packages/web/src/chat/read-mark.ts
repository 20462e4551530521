import { useEffect } from 'preact/hooks'
import { useShown } from '../ui/shown.ts'

/** Marks something as read while a person looks at it, and not in a tab or a session that nobody sees. */
export function useReadMark(unread: boolean, mark: () => void): void {
  const shown = useShown()
  useEffect(() => {
    if (!unread || !shown) return
    const look = () => {
      if (document.visibilityState === 'visible') mark()
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [unread, shown])
}
