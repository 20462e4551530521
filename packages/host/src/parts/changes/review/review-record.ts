import type { Uri } from '@atrium/protocol/channel'
import { withChecksum, withoutChecksum } from '../../../kernel/records/checksum.ts'

/**
 * The marks of reviewers in the changesets of a turn, or in a changeset of a session, by name of the changeset. The marks are
 * not in the record of the captures, because that record is written again and again while the turn runs.
 */
export interface ReviewRecord {
  readonly [changeset: string]: FileMarks
}

/**
 * The hashes of the marked hunks, by file. A file with an empty list is reviewed hunk by hunk, and has no marked
 * hunk.
 */
export interface FileMarks {
  readonly [file: Uri]: readonly string[]
}

export function writeReviewRecord(record: ReviewRecord): string {
  return withChecksum(JSON.stringify(record))
}

/** Reads a record. Undefined if it is damaged. */
export function readReviewRecord(text: string): ReviewRecord | undefined {
  const json = withoutChecksum(text)
  // The checksum shows that the code in this file has written the text, so the shape is trusted.
  return json === undefined ? undefined : JSON.parse(json)
}
