const frames = Array.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏')

/** The time between two frames. */
export const tickMs = 120

/** Returns the current frame, the activity, and the seconds since its start. */
export function spinner(activity: string, since: string | undefined, now = Date.now()): string {
  const started = since === undefined ? now : Date.parse(since)
  const frame = frames[Math.floor(now / tickMs) % frames.length] ?? ''
  const seconds = Math.max(0, Math.floor((now - started) / 1000)) || 0
  return `${frame} ${activity} ${seconds} s`
}
