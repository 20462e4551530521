import { Buffer, isUtf8 } from 'node:buffer'

/**
 * A path as the system has it, a character for each byte: names need not be text, and two that are not must never look
 * alike. Names stand between single slashes; the top is `/`.
 */
export type Raw = string

export const rawOf = (text: string): Raw => Buffer.from(text, 'utf8').toString('latin1')

/** Nothing where it is no text: then nobody can name it. */
export function textOf(raw: Raw): string | undefined {
  const bytes = Buffer.from(raw, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/** What the system is given. A drive stands behind a slash here, so that every absolute path begins alike. */
export function systemPath(raw: Raw): Buffer {
  const drive = process.platform === 'win32' && /^\/[A-Za-z]:/.test(raw)
  return Buffer.from(drive ? raw.slice(1) : raw, 'latin1')
}

export function rawFromSystem(path: Buffer): Raw {
  const raw = path.toString('latin1')
  if (process.platform !== 'win32') return raw
  return raw
    .replace(/^\\\\\?\\/, '')
    .replaceAll('\\', '/')
    .replace(/^(?=[A-Za-z]:)/, '/')
}

/** By names: `/root2` is not in `/root`. What does not begin at the top (a pipe, an unreachable mount) is in nothing. */
export function isInside(path: Raw, root: Raw): boolean {
  if (!path.startsWith('/')) return false
  return root === '/' || path === root || path.startsWith(`${root}/`)
}

export const joined = (folder: Raw, name: Raw): Raw => (folder === '/' ? `/${name}` : `${folder}/${name}`)

export const parentOf = (path: Raw): Raw => path.slice(0, path.lastIndexOf('/')) || '/'

export const nameOf = (path: Raw): Raw => path.slice(path.lastIndexOf('/') + 1)

export const namesOf = (path: Raw): readonly Raw[] => path.split('/').filter((name) => name !== '')

/** An absolute path as the port wants it; nothing for any other text. */
export function plain(path: string): Raw | undefined {
  if (path === '/') return path
  if (!path.startsWith('/') || /\0|\p{Surrogate}/u.test(path)) return undefined
  const names = path.slice(1).split('/')
  return names.some((name) => name === '' || name === '.' || name === '..') ? undefined : rawOf(path)
}
