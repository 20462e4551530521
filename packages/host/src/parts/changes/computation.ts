import { commitsOf } from '../../catalog/machine.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { CaptureFailed } from '../../ports/captures.ts'
import type { CapturedChange, Captures } from '../../ports/captures.ts'
import { applyOperations } from './apply.ts'
import { changesetFile } from './changeset-files.ts'
import { failed } from './changeset-job.ts'
import type { Computed } from './changeset-job.ts'
import type { ChangesetScope } from '../../catalog/changeset-uri.ts'
import { uncommitted } from './commit/uncommitted.ts'
import { directoriesOf, pathsIn } from './directories.ts'
import { turnOperations } from './operation-list.ts'
import type { Taking } from './taking.ts'
import type { TurnFolder, TurnRecord } from './turn-record.ts'
import { sessionStart } from './turn-records.ts'
import type { TurnRecords } from './turn-records.ts'
import { planUndo } from './undo/undo.ts'

/** What a changeset is about. */
export interface Subject {
  readonly session: Channel<'session'>
  readonly chat?: Channel<'chat'>
  readonly scope: ChangesetScope
}

/** Computes changesets from captures. */
export class Computation {
  readonly #core: () => Core
  readonly #captures: Captures
  readonly #taking: Taking
  readonly #records: TurnRecords

  constructor(core: () => Core, captures: Captures, taking: Taking, records: TurnRecords) {
    this.#core = core
    this.#captures = captures
    this.#taking = taking
    this.#records = records
  }

  async of(subject: Subject): Promise<Computed> {
    const { scope, session } = subject
    const isApplicable = scope.kind === 'session' || scope.kind === 'branch'
    const [computed, applying] = await Promise.all([
      this.#limited(subject),
      isApplicable ? applyOperations(this.#core(), session) : [],
    ])
    return applying.length === 0
      ? computed
      : { ...computed, operations: [...computed.operations, ...applying] }
  }

  async #limited(subject: Subject): Promise<Computed> {
    try {
      return limited(
        await this.#taking.hold(() => this.#compute(subject)),
        this.#core().limits.changesetFiles,
      )
    } catch (error) {
      if (error instanceof CaptureFailed) return failed(error.message)
      throw error
    }
  }

  async #compute(subject: Subject): Promise<Computed> {
    const { scope, session, chat } = subject
    if (scope.kind === 'turn' && chat) return this.#turn(subject, chat, scope.turnId)
    if (scope.kind === 'compare-turns' && chat) {
      const [from, to] = await Promise.all([
        this.#records.get(chat.uri, scope.originalTurnId),
        this.#records.get(chat.uri, scope.modifiedTurnId),
      ])
      return { files: await this.#between(subject, from, to), operations: [] }
    }
    const start = scope.kind === 'session' ? await this.#records.get(session.uri, sessionStart) : undefined
    const files: ChangesetFile[] = []
    for (const directory of pathsIn(session.head.workingDirectories)) {
      const folder = start?.folders.find((each) => each.directory === directory)
      if (scope.kind === 'session' && folder?.start === undefined) continue
      const of = scope.kind === 'branch' ? 'branch' : 'head'
      const base = folder?.start ?? (await this.#taking.commit(directory, of))
      const changes = await this.#sinceThen(directory, base)
      files.push(
        ...changes.map((change) => changesetFile({ session: session.uri, directory, live: true }, change)),
      )
    }
    if (scope.kind === 'uncommitted') return uncommitted(commitsOf(this.#core()), session, files)
    return { files, operations: [] }
  }

  /** Computes the changes of a turn. For a running turn, these are the changes so far. */
  async #turn(subject: Subject, chat: Channel<'chat'>, turnId: string): Promise<Computed> {
    const record = await this.#records.get(chat.uri, turnId)
    if (!record) {
      if (chat.head.activeTurn?.id === turnId) return { files: [], operations: [] }
      const isCaptured = directoriesOf(this.#core(), chat).length > 0
      return isCaptured ? failed('The files of this turn were not recorded.') : { files: [], operations: [] }
    }
    const problem = record.folders.find((folder) => folder.problem !== undefined)?.problem
    if (problem !== undefined) return failed(`The changes of this turn cannot be shown or undone. ${problem}`)
    const files: ChangesetFile[] = []
    const planned = []
    for (const folder of record.folders) {
      const { directory, start, end } = folder
      const place = { session: subject.session.uri, directory, live: end === undefined }
      if (start !== undefined && end === undefined)
        files.push(...(await this.#sinceThen(directory, start)).map((change) => changesetFile(place, change)))
      if (start === undefined || end === undefined) continue
      const plan = await planUndo(this.#captures, this.#taking, folder)
      planned.push(...plan.files)
      files.push(
        ...plan.files.map(({ change, verdict, during }) =>
          changesetFile(place, change, {
            undo: verdict,
            during: verdict === 'uncertain' ? during : undefined,
            late: record.late,
          }),
        ),
      )
    }
    return { files, operations: turnOperations(record, planned, this.#sessionsBeside(record)) }
  }

  /** The titles of the sessions whose turns were active in the folders of a turn at the same time. */
  #sessionsBeside({ beside = [] }: TurnRecord): readonly string[] {
    const catalog = catalogOf(this.#core())
    const titles = beside.flatMap((chat) => catalog.get(catalog.sessionOf(chat) ?? '')?.title ?? [])
    return [...new Set(titles)]
  }

  /** Computes the changes between the ends of two turns. */
  async #between(
    { session }: Subject,
    from: TurnRecord | undefined,
    to: TurnRecord | undefined,
  ): Promise<readonly ChangesetFile[]> {
    const files: ChangesetFile[] = []
    for (const { directory, end } of to?.folders ?? []) {
      const before: TurnFolder | undefined = from?.folders.find((folder) => folder.directory === directory)
      if (before?.end === undefined || end === undefined)
        throw new CaptureFailed(
          'These turns cannot be compared: the host does not have the files as they were at the end of both. If one is in progress, wait for its end.',
        )
      const changes = await this.#captures.compare(before.end, end)
      const place = { session: session.uri, directory, live: false }
      files.push(...changes.map((change) => changesetFile(place, change)))
    }
    return files
  }

  /** Computes the changes of a folder since an earlier capture. */
  async #sinceThen(directory: string, base: string): Promise<readonly CapturedChange[]> {
    const taken = await this.#taking.take(directory, base)
    if ('problem' in taken) throw new CaptureFailed(taken.problem)
    return taken.changes
  }
}

/** Returns a changeset with at most `most` files. If files are left out, its error says so. */
function limited(computed: Computed, most: number): Computed {
  const { files, operations } = computed
  if (files.length <= most) return computed
  const message = `Only the first ${most} of ${files.length} changed files are shown.`
  return { files: files.slice(0, most), operations, error: { errorType: 'changes', message } }
}
