import { withoutOverrides } from '../ui/visible-controls.ts'

const named: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
  ['copy', '©'],
  ['hellip', '…'],
  ['mdash', '—'],
  ['ndash', '–'],
  ['rarr', '→'],
  ['larr', '←'],
  ['times', '×'],
])

/** Replaces character references of Markdown by their characters. The result is shown as text and never as markup. It is
 * never reordered by its own characters. */
export function decoded(text: string): string {
  if (!text.includes('&')) return withoutOverrides(text)
  const all = text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([\dA-Fa-f]{1,6})|([A-Za-z]{2,8}));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return named.get(String(name)) ?? whole
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
    },
  )
  return withoutOverrides(all)
}
