import type { DispatchableOf } from './action.ts'
import type { AnnotationsAction, annotationsActions } from './annotations/actions.ts'
import type {
  AutomationAction,
  AutomationRunAction,
  automationActions,
  automationRunActions,
} from './automation/actions.ts'
import type { CanvasAction } from './canvas/actions.ts'
import type { ChangesetAction, changesetActions } from './changeset/actions.ts'
import type { kinds } from './channels.ts'
import type { ChatAction, chatActions } from './chat/actions.ts'
import type { KindName } from './reducers.ts'
import type { ResourceWatchAction } from './resource-watch/actions.ts'
import type { RootAction, rootActions } from './root/actions.ts'
import type { TypeOf } from './schema.ts'
import type { SessionAction, sessionActions } from './session/actions.ts'
import type { TerminalAction, terminalActions } from './terminal/actions.ts'

/** The state of a channel of this kind. */
export type StateOf<K extends KindName> = TypeOf<(typeof kinds)[K]['state']>

interface Actions {
  readonly root: RootAction
  readonly session: SessionAction
  readonly chat: ChatAction
  readonly terminal: TerminalAction
  readonly changeset: ChangesetAction
  readonly annotations: AnnotationsAction
  readonly resourceWatch: ResourceWatchAction
  readonly automation: AutomationAction
  readonly automationRun: AutomationRunAction
  readonly canvas: CanvasAction
}

/** The actions of a channel of this kind. */
export type ActionOn<K extends KindName> = Actions[K]

/** The actions that clients may dispatch, of all kinds. */
export type DispatchableAction =
  | DispatchableOf<typeof rootActions>
  | DispatchableOf<typeof sessionActions>
  | DispatchableOf<typeof chatActions>
  | DispatchableOf<typeof terminalActions>
  | DispatchableOf<typeof changesetActions>
  | DispatchableOf<typeof annotationsActions>
  | DispatchableOf<typeof automationActions>
  | DispatchableOf<typeof automationRunActions>
