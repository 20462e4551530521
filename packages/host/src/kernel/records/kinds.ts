/** What the host does with a damaged record of a kind. */
export interface RecordKind {
  /** What is lost, for the person who runs the host. Absent: the record is derived, and is built again. */
  readonly lost?: string
  /** What the person can do about it. */
  readonly remedy?: string
  /** The text that takes the place of a damaged record. Absent: the host goes on without the record. */
  readonly instead?: (name: string) => string
  /** Whether the code that reads these records has a checksum of its own, and reports damage itself. */
  readonly own?: true
}

/** A record of which only the key matters. Its text is empty, so that a damaged text loses nothing. */
const keyOnly: RecordKind = { instead: () => '' }

/** A principal, a machine or a client that there is not. What belongs to it is used by nobody. */
const nobody = () => ''

/**
 * The kinds of records, by the beginning of their keys: up to the first slash, or the whole key. A record of another kind
 * cannot be written. What takes the place of a damaged record never permits more than any record of the kind could.
 */
export const recordKinds = {
  lives: { lost: 'which numbers earlier runs have used', remedy: 'nothing: clients get snapshots' },
  days: { lost: 'how old actions are', remedy: 'nothing: old actions are kept for longer' },
  searched: {},
  aliases: keyOnly,
  'alias/': { lost: 'another name of a session', remedy: 'open the session in the list of sessions' },
  'automation/': {
    lost: 'up to when an automation was evaluated, and its older runs; it goes on from now',
    remedy: 'look at its runs: atrium cron log',
  },
  'automation-missed/': { lost: 'the note of one missed run', remedy: 'nothing' },
  'background/': keyOnly,
  'canvas/': keyOnly,
  'capture/': { own: true },
  'capture-owed/': keyOnly,
  'capture-sum/': {},
  'capture-sweep/': keyOnly,
  'changeset/': keyOnly,
  'client/': {
    lost: 'what a client has seen; nobody can use its id any more',
    remedy: 'open the page again, or restart the client',
    instead: (name) => JSON.stringify({ clientId: name, principal: nobody() }),
  },
  'consent/': { lost: 'the consent to programs, which do not run', remedy: 'enable the customization again' },
  'copy/': { lost: 'which fork was never finished', remedy: 'nothing: it takes some space' },
  'damaged/': { own: true },
  'device/': {
    lost: 'a device, which cannot connect any more',
    remedy: 'pair it again: atrium devices add NAME',
  },
  'enablement/': {
    lost: 'whether a customization is on; it is off now',
    remedy: 'enable it again where it is wanted',
    instead: () => 'off',
  },
  'gone/': keyOnly,
  'guest/': {
    lost: 'that a client takes part in a session',
    remedy: 'nothing: the session shows it until it comes back',
  },
  'heir/': {
    lost: 'which sessions a moved chat has images and files in',
    remedy: 'keep the session that the chat was in',
  },
  'listed/': { lost: 'when a session has changed', remedy: 'nothing: clients read it again' },
  'machine/': {
    lost: 'on which machine the folders of a session are; it can only be read now',
    remedy: 'start a new session in its folder',
    instead: () => 'unknown',
  },
  'notice/': { lost: 'the note of one notification', remedy: 'nothing' },
  'notified/': {
    lost: 'a target of notifications',
    remedy: 'add it again: atrium notifications add, or in the browser',
  },
  'open/': keyOnly,
  'owner/': {
    lost: 'who has created a session; sign-ins of nobody are used in it',
    remedy: 'start a new session if its agent needs a sign-in',
    instead: nobody,
  },
  'part/': {
    lost: 'which session a terminal or the comments belong to',
    remedy: 'nothing: they stay when the session is deleted',
  },
  'quiet/': { lost: 'who has created a session that nobody has used', remedy: 'nothing', instead: nobody },
  'removed/': {
    lost: 'that a session was deleted, for clients that were away',
    remedy: 'reload a client that still lists it',
  },
  'reviewed/': { own: true },
  'session/': {},
  'titled/': keyOnly,
  'unsearched/': keyOnly,
  'worktree/': {
    lost: 'which worktree a session has',
    remedy: 'take the work from the folder worktrees in the data folder',
  },
} as const satisfies { readonly [kind: string]: RecordKind }

export type RecordKindName = keyof typeof recordKinds

/** Returns the kind of a record. Undefined if there is no such kind. */
export function kindOfRecord(key: string): RecordKind | undefined {
  return byName.get(key.slice(0, key.indexOf('/') + 1) || key)
}

const byName: ReadonlyMap<string, RecordKind> = new Map(Object.entries(recordKinds))
