/** A bound on something that a peer, or time, could make grow. */
export interface Limit {
  readonly value: number
  readonly unit: string
  /** The rule of SPEC.md that it belongs to. */
  readonly rule: string
  /** What happens beyond it. */
  readonly past: string
}

const KiB = 1024
const MiB = 1024 * KiB

/**
 * Every limit of the system, each defined here and nowhere else. SPEC.md has the same table; a test holds them together
 * and asks for a test at each limit and one past it that name its value.
 */
export const limitTable = {
  // One message.
  messageBytes: row(4 * MiB, 'bytes', 'S-20', 'the link is closed with 1009'),
  openingLength: row(64 * KiB, 'characters', 'S-20', 'closed with 1009, until a handshake is asked for'),
  depth: row(64, 'levels', 'S-18', 'the link is closed with 1008'),
  keys: row(10_000, 'keys', 'S-18', 'the link is closed with 1008'),
  fragments: row(1024, 'frames of a message', 'S-21', 'the link is closed with 1008'),
  answerLength: row(64 * MiB, 'characters', 'R2', 'a client closes its link with 1009'),
  answerDepth: row(128, 'levels', 'R2', 'a client closes its link with 1008'),
  answerKeys: row(10_000_000, 'keys', 'R2', 'a client closes its link with 1008'),
  globLength: row(1024, 'characters', 'S-25', 'the pattern is refused'),

  // Before anybody is known.
  lobbySockets: row(256, 'sockets', 'S-07', 'the oldest is destroyed, once it had a moment'),
  lobbyMomentMs: row(1000, 'ms', 'S-07', 'a socket may be destroyed for newer ones'),
  lobbyCrowd: row(8192, 'sockets', 'S-07', 'the oldest is destroyed'),
  headBytes: row(8 * KiB, 'bytes', 'S-07', '431'),
  upgradeMs: row(5000, 'ms', 'S-07', 'the socket is destroyed'),
  handshakeMs: row(10_000, 'ms', 'S-07', 'the link is closed with 1002'),
  failures: row(10, 'in a window, by one address', 'S-06', '429, for a time that doubles'),
  failuresOfAll: row(100, 'in a window, by all', 'S-06', '429, for a time that doubles'),
  failureMs: row(60_000, 'ms', 'S-06', 'a new window begins'),
  failureWaitMs: row(3_600_000, 'ms', 'S-06', 'the time doubles no more'),
  failureAddresses: row(1024, 'addresses', 'S-06', 'the one silent longest is forgotten'),

  // One link.
  windowMs: row(4000, 'ms', 'S-22', 'a new window begins'),
  messages: row(40_000, 'in a window', 'S-22', 'refused as too fast; twice that: 1008'),
  messageLength: row(32 * MiB, 'characters in a window', 'S-22', 'refused as too fast; twice that: 1008'),
  pings: row(1000, 'in a window', 'S-22', 'refused as too fast; twice that: 1008'),
  reports: row(100, 'lines of the log in a window', 'S-22', 'no more of that link'),
  controlFrames: row(10_000, 'in a window', 'S-21', 'the link is closed with 1008'),
  requests: row(128, 'at once', 'S-23', 'refused with -32009'),
  subscriptions: row(512, 'channels', 'S-23', 'refused with -32009'),
  lineLength: row(32 * MiB, 'characters that wait', 'S-23', 'the link is closed with 1013'),
  latencyMs: row(10_000, 'ms', 'S-24', 'text waits no longer'),
  slowBytes: row(256 * KiB, 'bytes unread', 'S-24', 'what waits is merged'),
  unreadBytes: row(4 * MiB, 'bytes unread', 'S-24', 'the link is closed with 1013'),
  answerBytes: row(64 * MiB, 'bytes unread, with an answer', 'S-24', 'the link is closed with 1013'),

  // One principal, and the host.
  links: row(20_000, 'links of a principal', 'S-23', 'the link is closed with 1013'),
  sessions: row(20_000, 'sessions', 'S-23', 'createSession is refused with -32009'),
  chats: row(512, 'chats in a session', 'S-23', 'createChat is refused with -32009'),
  pendingLength: row(8 * MiB, 'characters of messages that wait in a chat', 'S-23', 'the message is refused'),
  lentLength: row(8 * MiB, 'characters of what clients lend to a session', 'S-23', 'the change is refused'),
  nesting: row(8, 'workers that work for workers', 'S-23', 'the worker is refused to its agent'),
  graceMs: row(3 * 3_600_000, 'ms', 'H6', 'a client that left is missed no more'),
  pageLength: row(1 * MiB, 'characters of titles in a page', 'S-23', 'the page ends, with a cursor'),
  turnsLength: row(16 * MiB, 'characters of turns in a snapshot', 'L9', 'the newest only, with a cursor'),
  turnsPageLength: row(1 * MiB, 'characters of turns in a page', 'L9', 'the page ends, with a cursor'),
  configLength: row(1 * MiB, 'characters of the root config', 'S-23', 'the change is refused'),
  unflushedBytes: row(8 * MiB, 'bytes', 'L4', 'dispatchers wait'),
  passingBytes: row(1 * MiB, 'bytes in a channel', 'L3', 'the oldest are forgotten'),
  replayLength: row(4 * MiB, 'characters', 'L13', 'snapshots instead'),
  resends: row(256, 'actions after initialize', 'L6', 'older ones are new actions'),
  handed: row(1024, 'channels of a client', 'L13', 'the oldest are handed anew'),
  lives: row(1000, 'lives', 'L13', 'snapshots instead'),

  // One watch, and version control.
  watchChanges: row(5000, 'changes in a window', 'O8', 'that they were lost is told, and none of them'),
  watchDirectories: row(20_000, 'directories listened to', 'O8', 'others are read from time to time'),
  watchNames: row(1_000_000, 'names in a tree', 'O8', 'the directory is not known, which is told'),
  vcsMs: row(30_000, 'ms', 'O14', 'git is ended, and the question fails'),
  vcsBytes: row(16 * MiB, 'bytes that git says', 'O14', 'git is ended, and the question fails'),
  vcsRuns: row(4, 'at once', 'O14', 'others wait'),
  vcsOddPaths: row(16, 'paths that git cannot judge', 'O14', 'the question fails'),
} satisfies { readonly [name: string]: Limit }

export type LimitName = keyof typeof limitTable
export type LimitValues = { readonly [N in LimitName]: number }

/** The values alone: what the code reads. */
export const limits: LimitValues = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as LimitValues

function row(value: number, unit: string, rule: string, past: string): Limit {
  return { value, unit, rule, past }
}
