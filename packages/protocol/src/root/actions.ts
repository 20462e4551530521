import { client, host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { array, jsonObject, boolean, natural, optional } from '../schema.ts'
import { TerminalInfo } from '../terminal/state.ts'
import { AgentInfo } from './state.ts'

export const rootActions = {
  'root/agentsChanged': host({ agents: array(AgentInfo) }),
  'root/activeSessionsChanged': host({ activeSessions: natural }),
  'root/terminalsChanged': host({ terminals: array(TerminalInfo) }),
  'root/configChanged': client({ config: jsonObject, replace: optional(boolean) }),
}
export type RootAction = ActionsOf<typeof rootActions>
