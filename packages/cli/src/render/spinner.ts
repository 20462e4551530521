const frames = Array.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏')

/** How often a sign that something goes on is drawn. */
export const tickMs = 120

/** That something goes on, and for how long it has. */
export function spinning(doing: string, since: string | undefined, now = Date.now()): string {
  const began = since === undefined ? now : Date.parse(since)
  const frame = frames[Math.floor(now / tickMs) % frames.length] ?? ''
  const seconds = Math.max(0, Math.floor((now - began) / 1000)) || 0
  return `${frame} ${doing} ${seconds} s`
}
