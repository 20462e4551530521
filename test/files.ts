import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The paths of the files below a folder whose names match, without those of installed and built packages. */
export function filesBelow(folder: string, name: RegExp): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory())
      return /^(?:node_modules|dist|\..*)$/.test(entry.name) ? [] : filesBelow(path, name)
    return name.test(entry.name) ? [path] : []
  })
}

/** The text of all tests of the repository. */
export function textOfTests(): string {
  return filesBelow(root, /\.(?:test|contract)\.ts$/)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
}
