import { FileError } from '@atrium/host/ports/files'
import type { FileReason } from '@atrium/host/ports/files'
import { codeOf } from '../process/error-code.ts'

/**
 * The error for a path outside the roots. It does not tell where a link leads, because the caller may not be allowed
 * to know.
 */
export const outside = () => new FileError('outside', 'This is not in a directory that may be used.')

export const missing = () => new FileError('missing', 'There is no file or directory of that name.')

export const exists = () => new FileError('exists', 'A file or directory of that name exists already.')

export const changed = () => new FileError('changed', 'The file was changed in the meantime.')

export const unfit = (message: string) => new FileError('unfit', message)

export const isADirectory = () => unfit('It is a directory.')

export const notRegular = () => unfit('It is not a regular file.')

/** Translates a system error. The system's own message is dropped, because it contains paths. */
export function fileErrorOf(error: unknown): unknown {
  const code = codeOf(error)
  // An error that no system call raised is a bug in this program, and stays as it is.
  if (code === undefined || !(error instanceof Error && 'syscall' in error)) return error
  const [reason, message] = translations[code] ?? ['refused', `The system refused it (${code}).`]
  return new FileError(reason, message)
}

const notAllowed = ['refused', 'The system does not allow it.'] as const
const noSpace = ['refused', 'There is no space left on the disk.'] as const
const tooMany = ['refused', 'Too many files are open; try again later.'] as const

const translations: { readonly [code: string]: readonly [FileReason, string] } = {
  ENOENT: ['missing', missing().message],
  ENOTDIR: ['missing', missing().message],
  EEXIST: ['exists', exists().message],
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: ['refused', 'The file system is read-only.'],
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  EMFILE: tooMany,
  ENFILE: tooMany,
  EFBIG: ['refused', 'The file would be too large for the system.'],
  EBUSY: ['refused', 'The system is using it; try again later.'],
  ELOOP: ['unfit', 'The links form a loop.'],
  ENAMETOOLONG: ['unfit', 'The name is too long.'],
  EISDIR: ['unfit', isADirectory().message],
  ENOTEMPTY: ['unfit', 'The directory is not empty.'],
  EINVAL: ['unfit', 'The system cannot do this with it.'],
  ENXIO: ['unfit', notRegular().message],
}
