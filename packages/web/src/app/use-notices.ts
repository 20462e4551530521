import { newId } from '@atrium/client/shared/globals'
import { useCallback, useState } from 'preact/hooks'
import type { Notice } from '../ui/notices.tsx'

export interface NoticeBoard {
  readonly notices: readonly Notice[]
  readonly say: (text: string, action?: Notice['action']) => string
  readonly dismiss: (id: string) => void
}

/** How long a notice stays, in milliseconds. */
const shownMs = 8000

/** Short messages of the page. Each goes away by itself. */
export function useNotices(): NoticeBoard {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const dismiss = useCallback((id: string) => setNotices((now) => now.filter((each) => each.id !== id)), [])
  const say = useCallback(
    (text: string, action?: Notice['action']) => {
      const id = newId()
      setNotices((now) => [...now.slice(-3), { id, text, ...(action && { action }) }])
      setTimeout(() => dismiss(id), shownMs)
      return id
    },
    [dismiss],
  )
  return { notices, say, dismiss }
}
