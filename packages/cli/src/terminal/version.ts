import { readFileSync } from 'node:fs'

/** As the package says it, found from `src` and `dist` alike. */
export const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
