import { useEffect, useState } from 'preact/hooks'

const steps: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [60, 'second'],
  [3600, 'minute'],
  [86_400, 'hour'],
  [7 * 86_400, 'day'],
]
const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' })
// Making a format takes much longer than using it.
const wholeFormat = new Intl.DateTimeFormat('en', { dateStyle: 'short', timeStyle: 'medium' })

/** A moment in words: "now", "5 min. ago", and the date after a week. */
export function agoOf(moment: string, now: number): string {
  const at = Date.parse(moment)
  if (Number.isNaN(at)) return ''
  const seconds = Math.round((at - now) / 1000)
  if (Math.abs(seconds) < 45) return 'now'
  let size = 1
  for (const [until, unit] of steps) {
    if (Math.abs(seconds) < until) return format.format(Math.round(seconds / size), unit)
    size = until === 7 * 86_400 ? size : until
  }
  return new Date(at).toLocaleDateString('en', { month: 'short', day: 'numeric' })
}

/** The date and the time of a moment. */
function wholeOf(moment: string): string {
  const at = Date.parse(moment)
  return Number.isNaN(at) ? '' : wholeFormat.format(at)
}

/** A moment in words, which stays right while it is shown. */
export function Ago({ moment }: { readonly moment: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={moment} title={wholeOf(moment)}>
      {agoOf(moment, now)}
    </time>
  )
}
