import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import type { FileEditSide } from '@atrium/protocol/common/content'
import { parseCapturedUri } from '../../../channels/content/captured-uri.ts'
import type { ReviewedHunk } from '../extensions.ts'
import { CaptureFailed } from '../../../ports/captures.ts'
import type { CapturedFile, Captures } from '../../../ports/captures.ts'
import { hunksOf } from '../hunks/hunks.ts'
import type { Hunk } from '../hunks/hunks.ts'
import { sidesOf } from '../hunks/sides.ts'

/**
 * The hunks of the files of changesets. Computed hunks are remembered by the contents of their file, because a
 * changeset is computed often.
 */
export class FileHunks {
  readonly #captures: Captures
  readonly #known = new Map<string, readonly Hunk[] | undefined>()

  constructor(captures: Captures) {
    this.#captures = captures
  }

  /** The hunks of a file. Undefined if the file is not text, or if the content of a side is not available. */
  async of({ edit, _meta }: ChangesetFile): Promise<readonly Hunk[] | undefined> {
    if (isOmitted(_meta?.['x-atrium'])) return undefined
    const before = edit.before && captured(edit.before)
    const after = edit.after && captured(edit.after)
    const key = JSON.stringify([before?.content, after?.content])
    if (this.#known.has(key)) return this.#known.get(key)
    const hunks = await this.#read({ ...(before && { before }), ...(after && { after }) })
    if (this.#known.size >= mostKnown) this.#known.clear()
    this.#known.set(key, hunks)
    return hunks
  }

  async #read(sides: {
    readonly before?: CapturedFile
    readonly after?: CapturedFile
  }): Promise<readonly Hunk[] | undefined> {
    try {
      const contents = await sidesOf(this.#captures, sides)
      return contents && hunksOf(contents)
    } catch (error) {
      // The contents may be deleted already. The changeset shows the file all the same.
      if (error instanceof CaptureFailed) return undefined
      throw error
    }
  }
}

/** Adds hunks to a file. The mark of the whole file follows from the marks of its hunks. */
export function withHunks(file: ChangesetFile, hunks: readonly ReviewedHunk[]): ChangesetFile {
  const about = { ...asObject(file._meta?.['x-atrium']), hunks }
  return {
    ...file,
    reviewed: hunks.every(({ reviewed }) => reviewed),
    _meta: { ...file._meta, 'x-atrium': about },
  }
}

/**
 * Returns one side of a change as a captured file, in order to read its bytes. The name of its content is the nonce
 * if the URI of the side is that of a file on the disk, and is else in the URI. The mode does not matter here.
 */
function captured({ content: { uri, nonce, sizeHint = 0 } }: FileEditSide): CapturedFile {
  return { content: nonce ?? parseCapturedUri(uri)?.content ?? '', mode: '100644', size: sizeHint }
}

function isOmitted(about: unknown): boolean {
  return 'omitted' in asObject(about)
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

const mostKnown = 500
