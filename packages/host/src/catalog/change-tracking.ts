import type { Action, Uri } from '@atrium/protocol/channel'
import type { Params, Result } from '@atrium/protocol/commands'
import type { Channel } from '../kernel/log/channel.ts'
import { defineKey } from '../kernel/key.ts'

/** The captures of turns, as the other parts of the core use them. */
export interface ChangeTracking {
  /**
   * Captures the files at the start of a chat's active turn. Resolves when the capture is durable, so that the agent
   * may begin. Resolves with a sentence if the turn cannot be undone.
   */
  begin(chat: Channel<'chat'>, turnId: string): Promise<string | undefined>
  /**
   * Notes an action of a chat, in the transaction that appends it. If the action ends a turn, records that the files
   * must still be captured.
   */
  appended(chat: Channel<'chat'>, action: Action): void
  /**
   * Called before the end of a tool call is published. Resolves when the files are captured; undefined if no capture is needed.
   */
  completing(chat: Channel<'chat'>, toolCallId: string): Promise<void> | undefined
  /** Notes that a call of the chat's active turn changes these files and no others. */
  writesOnly(chat: Uri, toolCallId: string, files: readonly Uri[]): void
  /** Resolves when a running call of the chat may change files. Undefined if it may do so at once. */
  ready(chat: Uri): Promise<void> | undefined
  /**
   * Notes that a terminal in a directory had input or output, so that its programs may have changed files there.
   * `holder` is the chat whose call runs the terminal.
   */
  terminalUsed(directory: string, holder: Uri | undefined): void
  /** Reads the records of these turns for a fork, which is published or forgotten later. */
  copy(from: Uri, to: Uri, turnIds: readonly string[]): Promise<void>
  copyPublished(chat: Channel<'chat'>): void
  copyForgotten(chat: Uri): void
  /** Drops the records and the changesets of a chat or session, in the transaction that drops the chat or session. */
  forgotten(owner: Uri): void
  /** Creates the channel of a changeset. Undefined if the URI names no changeset, or if the host is read-only. */
  create(uri: Uri): Promise<Channel | undefined>
  isChangeset(uri: Uri): boolean
  /** Whether a changeset may be older than the files, because nobody has followed them. False for other channels. */
  isStale(channel: Channel): boolean
  /** Marks a stale changeset as `recomputing`, and waits until its subscribers-to-be would see that. */
  markStale(channel: Channel): Promise<void>
  /** Begins to compute a changeset, because its channel has got a subscriber. Ignores other channels. */
  subscribed(channel: Channel): void
  /** The captured content of a file. */
  read(content: string): Promise<Uint8Array | undefined>
  /** Runs an operation of a changeset. */
  invoke(params: Params<'invokeChangesetOperation'>): Promise<Result<'invokeChangesetOperation'>>
  /** Gives the hunks of files the marks of the files, after a client has marked whole files. */
  filesReviewed(channel: Channel<'changeset'>): void
  /** Publishes the list of the changesets that a session offers. */
  offer(session: Channel<'session'>): Promise<void>
  /** Finishes what an earlier run of the host left to do. */
  recover(): void
  /** Resolves when the end captures in progress are taken. */
  settled(): Promise<void>
  /** Resolves when the end captures and the operations in progress have ended. */
  idle(): Promise<void>
  /** Stops the captures that are being taken. The next start takes them, as after a crash. */
  stop(): Promise<void>
  /** Deletes the contents that no record needs any more. */
  collect(): Promise<void>
}

/** Undefined if the host was started without captures. */
export const changesOf = defineKey<ChangeTracking | undefined>('changes')
