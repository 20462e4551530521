import type { Uri } from '@atrium/protocol/channel'

const prefix = 'ahp-content:/captured/'

/** The URI of captured content. It ends with the name of a file, because clients show the last segment of a path as the name. */
export function capturedUri(session: Uri, content: string, file: Uri): Uri {
  const name = /[^/?#]{1,200}$/.exec(file)?.[0] ?? 'file'
  return `${prefix}${encodeURIComponent(content)}/${name}?${encodeURIComponent(session)}`
}

/** The content and the session in the URI of captured content. Undefined if the URI has another form. */
export function parseCapturedUri(uri: Uri): { readonly content: string; readonly session: Uri } | undefined {
  if (!uri.startsWith(prefix)) return undefined
  const [, content, session] = /^([^/?]+)\/[^/?]*\?(.+)$/.exec(uri.slice(prefix.length)) ?? []
  if (content === undefined || session === undefined) return undefined
  try {
    return { content: decodeURIComponent(content), session: decodeURIComponent(session) }
  } catch {
    return undefined
  }
}
