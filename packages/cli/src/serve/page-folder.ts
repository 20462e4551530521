import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The folder of the built page. In a checkout it is in the package `@atrium/web`. A published command has a copy beside its
 * bundle. Undefined if the page was not built.
 */
export function pageFolder(): string | undefined {
  const copy = join(dirname(fileURLToPath(import.meta.url)), '..', 'page')
  return [ofPackage(), copy].find((folder) => folder !== undefined && existsSync(join(folder, 'index.html')))
}

function ofPackage(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@atrium/web/package.json')
    return join(dirname(manifest), 'dist', 'page')
  } catch {
    return undefined
  }
}
