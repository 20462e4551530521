import { ask, askRoot } from '../command.ts'
import { SessionConfigSchema } from '../common/config.ts'
import { array, bag, id, object, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'
import { SessionActiveClient } from './state.ts'

const choice = { value: string, label: string, description: optional(string) }
export interface SessionConfigChoice extends Infer<typeof choice> {}
export const SessionConfigChoice = object<SessionConfigChoice>('SessionConfigCompletionItem', choice)

const configuring = { provider: optional(string), workingDirectory: optional(id), config: optional(bag) }

export const sessionCommands = {
  createSession: ask(
    {
      provider: optional(string),
      workingDirectories: optional(array(id)),
      config: optional(bag),
      activeClient: optional(SessionActiveClient),
      progressToken: optional(id),
    },
    null,
  ),
  disposeSession: ask({}, null),
  resolveSessionConfig: askRoot(configuring, { schema: SessionConfigSchema, values: bag }),
  sessionConfigCompletions: askRoot(
    { ...configuring, property: string, query: optional(string) },
    { items: array(SessionConfigChoice) },
  ),
}
