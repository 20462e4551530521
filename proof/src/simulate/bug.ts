import type { Patch } from '../plant/patch.ts'

/** A bug to be planted: if the simulation does not find it, the simulation has one. */
export interface Bug {
  readonly name: string
  readonly patches: readonly Patch[]
}

/** One change to a file of the host, or several: each what stands there, and what shall. */
export function bug(name: string, file: string, ...changes: readonly string[]): Bug {
  return bugIn('host', name, file, changes)
}

export function bugIn(folder: string, name: string, file: string, changes: readonly string[]): Bug {
  const pairs = Array.from({ length: changes.length / 2 }, (_, at) => changes.slice(2 * at, 2 * at + 2))
  return {
    name,
    patches: pairs.map(([find = '', put = '']) => patch(`${folder}/dist/${file}.js`, find, put)),
  }
}

export function patch(file: string, find: string, put: string): Patch {
  return { file, find, put }
}
