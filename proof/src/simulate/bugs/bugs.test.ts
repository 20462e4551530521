import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { clientBugs } from '../../clients/bugs.ts'
import { patched } from '../../plant/patch.ts'
import { bugs } from './bugs.ts'

const packages = fileURLToPath(new URL('../../../../packages', import.meta.url))

test('[B1] the place of every planted bug occurs once in the built file', () => {
  for (const { name, patches } of [...bugs, ...clientBugs]) {
    const files = new Map(patches.map(({ file }) => [file, readFileSync(join(packages, file), 'utf8')]))
    for (const [file, text] of files) expect(() => patched(`/${file}`, text, patches), name).not.toThrow()
  }
})
