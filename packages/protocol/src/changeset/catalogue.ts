import type { Uri } from '../channel.ts'
import type { Changeset } from './state.ts'

/**
 * The separator in the URI of a changeset. The URI of the owner, a session or a chat, comes before it. What the changeset
 * shows comes after it.
 */
export const changesetMarker = '/changeset/'

/** The URI of the changeset with all changes of a session. */
export function sessionChangesetUri(session: Uri): Uri {
  return `${session}${changesetMarker}session`
}

/**
 * The catalogue entries for the changesets of turns. The owner is a chat or a session. A session stands for its default
 * chat.
 */
export function turnChangesets(owner: Uri): readonly Changeset[] {
  return [
    {
      label: 'This Turn',
      description: 'The changes between the beginning and the end of the turn',
      uriTemplate: `${owner}${changesetMarker}turn/{turnId}`,
      changeKind: 'turn',
      capabilities: review,
    },
    {
      label: 'Compare Turns',
      description: 'The changes between the ends of two turns',
      uriTemplate: `${owner}${changesetMarker}compare/{originalTurnId}/{modifiedTurnId}`,
      changeKind: 'compare-turns',
      capabilities: review,
    },
  ]
}

const review = { review: {} }

/**
 * Adds the changesets of turns to the catalogue of a session, for versions in which chats have no catalogue. Their URIs are
 * made from the URI of the session's own changeset. A catalogue that already has changesets of turns is returned unchanged.
 */
export function withTurnChangesets(catalogue: readonly Changeset[]): readonly Changeset[] {
  const own = catalogue.find(
    ({ changeKind, uriTemplate }) =>
      changeKind === 'session' && uriTemplate === sessionChangesetUri(ownerOf(uriTemplate)),
  )
  if (!own || catalogue.some(({ changeKind }) => changeKind === 'turn')) return catalogue
  return [...catalogue, ...turnChangesets(ownerOf(own.uriTemplate))]
}

function ownerOf(uri: Uri): Uri {
  return uri.slice(0, Math.max(0, uri.lastIndexOf(changesetMarker)))
}
