import type { McpServerCustomization } from '@atrium/protocol/session/customization'
import { CommandError, exits } from '../terminal/exit.ts'
import type { HostOptions } from '../link/connect.ts'
import { printList } from '../render/table.ts'
import { findSession } from '../session/find.ts'
import { serversOf } from '../session/servers.ts'
import { withClient } from '../link/with-client.ts'
import { onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions } from '../terminal/output.ts'
import { assertAccepted } from '../link/dispatch.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly on?: boolean
  readonly off?: boolean
}

/** `atrium mcp`: lists the MCP servers of a session, or switches one of them on or off for it. */
export function mcp(name: string, server: string | undefined, flags: Flags): Promise<void> {
  const out = output(flags)
  if (flags.on && flags.off)
    throw new CommandError('--on and --off exclude each other; leave one out.', exits.usage)
  const switched = flags.on === true || flags.off === true
  if (switched !== (server !== undefined))
    throw new CommandError('A server is switched with its name and --on or --off.', exits.usage)
  return withClient(flags, async (client) => {
    const { resource } = await findSession(client, name)
    const session = client.subscribe('session', resource)
    const all = serversOf(await session.ready())
    const empty = 'This session has no MCP servers; name some as mcpServers in the config of the host.'
    if (server === undefined) return printList(out, all, { document, row, empty })
    const one = all.find((each) => each.name === server)
    if (!one)
      throw new CommandError(
        `This session has no MCP server '${server}'; it has: ${namesOf(all)}.`,
        exits.usage,
      )
    const enabled = flags.on === true
    const enablement = [{ kind: 'session', enabled } as const]
    assertAccepted(await session.dispatch({ type: 'session/customizationToggled', id: one.id, enablement }))
    out.report(
      { ...document(one), on: enabled },
      () => `${onOneLine(one.name)} is ${onOrOff(enabled)} from the next turn on.`,
    )
  })
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
