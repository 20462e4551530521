import { catalogOf } from '../../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import { AhpError } from '@atrium/protocol/errors'
import type { ReviewHunksParams, ReviewHunksResult, ReviewedHunk } from '../extensions.ts'
import type { Core } from '../../../kernel/core.ts'
import { unsettledReason } from '../../../kernel/space.ts'
import type { Channel } from '../../../kernel/log/channel.ts'
import type { Captures } from '../../../ports/captures.ts'
import { hunksIn, isMarkedSince } from '../changeset-files.ts'
import type { Computed } from '../changeset-job.ts'
import type { ChangesetScope } from '../../../catalog/changeset-uri.ts'
import type { Hunk } from '../hunks/hunks.ts'
import type { Taking } from '../taking.ts'
import { FileHunks, withHunks } from './file-hunks.ts'
import type { FileMarks, ReviewRecord } from './review-record.ts'

/** The changeset in which something is reviewed. */
interface Reviewed {
  readonly session: Channel<'session'>
  readonly chat?: Channel<'chat'>
  readonly scope: ChangesetScope
}

/** Where the marks are stored. */
interface ReviewRecords {
  reviews(owner: Uri, id: string): Promise<ReviewRecord>
  putReviews(owner: Uri, id: string, record: ReviewRecord): void
}

interface Marking {
  readonly subject: Reviewed
  /** The files as clients see them, with the marks of whole files. */
  readonly shown: readonly ChangesetFile[]
  /** The files as they are now. */
  readonly files: readonly ChangesetFile[]
}

/**
 * Reviews of files hunk by hunk. A mark is kept by the hash of the hunk's text, so that it stays when lines above the hunk come
 * or go. The hunks of a file are computed only after somebody has asked for them once, because most files are never reviewed by
 * hunks.
 */
export class Reviews {
  readonly #core: () => Core
  readonly #taking: Taking
  readonly #records: ReviewRecords
  readonly #hunks: FileHunks

  constructor(
    core: () => Core,
    parts: { readonly captures: Captures; readonly taking: Taking; readonly records: ReviewRecords },
  ) {
    this.#core = core
    this.#taking = parts.taking
    this.#records = parts.records
    this.#hunks = new FileHunks(parts.captures)
  }

  /** Computes a changeset, and adds the hunks of the files that are reviewed by hunks. `before`: the files that clients see. */
  shown(
    subject: Reviewed,
    before: readonly ChangesetFile[],
    compute: () => Promise<Computed>,
  ): Promise<Computed> {
    return this.#taking.hold(async () => {
      await this.#takeOver(subject, before)
      const computed = await compute()
      const marks = await this.#marks(subject)
      if (Object.keys(marks).length === 0) return computed
      const files = computed.files.map(async (file) => {
        const marked = Object.hasOwn(marks, file.id) ? marks[file.id] : undefined
        const hunks = marked && (await this.#hunks.of(file))
        // A file whose mode or name alone has changed has no hunks, and is marked as a whole.
        return marked && hunks?.length && hunks.length <= this.#core().limits.fileHunks
          ? withHunks(file, withMarks(hunks, new Set(marked)))
          : file
      })
      return { ...computed, files: await Promise.all(files) }
    })
  }

  /** Marks hunks of a file. Returns all hunks of the file. */
  async mark({ subject, shown, files }: Marking, params: ReviewHunksParams): Promise<ReviewHunksResult> {
    const { limits } = this.#core()
    const file = files.find(({ id }) => id === params.file)
    if (!file) throw AhpError.invalidParams('x-atrium/reviewHunks: the changeset does not show that file')
    const hunks = await this.#hunks.of(file)
    if (!hunks) throw AhpError.conflict('This file is not text. It can only be reviewed as a whole.')
    if (hunks.length > limits.fileHunks)
      throw AhpError.permissionDenied(
        `The file has more than ${limits.fileHunks} hunks. It can only be reviewed as a whole.`,
      )
    const hashes = new Set(hunks.map(({ hash }) => hash))
    if (!params.hunks.every((hash) => hashes.has(hash)))
      throw AhpError.conflict('The file has changed since it was shown. Look at it again before you mark it.')
    await this.#takeOver(subject, shown)
    const present = (id: Uri) => id !== file.id && files.some((each) => each.id === id)
    const others = Object.keys(await this.#marks(subject)).filter(present)
    if (others.length >= limits.hunkFiles)
      throw AhpError.permissionDenied(
        `Hunks can be marked in at most ${limits.hunkFiles} files of a changeset. Review this file as a whole.`,
      )
    const isWhole = shown.some(({ id, reviewed }) => id === file.id && reviewed === true)
    const named = new Set(params.hunks)
    let now: ReadonlySet<string> = new Set()
    await this.#update(subject, (marks) => {
      const before = marks[file.id] ?? (isWhole ? [...hashes] : [])
      now = new Set(params.reviewed ? [...before, ...named] : before.filter((hash) => !named.has(hash)))
      // Marks of hunks and files that do not exist any more are removed: the file is reviewed as it is now.
      const kept = Object.entries(marks).filter(([id]) => present(id))
      return { ...Object.fromEntries(kept), [file.id]: [...hashes].filter((hash) => now.has(hash)) }
    })
    return { hunks: withMarks(hunks, now) }
  }

  /** Stores marks for the hunks of each file that a client has marked as a whole: all hunks of the file, or none. */
  async #takeOver(subject: Reviewed, shown: readonly ChangesetFile[]): Promise<void> {
    const marked = shown.filter(isMarkedSince).map((file) => {
      const hashes = hunksIn(file).map(({ hash }) => hash)
      return [file.id, file.reviewed === true ? hashes : []] as const
    })
    if (marked.length > 0)
      await this.#update(subject, (marks) => ({ ...marks, ...Object.fromEntries(marked) }))
  }

  async #marks(subject: Reviewed): Promise<FileMarks> {
    const { owner, id, name } = placeOf(subject)
    return (await this.#records.reviews(owner, id))[name] ?? {}
  }

  /** Changes the marks of a changeset. Resolves when they are durable. */
  async #update(subject: Reviewed, change: (marks: FileMarks) => FileMarks): Promise<void> {
    const { owner, id, name } = placeOf(subject)
    const record = await this.#records.reviews(owner, id)
    // No `await` until the marks are stored: somebody else could change marks meanwhile.
    const core = this.#core()
    const { log } = core
    const catalog = catalogOf(core)
    const next = change(record[name] ?? {})
    // The session or the chat may have been disposed of meanwhile.
    if (!catalog.get(owner) && catalog.sessionOf(owner) === undefined) return
    this.#records.putReviews(owner, id, { ...record, [name]: next })
    log.scheduleFlush()
    if (!(await log.settled()))
      throw AhpError.conflict(`The marks are not stored yet: ${unsettledReason(core)}.`)
  }
}

/**
 * Returns where the marks of a changeset are stored: the owner and the id of the record, and the name of the
 * changeset in the record. The marks of a comparison of two turns belong to the later turn.
 */
function placeOf({ session, chat, scope }: Reviewed): {
  readonly owner: Uri
  readonly id: string
  readonly name: string
} {
  if (scope.kind === 'turn' && chat) return { owner: chat.uri, id: scope.turnId, name: 'turn' }
  if (scope.kind === 'compare-turns' && chat)
    return { owner: chat.uri, id: scope.modifiedTurnId, name: `since ${scope.originalTurnId}` }
  return { owner: session.uri, id: scope.kind, name: scope.kind }
}

function withMarks(hunks: readonly Hunk[], marked: ReadonlySet<string>): readonly ReviewedHunk[] {
  return hunks.map(({ hash, before, after }) => ({ hash, before, after, reviewed: marked.has(hash) }))
}
