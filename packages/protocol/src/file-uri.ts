import type { Uri } from './channel.ts'
import { limits } from './limits.ts'

export type FilePath =
  | { readonly ok: true; readonly path: string }
  /** The reason why the URI names no file, as a sentence for users. */
  | { readonly ok: false; readonly problem: string }

/** The URI of an absolute path. All characters but the unreserved ones are encoded, as editors do. */
export function fileUri(path: string): Uri {
  return `file://${path.split('/').map(encoded).join('/')}`
}

/**
 * The path that a URI names (S-28): absolute, with single slashes, without `.` and `..`, and without a slash at the
 * end. An ambiguous URI is refused and never repaired. With `windows`, a path begins with a drive: `/C:/Users`.
 */
export function pathOf(uri: Uri, windows = false): FilePath {
  // Some programs strip these characters and so read a different URI.
  if (/[\u0000-\u0020\u007f]/.test(uri)) return bad('has a space or control character that is not encoded')
  const [, scheme, authority, written = ''] = /^([^:/?#]*):(?:\/\/([^/?#]*))?(.*)$/s.exec(uri) ?? []
  if (scheme?.toLowerCase() !== 'file') return bad('is not a file: URI')
  if (authority !== undefined && !/^(localhost)?$/i.test(authority)) return bad('names another machine')
  if (/[?#]/.test(written)) return bad('has a query or a fragment')
  if (!written.startsWith('/')) return bad('is not absolute')
  if (/%2f/i.test(written)) return bad('has an encoded slash')
  const decoded = decodedOnce(written)
  if (decoded === undefined) return bad('is not properly encoded')
  const names = decoded.slice(1).split('/')
  if (names.at(-1) === '') names.pop()
  const path = `/${names.join('/')}`
  if (new TextEncoder().encode(path).length > limits.pathBytes)
    return bad(`is longer than ${limits.pathBytes} bytes`)
  const problem = nameProblem(names) ?? (windows ? windowsProblem(names) : driveProblem(names))
  return problem === undefined ? { ok: true, path } : bad(problem)
}

const bad = (problem: string): FilePath => ({ ok: false, problem: `The URI ${problem}.` })

function encoded(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Decodes percent escapes once. Returns `undefined` for a malformed escape or for bytes that are not UTF-8. */
function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function nameProblem(names: readonly string[]): string | undefined {
  if (names.includes('')) return 'has an empty name in its path'
  if (names.some((name) => name === '.' || name === '..')) return 'has a name that is . or ..'
  const path = names.join('/')
  if (/[\0\p{Surrogate}]/u.test(path)) return 'has a character that no file name may contain'
  // Bidirectional controls make one name look like another.
  if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(path)) return 'has a bidirectional control'
  return path.includes('\\') ? 'has a backslash' : undefined
}

/** Refuses a path that begins with a drive, on systems other than Windows: the path would name a directory `C:`. */
function driveProblem([first = '']: readonly string[]): string | undefined {
  return /^[A-Za-z][:|]/.test(first) ? 'begins with a drive' : undefined
}

function windowsProblem([drive = '', ...names]: readonly string[]): string | undefined {
  if (!/^[A-Za-z]:$/.test(drive)) return 'does not begin with a drive'
  // A colon in a name opens an alternate data stream of the file.
  if (names.some((name) => /[:<>"|?*\u0000-\u001f]/.test(name)))
    return 'has a character that no file name may contain'
  if (names.some((name) => /[. ]$/.test(name))) return 'has a name that ends with a dot or a space'
  return names.some((name) => device.test(name)) ? 'names a device' : undefined
}

const device = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|$)/i
