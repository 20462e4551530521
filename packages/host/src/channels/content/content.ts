import { catalogOf } from '../../catalog/catalog.ts'
import { contentRetentionOf } from '../../catalog/content-retention.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ContentRef } from '@atrium/protocol/common/content'
import type { Core } from '../../kernel/core.ts'
import { parseCapturedUri } from './captured-uri.ts'

/** The URI of content that a session stores outside its state, by hash. The content is deleted with the session. */
export function contentUri(session: Uri, hash: string): Uri {
  return `${scheme}${hash}?${encodeURIComponent(session)}`
}

/**
 * Returns a reference whose URI ends with the name of a file. Clients show the last segment of a path as the name of
 * the content. The name has no other meaning.
 */
export function named(content: ContentRef, file: Uri): ContentRef {
  const name = /[^/?#]{1,200}$/.exec(file)?.[0]
  return name === undefined ? content : { ...content, uri: content.uri.replace('?', () => `/${name}?`) }
}

/** Removes the name of a file from the URI of content. */
export function unnamed(uri: Uri): Uri {
  return uri.replace(/^([^/]*\/[0-9a-f]{64})\/[^/?]*\?/, '$1?')
}

export function isContent(uri: Uri): boolean {
  return uri.startsWith(scheme)
}

export async function readContent(core: Core, uri: Uri): Promise<Uint8Array | undefined> {
  const captured = parseCapturedUri(uri)
  if (captured)
    return catalogOf(core).get(captured.session) ? changesOf(core)?.read(captured.content) : undefined
  const [, hash, session] = /^[^/]*\/([0-9a-f]{64})(?:\/[^/?]*)?\?(.+)$/.exec(uri) ?? []
  const name = session === undefined ? undefined : decoded(session)
  if (hash === undefined || name === undefined) return undefined
  // The session may be gone while a chat that moved away from it still needs the content.
  if (!catalogOf(core).get(name) && !contentRetentionOf(core).isRetained(name)) return undefined
  return core.store.blobs.get(name, hash)
}

/** Stores bytes durably and returns a reference to them. */
export async function keepBytes(
  core: Core,
  session: Uri,
  bytes: Uint8Array,
  contentType: string,
): Promise<ContentRef> {
  const hash = await core.store.blobs.put(session, bytes)
  return { uri: contentUri(session, hash), sizeHint: bytes.length, contentType }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const scheme = 'ahp-content:/'
