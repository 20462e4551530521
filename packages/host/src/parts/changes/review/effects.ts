import { changesOf } from '../../../catalog/change-tracking.ts'
import type { Effects } from '../../../kernel/rules.ts'

/**
 * What the host does once an action on a changeset is committed. Only clients send `filesReviewChanged`, to mark
 * whole files. The host then gives the hunks of these files the same marks. The host itself marks a file whose hunks
 * are all marked without this action: it publishes the file again, with the mark.
 */
export const changesetEffects: Effects<'changeset'> = {
  'changeset/filesReviewChanged': (core, channel) => changesOf(core)?.filesReviewed(channel),
}
