import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import type { Core } from '../../../kernel/core.ts'
import { unsettledReason } from '../../../kernel/space.ts'
import type { Channel } from '../../../kernel/log/channel.ts'
import { CaptureFailed } from '../../../ports/captures.ts'
import type { Captures, Omission } from '../../../ports/captures.ts'
import type { Taking } from '../taking.ts'
import type { RunningTurns } from '../running/running-turns.ts'
import type { TurnFolder, TurnRecord } from '../turn-record.ts'
import type { TurnRecords } from '../turn-records.ts'
import { copyOf, isCopyable, notCopyable } from './copies.ts'
import { listed } from './listed.ts'
import { carryOut, isOpen, omissionIn, planRedo, planUndo } from './undo.ts'
import type { Chosen, Plan, PlannedFile } from './undo.ts'

export interface UndoContext {
  readonly core: () => Core
  readonly captures: Captures
  readonly taking: Taking
  readonly records: TurnRecords
  /** The running turns, which take an operation for another turn while it changes files. */
  readonly running: Pick<RunningTurns, 'changing'>
}

/** Undo and redo of one turn. Before any file changes, the record says which changes are about to be taken back. */
export class TurnUndo {
  readonly #context: UndoContext
  readonly #chat: Channel<'chat'>
  readonly #turnId: string

  constructor(context: UndoContext, chat: Channel<'chat'>, turnId: string) {
    this.#context = context
    this.#chat = chat
    this.#turnId = turnId
  }

  /**
   * Undoes the whole turn, or one file. Conflicts (files that others have changed, too) are left as they are, and so are
   * uncertain files, unless `withUncertain` is set. Each of them then gets a copy beside it.
   */
  async undo(resource: Uri | undefined, withUncertain = false): Promise<string> {
    const { captures, taking } = this.#context
    return this.#inFolders(resource, 'set back', async (folder) => {
      const plan = await planUndo(captures, taking, folder)
      const chosen = (file: PlannedFile) =>
        file.verdict === 'apply' || (withUncertain && file.verdict === 'uncertain' && isCopyable(file))
      return { plan, chosen, undoes: true }
    })
  }

  async redo(resource: Uri | undefined): Promise<string> {
    const { captures, taking } = this.#context
    return this.#inFolders(resource, 'changed again', async (folder) => {
      const plan = await planRedo(captures, taking, folder)
      return { plan, chosen: ({ verdict }) => verdict === 'apply', undoes: false }
    })
  }

  /** Resolves a conflict: the file stays as it is. */
  async keep(resource: Uri): Promise<string> {
    const { folder, file } = await this.#conflict(resource)
    const kept = [...new Set([...(folder.kept ?? []), file.change.path])]
    await this.#save([{ ...folder, kept }], nothing)
    return 'The file stays as it is.'
  }

  /** Resolves a conflict: the file is set back although others changed it, too. A copy of it may be kept beside it. */
  async force(resource: Uri, withCopy: boolean): Promise<string> {
    const { captures, running } = this.#context
    const { folder, plan, file } = await this.#conflict(resource)
    const isCopied = withCopy || file.during !== undefined
    if (isCopied && !isCopyable(file)) throw new CaptureFailed(`${nothing}: ${notCopyable}`)
    return running.changing([plan.directory], async () => {
      const copies = isCopied ? await copyOf(captures, plan.directory, file.edits) : []
      const unchanged =
        copies.length === 0 ? nothing : `The file was not changed, and a copy of it is in ${listed(copies)}`
      await this.#save([noted(folder, plan, [file.change.path])], unchanged)
      const [outcome] = await carryOut(captures, [{ plan, files: [file] }])
      return said(sentence(outcome?.done ?? [], outcome?.left ?? [], 'set back'), copies)
    })
  }

  async #inFolders(
    resource: Uri | undefined,
    verb: string,
    planned: (folder: TurnFolder) => Promise<{
      readonly plan: Plan
      readonly chosen: (file: PlannedFile) => boolean
      readonly undoes: boolean
    }>,
  ): Promise<string> {
    const { captures, running } = this.#context
    const left: Omission[] = []
    const due: (Chosen & { readonly folder: TurnFolder; readonly undoes: boolean })[] = []
    for (const folder of (await this.#record()).folders) {
      const { plan, chosen, undoes } = await planned(folder)
      const asked = plan.files.filter((file) => resource === undefined || isAt(plan, file, resource))
      const files = asked.filter(chosen)
      left.push(...asked.filter((file) => !files.includes(file) && file.verdict in reasons).map(leftAlone))
      if (files.length > 0) due.push({ folder, plan, files, undoes })
    }
    if (due.length === 0) return sentence([], left, verb)
    const copies: string[] = []
    const directories = due.map(({ plan }) => plan.directory)
    const outcomes = await running.changing(directories, async () => {
      for (const { plan, files } of due) {
        const uncertain = files.filter(({ verdict }) => verdict === 'uncertain')
        copies.push(
          ...(await copyOf(
            captures,
            plan.directory,
            uncertain.flatMap(({ edits }) => edits),
          )),
        )
      }
      await this.#save(
        due.map(({ folder, plan, files }) => noted(folder, plan, files.map(originalPath))),
        said(nothing, copies),
      )
      return carryOut(captures, due)
    })
    const changed = due.map(({ files }, at) =>
      files.filter(({ change }) => outcomes[at]?.done.includes(change.path)).map(originalPath),
    )
    await this.#save(
      due.map(({ folder, plan, undoes }, at) => {
        const [before, now] = [folder.undone ?? [], changed[at] ?? []]
        const undone = undoes ? union(before, now) : before.filter((path) => !now.includes(path))
        return { ...folder, safety: plan.safety, undone }
      }),
      `${sentence(changed.flat(), [], verb)} This is not stored yet`,
    )
    const stayed = [...left, ...outcomes.flatMap((outcome) => outcome.left)]
    return said(sentence(changed.flat(), stayed, verb), copies)
  }

  /** Returns a file of the turn that others have changed, too (a conflict). Throws if the file is no conflict. */
  async #conflict(
    resource: Uri,
  ): Promise<{ readonly folder: TurnFolder; readonly plan: Plan; readonly file: PlannedFile }> {
    const { captures, taking } = this.#context
    for (const folder of (await this.#record()).folders) {
      const plan = await planUndo(captures, taking, folder)
      const file = plan.files.find((each) => isAt(plan, each, resource))
      if (!file) continue
      if (isOpen(file)) return { folder, plan, file }
      throw new CaptureFailed(
        'There is nothing to decide here: others have not changed this file, or it is kept or set back already.',
      )
    }
    throw AhpError.invalidParams('invokeChangesetOperation: the turn has not changed that file')
  }

  async #record(): Promise<TurnRecord> {
    const record = await this.#context.records.get(this.#chat.uri, this.#turnId)
    if (!record) throw new CaptureFailed('The files of this turn were not recorded.')
    return record
  }

  /** Replaces folders in the record of the turn. Resolves when the record is durable. Else throws, with what was done. */
  async #save(changed: readonly TurnFolder[], done: string): Promise<void> {
    const { core, records } = this.#context
    const { folders, ...record } = await this.#record()
    const next = folders.map((each) => changed.find(({ directory }) => directory === each.directory) ?? each)
    records.put(this.#chat.uri, this.#turnId, { ...record, folders: next })
    if (!(await core().log.settled())) throw new CaptureFailed(`${done}: ${unsettledReason(core())}.`)
  }
}

const nothing = 'Nothing was changed'

const reasons: Readonly<Record<string, string>> = {
  shared: 'Others may have changed it during the turn.',
  changed: 'It has been changed since.',
  lost: '',
  uncertain: "It may be a person's work.",
}

function leftAlone(file: PlannedFile): Omission {
  const { change, verdict, during } = file
  const isUncertain = verdict === 'uncertain' && during !== undefined
  const reason = isUncertain
    ? `It was changed while ${during} ran, and may be a person's work.`
    : verdict === 'lost'
      ? omissionIn(change)
      : reasons[verdict]
  return { path: change.path, reason: isUncertain && !isCopyable(file) ? notCopyable : (reason ?? '') }
}

/**
 * Returns a folder whose `undone` contains these paths, too. It is stored before files are changed: if the host is
 * killed during an undo or a redo, these paths count as undone.
 */
function noted(folder: TurnFolder, plan: Plan, paths: readonly string[]): TurnFolder {
  return { ...folder, safety: plan.safety, undone: union(folder.undone ?? [], paths) }
}

/**
 * The path that a file has after the turn's change. In the plan of a redo, the two paths of a renamed file are
 * exchanged.
 */
function originalPath({ change, reversed }: PlannedFile): string {
  return reversed === true ? (change.oldPath ?? change.path) : change.path
}

function isAt({ directory }: Plan, { change }: PlannedFile, resource: Uri): boolean {
  return [change.path, change.oldPath].some(
    (path) => path !== undefined && fileUri(`${directory}/${path}`) === resource,
  )
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])]
}

/** Says what an operation has done, as a text for users. */
function sentence(done: readonly string[], left: readonly Omission[], verb: string): string {
  const said = `${files(done.length)} ${done.length === 1 ? 'was' : 'were'} ${verb}.`
  if (left.length === 0) return said
  const named = left.slice(0, mostNamed).map(({ path, reason }) => `${path}: ${reason}`)
  return `${said} ${files(left.length)} left as ${left.length === 1 ? 'it is' : 'they are'}. ${named.join(' ')}`
}

/** Adds to a sentence where the earlier content of the files is. */
function said(text: string, copies: readonly string[]): string {
  const end = text.endsWith('.') ? '' : '.'
  const before = copies.length === 1 ? 'What the file held before' : 'What the files held before'
  return copies.length === 0 ? text : `${text}${end} ${before} is in ${listed(copies)}.`
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count} files`
}

const mostNamed = 20
