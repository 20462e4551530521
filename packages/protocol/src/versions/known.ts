import { nativeVersion, versions } from './negotiate.ts'
import type { Version } from './negotiate.ts'

/** The actions of a turn. They belong to the session channel up to 0.3, and to the chat channel from 0.4. */
const turnActionNames = [
  'turnStarted',
  'delta',
  'reasoning',
  'responsePart',
  'usage',
  'turnComplete',
  'turnCancelled',
  'error',
  'toolCallStart',
  'toolCallDelta',
  'toolCallReady',
  'toolCallConfirmed',
  'toolCallComplete',
  'toolCallResultConfirmed',
  'toolCallContentChanged',
  'truncated',
  'pendingMessageSet',
  'pendingMessageRemoved',
  'queuedMessagesReordered',
  'inputRequested',
  'inputAnswerChanged',
  'inputCompleted',
] as const

/**
 * Actions, commands and notifications by the protocol version that added them. The versions were found in the published
 * protocol itself; the registries in released clients have some of them wrong.
 */
const addedIn: { readonly [V in Version]: readonly string[] } = {
  '0.1.0': [
    ...prefixed('root', 'agentsChanged', 'activeSessionsChanged', 'terminalsChanged', 'configChanged'),
    ...prefixed('session', 'ready', 'creationFailed', 'titleChanged', 'isReadChanged', 'isArchivedChanged'),
    ...prefixed('session', 'activityChanged', 'configChanged', 'metaChanged', 'serverToolsChanged'),
    ...prefixed('session', 'customizationsChanged', 'customizationToggled', 'customizationUpdated'),
    ...prefixed('session', 'modelChanged', 'activeClientChanged', 'activeClientToolsChanged', 'diffsChanged'),
    ...prefixed('session', ...turnActionNames),
    ...prefixed(
      'terminal',
      'data',
      'input',
      'resized',
      'claimed',
      'titleChanged',
      'cwdChanged',
      'exited',
      'cleared',
    ),
    ...prefixed('terminal', 'commandDetectionAvailable', 'commandExecuted', 'commandFinished'),

    'initialize',
    'ping',
    'reconnect',
    'subscribe',
    'unsubscribe',
    'dispatchAction',
    'action',
    'notification',

    'createSession',
    'disposeSession',
    'listSessions',
    'resolveSessionConfig',
    'sessionConfigCompletions',
    'createTerminal',
    'disposeTerminal',
    'fetchTurns',
    'completions',
    'authenticate',
    'resourceRead',
    'resourceWrite',
    'resourceList',
    'resourceCopy',
    'resourceDelete',
    'resourceMove',
    'resourceRequest',
  ],
  '0.2.0': [
    ...prefixed('session', 'agentChanged', 'customizationRemoved', 'changesetsChanged'),
    ...prefixed('changeset', 'statusChanged', 'fileSet', 'fileRemoved', 'operationsChanged', 'cleared'),
    'resourceWatch/changed',
    'resourceResolve',
    'resourceMkdir',
    'createResourceWatch',
    'invokeChangesetOperation',
    ...prefixed('root', 'sessionAdded', 'sessionRemoved', 'sessionSummaryChanged'),
    'auth/required',
    ...prefixed('otlp', 'exportLogs', 'exportTraces', 'exportMetrics'),
  ],
  '0.3.0': ['session/mcpServerStateChanged', 'changeset/operationStatusChanged'],
  '0.4.0': [
    ...prefixed('chat', ...turnActionNames),
    ...prefixed('session', 'chatAdded', 'chatRemoved', 'chatUpdated', 'defaultChatChanged'),
    'changeset/contentChanged',
    ...prefixed('annotations', 'set', 'updated', 'removed', 'entrySet', 'entryRemoved'),
    'createChat',
    'disposeChat',
  ],
  '0.5.0': [
    ...prefixed('session', 'activeClientSet', 'activeClientRemoved'),
    ...prefixed('chat', 'activityChanged', 'draftChanged'),
    'root/progress',
  ],
  '0.5.1': ['session/inputNeededSet', 'session/inputNeededRemoved', 'chat/turnsLoaded'],
  '0.5.2': [
    ...prefixed('session', 'mcpServerStartRequested', 'mcpServerStopRequested'),
    'changeset/filesReviewedChanged',
  ],
  '0.6.0': [
    ...prefixed('chat', 'toolCallAuthRequired', 'toolCallAuthResolved'),
    'changeset/filesReviewChanged',
  ],
  '0.7.0': [
    ...prefixed('session', 'workingDirectorySet', 'workingDirectoryRemoved'),
    ...prefixed('chat', 'workingDirectorySet', 'workingDirectoryRemoved'),
  ],
  '0.8.0': ['session/workingDirectoryReplaced'],
  '0.9.0': [
    'chat/turnResume',
    ...prefixed('automation', 'createRequested', 'updateRequested', 'set', 'removed'),
    ...prefixed('automationRun', 'lifecycleChanged', 'sessionSet', 'sessionRemoved'),
    ...prefixed('automationRun', 'primarySessionChanged', 'cancelRequested'),
    'listAutomationTriggerDefinitions',
    'runAutomation',
    'fetchAutomationRuns',
  ],
  '1.0.0': [
    ...prefixed('session', 'chatsReordered', 'mcpServerBackgroundRequested'),
    ...prefixed('chat', 'isReadChanged', 'isArchivedChanged', 'backgroundWorkSet', 'backgroundWorkRemoved'),
    ...prefixed('chat', 'movableChanged', 'changesetsChanged', 'canvasesChanged'),
    'canvas/stateChanged',
    'moveChat',
  ],
}

/** The last version of each name that a later version removed. */
const lastVersionOf = new Map<string, Version>([
  ...prefixed('session', ...turnActionNames).map((name) => [name, '0.3.0'] as const),
  ['session/diffsChanged', '0.1.0'],
  ['notification', '0.1.0'],
  ['session/modelChanged', '0.4.0'],
  ['session/agentChanged', '0.4.0'],
  ['session/activeClientChanged', '0.4.0'],
  ['session/activeClientToolsChanged', '0.4.0'],
  ['changeset/filesReviewedChanged', '0.5.2'],
])

const known: ReadonlyMap<Version, ReadonlySet<string>> = new Map(
  versions.map((version, at) => {
    const names = versions.slice(0, at + 1).flatMap((earlier) => addedIn[earlier])
    return [
      version,
      new Set(names.filter((name) => at <= versions.indexOf(lastVersionOf.get(name) ?? nativeVersion))),
    ]
  }),
)

/** All actions, commands and notifications that a version defines. */
export function knownIn(version: Version): ReadonlySet<string> {
  return known.get(version) ?? new Set()
}

export function knows(version: Version, name: string): boolean {
  return knownIn(version).has(name)
}

/** Whether an action belongs to a turn, and therefore to the session up to 0.3 and to the chat from 0.4. */
export function isTurnAction(type: string): boolean {
  const [prefix, name = ''] = type.split('/')
  return (prefix === 'session' || prefix === 'chat') && turnActions.has(name)
}

const turnActions: ReadonlySet<string> = new Set(turnActionNames)

function prefixed(channel: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => `${channel}/${name}`)
}
