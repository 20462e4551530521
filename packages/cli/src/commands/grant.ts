import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import { allAllowances, grantFolder, takeBack } from '../session/permissions.ts'
import type { Allowance } from '../session/permissions.ts'
import { Problem, exits } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { table } from '../render/table.ts'
import { shortName } from '../session/find.ts'
import { trip } from '../link/with-client.ts'
import { harmless, onOneLine, voice } from '../terminal/output.ts'
import type { Manners, Style } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly write?: boolean
}

/** `atrium grant`: lets clients and agents use a folder; without one it lists all that was ever allowed. */
export function grant(folder: string | undefined, flags: Flags): Promise<void> {
  const { tell, did, note, json, style } = voice(flags)
  const uri = folder === undefined ? undefined : uriOf(folder, flags)
  if (uri !== undefined && !elsewhere(flags) && !existsSync(shown(uri)))
    throw new Problem(`There is no ${shown(uri)}; grant a folder that is there.`)
  return trip(flags, async (client) => {
    if (uri !== undefined) {
      await grantFolder(client, uri, flags.write === true)
      return did({ kind: 'grant', uri, write: flags.write === true }, () => {
        return `Granted: ${harmless(shown(uri))}${flags.write ? '' : ', for reading; add --write for more'}.`
      })
    }
    const all = await allAllowances(client)
    if (json) for (const each of all) tell(each, () => '')
    else if (all.length > 0) tell({}, () => table(all.map((each) => row(each, style))))
    else note('Nothing is allowed beyond the folders of the sessions, and every tool asks.')
  })
}

/** `atrium revoke`: takes back a folder with all that is allowed in it, or one permission. */
export function revoke(what: string, flags: Flags): Promise<void> {
  const { did } = voice(flags)
  return trip(flags, async (client) => {
    const all = await allAllowances(client)
    for (const each of meant(all, what, flags)) {
      await takeBack(client, each)
      did(each, () => `Taken back: ${row(each).filter(Boolean).join(' ')}`)
    }
  })
}

/** A permission is meant by the beginning of its id; whatever else is typed is a folder. */
function meant(all: readonly Allowance[], what: string, flags: Flags): readonly Allowance[] {
  const named =
    what === '' ? [] : all.filter((each) => each.kind === 'permission' && each.id.startsWith(what))
  const exact = named.filter((each) => each.kind === 'permission' && each.id === what)
  if (exact.length === 1 || named.length === 1) return exact.length === 1 ? exact : named
  if (named.length > 1)
    throw new Problem(`${named.length} permissions begin with '${what}'; type more of it.`, exits.usage)
  const uri = uriOf(what, flags)
  const there = all.filter((each) => (each.kind === 'grant' ? each.uri : each.folder) === uri)
  if (there.length > 0) return there
  throw new Problem(`Nothing is allowed by the name of '${what}'; see what is with: atrium grant`)
}

/** A path here, or a `file:` URI. On another machine nobody knows what a relative one would mean. */
function uriOf(folder: string, flags: Flags): string {
  if (/^file:/i.test(folder)) {
    const named = pathOf(folder)
    if (named.ok) return fileUri(named.path)
    throw new Problem(named.problem, exits.usage)
  }
  if (elsewhere(flags) && !isAbsolute(folder))
    throw new Problem(`'${folder}' must be a whole path, because the host is elsewhere.`, exits.usage)
  return fileUri(resolve(folder))
}

function elsewhere({ host }: Whereabouts): boolean {
  return host !== undefined || Boolean(process.env['ATRIUM_URL'])
}

function shown(uri: string): string {
  const named = pathOf(uri)
  return named.ok ? named.path : uri
}

function row(allowance: Allowance, style?: Style): readonly string[] {
  if (allowance.kind === 'grant') {
    const { uri, write } = allowance
    return ['folder', write ? 'read and write' : 'read', harmless(shown(uri)), '', '']
  }
  const { id, tool, folder, session, by, since } = allowance
  const scope =
    session === undefined ? harmless(shown(folder ?? 'everywhere')) : `session ${shortName(session)}`
  const origin = by === undefined ? '' : `by ${onOneLine(by).slice(0, 8)}`
  const short = harmless(id).slice(0, 8)
  return [
    'tool',
    onOneLine(tool),
    scope,
    style?.dim(short) ?? short,
    [origin, onOneLine(since ?? '')].join(' ').trim(),
  ]
}
