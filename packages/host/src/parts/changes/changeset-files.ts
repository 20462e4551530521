import type { Uri } from '@atrium/protocol/channel'
import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import type { FileEditSide } from '@atrium/protocol/common/content'
import { fileUri } from '@atrium/protocol/file-uri'
import { compact } from '@atrium/protocol/update'
import { capturedUri } from '../../channels/content/captured-uri.ts'
import type { ReviewedHunk } from './extensions.ts'
import { equal } from '../../kernel/log/equal.ts'
import type { CapturedChange, CapturedFile } from '../../ports/captures.ts'

/** Where the files of a changeset are. */
export interface Place {
  readonly session: Uri
  readonly directory: string
  /** Whether the file after the change is read from the disk, and not from a capture. */
  readonly live: boolean
}

/**
 * Makes the file of a changeset from a difference between two captures. It has the URIs of the contents, which
 * clients read when they need them.
 */
export function changesetFile(place: Place, change: CapturedChange, more: object = {}): ChangesetFile {
  const { path, oldPath = path, before, after, added, removed, binary } = change
  const uri = fileUri(`${place.directory}/${path}`)
  const oldUri = fileUri(`${place.directory}/${oldPath}`)
  const counted = added !== undefined || removed !== undefined
  const about = compact<object>({
    binary: binary || undefined,
    modes:
      before && after && before.mode !== after.mode ? { before: before.mode, after: after.mode } : undefined,
    omitted: after?.omitted ?? before?.omitted,
    ...more,
  })
  return compact<ChangesetFile>({
    id: uri,
    edit: {
      ...(before && { before: side(place, oldUri, before) }),
      ...(after && { after: place.live ? liveSide(uri, after) : side(place, uri, after) }),
      ...(counted && { diff: compact<object>({ added, removed }) }),
    },
    _meta: Object.keys(about).length === 0 ? undefined : { 'x-atrium': about },
  })
}

function side({ session }: Place, uri: Uri, { content, size }: CapturedFile): FileEditSide {
  return { uri, content: { uri: capturedUri(session, content, uri), sizeHint: size } }
}

function liveSide(uri: Uri, { size, content }: CapturedFile): FileEditSide {
  return { uri, content: { uri, sizeHint: size, nonce: content } }
}

/** The hunks that a file was published with. */
export function hunksIn({ _meta }: ChangesetFile): readonly ReviewedHunk[] {
  const about = _meta?.['x-atrium']
  if (typeof about !== 'object' || about === null || !('hunks' in about)) return []
  // Only the host writes this member: clients have no action that sets the files of a changeset.
  return about.hunks as readonly ReviewedHunk[]
}

/**
 * Whether a client has marked a file as reviewed, or as not reviewed, since the file was published. The host
 * publishes a file with hunks as reviewed if all of its hunks are reviewed. A different mark must come from a client.
 */
export function isMarkedSince(file: ChangesetFile): boolean {
  const hunks = hunksIn(file)
  return hunks.length > 0 && file.reviewed !== hunks.every(({ reviewed }) => reviewed)
}

/**
 * Returns the computed files with the review marks of the files that clients see (`before`). A file that changed
 * loses its mark, because it must be reviewed again. A file that a client has marked during the computation stays as
 * clients see it; the next computation uses that mark. `since` contains the files that clients saw when the
 * computation began.
 */
export function withReviews(
  files: readonly ChangesetFile[],
  before: readonly ChangesetFile[],
  since: readonly ChangesetFile[] = before,
): readonly ChangesetFile[] {
  const known = new Map(before.map((file) => [file.id, file]))
  const seen = new Set(since)
  return files.map((file) => {
    const old = known.get(file.id)
    if (old && isMarkedSince(old) && !seen.has(old)) return old
    const { reviewed, ...same } = old ?? {}
    return reviewed !== undefined && equal(same, file) ? { ...file, reviewed } : file
  })
}
