import { createHash } from 'node:crypto'
import type { PackedObject } from './pack-file.ts'

/**
 * Joins small contents into a larger one, and stores each small content as a part of it. The larger content takes about three
 * quarters of the space that the small ones take if each is compressed alone. Git reads such a pack like any other.
 */
export function together(
  objects: readonly PackedObject[],
  format: 'sha1' | 'sha256',
): readonly PackedObject[] {
  const groups: PackedObject[][] = []
  let bytes = mostBytes
  for (const object of objects.filter(isSmall)) {
    if (bytes + object.data.length > mostBytes) {
      groups.push([])
      bytes = 0
    }
    groups.at(-1)?.push(object)
    bytes += object.data.length
  }
  const made = groups.filter(({ length }) => length > 1).flatMap((group) => wholeAndParts(group, format))
  const parts = new Set(made.map(({ hash }) => hash))
  return [...made, ...objects.filter(({ hash }) => !parts.has(hash))]
}

function wholeAndParts(group: readonly PackedObject[], format: 'sha1' | 'sha256'): readonly PackedObject[] {
  const data = Buffer.concat(group.map((object) => object.data))
  const hash = createHash(format).update(`blob ${data.length}\0`).update(data).digest('hex')
  let from = 0
  const parts = group.map((object): PackedObject => {
    const part = { type: object.type, hash: object.hash, data: object.data, like: { hash, data, from } }
    from += object.data.length
    return part
  })
  return [{ type: 'blob', hash, data }, ...parts]
}

/**
 * Tells whether a content is small enough to be joined with others. Joining helps only within the 32 KiB that a
 * compressor looks back, so a larger content is better stored as a delta of its earlier version.
 */
function isSmall({ type, data }: PackedObject): boolean {
  return type === 'blob' && data.length >= 64 && data.length <= 12 * 1024
}

/** The maximum size of a joined content, in bytes. Git reads the whole joined content to read one part. */
const mostBytes = 256 * 1024
