import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The ids of the objects in the packs of a store. A pack never changes, so the index of each is read once. */
export class OwnObjects {
  readonly #folder: string
  readonly #packs = new Map<string, ReadonlySet<string>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Returns a function that tells whether an object was stored at the time of this call. */
  async known(hashLength: number): Promise<(hash: string) => boolean> {
    const sets = await this.#sets(hashLength)
    return (hash) => sets.some((set) => set.has(hash))
  }

  /** Returns the ids of all objects. */
  async names(hashLength: number): Promise<readonly string[]> {
    return (await this.#sets(hashLength)).flatMap((set) => [...set])
  }

  async #sets(hashLength: number): Promise<readonly ReadonlySet<string>[]> {
    const names = await this.packs()
    for (const name of this.#packs.keys()) if (!names.includes(name)) this.#packs.delete(name)
    for (const name of names)
      if (!this.#packs.has(name))
        this.#packs.set(name, namesIn(await readFile(join(this.#folder, `${name}.idx`)), hashLength))
    return [...this.#packs.values()]
  }

  /** Returns the names of the packs, without their endings. */
  async packs(): Promise<readonly string[]> {
    const files = await readdir(this.#folder)
    return files.filter((name) => name.endsWith('.idx')).map((name) => name.slice(0, -'.idx'.length))
  }

  /** Returns the size of all packs and their indexes, in bytes. */
  async bytes(): Promise<number> {
    const files = await readdir(this.#folder)
    const sizes = await Promise.all(files.map(async (name) => (await stat(join(this.#folder, name))).size))
    return sizes.reduce((sum, size) => sum + size, 0)
  }
}

/**
 * Returns the object names in the index of a pack. An index of version 2 has a header, a table of 256 counts, and then for each object
 * its name and at least 8 bytes. Git does not use a damaged index, so its objects count as missing: they are stored again when a capture
 * has them.
 */
function namesIn(index: Buffer, hashLength: number): ReadonlySet<string> {
  const names = new Set<string>()
  const from = 8 + 256 * 4
  const count = index.length < from ? 0 : index.readUInt32BE(from - 4)
  if (index.length < from + count * (hashLength + 8) + 2 * hashLength) return names
  for (let i = 0; i < count; i++)
    names.add(index.toString('hex', from + i * hashLength, from + (i + 1) * hashLength))
  return names
}
