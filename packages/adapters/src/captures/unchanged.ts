import { createHash } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Capture } from '@atrium/host/ports/captures'
import type { Place } from './place.ts'

/** The names, sizes and times of all files in a small folder, at one moment. */
export interface Look {
  /** A hash of these names, sizes and times. */
  readonly hash: string
  /**
   * Whether every later change of a file changes the hash. This is true if no file is so new that it could change again within
   * the same tick of the clock.
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
    return last?.look.hash === look.hash && last.capture.id === id ? { ...last.capture, bytes: 0 } : undefined
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
  const before = BigInt(Date.now() - tickMs) * 1_000_000n
  const hash = createHash('sha256').update(`${JSON.stringify(place)}\n${outside}\n`)
  let settled = true
  let count = 0
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
      const info = lstatSync(join(place.directory, path), { bigint: true, throwIfNoEntry: false })
      if (!info) return undefined
      hash.update(`${path}\0${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs} ${info.mode}\n`)
      if (info.mtimeNs > before || info.ctimeNs > before) settled = false
      if (info.isDirectory()) folders.push(`${path}/`)
    }
    // Yields to the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { hash: hash.digest('hex'), settled }
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
