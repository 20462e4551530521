import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { compileFunction } from 'node:vm'
import { patched } from './patch.ts'
import type { Patch } from './patch.ts'

export type Exports = Record<string, unknown>

type Run = (imported: (specifier: string) => Exports, exported: Exports) => void

/**
 * Built modules that are loaded many times in one process, each time with other patches. A new process takes a second to load
 * the host. This runs all modules again, so that nothing is left of the load before, but compiles only those with patches. It
 * works on text, as patches do, and reads the imports and exports in the form in which the compiler writes them. Our modules
 * import each other without circles.
 */
export class Modules {
  readonly #entry: string
  readonly #require: NodeJS.Require
  readonly #compiled = new Map<string, Run>()

  /** `entry`: the path of a built module. */
  constructor(entry: string) {
    this.#entry = entry
    this.#require = createRequire(entry)
  }

  /** Loads the modules with these patches. Returns the exports of the entry. */
  load(patches: readonly Patch[]): Exports {
    const loaded = new Map<string, Exports>()
    const load = (path: string): Exports => {
      const known = loaded.get(path)
      if (known) return known
      const exported: Exports = {}
      const imported = (specifier: string): Exports => {
        const file = this.#fileOf(specifier, path)
        // What `require` returns has no type. Imports of packages and of Node are objects.
        return file === undefined ? (this.#require(specifier) as Exports) : load(file)
      }
      this.#compile(path, patches)(imported, exported)
      loaded.set(path, exported)
      return exported
    }
    const exports = load(this.#entry)
    const left = patches.find(({ file }) => ![...loaded.keys()].some((path) => path.endsWith(`/${file}`)))
    if (left) throw new Error(`${this.#entry} does not load ${left.file}`)
    return exports
  }

  /** A module of ours as a function. It is compiled once if it has no patches. */
  #compile(path: string, patches: readonly Patch[]): Run {
    const isPatched = patches.some(({ file }) => path.endsWith(`/${file}`))
    const known = isPatched ? undefined : this.#compiled.get(path)
    if (known) return known
    const text = functionOf(path, patched(path, readFileSync(path, 'utf8'), patches))
    // The function has these two parameters.
    const run = compileFunction(text, ['$import', '$exports'], { filename: path }) as Run
    if (!isPatched) this.#compiled.set(path, run)
    return run
  }

  /** The path of a module of ours. Nothing if the specifier names a package of somebody else or a part of Node. */
  #fileOf(specifier: string, from: string): string | undefined {
    if (specifier.startsWith('.')) return resolve(dirname(from), specifier)
    return specifier.startsWith('@atrium/') ? this.#require.resolve(specifier) : undefined
  }
}

/** The text of a module as that of a function with the parameters `$import` and `$exports`. */
function functionOf(path: string, module: string): string {
  const names: string[] = []
  const text = module
    .replace(/^import \* as (\w+) from ('[^']+');$/gm, 'const $1 = $import($2);')
    .replace(
      /^import (\{[^}]*\}) from\s+('[^']+');$/gm,
      (_, list, of) => `const ${fieldsOf(list)} = $import(${of});`,
    )
    .replace(
      /^export (\{[^}]*\}) from\s+('[^']+');$/gm,
      (_, list, of) =>
        `{ const ${fieldsOf(list)} = $import(${of}); Object.assign($exports, { ${localsOf(list)} }); }`,
    )
    .replace(/^export ((?:async )?(?:function\*?|class|const) )([$\w]+)/gm, (_, kind, name) => {
      names.push(name)
      return `${kind}${name}`
    })
    .replace(/^export (const [[{])([$\w\s,]+)/gm, (_, begin, list: string) => {
      names.push(...list.split(',').map((name) => name.trim()))
      return `${begin}${list}`
    })
  const left = /^(?:import|export)\b.*/m.exec(text)
  if (left) throw new Error(`${path} has a line that plant/modules.ts does not read: ${left[0]}`)
  return `'use strict'; ${text}\nObject.assign($exports, { ${names.join(', ')} });`
}

/** `{ a, b as c }` of an import as a pattern: `{ a, b: c }`. */
function fieldsOf(list: string): string {
  return list.replaceAll(' as ', ': ')
}

/** `{ a, b as c }` as the names in the module: `a, c`. */
function localsOf(list: string): string {
  return list.replace(/[{}]/g, '').replace(/[$\w]+ as /g, '')
}
