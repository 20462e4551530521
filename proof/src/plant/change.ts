import { patched } from './patch.ts'
import type { Patch } from './patch.ts'

// The patches of `ATRIUM_PLANT`, for `packages/cli/scripts/bundle.mjs`.
const patches = JSON.parse(process.env['ATRIUM_PLANT'] ?? '[]') as readonly Patch[]
const left = new Set(patches.map(({ file }) => file))

/** The code of a compiled file with its patches. */
export function change(path: string, code: string): string {
  for (const file of left) if (path.endsWith(`/${file}`)) left.delete(file)
  return patched(path, code, patches)
}

process.on('exit', () => {
  if (left.size === 0) return
  process.stderr.write(`the command does not load ${[...left].join(', ')}\n`)
  process.exitCode = 1
})
