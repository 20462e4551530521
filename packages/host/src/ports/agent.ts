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
  /** It may know more of itself after `probe`. */
  readonly info: AgentInfo
  /** A turn of it that was broken off, by an error that says so or by the end of its host, can go on. */
  readonly resumes: boolean
  /** What its sessions can be set to. */
  readonly settings?: Settings
  /**
   * Finds out what can only be known by asking it: its models, its settings, whether somebody must sign in. Asked before a session
   * is made or its settings are shown, each time: what is known already costs nothing. Never rejects.
   */
  probe?(): Promise<void>
  /** Makes ready what a session needs before its first turn. Asked again where its host died before it was done. */
  create?(session: Session, signal: AbortSignal): Promise<void>
  /**
   * One turn: what it says, in order; the turn is over when there is no more, and failed when it throws. A turn that is
   * resumed has its earlier parts in the state, and is gone on with from there. Once the signal is aborted nothing that
   * it says is heard.
   */
  run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction>
  /** What a message to it may begin with, behind a slash. */
  commands?(session: SessionState): Promise<readonly AgentCommand[]>
  /** What it said last beside its work, for people who look for a fault. Nothing secret. */
  readonly lastWords?: readonly string[]
  /** A session has gone: whatever is kept for it may go. */
  dispose?(session: Uri): Promise<void>
}

export interface Settings {
  readonly schema: SessionConfigSchema
  /** What a setting that is too large for a list may be set to. */
  choices?(
    property: string,
    query: string,
    directory: Uri | undefined,
  ): Promise<readonly SessionConfigChoice[]>
}

export interface AgentCommand {
  /** One word. */
  readonly name: string
  readonly description?: string
}

/** A session, as its agent sees it while it is made. */
export interface Session {
  readonly uri: Uri
  /** As everyone has been told. */
  readonly state: SessionState
  /** How far it is, for whoever waits for it. */
  progress(done: number, total: number, message?: string): void
}

/** The chat that a turn belongs to, as its agent sees it. */
export interface Chat {
  readonly uri: Uri
  readonly turnId: string
  /** As everyone has been told. */
  readonly state: ChatState
  readonly session: SessionState
  readonly sessionUri: Uri
  /** Resolves with the first state that is as wished; rejects when the turn is over. */
  when(wished: (state: ChatState) => boolean): Promise<ChatState>
  /** Turns that came just before one, oldest first: the state has the newest alone. None where it is the first. */
  before(turnId: string): Promise<readonly Turn[]>
  /** Lets a worker do a task in a chat of its own, for one of this turn's tool calls. */
  spawn(task: Task): Worker
  /** Runs a line in a terminal that everyone can watch, for one of this turn's tool calls. It ends with the turn. */
  run(command: Command): Promise<RunningCommand>
  readonly files: ToolFiles
  /** Keeps content with the session, durably, for what refers to it. */
  keep(bytes: Uint8Array, contentType: string): Promise<ContentRef>
  /** What is behind something attached to a message. Rejects in words for people where it is not there, or may not be read. */
  read(attachment: MessageAttachment): Promise<Content>
  /**
   * What somebody gave to be shown to a resource, which the agent's info names or a call of this turn was signed in for. It is
   * looked up each time it is used, shown there and nowhere else, and kept nowhere.
   */
  token(resource: string): string | undefined
}

/** All of it: what a message selects of it is for the agent to find. */
export interface Content {
  readonly data: string
  readonly encoding: 'utf-8' | 'base64'
  readonly contentType?: string
}

/**
 * Files of the session's directories, for one of this turn's tool calls that runs. To look, nobody need have been asked, but for what is
 * secret: that rejects as `permission`, and the call may ask then. To write, somebody must have agreed. Paths are absolute, or from the
 * first directory on.
 */
export interface ToolFiles {
  read(toolCallId: string, path: string): Promise<string>
  /** What a directory holds, in the order of names. */
  list(toolCallId: string, path: string): Promise<readonly FileEntry[]>
  search(toolCallId: string, search: Search): Promise<SearchResult>
  /** What an edit would change, for those who are asked. The agent learns nothing of the file by it. */
  propose(path: string, edit: Edit): Promise<FileEdit>
  apply(toolCallId: string, path: string, edit: Edit): Promise<void>
}

/** Lines with a text, in the files below a path that version control does not ignore, and that are text and not secret. */
export interface Search {
  readonly text: string
  /** A directory or a file; absent: the first directory. */
  readonly path?: string
  /** Which files, by their paths from there. */
  readonly glob?: string
  readonly ignoreCase?: boolean
}

export interface SearchResult {
  readonly lines: readonly SearchMatch[]
  /** There is more than was looked at, or is told. */
  readonly more: boolean
}

export interface SearchMatch {
  /** From where it was searched. */
  readonly path: string
  /** The first is 1. */
  readonly line: number
  readonly text: string
}

/** A whole new text, or another in the place of one that the file has exactly once. */
export type Edit = { readonly text: string } | { readonly find: string; readonly put: string }

export interface Command {
  readonly toolCallId: string
  /** For the shell. */
  readonly line: string
  /** Absolute, in a directory of the session. Absent: the first of them. */
  readonly cwd?: string
}

export interface RunningCommand {
  readonly terminal: Uri
  /** Resolves when it has ended; rejects when this turn is over. */
  readonly done: Promise<CommandOutcome>
  /** What it is until now. */
  soFar(): CommandOutcome
  /** Ends it; `done` says how. */
  end(): Promise<void>
}

export interface CommandOutcome {
  /** Absent where something else than itself ended it. */
  readonly exitCode?: number
  /** What it wrote, as plain text; the newest of it, where that was too much. */
  readonly output: string
  readonly truncated: boolean
  readonly ended: boolean
}

export interface Task {
  readonly toolCallId: string
  readonly title: string
  readonly text: string
  /** The model that the worker is to have. */
  readonly model?: ModelSelection
}

export interface Worker {
  readonly chat: Uri
  /** Resolves with the worker's state when its turn has ended; rejects when its chat is gone, or this turn is over. */
  readonly done: Promise<ChatState>
}

/**
 * How a turn begins and ends, where its chat works and may go, is said by the host; what people write, read and decide by
 * them; pages are no agent's.
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

/** The few actions of a session that its agent may say. */
export const agentSessionActions = [
  'session/titleChanged',
  'session/metaChanged',
  'session/configChanged',
  'session/mcpServerStateChanged',
] as const

/** An action of its chat, or one of the few of its session. The host knows which turn it is. */
export type AgentAction = WithoutTurn<
  | Exclude<ChatAction, { readonly type: (typeof hostOnlyActions)[number] }>
  | Extract<SessionAction, { readonly type: (typeof agentSessionActions)[number] }>
>

type WithoutTurn<A> = A extends { readonly turnId: string } ? Omit<A, 'turnId'> : A

/** How an agent says that its turn has failed, in words for people. Anything else it throws is a failure without them. */
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

/** What people are told of something that an agent threw (S-27). */
export function failureOf(error: unknown): ErrorInfo {
  return error instanceof TurnFailed
    ? { errorType: error.errorType, message: error.message }
    : { errorType: 'agent', message: 'the agent failed' }
}
