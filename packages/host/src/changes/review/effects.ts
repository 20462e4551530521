import type { Effects } from '../../core/rules.ts'

/**
 * What the host does once an action on a changeset is committed. When a client has marked whole files, their hunks
 * get the same marks. Only clients send this action. The host needs no action to mark a file whose hunks are all
 * marked: it publishes the file with the mark.
 */
export const changesetEffects: Effects<'changeset'> = {
  'changeset/filesReviewChanged': (core, channel) => core.changes?.filesReviewed(channel),
}
