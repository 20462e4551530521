import type { Uri } from '@atrium/protocol/channel'
import type { ChangesetRangeTarget } from '@atrium/protocol/changeset/commands'
import { AhpError } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import { unsettledReason } from '../../kernel/space.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { CaptureFailed } from '../../ports/captures.ts'
import type { CapturedChange, CapturedEdit, Captures } from '../../ports/captures.ts'
import { pathsIn } from './directories.ts'
import { hunksOf, isTouched, withoutHunks } from './hunks/hunks.ts'
import { sidesOf } from './hunks/sides.ts'
import type { UndoContext } from './undo/turn-undo.ts'
import { editsBack } from './undo/undo-decision.ts'

export interface Discarding {
  readonly session: Channel<'session'>
  readonly channel: Channel<'changeset'>
  readonly resource: Uri
  /** The part of the file whose changes are discarded. Absent: all of them. */
  readonly part?: Pick<ChangesetRangeTarget, 'side' | 'range'>
}

/**
 * Sets a file, or the hunks of it that a range touches, back to the last commit. The file must be as the changeset shows it: a
 * person must have seen what is discarded. The files are captured before the change.
 */
export async function discardFile(context: UndoContext, discarding: Discarding): Promise<string> {
  const { session, channel, resource, part } = discarding
  const { captures, taking, records, core, running } = context
  const shown = channel.head.files.find(({ id, edit }) => id === resource || edit.before?.uri === resource)
  if (!shown) throw AhpError.invalidParams('invokeChangesetOperation: the changeset does not show that file')
  for (const directory of pathsIn(session.head.workingDirectories)) {
    const taken = await taking.take(directory, await taking.commit(directory, 'head'))
    if ('problem' in taken) throw new CaptureFailed(taken.problem)
    const change = taken.changes.find(({ path }) => fileUri(`${directory}/${path}`) === shown.id)
    if (!change) continue
    if (change.after?.content !== shown.edit.after?.content.nonce) throw new CaptureFailed(changedMeanwhile)
    if (change.before?.omitted !== undefined)
      throw new CaptureFailed(`The file was left as it is. ${change.before.omitted}`)
    const edits = part ? await editsOfPart(captures, change, part) : editsBack(change, new Map())
    records.put(session.uri, 'discarded', { folders: [{ directory, safety: taken.id }] })
    if (!(await core().log.settled()))
      throw new CaptureFailed(`Nothing was changed: ${unsettledReason(core())}.`)
    const { left } = await running.changing([directory], () => captures.apply(directory, edits))
    if (left[0]) throw new CaptureFailed(left[0].reason)
    return part ? 'The changes in the range were discarded.' : 'The changes of the file were discarded.'
  }
  throw new CaptureFailed(changedMeanwhile)
}

/**
 * Makes the edit that takes back the hunks that a range touches. A new file is one hunk, and so is a deleted file.
 */
async function editsOfPart(
  captures: Captures,
  change: CapturedChange,
  { side, range }: NonNullable<Discarding['part']>,
): Promise<readonly CapturedEdit[]> {
  const sides = await sidesOf(captures, change)
  const hunks = sides && hunksOf(sides)
  if (!hunks) throw new CaptureFailed('The file is not text, so only all of its changes can be discarded.')
  const touched = hunks.filter((hunk) => isTouched(hunk, side === 'before' ? 'before' : 'after', range))
  if (touched.length === 0) throw new CaptureFailed('There is no change in that range.')
  const { path, before, after } = change
  if (!before || !after) return editsBack(change, new Map())
  return [{ path, expected: after, wanted: { bytes: withoutHunks(sides, touched), mode: after.mode } }]
}

const changedMeanwhile = 'The file has changed since it was shown. Look at it again before you discard it.'
