import type { CapturedChange, CapturedEdit, Captures, Omission } from '../../../ports/captures.ts'
import { CaptureFailed } from '../../../ports/captures.ts'
import { uncertainty } from '../attribution.ts'
import type { Attributed } from '../attribution.ts'
import type { Taking } from '../taking.ts'
import type { TurnFolder } from '../turn-record.ts'
import { editsBack, reversed, verdictOn } from './undo-decision.ts'
import type { Present, Verdict } from './undo-decision.ts'

/** What an undo or a redo would do in one folder. Nothing is changed by making a plan, except that a safety capture is taken. */
export interface Plan {
  readonly directory: string
  /** The capture of the files as they are now. */
  readonly safety: string
  readonly files: readonly PlannedFile[]
}

export interface PlannedFile {
  readonly change: CapturedChange
  readonly verdict: Verdict
  readonly edits: readonly CapturedEdit[]
  /**
   * Names the calls that ran while the file changed. Set only if a person may have changed it instead of them. Such a
   * file is never set back without a copy.
   */
  readonly during?: string
  /** Whether the plan is that of a redo. `change` is then the change of the undo, which the redo takes back. */
  readonly reversed?: true
}

export interface Outcome {
  readonly done: readonly string[]
  readonly left: readonly Omission[]
}

/** Lists what an undo of a turn would do in a folder. */
export async function planUndo(captures: Captures, taking: Taking, folder: TurnFolder): Promise<Plan> {
  const { directory, kept = [] } = folder
  const { start, end } = bothEnds(folder)
  const { safety, present } = await presentSince(taking, directory, end)
  const changes = await captures.compare(start, end)
  return {
    directory,
    safety,
    files: changes.map((change) => withKept(planned(change, folder, present), kept)),
  }
}

/**
 * Lists what a redo would do with the changes that an undo has taken back. Only a file that is still as the undo left
 * it has the verdict `apply`.
 */
export async function planRedo(captures: Captures, taking: Taking, folder: TurnFolder): Promise<Plan> {
  const { directory, undone = [] } = folder
  const { start, end } = bothEnds(folder)
  const { safety, present } = await presentSince(taking, directory, start)
  const changes = (await captures.compare(start, end)).filter(({ path }) => undone.includes(path))
  return {
    directory,
    safety,
    files: changes.map((change) => ({
      ...planned(reversed(change), undefined, present),
      reversed: true as const,
    })),
  }
}

/** The files of a plan that are to be changed. */
export interface Chosen {
  readonly plan: Plan
  readonly files: readonly PlannedFile[]
}

/**
 * Carries out edits in one or several folders. If the host is killed meanwhile, either all of them are done or none. A file
 * that has changed since its plan was made is left as it is. Returns an outcome for each folder.
 */
export async function carryOut(captures: Captures, chosen: readonly Chosen[]): Promise<readonly Outcome[]> {
  const groups = chosen.map(({ plan, files }) => ({
    directory: plan.directory,
    edits: files.flatMap((file) => file.edits),
  }))
  const applied = await captures.applyAll(groups)
  return chosen.map(({ files }, at) => {
    const { done = [], left = [] } = applied[at] ?? {}
    const isDone = ({ edits: own }: PlannedFile) => own.every(({ path }) => done.includes(path))
    return { done: files.filter(isDone).map(({ change }) => change.path), left }
  })
}

function planned(change: CapturedChange, turn: Attributed | undefined, present: Present): PlannedFile {
  const verdict = verdictOn(change, turn, present)
  const during = turn && uncertainty(turn, change)
  return { change, verdict, edits: editsBack(change, present), ...(during !== undefined && { during }) }
}

/** Whether a person has to decide about a file, because somebody else may have had a part in it. */
export function isOpen({ verdict }: PlannedFile): boolean {
  return verdict === 'shared' || verdict === 'changed' || verdict === 'uncertain'
}

/** Says why the content of a changed file was not recorded. */
export function omissionIn({ before, after }: CapturedChange): string {
  return before?.omitted ?? after?.omitted ?? 'Its content was not recorded.'
}

/** Returns an open file with the verdict `kept` if a person has decided that its file stays as it is. */
function withKept(file: PlannedFile, kept: readonly string[]): PlannedFile {
  return isOpen(file) && kept.includes(file.change.path) ? { ...file, verdict: 'kept' } : file
}

/** Takes the safety capture. Returns the files that differ from an earlier capture, as they are now. */
async function presentSince(
  taking: Taking,
  directory: string,
  since: string,
): Promise<{ readonly safety: string; readonly present: Present }> {
  const taken = await taking.take(directory, since)
  if ('problem' in taken) throw new CaptureFailed(taken.problem)
  const present = new Map<string, CapturedChange['after']>()
  for (const { path, oldPath, after } of taken.changes) {
    if (oldPath !== undefined) present.set(oldPath, undefined)
    present.set(path, after)
  }
  return { safety: taken.id, present }
}

function bothEnds({ start, end, problem }: TurnFolder): { readonly start: string; readonly end: string } {
  if (problem !== undefined) throw new CaptureFailed(`This turn cannot be undone. ${problem}`)
  if (start === undefined || end === undefined)
    throw new CaptureFailed('This turn cannot be undone yet: its end is not recorded.')
  return { start, end }
}
