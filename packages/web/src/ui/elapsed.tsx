import { useEffect, useState } from 'preact/hooks'
import { useShown } from './shown.ts'

/** A duration in words: "4 s", "2 min 5 s". */
export function durationOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The time since a moment. It counts up while it is shown. */
export function Elapsed({ since }: { readonly since: string }) {
  const [now, setNow] = useState(Date.now)
  const shown = useShown()
  useEffect(() => {
    if (!shown) return
    const count = () => setNow(Date.now())
    count()
    const timer = setInterval(count, 1000)
    return () => clearInterval(timer)
  }, [shown])
  const start = Date.parse(since)
  return Number.isNaN(start) ? null : <span class="elapsed">{durationOf(now - start)}</span>
}
