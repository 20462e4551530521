import { automationLimits } from './limits/automation-limits.ts'
import { KiB, MiB, row } from './limits/limit.ts'
import type { Limit } from './limits/limit.ts'
import { machineLimits } from './limits/machine-limits.ts'
import { webLimits } from './limits/web-limits.ts'
import { searchLimits } from './limits/search-limits.ts'
import { historyLimits } from './limits/history-limits.ts'

/** Every limit of the system. `npm run tables` writes them to docs/spec/limits.md. Each has one test at its value and one past it. */
export const limitTable = {
  // One message.
  messageBytes: row(4 * MiB, 'bytes', 'S-20', 'closed with 1009'),
  openingLength: row(64 * KiB, 'characters', 'S-20', 'closed with 1009, until the handshake is requested'),
  depth: row(64, 'levels', 'S-18', 'closed with 1008'),
  keys: row(10_000, 'keys', 'S-18', 'closed with 1008'),
  fragments: row(1024, 'frames of a message', 'S-21', 'closed with 1008'),
  answerLength: row(64 * MiB, 'characters', 'R2', 'a client closes with 1009'),
  answerDepth: row(128, 'levels', 'R2', 'a client closes with 1008'),
  answerKeys: row(10_000_000, 'keys', 'R2', 'a client closes with 1008'),
  globLength: row(1024, 'characters', 'S-25', 'refused'),
  expressionStates: row(4096, 'states of a regular expression', 'S-25', 'refused'),

  // Connections before the handshake.
  lobbySockets: row(256, 'sockets', 'S-07', 'the oldest is destroyed, once it is older than lobbyMomentMs'),
  lobbyMomentMs: row(1000, 'ms', 'S-07', 'a socket may be destroyed in favour of newer ones'),
  lobbyCrowd: row(8192, 'sockets', 'S-07', 'the oldest is destroyed'),
  headBytes: row(8 * KiB, 'bytes', 'S-07', '431'),
  upgradeMs: row(5000, 'ms', 'S-07', 'the socket is destroyed'),
  handshakeMs: row(10_000, 'ms', 'S-07', 'closed with 1002'),
  failures: row(10, 'failures in a window, by one address', 'S-06', '429, for a time that doubles'),
  failuresOfAll: row(100, 'failures in a window, by all addresses', 'S-06', '429, for a time that doubles'),
  failureMs: row(60_000, 'ms', 'S-06', 'a new window begins'),
  failureWaitMs: row(3_600_000, 'ms', 'S-06', 'the time doubles no further'),
  devices: row(64, 'paired devices', 'T6', 'a further pairing is refused'),
  pairingCodes: row(16, 'pairing codes that are open', 'T5', 'the oldest code ends'),
  pairingMs: row(10 * 60_000, 'ms', 'T5', 'a pairing code ends'),
  pairingBytes: row(4 * KiB, 'bytes of a request to pair', 'S-07', '413'),
  failureAddresses: row(1024, 'addresses', 'S-06', 'the address that failed least recently is forgotten'),

  // One connection.
  windowMs: row(4000, 'ms', 'S-22', 'a new window begins'),
  messages: row(40_000, 'messages in a window', 'S-22', 'refused as too fast; twice that: 1008'),
  messageLength: row(32 * MiB, 'characters in a window', 'S-22', 'refused as too fast; twice that: 1008'),
  pings: row(20_000, 'pings in a window', 'S-22', 'refused as too fast; twice that: 1008'),
  reports: row(100, 'lines of the log in a window', 'S-22', 'no more lines about that link'),
  controlFrames: row(10_000, 'frames in a window', 'S-21', 'closed with 1008'),
  requests: row(128, 'concurrent requests', 'S-23', 'refused with -32009'),
  subscriptions: row(512, 'channels', 'S-23', 'refused with -32009'),
  lineLength: row(32 * MiB, 'characters of queued requests and actions', 'S-23', 'closed with 1013'),
  waitingLength: row(64 * KiB, 'characters of frames that wait for their turn', 'H4', 'the link is not read'),
  latencyMs: row(10_000, 'ms of requested latency', 'S-24', 'cut to the limit'),
  slowBytes: row(256 * KiB, 'bytes unread', 'S-24', 'waiting text is merged'),
  unreadBytes: row(4 * MiB, 'bytes unread', 'S-24', 'closed with 1013'),
  answerBytes: row(64 * MiB, 'bytes unread, with a response among them', 'S-24', 'closed with 1013'),

  // One principal, and the host.
  roundLength: row(
    32 * KiB,
    'characters of frames in a round, of all links',
    'H4',
    'frames wait for a later round',
  ),
  sharedRoundLength: row(
    8 * KiB,
    'the same, while several links send',
    'H4',
    'frames wait for a later round',
  ),
  links: row(20_000, 'links of a principal', 'S-23', 'closed with 1013'),
  sessions: row(20_000, 'sessions', 'S-23', 'createSession is refused with -32009'),
  removals: row(1000, 'disposed sessions that clients are told', 'H10', 'the oldest one is not told'),
  chats: row(512, 'chats in a session', 'S-23', 'createChat is refused with -32009'),
  pendingLength: row(8 * MiB, 'characters of pending messages in a chat', 'S-23', 'refused'),
  lentLength: row(8 * MiB, 'characters of the active clients of a session', 'S-23', 'refused'),
  nesting: row(8, 'levels of workers below a chat', 'S-23', 'the agent is refused the worker'),
  toolGraceMs: row(30_000, 'ms', 'H6', 'a client that left is no active client any more'),
  offeredTools: row(128, 'tools offered to an agent', 'X9', 'further tools are not offered'),
  toolTextLength: row(4096, 'characters of a description', 'X9', 'the rest is left out for agents'),
  graceMs: row(3 * 3_600_000, 'ms', 'H6', 'a client that left counts as gone'),
  clientMs: row(90 * 24 * 3_600_000, 'ms', 'L19', 'a client that was away must initialize again'),
  pageLength: row(1 * MiB, 'characters of titles in a page', 'S-23', 'the page ends, with a cursor'),
  turnsLength: row(
    16 * MiB,
    'characters of turns in a snapshot',
    'L9',
    'the newest turns only, with a cursor',
  ),
  turnsPageLength: row(1 * MiB, 'characters of turns in a page', 'L9', 'the page ends, with a cursor'),
  configLength: row(1 * MiB, 'characters of the root config', 'S-23', 'refused'),
  aheadLength: row(128 * KiB, 'characters of unflushed actions', 'H4', 'frames in queues wait for the flush'),
  sharedAheadLength: row(
    16 * KiB,
    'the same, while several links send',
    'H4',
    'frames in queues wait for the flush',
  ),
  unflushedBytes: row(8 * MiB, 'bytes not yet flushed', 'L4', 'dispatchers wait'),
  // Files and terminals.
  readBytes: row(16 * MiB, 'bytes of a file', 'Q3', 'reading it is refused'),
  readingBytes: row(32 * MiB, 'bytes being read and sent, of a link', 'Q12', 'its further reads wait'),
  readingBytesOfAll: row(256 * MiB, 'bytes being read and sent, of all links', 'Q12', 'further reads wait'),
  stalledReadMs: row(10_000, 'ms', 'Q12', 'a link that does not read is closed with 1013, if others wait'),
  entries: row(100_000, 'entries of a directory', 'Q3', 'listing it is refused'),
  fileMs: row(30_000, 'ms', 'S-30', 'the request fails as too slow'),
  permissions: row(256, 'permissions of a session, or of the root', 'X2', 'refused'),
  grants: row(256, 'grants', 'Q2', 'refused'),
  plugins: row(256, 'plugins in the settings of the host', 'H17', 'refused'),
  watches: row(256, 'watches', 'S-23', 'createResourceWatch is refused with -32009'),
  watchUnusedMs: row(30_000, 'ms', 'Q8', 'a watch without a subscriber is disposed of'),
  globs: row(64, 'patterns of a watch', 'S-25', 'refused'),
  borrowMs: row(30_000, 'ms', 'Q6', 'the request to the client fails'),
  borrowed: row(4096, 'resources of clients', 'Q6', 'the oldest is forgotten'),
  inlineLength: row(
    64 * KiB,
    'characters of a tool’s output',
    'Q7',
    'the output is stored apart, and referred to',
  ),
  turnLength: row(
    4 * MiB,
    'characters of a chat’s state without its turns',
    'Q10',
    'further text and output are stored apart, and referred to',
  ),
  stateLength: row(
    16 * MiB,
    'characters of a state without its turns',
    'Q10',
    'an agent’s turn fails; a long action is refused',
  ),
  commandAddresses: row(8, 'addresses of a command', 'H51', 'further ones are not shown'),
  terminals: row(64, 'running terminals', 'S-23', 'createTerminal is refused with -32009'),
  terminalLength: row(1 * MiB, 'characters of a terminal', 'Y3', 'the older half is forgotten'),
  inputLength: row(256 * KiB, 'characters of one input', 'Y4', 'refused'),
  terminalSize: row(1000, 'columns, or rows', 'Y4', 'refused'),
  untoldOutput: row(64, 'pieces of output not yet delivered', 'Y5', 'the program blocks'),
  viewerMs: row(2000, 'ms', 'Y5', 'the terminal waits no longer for a slow viewer'),
  endMs: row(1500, 'ms', 'Y8', 'a stopping host waits no longer for its child processes'),

  // Language models.
  modelSteps: row(200, 'requests of a turn', 'N28', 'the turn fails, and can be resumed'),
  modelResult: row(48 * KiB, 'characters of a tool’s result', 'N21', 'cut off, with a note'),
  modelLineMs: row(600_000, 'ms of a model’s command line', 'N23', 'the command is ended'),
  modelAskMs: row(3000, 'ms', 'N20', 'a provider that does not list its models is waited for no longer'),
  instructionBytes: row(
    1 * MiB,
    'bytes of a file with instructions',
    'N31',
    'the file is not read, with a note',
  ),
  instructionsLength: row(32 * KiB, 'characters of all instructions', 'N31', 'cut off, with a note'),
  searchBytes: row(1 * MiB, 'bytes of a file', 'N22', 'the file is not searched, with a note'),
  searchLines: row(200, 'lines found', 'N22', 'the other lines are left out, with a note'),
  searchLineLength: row(400, 'characters of a line found', 'N22', 'cut off'),
  searchMs: row(10_000, 'ms', 'N22', 'the rest is not searched, with a note'),

  // Annotations.
  annotations: row(500, 'annotations of a session', 'H30', 'refused'),
  annotationLength: row(32 * KiB, 'characters of an annotation', 'H30', 'refused'),
  annotatedBytes: row(1 * MiB, 'bytes of a file', 'H31', 'its annotations do not follow their text'),
  annotatedFolders: row(16, 'watched folders of a session', 'H31', 'the others are read after turns'),

  // Completions, attachments and tokens.
  completionLength: row(256, 'characters of a word', 'J2', 'it has no completions'),
  completionItems: row(50, 'completions in an answer', 'J2', 'the best ones only'),
  completionMs: row(1000, 'ms', 'J3', 'later results are left out'),
  listingFiles: row(20_000, 'names below a directory', 'J3', 'the others are not found'),
  listingDepth: row(16, 'levels of a directory', 'J3', 'deeper files are not found'),
  listings: row(16, 'directories with a cached listing', 'J3', 'the oldest is forgotten'),
  listingMs: row(5000, 'ms', 'J3', 'the directory is read again'),
  transcriptLength: row(256 * KiB, 'characters of an attached chat', 'J6', 'the newest turns only'),
  chatAttachments: row(64, 'chats attached to a message', 'J6', 'refused'),
  tokenLength: row(16 * KiB, 'characters of a token', 'J7', 'refused'),
  tokens: row(64, 'tokens of a principal', 'S-48', 'the oldest is forgotten'),
  tokenGraceMs: row(3_600_000, 'ms', 'S-48', 'the tokens of a principal that has left are forgotten'),

  // Plugins.
  customizationsLength: row(
    4 * MiB,
    'characters of a session’s customizations',
    'H17',
    'the parts of further ones are left out, with a note',
  ),
  serverWaitMs: row(10_000, 'ms', 'H19', 'a turn begins without the MCP server'),
  hookMs: row(60_000, 'ms', 'H18', 'a hook is ended'),
  hookOutput: row(32 * KiB, 'characters of each output of a hook', 'H18', 'the rest is dropped'),
  pluginComponents: row(
    2000,
    'components of a plugin or folder',
    'K7',
    'the others are left out, with a note',
  ),
  pluginFileBytes: row(1 * MiB, 'bytes of a component’s file', 'K7', 'left out, with a note'),
  pluginBytes: row(64 * MiB, 'bytes of a plugin', 'K7', 'the others are left out, or there is no digest'),
  pluginFiles: row(10_000, 'files and folders of a plugin', 'K10', 'there is no digest'),
  frontmatterLength: row(8 * KiB, 'characters of a frontmatter', 'K7', 'left out, with a note'),
  componentName: row(128, 'characters of a component’s name', 'K7', 'left out, with a note'),
  descriptionLength: row(1024, 'characters of a description', 'K7', 'cut off'),

  // Replay and presence.
  passingBytes: row(1 * MiB, 'bytes in a channel', 'L3', 'the oldest are forgotten'),
  recentLength: row(1 * MiB, 'characters of recent actions in memory', 'L13', 'a replay reads the store'),
  replayLength: row(4 * MiB, 'characters', 'L13', 'snapshots instead'),
  resends: row(256, 'actions after initialize', 'L6', 'older ones are new actions'),
  handed: row(1024, 'channels of a client', 'L13', 'the oldest get a snapshot again'),
  present: row(100, 'clients in a list of present clients', 'H13', 'the newest are left out'),
  infoLength: row(100, 'characters of a client’s name, title or version', 'H13', 'cut off'),
  lives: row(1000, 'epochs', 'L13', 'snapshots instead'),

  // Paths and trees.
  pathBytes: row(4096, 'bytes of a path', 'S-28', 'refused'),
  treeDepth: row(256, 'levels of a directory', 'E7', 'neither removed nor copied'),
  treeEntries: row(100_000, 'entries below a directory', 'E7', 'neither removed nor copied'),
  copyBytes: row(1024 * MiB, 'bytes copied by one change', 'S-30', 'nothing is copied'),
  // One terminal.
  terminalSide: row(1000, 'columns, or rows', 'M1', 'cut to the limit'),
  terminalData: row(64 * KiB, 'characters of an action', 'M1', 'the rest is the next action'),
  terminalTyped: row(
    1 * MiB,
    'bytes of input not yet read by the program',
    'M2',
    'input that does not fit is dropped',
  ),
  terminalSequence: row(64 * KiB, 'characters of an escape sequence', 'S-32', 'the sequence is dropped'),
  terminalTitle: row(256, 'characters of a title', 'S-32', 'cut off'),
  terminalFactMs: row(
    100,
    'ms between two titles, or two directories',
    'M5',
    'the newest value is reported then',
  ),
  screenLength: row(256 * KiB, 'characters kept for queries', 'S-33', 'the oldest are forgotten'),
  queries: row(64, 'queries not yet answered', 'S-33', 'later queries get no answer'),
  commandLength: row(8 * KiB, 'characters of a command line', 'M6', 'cut off'),
  commandRate: row(100, 'commands in a second', 'M6', 'further commands are output only'),
  terminalGraceMs: row(1000, 'ms after a hangup', 'M8', 'SIGKILL'),
  ...machineLimits,
  ...webLimits,
  // Search in the texts of all sessions, and the past of channels.
  ...searchLimits,
  ...historyLimits,
  ...automationLimits,
} satisfies { readonly [name: string]: Limit }

export type LimitName = keyof typeof limitTable
export type LimitValues = { readonly [N in LimitName]: number }

/** The value of each limit. `Object.fromEntries` loses the names of the keys; the cast restores them. */
export const limits: LimitValues = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as LimitValues
