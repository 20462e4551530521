import type { Uri } from '@atrium/protocol/channel'
import { withChecksum, withoutChecksum } from '../checksum.ts'

/**
 * The marks of reviewers in the changesets of a turn, or in one of a session, by name of the changeset. It is a record of its own:
 * while a turn runs, the record of its captures is written again and again.
 */
export interface ReviewRecord {
  readonly [changeset: string]: FileMarks
}

/** By file: the hashes of the hunks that are marked. A file without marks is reviewed by hunks all the same. */
export interface FileMarks {
  readonly [file: Uri]: readonly string[]
}

export function writeReviewRecord(record: ReviewRecord): string {
  return withChecksum(JSON.stringify(record))
}

/** Reads a record. Undefined if it is damaged. */
export function readReviewRecord(text: string): ReviewRecord | undefined {
  const json = withoutChecksum(text)
  // The checksum shows that this file has written the text, so the shape is trusted.
  return json === undefined ? undefined : (JSON.parse(json) as ReviewRecord)
}
