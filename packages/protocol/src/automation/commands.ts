import { command, rootCommand } from '../command.ts'
import { ConfigSchema } from '../common/config.ts'
import { array, jsonObject, id, object, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'
import { AutomationTriggerEvent } from './state.ts'

const triggerDefinition = {
  type: string,
  title: string,
  description: optional(string),
  events: array(AutomationTriggerEvent),
  configSchema: optional(ConfigSchema),
}
export interface AutomationTriggerDefinition extends Infer<typeof triggerDefinition> {}
export const AutomationTriggerDefinition = object<AutomationTriggerDefinition>(
  'AutomationTriggerDefinition',
  triggerDefinition,
)

export const automationCommands = {
  listAutomationTriggerDefinitions: rootCommand(
    {
      provider: optional(string),
      workingDirectories: optional(array(id)),
      sessionConfig: optional(jsonObject),
    },
    { items: array(AutomationTriggerDefinition) },
  ),
  /** A second command with the same `requestId` starts no second run. */
  runAutomation: command({ automation: id, requestId: id }, { resource: id }),
  fetchAutomationRuns: command({ automation: id, cursor: optional(string) }, {}),
}
