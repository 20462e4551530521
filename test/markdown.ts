import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The paths of the Markdown files below a folder, without those of installed and built packages. */
export function pagesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(?:node_modules|dist|\..*)$/.test(entry.name) ? [] : pagesBelow(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}
