import { nativeVersion, versions } from './negotiate.ts'
import type { Version } from './negotiate.ts'

/**
 * What each generation knows: actions, commands and notifications by the version that brought them. These are the
 * dates of the wire itself; the registries that clients ship date some of them wrongly.
 */
const conversation = [
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

const brought: { readonly [V in Version]: readonly string[] } = {
  '0.1.0': [
    ...under('root', 'agentsChanged', 'activeSessionsChanged', 'terminalsChanged', 'configChanged'),
    ...under('session', 'ready', 'creationFailed', 'titleChanged', 'isReadChanged', 'isArchivedChanged'),
    ...under('session', 'activityChanged', 'configChanged', 'metaChanged', 'serverToolsChanged'),
    ...under('session', 'customizationsChanged', 'customizationToggled', 'customizationUpdated'),
    ...under('session', 'modelChanged', 'activeClientChanged', 'activeClientToolsChanged', 'diffsChanged'),
    ...under('session', ...conversation),
    ...under(
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
    ...under('terminal', 'commandDetectionAvailable', 'commandExecuted', 'commandFinished'),

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
    ...under('session', 'agentChanged', 'customizationRemoved', 'changesetsChanged'),
    ...under('changeset', 'statusChanged', 'fileSet', 'fileRemoved', 'operationsChanged', 'cleared'),
    'resourceWatch/changed',
    'resourceResolve',
    'resourceMkdir',
    'createResourceWatch',
    'invokeChangesetOperation',
    ...under('root', 'sessionAdded', 'sessionRemoved', 'sessionSummaryChanged'),
    'auth/required',
    ...under('otlp', 'exportLogs', 'exportTraces', 'exportMetrics'),
  ],
  '0.3.0': ['session/mcpServerStateChanged', 'changeset/operationStatusChanged'],
  '0.4.0': [
    ...under('chat', ...conversation),
    ...under('session', 'chatAdded', 'chatRemoved', 'chatUpdated', 'defaultChatChanged'),
    'changeset/contentChanged',
    ...under('annotations', 'set', 'updated', 'removed', 'entrySet', 'entryRemoved'),
    'createChat',
    'disposeChat',
  ],
  '0.5.0': [
    ...under('session', 'activeClientSet', 'activeClientRemoved'),
    ...under('chat', 'activityChanged', 'draftChanged'),
    'root/progress',
  ],
  '0.5.1': ['session/inputNeededSet', 'session/inputNeededRemoved', 'chat/turnsLoaded'],
  '0.5.2': [
    ...under('session', 'mcpServerStartRequested', 'mcpServerStopRequested'),
    'changeset/filesReviewedChanged',
  ],
  '0.6.0': [...under('chat', 'toolCallAuthRequired', 'toolCallAuthResolved'), 'changeset/filesReviewChanged'],
  '0.7.0': [
    ...under('session', 'workingDirectorySet', 'workingDirectoryRemoved'),
    ...under('chat', 'workingDirectorySet', 'workingDirectoryRemoved'),
  ],
  '0.8.0': ['session/workingDirectoryReplaced'],
  '0.9.0': [
    'chat/turnResume',
    ...under('automation', 'createRequested', 'updateRequested', 'set', 'removed'),
    ...under('automationRun', 'lifecycleChanged', 'sessionSet', 'sessionRemoved'),
    ...under('automationRun', 'primarySessionChanged', 'cancelRequested'),
    'listAutomationTriggerDefinitions',
    'runAutomation',
    'fetchAutomationRuns',
  ],
  '1.0.0': [
    ...under('session', 'chatsReordered', 'mcpServerBackgroundRequested'),
    ...under('chat', 'isReadChanged', 'isArchivedChanged', 'backgroundWorkSet', 'backgroundWorkRemoved'),
    ...under('chat', 'movableChanged', 'changesetsChanged', 'canvasesChanged'),
    'canvas/stateChanged',
    'moveChat',
  ],
}

/** The last generation that had a name which is gone today. */
const lastIn = new Map<string, Version>([
  ...under('session', ...conversation).map((name) => [name, '0.3.0'] as const),
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
    const names = versions.slice(0, at + 1).flatMap((earlier) => brought[earlier])
    return [
      version,
      new Set(names.filter((name) => at <= versions.indexOf(lastIn.get(name) ?? nativeVersion))),
    ]
  }),
)

/** Everything a generation has a name for. */
export function knownIn(version: Version): ReadonlySet<string> {
  return known.get(version) ?? new Set()
}

export function knows(version: Version, name: string): boolean {
  return knownIn(version).has(name)
}

function under(channel: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => `${channel}/${name}`)
}
