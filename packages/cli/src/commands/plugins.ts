import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { Client } from '@atrium/client/client'
import type { CustomizationEnablement } from '@atrium/protocol/session/customization'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { assertAccepted } from '../link/dispatch.ts'
import { isRemote } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { withClient } from '../link/with-client.ts'
import { printList } from '../render/table.ts'
import { enablementOf, findItem, itemsOf, rowOf, documentOf } from '../session/customizations.ts'
import { findSession } from '../session/find.ts'
import { setRoot } from '../session/permissions.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import { onOneLine, output, sanitize } from '../terminal/output.ts'
import type { Output, OutputOptions } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly folder?: boolean
  readonly everywhere?: boolean
}

interface Call {
  readonly client: Client
  readonly out: Output
  readonly flags: Flags
  readonly first: string | undefined
  readonly second: string | undefined
}

/** The commands below `atrium plugins`, by name. */
const actions: { readonly [name: string]: (call: Call) => Promise<void> } = {
  ls: async (call) => (call.first === undefined ? listHost(call) : listSession(call, call.first)),
  add: (call) => changeHost(call, (all, folder) => [...all.filter((each) => each !== folder), folder]),
  remove: (call) => changeHost(call, (all, folder) => all.filter((each) => each !== folder)),
  trust: (call) => toggle(call, true),
  on: (call) => toggle(call, true),
  off: (call) => toggle(call, false),
}

/**
 * `atrium plugins`: lists, adds and removes the plugins of the host, and switches the customizations of a session on
 * or off.
 */
export function plugins(
  name: string | undefined,
  first: string | undefined,
  second: string | undefined,
  flags: Flags,
): Promise<void> {
  const action = Object.hasOwn(actions, name ?? 'ls') ? actions[name ?? 'ls'] : undefined
  if (!action)
    throw new CommandError(
      `There is no 'plugins ${name}'; there is: ${Object.keys(actions).join(', ')}.`,
      exits.usage,
    )
  return withClient(flags, (client) => action({ client, out: output(flags), flags, first, second }))
}

async function listHost({ client, out }: Call): Promise<void> {
  printList(out, await hostPlugins(client), {
    document: (folder) => ({ folder }),
    row: (folder) => [sanitize(folder)],
    empty: 'The host has no plugins; add one with atrium plugins add FOLDER, or list those of a session.',
  })
}

async function listSession({ client, out }: Call, name: string): Promise<void> {
  const { resource } = await findSession(client, name)
  const state = await client.subscribe('session', resource).ready()
  printList(out, itemsOf(state.customizations), {
    document: documentOf,
    row: (each) => rowOf(each, out.style),
    empty: 'This session has no plugins and no other customizations.',
  })
}

async function changeHost(
  { client, out, flags, first }: Call,
  change: (all: readonly string[], folder: string) => readonly string[],
): Promise<void> {
  if (first === undefined) throw new CommandError('Which folder? Name the folder of the plugin.', exits.usage)
  const folder = isRemote(flags) ? first : resolve(first)
  if (!isAbsolute(folder))
    throw new CommandError('The folder of a remote host must be absolute.', exits.usage)
  const before = await hostPlugins(client)
  if (!isRemote(flags) && !existsSync(folder) && !before.includes(folder))
    throw new CommandError(`There is no ${folder}; name the folder of a plugin.`)
  const after = change(before, folder)
  if (after.length === before.length && !after.includes(folder))
    throw new CommandError(`${folder} is no plugin of the host; see them with: atrium plugins`)
  await setRoot(client.subscribe('root', rootUri), { 'atrium.plugins': after })
  const added = after.length > before.length || after.includes(folder)
  out.report({ folder, added }, () => `${added ? 'Added' : 'Removed'}: ${sanitize(folder)}`)
}

async function hostPlugins(client: Client): Promise<readonly string[]> {
  const { config } = await client.subscribe('root', rootUri).ready()
  const value = config?.values['atrium.plugins']
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** Enables or disables a customization. If it has programs, enabling it allows these programs to run, and prints them. */
async function toggle({ client, out, flags, first, second }: Call, enabled: boolean): Promise<void> {
  if (first === undefined || second === undefined)
    throw new CommandError('Name the session, and then the plugin or one of its parts.', exits.usage)
  const { resource } = await findSession(client, first)
  const session = client.subscribe('session', resource)
  const state = await session.ready()
  const item = findItem(state.customizations, second)
  if (!item)
    throw new CommandError(`This session has no '${second}'; see: atrium plugins ls ${first}.`, exits.usage)
  const decision = decisionOf(flags, state, enabled)
  const enablement = [
    decision,
    ...enablementOf(item.of).filter(({ kind }) => kind !== decision.kind),
  ].toSorted((a, b) => scopes.indexOf(a.kind) - scopes.indexOf(b.kind))
  assertAccepted(await session.dispatch({ type: 'session/customizationToggled', id: item.of.id, enablement }))
  out.report({ ...documentOf(item), on: enabled }, () =>
    [
      `${onOneLine(item.of.name)} is ${enabled ? 'on' : 'off'} ${where(decision)}.`,
      ...(enabled ? item.programs.map((line) => `  It may run: ${sanitize(line)}`) : []),
    ].join('\n'),
  )
}

const scopes: readonly string[] = ['session', 'workspace', 'global']

function decisionOf(
  { folder, everywhere }: Flags,
  state: SessionState,
  enabled: boolean,
): CustomizationEnablement {
  if (everywhere) return { kind: 'global', enabled }
  if (!folder) return { kind: 'session', enabled }
  const [uri] = state.workingDirectories ?? []
  if (uri === undefined)
    throw new CommandError('This session has no folder; leave --folder out.', exits.usage)
  return { kind: 'workspace', uri, enabled }
}

function where({ kind }: CustomizationEnablement): string {
  return kind === 'global' ? 'in all sessions' : kind === 'workspace' ? 'in this folder' : 'in this session'
}
