import type { Effects } from '../../core/rules.ts'

/**
 * The effects of changesets. When a client has marked whole files, their hunks get the same marks. Only clients send this action:
 * the marks of files that follow from marks of hunks are a part of the files.
 */
export const changesetEffects: Effects<'changeset'> = {
  'changeset/filesReviewChanged': (core, channel) => core.changes?.filesReviewed(channel),
}
