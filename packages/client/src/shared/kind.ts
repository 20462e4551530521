import type { AnnotationsAction } from '@atrium/protocol/annotations/actions'
import type { AutomationAction, AutomationRunAction } from '@atrium/protocol/automation/actions'
import type { CanvasAction } from '@atrium/protocol/canvas/actions'
import type { ChangesetAction } from '@atrium/protocol/changeset/actions'
import type { kinds } from '@atrium/protocol/channels'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { KindName } from '@atrium/protocol/reducers'
import type { ResourceWatchAction } from '@atrium/protocol/resource-watch/actions'
import type { RootAction } from '@atrium/protocol/root/actions'
import type { TypeOf } from '@atrium/protocol/schema'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { TerminalAction } from '@atrium/protocol/terminal/actions'

/** What a channel of a kind looks like. */
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

/** What can be said there. */
export type ActionOn<K extends KindName> = Actions[K]
