import type { Patch } from '../../plant/patch.ts'

/** A bug to plant on purpose. If the simulation does not find it, the simulation itself is faulty. */
export interface Bug {
  readonly name: string
  readonly patches: readonly Patch[]
  /** The seed from which the bug is searched. The first seed if absent. */
  readonly from?: number
}

/**
 * Returns a bug in one file of the host. `changes` holds pairs: the text to find, and the text to put in its place.
 */
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
