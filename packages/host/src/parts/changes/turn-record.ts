import type { Uri } from '@atrium/protocol/channel'
import { withChecksum, withoutChecksum } from '../../kernel/records/checksum.ts'

/**
 * What the host knows of the files at the beginning and at the end of a turn. Clients never see it. The key contains the chat
 * and the turn, because a fork has turns with the same ids.
 */
export interface TurnRecord {
  /** The working directories of the turn. */
  readonly folders: readonly TurnFolder[]
  /** The end capture was made after a crash. It may contain changes that were made after the turn. */
  readonly late?: true
  /** The bytes of the contents that changed during the turn, on both sides. */
  readonly bytes?: number
  /** The chats whose turns were active in the folders when shared files changed. Only the first ones are named. */
  readonly beside?: readonly Uri[]
  /** Whether turns of other hosts were active in the folders when shared files changed. */
  readonly besideHosts?: true
  /** The place of the turn in the order of all turns of the host. Absent until the end capture is taken. */
  readonly order?: number
}

export interface TurnFolder {
  /** The path of the folder. */
  readonly directory: string
  /** The captures at the beginning and at the end of the turn. */
  readonly start?: string
  readonly end?: string
  /** The newest capture while the turn runs. Changes after it are not attributed to anybody yet. */
  readonly last?: string
  /** Why there is no capture. The turn then cannot be undone in this folder. */
  readonly problem?: string
  /**
   * Whether the host never captures this folder, for example because it is the home folder. Users are then not told
   * about the problem.
   */
  readonly isRefused?: boolean
  /** The paths that somebody else may have changed during the turn, or true for all paths. */
  readonly shared?: readonly string[] | true
  /**
   * The paths that may have been changed by a person while a call of the turn ran. Undefined in a record of an earlier
   * version, which did not tell them apart: then they are all other paths.
   */
  readonly uncertain?: readonly UncertainPaths[]
  /** The paths of the changes that an undo has taken back, or was about to take back when the host was killed. */
  readonly undone?: readonly string[]
  /** The paths of the conflicts that a person has decided to leave as they are. */
  readonly kept?: readonly string[]
  /** The capture that was taken before the last undo or redo. */
  readonly safety?: string
}

/** What changed while calls ran of which nobody knows which files they change. */
export interface UncertainPaths {
  /** The calls, as a text for users. */
  readonly during: string
  /** True if there are too many paths to name. It stands for all paths. */
  readonly paths: readonly string[] | true
}

/** The part of a key that names a chat. Chats and turns are encoded, because their ids may contain the separator. */
export function chatKey(chat: Uri): string {
  return `${encodeURIComponent(chat)}/`
}

export function turnKey(chat: Uri, turnId: string): string {
  return `${chatKey(chat)}${encodeURIComponent(turnId)}`
}

export function parseTurnKey(key: string): { readonly chat: Uri; readonly turnId: string } {
  const at = key.indexOf('/')
  return { chat: decodeURIComponent(key.slice(0, at)), turnId: decodeURIComponent(key.slice(at + 1)) }
}

export function writeTurnRecord(record: TurnRecord): string {
  return withChecksum(JSON.stringify(record))
}

/** Reads a record. Undefined if it is damaged. */
export function readTurnRecord(text: string): TurnRecord | undefined {
  const json = withoutChecksum(text)
  // The checksum shows that the code in this file has written the text, so the shape is trusted.
  return json === undefined ? undefined : JSON.parse(json)
}

/** The captures that a record names. */
export function capturesIn({ folders }: TurnRecord): readonly string[] {
  return folders.flatMap(({ start, end, last, safety }) =>
    [start, end, last, safety].filter((id) => id !== undefined),
  )
}

/** The space that a turn takes of the budgets of captures. */
export interface TurnCount {
  /** The chats whose turns were active in the folders when shared files changed. Only the first ones are named. */
  readonly beside?: readonly Uri[]
  /** The place of the turn in the order of all turns. */
  readonly order: number
  readonly bytes: number
  /** The captures of the turn. A turn and its copies in forks have the same captures. */
  readonly captures: string
}

/**
 * Returns the space that the turn of a record takes of the budgets. Undefined if there is no record, if it is not the
 * record of a finished turn, or if the captures of the turn were deleted.
 */
export function countOf(record: TurnRecord | undefined): TurnCount | undefined {
  if (record?.order === undefined) return undefined
  const captures = record.folders.map(({ start, end }) => `${start} ${end}`).join(' ')
  return { order: record.order, bytes: record.bytes ?? 0, captures }
}
