import { array, boolean, id, is, natural, number, object, optional, string, variant } from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'

const terminalClientClaim = { kind: is('client'), clientId: id }
export interface TerminalClientClaim extends Infer<typeof terminalClientClaim> {}

const terminalSessionClaim = {
  kind: is('session'),
  session: id,
  chat: id,
  turnId: optional(id),
  toolCallId: optional(id),
}
export interface TerminalSessionClaim extends Infer<typeof terminalSessionClaim> {}

export const TerminalClaim = variant(
  'TerminalClaim',
  'kind',
  {
    client: object<TerminalClientClaim>('TerminalClientClaim', terminalClientClaim),
    session: object<TerminalSessionClaim>('TerminalSessionClaim', terminalSessionClaim),
  },
  'closed',
)
/** The client or session that may type into a terminal. Every terminal has exactly one. */
export type TerminalClaim = TypeOf<typeof TerminalClaim>

const terminalRunning = { status: is('running') }
export interface TerminalRunning extends Infer<typeof terminalRunning> {}

const terminalExited = { status: is('exited'), exitCode: optional(number) }
export interface TerminalExited extends Infer<typeof terminalExited> {}

export const TerminalLifecycle = variant(
  'TerminalLifecycle',
  'status',
  {
    running: object<TerminalRunning>('TerminalRunning', terminalRunning),
    exited: object<TerminalExited>('TerminalExited', terminalExited),
  },
  'closed',
)
export type TerminalLifecycle = TypeOf<typeof TerminalLifecycle>

const unclassified = { type: is('unclassified'), value: string }
export interface TerminalUnclassifiedPart extends Infer<typeof unclassified> {}
export const TerminalUnclassifiedPart = object<TerminalUnclassifiedPart>(
  'TerminalUnclassifiedPart',
  unclassified,
)

const command = {
  type: is('command'),
  commandId: id,
  commandLine: string,
  output: string,
  /** Milliseconds since 1970. */
  timestamp: number,
  isComplete: boolean,
  exitCode: optional(number),
  durationMs: optional(number),
}
export interface TerminalCommandPart extends Infer<typeof command> {}
export const TerminalCommandPart = object<TerminalCommandPart>('TerminalCommandPart', command)

export const TerminalContentPart = variant('TerminalContentPart', 'type', {
  unclassified: TerminalUnclassifiedPart,
  command: TerminalCommandPart,
})
export type TerminalContentPart = TypeOf<typeof TerminalContentPart>

const terminalInfo = { resource: id, title: string, claim: TerminalClaim, lifecycle: TerminalLifecycle }
/** A terminal in the list of the root channel. */
export interface TerminalInfo extends Infer<typeof terminalInfo> {}
export const TerminalInfo = object<TerminalInfo>('TerminalInfo', terminalInfo)

const terminalState = {
  title: string,
  cwd: optional(id),
  cols: optional(natural),
  rows: optional(natural),
  content: array(TerminalContentPart),
  lifecycle: TerminalLifecycle,
  claim: TerminalClaim,
  supportsCommandDetection: optional(boolean),
  isPty: optional(boolean),
}
export interface TerminalState extends Infer<typeof terminalState> {}
export const TerminalState = object<TerminalState>('TerminalState', terminalState)
