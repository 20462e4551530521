import type { Effects } from '../../core/rules.ts'

/**
 * What the host does once an action on a changeset is committed. When a client has marked whole files, their hunks
 * get the same marks. Only clients send this action: if the mark of a file follows from the marks of its hunks, the
 * host publishes the mark with the file.
 */
export const changesetEffects: Effects<'changeset'> = {
  'changeset/filesReviewChanged': (core, channel) => core.changes?.filesReviewed(channel),
}
