import { AhpError } from '@atrium/protocol/errors'
import { DeferredResponse } from '../../kernel/deferred-response.ts'
import { commitsOf } from '../../catalog/machine.ts'
import { part, command } from '../../kernel/part.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import type { Captures } from '../../ports/captures.ts'
import type { OtherHosts } from '../../ports/other-hosts.ts'
import { changesetCommitted } from './session-diffs.ts'
import { Changes } from './changes.ts'
import { changesetEffects } from './review/effects.ts'
import { CommitParams, ReviewHunksParams } from './extensions.ts'

interface Ports {
  /**
   * Absent: the host does not record the files before and after a turn, so there are no changesets and nothing can be
   * undone.
   */
  readonly captures?: Captures
  /** Absent: no other host works in the folders of this one. Works only together with `captures`. */
  readonly otherHosts?: OtherHosts
}

/** What turns change in the files. */
export const changes = part<Changes | undefined, Ports>({
  name: 'changes',
  key: changesOf,
  open: (core, { captures, otherHosts }) =>
    captures && Changes.open({ captures, ...(otherHosts && { otherHosts }) }, core, () => core),
  commands: {
    'x-atrium/commit': command(
      'own',
      CommitParams,
      (self, params) => self.commit(params),
      (core) => commitsOf(core) !== undefined,
    ),
    'x-atrium/reviewHunks': command('prompt', ReviewHunksParams, (self, params) => self.reviewHunks(params)),
  },
  rules: {
    methods: {
      invokeChangesetOperation: (core, _, params) => {
        const changesets = changesOf(core)
        if (!changesets) throw AhpError.methodNotFound('invokeChangesetOperation')
        // An operation may wait for others, and the client's later requests must not wait so long.
        return new DeferredResponse(changesets.invoke(params))
      },
    },
    effects: [changesetEffects],
    subscribed: { changeset: (core, channel) => changesOf(core)?.subscribed(channel) },
    committed: { changeset: changesetCommitted },
  },
  appended: (self, channel, action) => {
    if (channel.is('chat')) self.appended(channel, action)
  },
  // Neither a client nor an agent may see one half of a group of edits.
  recover: (self) => self.finishEdits(),
  started: (self) => self.recover(),
  // Captures that are not done in time are stopped, so that the programs that take them do not outlive the host.
  close: async (self, inTime) => {
    await inTime(self.idle())
    await inTime(self.stop())
  },
})
