import type { Step } from '@atrium/host/ports/log'

/** Compares two texts by UTF-16 code units, as the operator `<` of JavaScript does. */
export const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/**
 * Throws if a text contains NUL, because SQLite's binding would silently cut the text there. JSON and ids never contain NUL.
 */
export function refuseNul(...texts: readonly (string | undefined)[]): void {
  if (texts.some((text) => text?.includes('\0'))) throw new Error('a stored text must not contain NUL')
}

export function refuseNulIn({ created, envelopes, rows, heads, dropped }: Step): void {
  for (const { channel, kind, state } of created) refuseNul(channel, kind, state)
  for (const { channel, action } of envelopes) refuseNul(channel, action)
  for (const { channel, id, text } of rows) refuseNul(channel, id, text)
  for (const { channel, state } of heads) refuseNul(channel, state)
  for (const { channel } of dropped) refuseNul(channel)
}
