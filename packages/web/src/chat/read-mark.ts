import { useEffect } from 'preact/hooks'

/** Marks something as read while a person looks at the page, and not in a tab that nobody sees. */
export function useReadMark(unread: boolean, mark: () => void): void {
  useEffect(() => {
    if (!unread) return
    const look = () => {
      if (document.visibilityState === 'visible') mark()
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [unread])
}
