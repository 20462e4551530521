import type { Client } from '@atrium/client/client'
import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import { askExtension } from '../../link/extension.ts'
import type { DiffText } from '../../ui/diff/diff-rows.ts'
import type { LineChange, LineRange } from '../../ui/diff/line-changes.ts'
import { member, ownMember } from '../shared/member.ts'

/** A changed part of a file, as the host lists it: where it is, and whether somebody has reviewed it (O47). */
export interface Hunk extends LineChange {
  readonly hash: string
  readonly reviewed: boolean
}

/** The hunks that the host lists for a file. Empty until somebody has marked a hunk of the file. */
export function hunksOf(file: ChangesetFile): readonly Hunk[] {
  return hunksIn(ownMember(file, 'hunks'))
}

/** Replaces the changes that the page has found in two texts by the hunks of the host, if the hunks fit the texts. */
export function withHunks(text: DiffText, hunks: readonly Hunk[]): DiffText {
  return hunks.length > 0 && fit(text, hunks) ? { ...text, changes: hunks } : text
}

/**
 * Marks a change as reviewed or not. The host knows its hunks by hashes, so the page first asks for all hunks of the
 * file, and then marks those that touch the change.
 */
export async function markHunk(
  client: Client,
  place: { readonly channel: string; readonly file: string },
  change: LineChange,
  reviewed: boolean,
): Promise<void> {
  const ask = (hashes: readonly string[]) =>
    askExtension(client, 'x-atrium/reviewHunks', { ...place, hunks: hashes, reviewed })
  const all = hunksIn(member(await ask([]), 'hunks'))
  const meant = all.filter((hunk) => touches(hunk.before, change.before) && touches(hunk.after, change.after))
  if (meant.length === 0) throw new Error('The file has changed meanwhile. Look at it again.')
  await ask(meant.map(({ hash }) => hash))
}

function hunksIn(value: unknown): readonly Hunk[] {
  if (!Array.isArray(value)) return []
  // A host of this project writes this member, and no other writes this key: hence the cast.
  return value.filter((each) => typeof member(each, 'hash') === 'string') as readonly Hunk[]
}

/**
 * Whether the hunks lie in the texts, in order, and the lines between them are equal. Otherwise the file has changed
 * since.
 */
function fit({ before, after }: DiffText, hunks: readonly Hunk[]): boolean {
  let [old, now] = [0, 0]
  for (const hunk of hunks) {
    const between = hunk.before.from - old
    if (between < 0 || between !== hunk.after.from - now) return false
    for (let at = 0; at < between; at++) if (before[old + at] !== after[now + at]) return false
    old = hunk.before.from + hunk.before.count
    now = hunk.after.from + hunk.after.count
  }
  return before.length - old === after.length - now
}

function touches(a: LineRange, b: LineRange): boolean {
  return a.from <= b.from + b.count && b.from <= a.from + a.count
}
