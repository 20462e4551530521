import type { ShadowGitDir } from './shadow-git-dir.ts'

/** Returns the tracked files that exist in the working tree, at most `most`. */
export async function trackedFiles(shadow: ShadowGitDir, most: number): Promise<readonly string[]> {
  const found = new Set<string>()
  const records = new NulRecords((record) => {
    // A record is `H 100644 <hash> 0<tab>path`. If the file is missing, a second record with the tag R follows.
    const tab = record.indexOf('\t')
    const path = record.slice(tab + 1)
    const [tag, mode] = record.slice(0, tab).split(' ')
    if (tag === 'R') found.delete(path)
    else if (tag !== 'S' && mode !== submodule) {
      // The set may hold one file more than wanted: the next record may remove the last file.
      if (found.size > most) return true
      found.add(path)
    }
    return false
  })
  await shadow.run(['ls-files', '-z', '-t', '--stage', '--cached', '--deleted'], (output) =>
    records.push(output),
  )
  return [...found].slice(0, most)
}

/** Returns the paths of files that git neither tracks nor ignores. `most`: the maximum number of paths. */
export async function untrackedFiles(shadow: ShadowGitDir, most: number): Promise<readonly string[]> {
  const found: string[] = []
  const records = new NulRecords((record) => {
    // A record for a directory is skipped. Git lists a directory only if it is a nested repository, and does not list the
    // files in it.
    if (!record.endsWith('/')) found.push(record)
    return found.length >= most
  })
  await shadow.run(['ls-files', '-z', '--others', '--exclude-standard'], (output) => records.push(output))
  return found.slice(0, most)
}

/** Splits chunks of output into records that end with NUL. */
class NulRecords {
  readonly #onRecord: (record: string) => boolean
  #rest: Buffer = Buffer.alloc(0)

  /** `onRecord` returns true when no more records are wanted. */
  constructor(onRecord: (record: string) => boolean) {
    this.#onRecord = onRecord
  }

  /** Returns true when no more records are wanted. */
  push(output: Buffer): boolean {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, output]) : output
    let from = 0
    for (let at = all.indexOf(0); at >= 0; at = all.indexOf(0, from)) {
      if (this.#onRecord(all.toString('utf8', from, at))) return true
      from = at + 1
    }
    this.#rest = all.subarray(from)
    return false
  }
}

/** The mode of a submodule in the index. */
const submodule = '160000'
