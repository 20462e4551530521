import type { McpServerCustomization } from '@atrium/protocol/session/customization'
import type { SessionState } from '@atrium/protocol/session/state'
import { Problem, exits } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { table } from '../render/table.ts'
import { findSession } from '../session/find.ts'
import { trip } from '../link/with-client.ts'
import { onOneLine, voice } from '../terminal/output.ts'
import type { Manners } from '../terminal/output.ts'
import { accepted } from '../link/dispatch.ts'

interface Flags extends Whereabouts, Manners {
  readonly on?: boolean
  readonly off?: boolean
}

/** `atrium mcp`: the MCP servers of a session, or one of them switched on or off for it. */
export function mcp(name: string, server: string | undefined, flags: Flags): Promise<void> {
  const { tell, did, note, json } = voice(flags)
  if (flags.on && flags.off)
    throw new Problem('--on and --off exclude each other; leave one out.', exits.usage)
  const switched = flags.on === true || flags.off === true
  if (switched !== (server !== undefined))
    throw new Problem('A server is switched with its name and --on or --off.', exits.usage)
  return trip(flags, async (client) => {
    const { resource } = await findSession(client, name)
    const session = client.subscribe('session', resource)
    const all = serversOf(await session.ready())
    if (server === undefined) {
      if (json) for (const each of all) tell(document(each), () => '')
      else if (all.length > 0) tell({}, () => table(all.map(row)))
      else note('This session has no MCP servers; name some as mcpServers in the config of the host.')
      return
    }
    const one = all.find((each) => each.name === server)
    if (!one)
      throw new Problem(`There is no MCP server '${server}' here; there is: ${namesOf(all)}.`, exits.usage)
    const enabled = flags.on === true
    const enablement = [{ kind: 'session', enabled } as const]
    accepted(await session.dispatch({ type: 'session/customizationToggled', id: one.id, enablement }))
    did(
      { ...document(one), on: enabled },
      () => `${onOneLine(one.name)} is ${onOrOff(enabled)} from the next turn on.`,
    )
  })
}

function serversOf({ customizations = [] }: SessionState): readonly McpServerCustomization[] {
  return customizations.flatMap((each) => (each.type === 'mcpServer' ? [each] : []))
}

function isOn({ enablement = [] }: McpServerCustomization): boolean {
  return enablement[0]?.enabled ?? true
}

function document(server: McpServerCustomization): object {
  return { id: server.id, name: server.name, on: isOn(server), state: server.state }
}

function row(server: McpServerCustomization): readonly string[] {
  const { name, state } = server
  const how = state.kind === 'error' ? onOneLine(state.error.message) : state.kind
  return [onOneLine(name), onOrOff(isOn(server)), how]
}

function onOrOff(on: boolean): string {
  return on ? 'on' : 'off'
}

function namesOf(all: readonly McpServerCustomization[]): string {
  return all.map(({ name }) => onOneLine(name)).join(', ') || 'none'
}
