import { KiB, MiB, row } from './limit.ts'
import type { Limit } from './limit.ts'

/** The limits of what the host uses on its machine beside files and terminals. They are a part of the table in `limits.ts`. */
export const machineLimits = {
  // One watch, and version control.
  watchChanges: row(5000, 'changes in a window', 'O8', 'lost changes are reported instead of the changes'),
  watchDirectories: row(20_000, 'watched directories', 'O8', 'other directories are polled'),
  watchNames: row(
    1_000_000,
    'names in a tree',
    'O8',
    'the directory is not tracked, and lost changes are reported',
  ),
  vcsMs: row(30_000, 'ms', 'O14', 'git is ended, and the query fails'),
  vcsBytes: row(16 * MiB, 'bytes of git’s output', 'O14', 'git is ended, and the query fails'),
  vcsRuns: row(4, 'concurrent git processes', 'O14', 'further queries wait'),
  vcsOddPaths: row(16, 'paths that git cannot judge', 'O14', 'the query fails'),
  // Captures of folders, and of turns.
  captureMs: row(120_000, 'ms of a git process', 'O18', 'the capture fails'),
  captureOutput: row(64 * MiB, 'bytes of git’s output', 'O18', 'the capture fails'),
  turnCaptureMs: row(10_000, 'ms of a capture', 'O31', 'the turn goes on, and cannot be undone'),
  captureBytes: row(512 * MiB, 'bytes that a capture reads', 'O31', 'the turn goes on, and cannot be undone'),
  captureFiles: row(100_000, 'files that a capture reads', 'O31', 'the turn goes on, and cannot be undone'),
  captureFileBytes: row(16 * MiB, 'bytes of a captured file', 'O31', 'the file is named, and not captured'),
  recomputingMs: row(500, 'ms of a computation', 'O35', 'the changeset says that it is recomputing'),
  refreshMs: row(200, 'ms after a change of files', 'O35', 'the changeset is computed again'),
  changesetFiles: row(3000, 'files of a changeset', 'O35', 'the others are left out, with a sentence'),
  changesets: row(2000, 'changesets of a session', 'O35', 'refused with -32009'),
  sharedPaths: row(
    1000,
    'paths of a turn that others changed',
    'O33',
    'all paths of the turn count as shared',
  ),
  worktreeMs: row(600_000, 'ms of one git command', 'O50', 'git is ended, and nothing is created or applied'),
  worktreeFiles: row(10_000, 'copied ignored files', 'O51', 'the others are not copied, and a note says so'),
  worktreeBytes: row(1024 * MiB, 'bytes of copied or applied files', 'O51', 'not copied, and not applied'),
  // MCP servers.
  mcpServers: row(128, 'running servers', 'F5', 'a further server is not started, and says so'),
  mcpStartMs: row(60_000, 'ms until a server is ready', 'F2', 'the server is ended, and is in error'),
  mcpIdleMs: row(300_000, 'ms without a call', 'F4', 'the server is stopped'),
  mcpRestarts: row(5, 'restarts after crashes', 'F3', 'the server is in error'),
  mcpSteadyMs: row(60_000, 'ms without a crash', 'F3', 'earlier restarts do not count'),
  mcpMessageLength: row(16 * MiB, 'characters of a message', 'F13', 'the server is ended'),
  mcpTools: row(512, 'tools of a server', 'F7', 'the others are left out'),
  mcpNameLength: row(128, 'characters of a tool’s name', 'F7', 'the tool is left out'),
  mcpDescriptionLength: row(8 * KiB, 'characters of a tool’s description', 'F7', 'the rest is cut off'),
  mcpSchemaLength: row(64 * KiB, 'characters of a schema', 'F7', 'the tool is left out; a form is refused'),
  mcpSchemaDepth: row(
    32,
    'levels of a schema, or of structured content',
    'F7',
    'as a schema that is too long',
  ),
  mcpListMs: row(1000, 'ms between two readings of a list of tools', 'F7', 'the list is read then'),
  mcpCallMs: row(600_000, 'ms of a call without news', 'F8', 'the call is cancelled, and fails'),
  mcpProgressMs: row(100, 'ms between two reports of progress', 'F8', 'the newest is reported then'),
  mcpResultLength: row(4 * MiB, 'characters of a result', 'F9', 'the rest is left out, with a note'),
  mcpQuestions: row(32, 'forms of one call', 'F10', 'the call fails'),
  metadataBytes: row(1 * MiB, 'bytes of resource metadata', 'F12', 'the metadata counts as missing'),
  metadataMs: row(5000, 'ms to fetch resource metadata', 'F12', 'the metadata counts as missing'),
  metadataRedirects: row(3, 'redirects of resource metadata', 'F12', 'the metadata counts as missing'),
} satisfies { readonly [name: string]: Limit }
