import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './files.ts'

/** The pages of the spec: those of docs/spec, and the rules of the commands of proof. */
export const specPages: readonly string[] = [
  ...readdirSync(join(root, 'docs/spec')).map((name) => `docs/spec/${name}`),
  'proof/README.md',
]

export const spec = specPages.map((path) => readFileSync(join(root, path), 'utf8')).join('\n')

/** A rule of the spec (`H9`) or one of its numbered sub-rules (`H9.3`), with its own text. */
export interface SpecItem {
  readonly page: string
  readonly id: string
  readonly text: string
}

/** The rules of the spec and their sub-rules. Line breaks within a rule do not matter. */
export function specItems(): readonly SpecItem[] {
  return specPages.flatMap(itemsOf)
}

function itemsOf(page: string): readonly SpecItem[] {
  const found: { readonly page: string; readonly id: string; text: string }[] = []
  let rule = ''
  for (const line of readFileSync(join(root, page), 'utf8').split('\n')) {
    const [, title] = /^- \*\*([A-Z]-?\d+\w*)/.exec(line) ?? []
    const [, number] = /^ {2}(\d+)\. /.exec(line) ?? []
    const last = found.at(-1)
    if (title !== undefined) rule = title
    else if (!line.startsWith('  ')) rule = ''
    if (rule === '') continue
    if (title !== undefined || number !== undefined)
      found.push({ page, id: title ?? `${rule}.${number}`, text: line.trim() })
    else if (last) last.text += ` ${line.trim()}`
  }
  return found
}
