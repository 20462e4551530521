import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Returns a text that changes if anything in a tree of files changes: a name, a type, a content or a time. */
export function fingerprint(path: string): string {
  const { ino, mode, nlink, mtimeNs, ctimeNs, size } = lstatSync(path, { bigint: true })
  const facts = [path, ino, mode, mtimeNs, ctimeNs].join(' ')
  const kind = Number(mode & 0o170000n)
  if (kind === 0o120000) return `${facts} -> ${readlinkSync(path)}\n`
  if (kind === 0o100000) return `${facts} ${size} ${nlink} ${JSON.stringify(readFileSync(path, 'utf8'))}\n`
  if (kind !== 0o040000) return `${facts}\n`
  return `${facts}\n${readdirSync(path)
    .toSorted()
    .map((name) => fingerprint(join(path, name)))
    .join('')}`
}
