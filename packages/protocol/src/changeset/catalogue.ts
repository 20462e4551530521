import type { Uri } from '../channel.ts'
import type { Changeset } from './state.ts'

/** The part of a changeset's URI between its owner, a session or a chat, and what it shows. */
export const changesetMarker = '/changeset/'

/** The URI of the changeset with all changes of a session. */
export function sessionChangesetUri(session: Uri): Uri {
  return `${session}${changesetMarker}session`
}

/** The catalogue of the changesets of turns. The owner is a chat, or a session, which then means its default chat. */
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
 * The catalogue of a session with the changesets of turns, for versions in which chats have no catalogue. They come from the
 * entry of the session's own changeset. A catalogue that already has them stays.
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
