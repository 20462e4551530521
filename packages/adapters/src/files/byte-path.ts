import { Buffer, isUtf8 } from 'node:buffer'

/**
 * An absolute path, or a name in one, with one character for each byte (latin1). File names need not be UTF-8, and two
 * names that differ in one invalid byte must stay different. Names are separated by single slashes; the top is `/`.
 */
export type BytePath = string

export const bytePathOf = (text: string): BytePath => Buffer.from(text, 'utf8').toString('latin1')

/**
 * Returns the path as text. Returns undefined if the bytes are not UTF-8: such a file has no name in the protocol.
 */
export function textOf(path: BytePath): string | undefined {
  const bytes = Buffer.from(path, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/**
 * Returns the path in the form that system calls take. On Windows, the slash that `BytePath` has before a drive
 * letter is removed.
 */
export function systemPath(path: BytePath): Buffer {
  const drive = process.platform === 'win32' && /^\/[A-Za-z]:/.test(path)
  return Buffer.from(drive ? path.slice(1) : path, 'latin1')
}

export function bytePathFromSystem(systemBytes: Buffer): BytePath {
  const path = systemBytes.toString('latin1')
  if (process.platform !== 'win32') return path
  return path
    .replace(/^\\\\\?\\/, '')
    .replaceAll('\\', '/')
    .replace(/^(?=[A-Za-z]:)/, '/')
}

/**
 * Tells whether a path is a directory or inside it. Whole names are compared: `/root2` is not inside `/root`. A path
 * that does not start with `/` (a pipe, an unreachable mount) is inside nothing.
 */
export function isInside(path: BytePath, root: BytePath): boolean {
  if (!path.startsWith('/')) return false
  return root === '/' || path === root || path.startsWith(`${root}/`)
}

export const joinPath = (directory: BytePath, name: BytePath): BytePath =>
  directory === '/' ? `/${name}` : `${directory}/${name}`

export const parentOf = (path: BytePath): BytePath => path.slice(0, path.lastIndexOf('/')) || '/'

export const nameOf = (path: BytePath): BytePath => path.slice(path.lastIndexOf('/') + 1)

export const namesOf = (path: BytePath): readonly BytePath[] => path.split('/').filter((name) => name !== '')

/** Parses an absolute path. Returns undefined if the text is not one, or has empty names, `.` or `..`. */
export function parsePath(text: string): BytePath | undefined {
  if (text === '/') return text
  if (!text.startsWith('/') || /\0|\p{Surrogate}/u.test(text)) return undefined
  const names = text.slice(1).split('/')
  return names.some((name) => name === '' || name === '.' || name === '..') ? undefined : bytePathOf(text)
}
