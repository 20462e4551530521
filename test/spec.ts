import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const spec = readFileSync(fileURLToPath(new URL('../SPEC.md', import.meta.url)), 'utf8')

/** A rule of SPEC.md (`H9`) or one of its numbered sub-rules (`H9.3`), with its own text. */
export interface SpecItem {
  readonly id: string
  readonly text: string
}

/** The rules of SPEC.md and their sub-rules. Line breaks within a rule do not matter. */
export function specItems(): readonly SpecItem[] {
  const found: { readonly id: string; text: string }[] = []
  let rule = ''
  for (const line of spec.split('\n')) {
    const [, title] = /^- \*\*([A-Z]-?\d+\w*)/.exec(line) ?? []
    const [, number] = /^ {2}(\d+)\. /.exec(line) ?? []
    const last = found.at(-1)
    if (title !== undefined) rule = title
    else if (!line.startsWith('  ')) rule = ''
    if (rule === '') continue
    if (title !== undefined || number !== undefined)
      found.push({ id: title ?? `${rule}.${number}`, text: line.trim() })
    else if (last) last.text += ` ${line.trim()}`
  }
  return found
}
