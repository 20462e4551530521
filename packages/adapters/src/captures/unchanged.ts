import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Capture } from '@atrium/host/ports/captures'
import { refuseOdd, ruleFiles } from '../git/odd-files.ts'
import type { Place } from './place.ts'

/** The names, sizes and times of all files in a small folder, at one moment. */
export interface Look {
  /** A text for everything outside the folder on which a capture depends. */
  readonly outside: string
  readonly paths: readonly string[]
  /** For each path: five numbers, which tell whether it has changed. They are compared as numbers, because texts take longer. */
  readonly numbers: readonly number[]
  /**
   * Whether every later change of a file changes its numbers. This is true if no file is so new that it could change again
   * within the same tick of the clock.
   */
  readonly settled: boolean
}

/**
 * The last capture of a small folder, and how the folder looked before it. If the folder still looks the same, the capture
 * is used again. No git process is needed for that, so the agent of a turn begins sooner (O25).
 */
export class Unchanged {
  #last: { readonly look: Look; readonly capture: Capture } | undefined
  #isLarge = false

  /**
   * Looks at the names, sizes and times of all files in the folder. A folder that was once too large is not looked at
   * again. `outside`: a text for everything outside the folder on which a capture depends.
   */
  async look(place: Place, outside: string): Promise<Look | undefined> {
    const look = this.#isLarge ? 'large' : await lookAt(place, outside)
    this.#isLarge = look === 'large'
    return look === 'large' ? undefined : look
  }

  /** Returns the last capture if the folder has not changed since. `id`: the id of the newest capture in the store. */
  capture(look: Look, id: string | undefined): Capture | undefined {
    const last = this.#last
    return last && last.capture.id === id && isSame(last.look, look)
      ? { ...last.capture, bytes: 0 }
      : undefined
  }

  remember(look: Look, capture: Capture): void {
    this.#last = look.settled ? { look, capture } : undefined
  }
}

/**
 * Looks at a folder. Returns undefined if the folder is a part of a working tree, or if a file cannot be looked at,
 * because it may have vanished meanwhile.
 */
async function lookAt(place: Place, outside: string): Promise<Look | 'large' | undefined> {
  // A `.gitignore` above this folder may ignore files in it. Its changes would go unnoticed here.
  if (place.prefix !== '') return undefined
  const before = Date.now() - tickMs
  const paths: string[] = []
  const numbers: number[] = []
  let settled = true
  let count = 0
  let looked = 0
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const names = namesIn(join(place.directory, folder))
    count += names?.length ?? 0
    if (count > mostEntries) return 'large'
    if (!names) return undefined
    for (const name of names) {
      const path = `${folder}${name}`
      // `.git` is not looked at. What a capture depends on in it (the index and the list of ignored files) is part of
      // `outside`.
      if (path === '.git') continue
      const info = lstatSync(`${place.directory}/${path}`, { throwIfNoEntry: false })
      if (!info) return undefined
      const { ino, size, mtimeMs, ctimeMs, mode } = info
      paths.push(path)
      numbers.push(ino, size, mtimeMs, ctimeMs, mode)
      if (mtimeMs > before || ctimeMs > before) settled = false
      if (!info.isFile() && ruleFiles.includes(name)) refuseOdd(`${place.directory}/${path}`)
      if (info.isDirectory()) folders.push(`${path}/`)
    }
    if (count - looked < atOnce) continue
    looked = count
    // Yields to the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { outside: `${JSON.stringify(place)}\n${outside}`, paths, numbers, settled }
}

function isSame(a: Look, b: Look): boolean {
  return (
    a.outside === b.outside &&
    a.paths.length === b.paths.length &&
    a.numbers.every((number, i) => number === b.numbers[i]) &&
    a.paths.every((path, i) => path === b.paths[i])
  )
}

/**
 * Returns the names in a folder. Returns undefined if the folder cannot be read, or contains a name that is not valid
 * text.
 */
function namesIn(folder: string): readonly string[] | undefined {
  try {
    const names = readdirSync(folder)
    return names.some((name) => name.includes('\uFFFD')) ? undefined : names
  } catch {
    return undefined
  }
}

/** In ms. Two changes of a file that are further apart than this have different times on every usual file system. */
export const tickMs = 100

/**
 * The largest number of entries in a folder that is looked at. In a larger folder, looking takes about as long as a capture
 * with git.
 */
const mostEntries = 2000

/** The number of entries that are looked at before others get the event loop. They take about a millisecond. */
const atOnce = 250
