import { reduceChangeset } from '../changeset/reducer.ts'
import type { ChangesetState } from '../changeset/state.ts'
import { without } from '../update.ts'
import { statusOf } from './conversation-status.ts'
import { conversationRules, truncated } from './conversation.ts'
import type { Traits } from './traits.ts'
import { recorded, requestRules } from './requests.ts'
import { absent, iso, named } from './table.ts'
import type { Rule, VersionRules } from './table.ts'
import { calls06, v06 } from './v0-6.ts'

/** At 0.5.2 turns have no times, calls cannot wait for a login, and input requests are a list beside the turns. */
export const traits052: Traits = {
  ...calls06,
  confirmationKeys: ['confirmationTitle', 'edits', 'editable', 'options'],
  readyAgain: false,
  statusOf,
  message: 'message',
  time: iso,
}

const truncate = truncated(traits052)
/** Truncates a chat. An action without a `turnId` removes all turns, and also the cursor to older turns. */
const truncatedWithCursor: typeof truncate = (state, action, now) => {
  const next = truncate(state, action, now)
  return action.turnId === undefined ? without(next, 'turnsNextCursor') : next
}

const { inputCompleted } = requestRules(traits052)
const completedAndRecorded: typeof inputCompleted = (state, action, now) =>
  inputCompleted(recorded(state, action), action, now)

const filesReviewedChanged: Rule<
  ChangesetState,
  { readonly fileIds: readonly string[]; readonly reviewed: boolean }
> = (state, { fileIds, reviewed }) =>
  reduceChangeset(state, { type: 'changeset/filesReviewChanged', files: fileIds, reviewed })

export const v052: VersionRules = {
  ...v06,
  chat: {
    ...v06.chat,
    ...absent('chat/toolCallAuthRequired', 'chat/toolCallAuthResolved'),
    ...named('chat', conversationRules(traits052)),
    'chat/truncated': truncatedWithCursor,
    'chat/inputCompleted': completedAndRecorded,
  },
  changeset: {
    ...v06.changeset,
    ...absent('changeset/filesReviewChanged'),
    'changeset/filesReviewedChanged': filesReviewedChanged,
  },
}
