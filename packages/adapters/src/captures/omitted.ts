/** Why the content of a file is not in a capture. */
export type OmittedKind = 'large' | 'unreadable' | 'repository' | 'name' | 'converted'

/**
 * The mode of the tree entry of a file whose content is not captured. It is that of a submodule, because git does not
 * look for the object that such an entry names. The hash of the entry is not a real hash: it holds the kind, the
 * size, and a fingerprint that changes with the file.
 */
export const omittedMode = '160000'

export interface Omitted {
  readonly kind: OmittedKind
  readonly size: number
}

/**
 * Returns the text that takes the place of the hash of an omitted file. `fingerprint` is in hex, and at least as long
 * as the hash.
 */
export function omittedHash({ kind, size }: Omitted, fingerprint: string, hashLength: number): string {
  const sizeDigits = Math.min(size, Number.MAX_SAFE_INTEGER).toString(16).padStart(14, '0')
  return `${mark}${kinds.indexOf(kind)}${sizeDigits}${fingerprint}`.slice(0, hashLength * 2)
}

/**
 * Returns the kind and size that the hash of an omitted file tells. Returns undefined for a real hash, which names a
 * submodule's commit.
 */
export function omittedOf(hash: string): Omitted | undefined {
  if (!hash.startsWith(mark)) return undefined
  const kind = kinds[Number(hash[mark.length])]
  return kind && { kind, size: Number.parseInt(hash.slice(mark.length + 1, mark.length + 15), 16) }
}

export function omittedReason({ kind, size }: Omitted): string {
  if (kind === 'large') return `It is too large to be recorded: ${sizeText(size)}.`
  return reasons[kind]
}

const reasons = {
  unreadable: 'It cannot be read.',
  repository: 'It is a repository of its own.',
  name: 'Its name is not valid UTF-8, so it can be neither shown nor set back.',
  converted:
    'The repository stores it in another form (by a filter, an encoding or line ends), so it can be neither compared nor set back.',
}

export function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(bytes, 1)) / 10)))
  const value = bytes / 1024 ** power
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[power]}`
}

const kinds: readonly OmittedKind[] = ['large', 'unreadable', 'repository', 'name', 'converted']
/** The beginning of the hashes of omitted files, which are not real hashes: the letters "atrium" in hex. */
const mark = '61747269756d'
