import type { Step } from '@atrium/host/ports/log'

/** By UTF-16 units: an order that every store has for free. */
export const byCode = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** JSON and ids never hold a NUL, and SQLite's binding would cut the text there without a word. */
export function refuseNul(...texts: readonly (string | undefined)[]): void {
  if (texts.some((text) => text?.includes('\0'))) throw new Error('a stored text may not hold a NUL')
}

export function refuseNulIn({ created, envelopes, rows, heads, dropped }: Step): void {
  for (const { channel, kind, state } of created) refuseNul(channel, kind, state)
  for (const { channel, action } of envelopes) refuseNul(channel, action)
  for (const { channel, id, text } of rows) refuseNul(channel, id, text)
  for (const { channel, state } of heads) refuseNul(channel, state)
  for (const { channel } of dropped) refuseNul(channel)
}
