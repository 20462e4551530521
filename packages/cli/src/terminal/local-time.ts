import { onOneLine } from './output.ts'

/**
 * A time of the wire as a person reads it: like 2026-01-31 14:05:59, in the time zone of this machine. A text that is no time
 * stays as it is.
 */
export function localTime(time: string | Date, { seconds = true, zone = false } = {}): string {
  const date = typeof time === 'string' ? new Date(time) : time
  if (Number.isNaN(date.getTime())) return onOneLine(String(time))
  const two = (number: number) => String(number).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  const parts = [date.getHours(), date.getMinutes(), ...(seconds ? [date.getSeconds()] : [])]
  return `${day} ${parts.map(two).join(':')}${zone ? ` ${offsetOf(date)}` : ''}`
}

/** The difference to UTC, like +01:00. */
function offsetOf(date: Date): string {
  const minutes = -date.getTimezoneOffset()
  const two = (number: number) => String(Math.floor(Math.abs(number))).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}
