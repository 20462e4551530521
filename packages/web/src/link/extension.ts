import type { Client } from '@atrium/client/client'
import { ownMember } from './member.ts'

/** Whether the host has a command that AHP does not have, and the role of this page allows it (O46). */
export function offers(client: Client, command: string): boolean {
  const commands = ownMember(client.host, 'commands')
  return Array.isArray(commands) && commands.includes(command)
}

/** Sends a command that AHP does not have. The answer is not checked: a host of the same build has made it. */
export async function askExtension(client: Client, command: string, params: object): Promise<unknown> {
  const peer = await client.live()
  return peer.request(command, params)
}
