import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** A rule of Vite: an import that matches `find` is resolved as `replacement`. */
export interface Alias {
  readonly find: RegExp
  readonly replacement: string
}

/**
 * Aliases that resolve each door of our packages to its source instead of its compiled file, so that tests never run on a stale
 * build. They follow from the export maps: `./dist/a.js` is compiled from `src/a.ts`. The maps themselves name no sources,
 * because a published package has none.
 */
export function sourceAliases(root: string): readonly Alias[] {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const at = join(root, 'packages', folder)
    // The cast names the parts of the file that are read here.
    const { name, exports = {} } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as Manifest
    return Object.entries(exports).map(([door, target]) => {
      const file = typeof target === 'string' ? target : target.default
      const source = file.replace(/^\.\/dist\/(.*)\.js$/, './src/$1.ts')
      return { find: patternOf(`${name}${door.slice(1)}`), replacement: join(at, source).replace('*', '$1') }
    })
  })
}

interface Manifest {
  readonly name: string
  readonly exports?: { readonly [door: string]: string | { readonly default: string } }
}

/** A pattern that matches exactly this specifier. A `*` in it matches any text, which becomes `$1`. */
function patternOf(specifier: string): RegExp {
  const escaped = specifier.replaceAll(/[.+?^${}()|[\]\\/]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replace('*', '(.+)')}$`)
}
