import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { MessageAttachment, ModelSelection } from '@atrium/protocol/chat/message'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { Uri } from '@atrium/protocol/channel'
import type { SessionConfigSchema } from '@atrium/protocol/common/config'
import type { ContentRef, ErrorInfo, FileEdit } from '@atrium/protocol/common/content'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionConfigChoice } from '@atrium/protocol/session/commands'
import type { SessionState } from '@atrium/protocol/session/state'
import type { FileEntry } from './files.ts'

/** The backend behind a provider id. Every agent passes the suite in `agent.contract.ts`. */
export interface Agent {
  /** May have more members after `probe`. */
  readonly info: AgentInfo
  /** Whether its turns can be resumed after a resumable error or a restart of the host. */
  readonly resumes: boolean
  /** The settings of its sessions. */
  readonly settings?: Settings
  /**
   * Asks the backend for its models, its settings and whether a user must sign in. The host calls it each time before it creates
   * a session or shows settings, so an agent should cache the answers. Never rejects.
   */
  probe?(): Promise<void>
  /** Prepares a session before its first turn. The host calls it again if it stopped before the call was done. */
  create?(session: Session, signal: AbortSignal): Promise<void>
  /**
   * Does one turn. Yields the actions of the turn in order. The turn is complete when the iterator is done, and failed when it
   * throws. A resumed turn has its earlier response parts in the state, and continues after them. The host discards everything
   * that is yielded after the signal is aborted.
   */
  run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction>
  /** The slash commands that a message may begin with. */
  commands?(session: SessionState): Promise<readonly AgentCommand[]>
  /** The last lines of diagnostic output, for troubleshooting. Must not contain secrets. */
  readonly lastWords?: readonly string[]
  /** Called when a session was disposed of: deletes the data that the agent keeps for it. */
  dispose?(session: Uri): Promise<void>
}

export interface Settings {
  readonly schema: SessionConfigSchema
  /** The values of a setting that has too many for the schema to list. */
  choices?(
    property: string,
    query: string,
    directory: Uri | undefined,
  ): Promise<readonly SessionConfigChoice[]>
}

export interface AgentCommand {
  /** A single word, without the slash. */
  readonly name: string
  readonly description?: string
}

/** A session in creation, as its agent sees it. */
export interface Session {
  readonly uri: Uri
  /** The committed state. */
  readonly state: SessionState
  /** Reports progress to the client that creates the session. */
  progress(done: number, total: number, message?: string): void
}

/** The chat that a turn belongs to, as its agent sees it. */
export interface Chat {
  readonly uri: Uri
  readonly turnId: string
  /** The committed state. */
  readonly state: ChatState
  readonly session: SessionState
  readonly sessionUri: Uri
  /** Resolves with the first committed state that meets the condition. Rejects when the turn is over. */
  when(condition: (state: ChatState) => boolean): Promise<ChatState>
  /** The turns right before a turn, oldest first. The state holds only the newest turns of the chat. Empty for the first turn. */
  before(turnId: string): Promise<readonly Turn[]>
  /** Starts a worker for a tool call of this turn. The worker does its task in a chat of its own. */
  spawn(task: Task): Worker
  /** Runs a command line for a tool call of this turn, in a terminal that clients can watch. It is ended with the turn. */
  run(command: Command): Promise<RunningCommand>
  readonly files: ToolFiles
  /** Stores content with the session, durably. Actions may then refer to it. */
  keep(bytes: Uint8Array, contentType: string): Promise<ContentRef>
  /** Reads an attachment. Rejects with a message for users where it is missing or may not be read. */
  read(attachment: MessageAttachment): Promise<Content>
  /**
   * The user's token for a resource: one that the agent's info names, or one that a call of this turn has authenticated for. An
   * agent gets the token before each use, sends it to that resource only, and does not store it.
   */
  token(resource: string): string | undefined
}

/** The whole content of an attachment. Where the message selects a part, the agent has to find it. */
export interface Content {
  readonly data: string
  readonly encoding: 'utf-8' | 'base64'
  readonly contentType?: string
}

/**
 * The files of the session's directories, for a running tool call of this turn. Reading needs no confirmation, except for secret
 * files: those reject with the error type `permission`, and the call may then ask. Writing needs a confirmation. Paths are
 * absolute, or relative to the first directory.
 */
export interface ToolFiles {
  read(toolCallId: string, path: string): Promise<string>
  /** The entries of a directory, sorted by name. */
  list(toolCallId: string, path: string): Promise<readonly FileEntry[]>
  search(toolCallId: string, search: Search): Promise<SearchResult>
  /** A preview of an edit, for the users who confirm it. The preview tells the agent nothing about a secret file. */
  propose(path: string, edit: Edit): Promise<FileEdit>
  apply(toolCallId: string, path: string, edit: Edit): Promise<void>
}

/** A search for lines that contain a text. Files that are ignored by version control, binary or secret are skipped. */
export interface Search {
  readonly text: string
  /** A directory or a file. Absent: the first directory. */
  readonly path?: string
  /** Limits the search to files whose path relative to `path` matches. */
  readonly glob?: string
  readonly ignoreCase?: boolean
}

export interface SearchResult {
  readonly lines: readonly SearchMatch[]
  /** Whether files were left out or further lines match. */
  readonly more: boolean
}

export interface SearchMatch {
  /** Relative to the path of the search. */
  readonly path: string
  /** Starts at 1. */
  readonly line: number
  readonly text: string
}

/** A new content for the whole file, or a replacement for a text that the file contains exactly once. */
export type Edit = { readonly text: string } | { readonly find: string; readonly put: string }

export interface Command {
  readonly toolCallId: string
  /** A command line for the shell. */
  readonly line: string
  /** An absolute path in a directory of the session. Absent: the first directory. */
  readonly cwd?: string
}

export interface RunningCommand {
  readonly terminal: Uri
  /** Resolves when the command has ended. Rejects when the turn is over. */
  readonly done: Promise<CommandOutcome>
  /** The output up to now. */
  soFar(): CommandOutcome
  /** Ends the command. `done` resolves with its outcome. */
  end(): Promise<void>
}

export interface CommandOutcome {
  /** Absent while the command runs, and where it was killed. */
  readonly exitCode?: number
  /** The output as plain text. Where it was too long, its end. */
  readonly output: string
  readonly truncated: boolean
  readonly ended: boolean
}

export interface Task {
  readonly toolCallId: string
  readonly title: string
  readonly text: string
  /** The model for the worker. */
  readonly model?: ModelSelection
}

export interface Worker {
  readonly chat: Uri
  /** Resolves with the state of the worker's chat when its turn has ended. Rejects when that chat is gone or this turn is over. */
  readonly done: Promise<ChatState>
}

/**
 * The chat actions that an agent may not yield. The host starts and ends turns and maintains the chat; users write, read and
 * decide; pages of turns are for single clients.
 */
export const hostOnlyActions = [
  'chat/turnStarted',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/error',
  'chat/turnResume',
  'chat/truncated',
  'chat/turnsLoaded',
  'chat/draftChanged',
  'chat/isReadChanged',
  'chat/isArchivedChanged',
  'chat/pendingMessageSet',
  'chat/queuedMessagesReordered',
  'chat/movableChanged',
  'chat/workingDirectorySet',
  'chat/workingDirectoryRemoved',
  'chat/toolCallConfirmed',
  'chat/toolCallResultConfirmed',
  'chat/inputAnswerChanged',
] as const

/** The session actions that an agent may yield. */
export const agentSessionActions = [
  'session/titleChanged',
  'session/metaChanged',
  'session/configChanged',
  'session/mcpServerStateChanged',
] as const

/** An action that an agent yields. It has no `turnId`: the host adds it. */
export type AgentAction = WithoutTurn<
  | Exclude<ChatAction, { readonly type: (typeof hostOnlyActions)[number] }>
  | Extract<SessionAction, { readonly type: (typeof agentSessionActions)[number] }>
>

type WithoutTurn<A> = A extends { readonly turnId: string } ? Omit<A, 'turnId'> : A

/** An error with a message for users. Every other error that an agent throws is shown as `the agent failed`. */
export class TurnFailed extends Error {
  override readonly name = 'TurnFailed'
  readonly errorType: string
  readonly resumable: boolean

  constructor(errorType: string, message: string, resumable = false) {
    super(message)
    this.errorType = errorType
    this.resumable = resumable
  }
}

/** The error that users see. Messages of unexpected errors are not shown, because they may contain secrets (S-27). */
export function failureOf(error: unknown): ErrorInfo {
  return error instanceof TurnFailed
    ? { errorType: error.errorType, message: error.message }
    : { errorType: 'agent', message: 'the agent failed' }
}
