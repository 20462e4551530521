import { reduceAnnotations } from './annotations/reducer.ts'
import { reduceAutomation, reduceAutomationRun } from './automation/reducer.ts'
import { reduceCanvas } from './canvas/reducer.ts'
import { reduceChangeset } from './changeset/reducer.ts'
import { reduceChat } from './chat/reducer.ts'
import { reduceResourceWatch } from './resource-watch/reducer.ts'
import { reduceRoot } from './root/reducer.ts'
import { reduceSession } from './session/reducer.ts'
import { reduceTerminal } from './terminal/reducer.ts'

/** The reducer of every channel kind. Telemetry and MCP channels have no state and therefore no reducer. */
export const reducers = {
  root: reduceRoot,
  session: reduceSession,
  chat: reduceChat,
  terminal: reduceTerminal,
  changeset: reduceChangeset,
  annotations: reduceAnnotations,
  resourceWatch: reduceResourceWatch,
  automation: reduceAutomation,
  automationRun: reduceAutomationRun,
  canvas: reduceCanvas,
}

export type KindName = keyof typeof reducers
