import type { Uri } from '@atrium/protocol/channel'
import { changesetMarker as marker, sessionChangesetUri } from '@atrium/protocol/changeset/catalogue'
import type { Changeset } from '@atrium/protocol/changeset/state'

/**
 * What a changeset shows: the changes of a session's files since the last commit (`uncommitted`), since the first
 * turn (`session`) or since the branch began (`branch`); the changes of one turn; or the changes between the ends of
 * two turns of a chat.
 */
export type ChangesetScope =
  | { readonly kind: 'uncommitted' | 'session' | 'branch' }
  | { readonly kind: 'turn'; readonly turnId: string }
  | { readonly kind: 'compare-turns'; readonly originalTurnId: string; readonly modifiedTurnId: string }

export interface ChangesetName {
  /** The session or the chat in whose state the changeset is offered. */
  readonly owner: Uri
  readonly scope: ChangesetScope
}

/**
 * Reads the URI of a changeset, which a client has made from a URI template in the state of a session or chat. Turn
 * ids are percent-encoded. Undefined if the URI has another form.
 */
export function parseChangesetUri(uri: Uri): ChangesetName | undefined {
  const at = uri.lastIndexOf(marker)
  const scope = at <= 0 ? undefined : scopeOf(uri.slice(at + marker.length).split('/'))
  return scope && { owner: uri.slice(0, at), scope }
}

function scopeOf([kind, ...ids]: readonly string[]): ChangesetScope | undefined {
  const [first, second] = ids.map(decoded)
  if (kind === 'uncommitted' || kind === 'session' || kind === 'branch')
    return ids.length === 0 ? { kind } : undefined
  if (kind === 'turn' && ids.length === 1 && first) return { kind, turnId: first }
  if (kind === 'compare' && ids.length === 2 && first && second)
    return { kind: 'compare-turns', originalTurnId: first, modifiedTurnId: second }
  return undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const review = { review: {} }

/**
 * The changesets that a session offers. Those that compare with a commit are only for a session in a repository: then
 * `branch` is its branch, or empty if the branch is not known.
 */
export function sessionCatalogue(session: Uri, branch: string | undefined): readonly Changeset[] {
  const own: Changeset = {
    label: 'Session Changes',
    description: 'All changes since the first turn of this session',
    uriTemplate: sessionChangesetUri(session),
    changeKind: 'session',
    capabilities: review,
  }
  if (branch === undefined) return [own]
  return [
    {
      label: 'Branch Changes',
      ...(branch !== '' && { description: branch }),
      uriTemplate: `${session}${marker}branch`,
      changeKind: 'branch',
      capabilities: review,
    },
    {
      label: 'Uncommitted Changes',
      description: 'The files that differ from the last commit',
      uriTemplate: `${session}${marker}uncommitted`,
      changeKind: 'uncommitted',
      capabilities: review,
    },
    own,
  ]
}
