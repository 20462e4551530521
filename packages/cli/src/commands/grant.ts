import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import { allPermissionGrants, grantFolder, revokePermission } from '../session/permissions.ts'
import type { PermissionGrant } from '../session/permissions.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import { isRemote } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { printList } from '../render/table.ts'
import { shortName } from '../session/find.ts'
import { withClient } from '../link/with-client.ts'
import { localTime } from '../terminal/local-time.ts'
import { sanitize, onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions, Style } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly write?: boolean
}

/** `atrium grant`: lets clients and agents use a folder. Without a folder, lists all grants and permissions. */
export function grant(folder: string | undefined, flags: Flags): Promise<void> {
  const out = output(flags)
  const uri = folder === undefined ? undefined : uriOf(folder, flags)
  if (uri !== undefined && !isRemote(flags) && !existsSync(shown(uri)))
    throw new CommandError(`There is no ${shown(uri)}; grant a folder that is there.`)
  return withClient(flags, async (client) => {
    if (uri !== undefined) {
      await grantFolder(client, uri, flags.write === true)
      return out.report({ kind: 'grant', uri, write: flags.write === true }, () => {
        return `Granted: ${sanitize(shown(uri))}${flags.write ? '' : ', for reading; add --write for more'}.`
      })
    }
    const all = await allPermissionGrants(client)
    printList(out, all, {
      document: (each) => each,
      row: (each) => row(each, out.style),
      empty: 'There are no grants and no permissions. Grant a folder with: atrium grant FOLDER',
    })
  })
}

/** `atrium revoke`: revokes the grant of a folder and all permissions in it, or one permission. */
export function revoke(what: string, flags: Flags): Promise<void> {
  const { report } = output(flags)
  return withClient(flags, async (client) => {
    const all = await allPermissionGrants(client)
    for (const each of matching(all, what, flags)) {
      await revokePermission(client, each)
      report(each, () => `Taken back: ${row(each).filter(Boolean).join(' ')}`)
    }
  })
}

/** Finds a permission by the beginning of its id. Any other name is a folder. */
function matching(all: readonly PermissionGrant[], what: string, flags: Flags): readonly PermissionGrant[] {
  const named =
    what === '' ? [] : all.filter((each) => each.kind === 'permission' && each.id.startsWith(what))
  const exact = named.filter((each) => each.kind === 'permission' && each.id === what)
  if (exact.length === 1 || named.length === 1) return exact.length === 1 ? exact : named
  if (named.length > 1)
    throw new CommandError(`${named.length} permissions begin with '${what}'; type more of it.`, exits.usage)
  const uri = uriOf(what, flags)
  const there = all.filter((each) => (each.kind === 'grant' ? each.uri : each.folder) === uri)
  if (there.length > 0) return there
  throw new CommandError(`There is no grant or permission '${what}'; list all with: atrium grant`)
}

/**
 * Returns the URI of a path, or of a `file:` URI. A remote host has another working directory, so its paths must be
 * absolute.
 */
function uriOf(folder: string, flags: Flags): string {
  if (/^file:/i.test(folder)) {
    const named = pathOf(folder)
    if (named.ok) return fileUri(named.path)
    throw new CommandError(named.problem, exits.usage)
  }
  if (isRemote(flags) && !isAbsolute(folder))
    throw new CommandError(`'${folder}' must be an absolute path, because the host is remote.`, exits.usage)
  return fileUri(resolve(folder))
}

function shown(uri: string): string {
  const named = pathOf(uri)
  return named.ok ? named.path : uri
}

function row(entry: PermissionGrant, style?: Style): readonly string[] {
  if (entry.kind === 'grant') {
    const { uri, write } = entry
    return ['folder', write ? 'read and write' : 'read', sanitize(shown(uri)), '', '']
  }
  const { id, tool, folder, session, by, since } = entry
  const scope =
    session === undefined ? sanitize(shown(folder ?? 'everywhere')) : `session ${shortName(session)}`
  const origin = by === undefined ? '' : `by ${onOneLine(by).slice(0, 8)}`
  const short = sanitize(id).slice(0, 8)
  return [
    'tool',
    onOneLine(tool),
    scope,
    style?.dim(short) ?? short,
    [origin, since === undefined ? '' : localTime(since)].join(' ').trim(),
  ]
}
