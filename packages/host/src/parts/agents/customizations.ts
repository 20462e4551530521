import { customizationsOf } from '../../catalog/customizing.ts'
import type { Customization } from '@atrium/protocol/session/customization'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { equal } from '../../kernel/log/equal.ts'
import type { Agent } from '../../ports/agent.ts'

/** Updates a session's customizations to those that its agent has now. */
export function syncCustomizations(core: Core, session: Channel<'session'>, { info }: Agent): void {
  // If the host has customizations of its own, `publish` updates them together with those of the agent.
  const ofHost = customizationsOf(core)
  if (ofHost) return ofHost.publish(session.uri)
  const { customizations: before = [] } = session.head
  const customizations = agentEntries(info.customizations, before)
  if (!equal(before, customizations))
    core.log.append(session, { type: 'session/customizationsChanged', customizations })
}

/**
 * Returns the customizations that a session's agent offers. Each keeps the state and the users' choices that it has
 * in `before`.
 */
export function agentEntries(
  offered: readonly Customization[] = [],
  before: readonly Customization[],
): readonly Customization[] {
  return offered.map((each) => withKeptFields(each, before))
}

/** Updates a session's `serverTools` to the tools of its agent. */
export function syncTools(core: Core, session: Channel<'session'>, { tools = [] }: Agent): void {
  if (!equal(session.head.serverTools ?? [], tools))
    core.log.append(session, { type: 'session/serverToolsChanged', tools })
}

const keptFields: ReadonlySet<string> = new Set(['state', 'enablement', 'enabled'])

function withKeptFields(offered: Customization, before: readonly Customization[]): Customization {
  const known: object | undefined = before.find(({ id, type }) => id === offered.id && type === offered.type)
  const kept = Object.entries(known ?? {}).filter(([key]) => keptFields.has(key))
  return { ...offered, ...Object.fromEntries(kept) }
}
