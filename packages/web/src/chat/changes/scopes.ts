import type { Changeset } from '@atrium/protocol/changeset/state'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'

/** A changeset that can be shown: its name, what is in it, and the URI of its channel. */
export interface ChangesScope {
  readonly label: string
  readonly about: string
  readonly uri: string
}

export const lastTurn = 'Last turn'
export const uncommitted = 'Uncommitted'

/** The words for the changesets of a session, in the order in which they are offered. */
const words = new Map<string, Pick<ChangesScope, 'label' | 'about'>>([
  ['session', { label: 'This session', about: 'Everything that changed since the first turn.' }],
  ['uncommitted', { label: uncommitted, about: 'What differs from the last commit, whoever changed it.' }],
  ['branch', { label: 'This branch', about: 'What differs from where the branch began.' }],
])

/** The changesets that can be shown: that of the last turn of a chat, and those of its session. */
export function scopesOf(session: SessionState, chat: ChatState | undefined): readonly ChangesScope[] {
  const order = [...words.keys()]
  const place = ({ changeKind }: Changeset) => order.indexOf(changeKind) + 1 || order.length + 1
  const whole = (session.changesets ?? [])
    .filter(({ uriTemplate }) => !uriTemplate.includes('{'))
    .toSorted((a, b) => place(a) - place(b))
    .map((each) => ({
      ...(words.get(each.changeKind) ?? { label: each.label, about: each.description ?? '' }),
      uri: each.uriTemplate,
    }))
  const template = chat?.changesets?.find(({ changeKind }) => changeKind === 'turn')?.uriTemplate
  const turn = chat?.activeTurn?.id ?? chat?.turns.at(-1)?.id
  if (template === undefined || turn === undefined) return whole
  const uri = template.replace('{turnId}', encodeURIComponent(turn))
  return [{ label: lastTurn, about: 'What the last turn of this chat changed.', uri }, ...whole]
}

/** The path of a file, relative to the folder of the session that it is in. */
export function pathIn(uri: string, folders: readonly string[]): string {
  const folder = folders.map((each) => `${each.replace(/\/$/, '')}/`).find((each) => uri.startsWith(each))
  const path = folder === undefined ? uri.replace(/^file:\/\//, '') : uri.slice(folder.length)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
