import type { StandIn } from './shadow-git-dir.ts'

/** Files that git knows and that are there, at most so many. */
export async function fileList(standIn: StandIn, most: number): Promise<readonly string[]> {
  const found = new Set<string>()
  const records = new Records((record) => {
    // H 100644 <hash> 0<tab>path; then once more with R where it is not there.
    const tab = record.indexOf('\t')
    const path = record.slice(tab + 1)
    const [tag, mode] = record.slice(0, tab).split(' ')
    if (tag === 'R') found.delete(path)
    else if (tag !== 'S' && mode !== submodule) {
      // One more than is wanted: the last may yet be taken back.
      if (found.size > most) return true
      found.add(path)
    }
    return false
  })
  await standIn.run(['ls-files', '-z', '-t', '--stage', '--cached', '--deleted'], (said) =>
    records.take(said),
  )
  return [...found].slice(0, most)
}

/** Files that git neither knows nor ignores, at most so many. */
export async function otherList(standIn: StandIn, most: number): Promise<readonly string[]> {
  const found: string[] = []
  const records = new Records((record) => {
    // A directory is a repository of its own, which git does not look into.
    if (!record.endsWith('/')) found.push(record)
    return found.length >= most
  })
  await standIn.run(['ls-files', '-z', '--others', '--exclude-standard'], (said) => records.take(said))
  return found.slice(0, most)
}

/** Takes bytes as they come, and gives what stands between two NULs. */
class Records {
  readonly #give: (record: string) => boolean
  #rest: Buffer = Buffer.alloc(0)

  /** `give` says whether that is enough. */
  constructor(give: (record: string) => boolean) {
    this.#give = give
  }

  take(said: Buffer): boolean {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, said]) : said
    let from = 0
    for (let at = all.indexOf(0); at >= 0; at = all.indexOf(0, from)) {
      if (this.#give(all.toString('utf8', from, at))) return true
      from = at + 1
    }
    this.#rest = all.subarray(from)
    return false
  }
}

const submodule = '160000'
