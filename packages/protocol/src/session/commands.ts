import { command, rootCommand } from '../command.ts'
import { SessionConfigSchema } from '../common/config.ts'
import { array, jsonObject, id, object, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'
import { SessionActiveClient } from './state.ts'

const choice = { value: string, label: string, description: optional(string) }
export interface SessionConfigChoice extends Infer<typeof choice> {}
export const SessionConfigChoice = object<SessionConfigChoice>('SessionConfigCompletionItem', choice)

const configuring = {
  provider: optional(string),
  workingDirectory: optional(id),
  config: optional(jsonObject),
}

export const sessionCommands = {
  createSession: command(
    {
      provider: optional(string),
      workingDirectories: optional(array(id)),
      config: optional(jsonObject),
      activeClient: optional(SessionActiveClient),
      progressToken: optional(id),
    },
    null,
  ),
  disposeSession: command({}, null),
  resolveSessionConfig: rootCommand(configuring, { schema: SessionConfigSchema, values: jsonObject }),
  sessionConfigCompletions: rootCommand(
    { ...configuring, property: string, query: optional(string) },
    { items: array(SessionConfigChoice) },
  ),
}
