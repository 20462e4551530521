import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import type { Channel } from '../log/channel.ts'
import { CaptureFailed } from '../ports/captures.ts'
import type { CapturedChange } from '../ports/captures.ts'
import { pathsIn } from './directories.ts'
import type { UndoContext } from './turn-undo.ts'
import { editsBack } from './undo-decision.ts'

export interface Discarding {
  readonly session: Channel<'session'>
  readonly channel: Channel<'changeset'>
  readonly resource: Uri
}

/**
 * Sets a file back to the last commit. The file must be as the changeset shows it: a person must have seen what is discarded. The
 * files as they were are captured before.
 */
export async function discardFile(context: UndoContext, discarding: Discarding): Promise<string> {
  const { session, channel, resource } = discarding
  const { captures, taking, records, core, disturb } = context
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
    records.put(session.uri, 'discarded', { folders: [{ directory, safety: taken.id }] })
    if (!(await core().log.settled()))
      throw new CaptureFailed('The disk of the host is full: nothing was changed.')
    disturb(directory)
    const { left } = await captures.apply(directory, edits(change))
    if (left[0]) throw new CaptureFailed(left[0].reason)
    return 'The changes of the file were discarded.'
  }
  throw new CaptureFailed(changedMeanwhile)
}

function edits(change: CapturedChange) {
  return editsBack(change, new Map())
}

const changedMeanwhile = 'The file has changed since it was shown. Look at it again before you discard it.'
