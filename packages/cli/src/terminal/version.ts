import { readFileSync } from 'node:fs'

/** The version in our `package.json`. The relative path is the same from `src` and from `dist`. */
export const version = // The file is our own, so its shape is known.
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string })
    .version
