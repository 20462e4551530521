import { readFileSync } from 'node:fs'

/** The `package.json` of this package. The relative path is the same from `src` and from `dist`. */
const path = new URL('../../package.json', import.meta.url)

// The file belongs to this package, so its shape is known.
export const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }
