import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'

/** A changeset that can be shown: its label, and the URI of its channel. */
export interface ChangesScope {
  readonly label: string
  readonly uri: string
}

/** The changesets that can be shown: that of the last turn of a chat, and those of its session. */
export function scopesOf(session: SessionState, chat: ChatState | undefined): readonly ChangesScope[] {
  const whole = (session.changesets ?? []).flatMap(({ label, uriTemplate }) =>
    uriTemplate.includes('{') ? [] : [{ label, uri: uriTemplate }],
  )
  const template = chat?.changesets?.find(({ changeKind }) => changeKind === 'turn')?.uriTemplate
  const turn = chat?.turns.at(-1)?.id
  if (template === undefined || turn === undefined) return whole
  return [{ label: 'Last turn', uri: template.replace('{turnId}', encodeURIComponent(turn)) }, ...whole]
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
