import { FileError } from '@atrium/host/ports/files'
import type { FileReason } from '@atrium/host/ports/files'

/** Says nothing of where it leads: whoever asks may not know that. */
export const outside = () => new FileError('outside', 'This is not in a directory that may be used.')

export const missing = () => new FileError('missing', 'There is nothing of that name.')

export const exists = () => new FileError('exists', 'Something of that name is there already.')

export const changed = () => new FileError('changed', 'It was changed in the meantime.')

export const unfit = (message: string) => new FileError('unfit', message)

/** What the system says, in words for people. Its own message names paths, and so goes nowhere. */
export function problemOf(error: unknown): unknown {
  const code = codeOf(error)
  // Whatever is no answer of the system is a fault of ours, and not for people.
  if (code === undefined || !('syscall' in (error as object))) return error
  const [reason, message] = answers[code] ?? ['refused', `The system could not do it (${code}).`]
  return new FileError(reason, message)
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
}

const notAllowed = ['refused', 'The system does not allow it.'] as const
const noSpace = ['refused', 'There is no space left on the disk.'] as const
const tooMany = ['refused', 'Too many files are open at the moment.'] as const

const answers: { readonly [code: string]: readonly [FileReason, string] } = {
  ENOENT: ['missing', missing().message],
  ENOTDIR: ['missing', missing().message],
  EEXIST: ['exists', exists().message],
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: ['refused', 'The disk can only be read.'],
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  EMFILE: tooMany,
  ENFILE: tooMany,
  EFBIG: ['refused', 'The file would be too large for the system.'],
  EBUSY: ['refused', 'The system needs it at the moment.'],
  ELOOP: ['unfit', 'Links lead in a circle.'],
  ENAMETOOLONG: ['unfit', 'The name is too long.'],
  EISDIR: ['unfit', 'It is a directory.'],
  ENOTEMPTY: ['unfit', 'The directory is not empty.'],
  EINVAL: ['unfit', 'This cannot be done with it.'],
  ENXIO: ['unfit', 'It is not a regular file.'],
}
