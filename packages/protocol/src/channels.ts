import { annotationsActions } from './annotations/actions.ts'
import { AnnotationsState } from './annotations/state.ts'
import { automationActions, automationRunActions } from './automation/actions.ts'
import { AutomationRunState, AutomationState } from './automation/state.ts'
import { canvasActions } from './canvas/actions.ts'
import { CanvasState } from './canvas/state.ts'
import { changesetActions } from './changeset/actions.ts'
import { ChangesetState } from './changeset/state.ts'
import { chatActions } from './chat/actions.ts'
import { ChatState } from './chat/state.ts'
import { kind } from './kind.ts'
import type { ChannelKind } from './kind.ts'
import { resourceWatchActions } from './resource-watch/actions.ts'
import { ResourceWatchState } from './resource-watch/state.ts'
import { rootActions } from './root/actions.ts'
import { RootState } from './root/state.ts'
import { sessionActions } from './session/actions.ts'
import { SessionState } from './session/state.ts'
import { reducers } from './reducers.ts'
import type { KindName } from './reducers.ts'
import { terminalActions } from './terminal/actions.ts'
import { TerminalState } from './terminal/state.ts'
import { tailOf } from './terminal/tail.ts'

/** The registry of channel kinds: for each one its state, actions and reducer. */
export const kinds = {
  root: kind({
    name: 'root',
    state: RootState,
    actions: rootActions,
    reduce: reducers.root,
    derived: { _meta: true, config: { schema: true } },
  }),
  session: kind({
    name: 'session',
    state: SessionState,
    actions: sessionActions,
    reduce: reducers.session,
    strides: {
      // Up to three actions: on `session/ready` a 0.1 reducer clears the status flags. A 0.1 client therefore gets
      // two more actions, which set the flags again.
      'session/ready': 3,
      // Up to three actions: 1.0 keeps the model and the agent of a session in `_meta`, but up to 0.4 each has an
      // action of its own.
      'session/metaChanged': 3,
      // 0.7 can only remove a directory, or add one at the end of the list. To keep the order of the list, a 0.7
      // client gets the removal and the addition of every directory from the replaced one on: at most two actions for
      // each.
      'session/workingDirectoryReplaced': ({ workingDirectories = [] }) => 2 * workingDirectories.length,
    },
    derived: { project: true, annotations: true },
  }),
  chat: kind({
    name: 'chat',
    state: ChatState,
    actions: chatActions,
    reduce: reducers.chat,
    derived: { title: true, interactivity: true, changes: true },
    rows: 'turns',
  }),
  terminal: kind({
    name: 'terminal',
    state: TerminalState,
    actions: terminalActions,
    reduce: reducers.terminal,
    tail: (state) => tailOf(state),
  }),
  changeset: kind({
    name: 'changeset',
    state: ChangesetState,
    actions: changesetActions,
    reduce: reducers.changeset,
    // For a client up to 0.3 this action becomes several actions, and each takes a sequence number: one clears the
    // content, one sets each file, one sets all operations, and one sets a changed error. One more number is spare.
    strides: { 'changeset/contentChanged': (_, { files }) => files.length + 4 },
  }),
  annotations: kind({
    name: 'annotations',
    state: AnnotationsState,
    actions: annotationsActions,
    reduce: reducers.annotations,
  }),
  resourceWatch: kind({
    name: 'resourceWatch',
    state: ResourceWatchState,
    actions: resourceWatchActions,
    reduce: reducers.resourceWatch,
  }),
  automation: kind({
    name: 'automation',
    state: AutomationState,
    actions: automationActions,
    reduce: reducers.automation,
  }),
  automationRun: kind({
    name: 'automationRun',
    state: AutomationRunState,
    actions: automationRunActions,
    reduce: reducers.automationRun,
  }),
  canvas: kind({ name: 'canvas', state: CanvasState, actions: canvasActions, reduce: reducers.canvas }),
} satisfies { readonly [K in KindName]: unknown }

/** Finds a kind by the name that the host stores when it creates a channel. */
export function kindNamed(name: string): ChannelKind | undefined {
  return byName.get(name)
}

// A kind accepts only states of that kind. A caller that looks up the kind of a channel passes only states of this
// channel, but the compiler cannot know this. The casts therefore drop the state type.
const byName = new Map<string, ChannelKind>(
  Object.values(kinds).map((each) => [each.name, each as unknown as ChannelKind]),
)
