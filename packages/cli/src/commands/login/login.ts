import type { Client } from '@atrium/client/client'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { isJsonObject } from '@atrium/protocol/json'
import { decode, object, string } from '@atrium/protocol/schema'
import { rootUri } from '@atrium/protocol/uri'
import { askExtension } from '../../link/extension.ts'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { printList } from '../../render/table.ts'
import { findSession } from '../../session/find.ts'
import { waitingServers } from '../../session/servers.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { Output, OutputOptions } from '../../terminal/output.ts'
import { askSecret } from '../../terminal/secret.ts'
import { readStdin } from '../../terminal/stdin.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly session?: string
  readonly out?: boolean
  readonly token?: boolean
}

/** A sign-in that can be made: its resource, and the agent or the MCP server that it is for. */
interface SignIn {
  readonly of: string
  readonly resource: ProtectedResourceMetadata
}

/** `atrium login`: signs in to an agent or an MCP server. Without a name: lists what one can sign in to. */
export function login(name: string | undefined, flags: Flags): Promise<void> {
  const out = output(flags)
  return withClient(flags, async (client) => {
    const all = await signIns(client, name, flags.session)
    if (name === undefined) {
      const empty =
        'Nothing asks for a sign-in. For the MCP servers of a session: atrium login --session NAME'
      return printList(out, all, { document, row, empty })
    }
    // One can sign out of a resource that nobody asks for now.
    const isUri = flags.out === true && name.includes('://')
    const { of, resource } = isUri ? { of: name, resource: { resource: name } } : chosen(all, name)
    const { resource: uri } = resource
    if (flags.out) {
      await client.ask('authenticate', { channel: rootUri, resource: uri, token: '' })
      return out.report({ resource: uri, signedIn: false }, () => `Signed out of ${nameOf(resource)}.`)
    }
    if (flags.token !== true && isBrowsed(client, resource)) {
      const { url } = begunIn(await askExtension(client, 'x-atrium/beginSignIn', { resource: uri }))
      out.note(`Open this address in a browser, and agree there:\n${onOneLine(url)}`)
      await askExtension(client, 'x-atrium/endSignIn', { resource: uri })
      return out.report({ resource: uri, signedIn: true }, () => `Signed in to ${nameOf(resource)}.`)
    }
    if (!takesTokens(resource))
      out.note(`· ${onOneLine(of)} signs in by itself; this may open a browser on its machine`)
    const token = takesTokens(resource) ? await tokenFor(resource, out) : 'sign in'
    await client.ask('authenticate', { channel: rootUri, resource: uri, token })
    out.report({ resource: uri, signedIn: true }, () => `Signed in to ${nameOf(resource)}.`)
  })
}

/** Returns the sign-ins that agents and the MCP servers of a session ask for. Tries the named agent first, unless it is known. */
async function signIns(
  client: Client,
  name: string | undefined,
  session: string | undefined,
): Promise<readonly SignIn[]> {
  const root = client.subscribe('root', rootUri)
  const { agents } = await root.ready()
  if (name !== undefined && agents.some(({ provider }) => provider === name))
    await client.ask('resolveSessionConfig', { channel: rootUri, provider: name, config: {} })
  const now = root.state?.agents ?? agents
  const ofAgents = now.flatMap(({ provider, protectedResources = [] }) =>
    protectedResources.map((resource) => ({ of: provider, resource })),
  )
  if (session === undefined) return ofAgents
  const { resource: uri } = await findSession(client, session)
  const servers = waitingServers(await client.subscribe('session', uri).ready())
  return [...servers.map(({ name: of, resource }) => ({ of, resource })), ...ofAgents]
}

/** Returns the sign-in of this agent, server or resource. Throws if there is none, or several. */
function chosen(all: readonly SignIn[], name: string): SignIn {
  const exact = all.find(({ resource }) => resource.resource === name)
  const found = exact ? [exact] : all.filter(({ of }) => of === name)
  const [first, ...others] = found
  if (first && others.length === 0) return first
  const known = (first ? found : all).map(({ resource }) => onOneLine(resource.resource)).join(', ')
  throw new CommandError(
    first
      ? `There are several ways to sign in to '${name}'; name one: ${known}.`
      : `Nothing called '${name}' asks for a sign-in; these do: ${known || 'none'}.`,
    exits.usage,
  )
}

async function tokenFor(resource: ProtectedResourceMetadata, out: Output): Promise<string> {
  const token = out.interactive
    ? await askSecret(`Token or key for ${nameOf(resource)}: `)
    : await readStdin((text) => out.note(text))
  if (token === '') throw new CommandError('Without a token nobody is signed in.', exits.usage)
  return token
}

/** Whether the host can get the token itself, with a browser of the person. */
function isBrowsed(
  client: Client,
  { authorization_servers: servers = [] }: ProtectedResourceMetadata,
): boolean {
  const own = client.host?._meta?.['x-atrium']
  const commands = isJsonObject(own) ? own['commands'] : undefined
  return servers.length > 0 && Array.isArray(commands) && commands.includes('x-atrium/beginSignIn')
}

const Begun = object<{ readonly url: string }>('Begun', { url: string })

function begunIn(answer: unknown): { readonly url: string } {
  const decoded = decode(Begun, answer)
  if (!decoded.ok) throw new CommandError('The host did not say where to sign in.')
  return decoded.value
}

function takesTokens({ bearer_methods_supported: methods }: ProtectedResourceMetadata): boolean {
  return methods === undefined || methods.length > 0
}

function document({ of, resource }: SignIn): object {
  return { for: of, ...resource }
}

function row({ of, resource }: SignIn): readonly string[] {
  return [onOneLine(of), nameOf(resource), onOneLine(resource.resource)]
}

function nameOf({ resource, resource_name: name }: ProtectedResourceMetadata): string {
  return onOneLine(name ?? resource)
}
