import type { Uri } from '@atrium/protocol/channel'
import { Activity, activityOf, Flag, hasFlag } from '@atrium/protocol/status'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { connect } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { ago, folderOf } from '../session/summary-words.ts'
import { table } from '../render/table.ts'
import { allSessions, shortNames } from '../session/find.ts'
import { localTime } from '../terminal/local-time.ts'
import { sanitize, output } from '../terminal/output.ts'
import type { OutputOptions, Style } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly all?: boolean
}

/** `atrium ls`: lists the sessions, the last modified first. With `--quiet` only their ids, for scripts. */
export async function list(flags: Flags): Promise<void> {
  const out = output(flags)
  const client = await connect(flags)
  const found = await allSessions(client)
  const shown = flags.all ? found : found.filter(({ status }) => !hasFlag(status, Flag.IsArchived))
  client.close()
  if (out.quiet && !out.json) {
    for (const { resource } of shown) out.print({}, () => resource.slice(resource.lastIndexOf('/') + 1))
    return
  }
  const uris = found.flatMap(({ resource, chats = [] }) => [resource, ...chats.map((chat) => chat.resource)])
  const names = shortNames(uris)
  // A narrow terminal has no space for the folder.
  const wide = (process.stdout.columns ?? 100) >= 80
  const columns = (row: Row) => (wide ? row : row.filter((_, at) => at !== folderColumn))
  const header = ['SESSION', 'STATE', 'AGE', 'AGENT', 'FOLDER', 'TITLE'].map(out.style.dim)
  const rows = withBeginnings(shown).flatMap((session) => rowsOf(session, names, out.style))
  for (const session of shown) out.printJson(session)
  if (shown.length === 0)
    out.note(
      found.length === 0
        ? 'No sessions yet; begin one with: atrium run "…"'
        : 'All sessions are archived; see them with: atrium ls --all',
    )
  else if (!out.json) out.print({}, () => table([header, ...rows].map(columns)))
}

/** Adds to each title that several sessions have the local time at which its session began. */
function withBeginnings(sessions: readonly SessionSummary[]): readonly SessionSummary[] {
  const count = new Map<string, number>()
  for (const { title } of sessions) count.set(title, (count.get(title) ?? 0) + 1)
  return sessions.map((session) => {
    const { title, createdAt } = session
    return (count.get(title) ?? 0) < 2
      ? session
      : { ...session, title: `${title} (${localTime(createdAt)})`.trim() }
  })
}

type Row = readonly string[]

const folderColumn = 4

/** The row of a session, and one for each chat that was forked from another one. */
function rowsOf(session: SessionSummary, names: ReadonlyMap<Uri, string>, style: Style): readonly Row[] {
  const { resource, title, status, modifiedAt, provider, chats = [] } = session
  const named = (uri: Uri) => style.cyan(sanitize(names.get(uri) ?? ''))
  const titled = (text: string) => sanitize(text) || style.dim('(no title)')
  const forks = chats.filter(({ origin }) => origin?.kind === 'fork')
  return [
    [
      named(resource),
      activityName(status, style),
      ago(new Date(modifiedAt)),
      sanitize(provider),
      folderOf(session),
      titled(title),
    ],
    ...forks.map((chat) => [
      `└ ${named(chat.resource)}`,
      activityName(chat.status ?? 0, style),
      '',
      '',
      '',
      titled(chat.title ?? ''),
    ]),
  ]
}

function activityName(status: number, { yellow, green, red, dim }: Style): string {
  const activity = activityOf(status)
  if (activity === Activity.InputNeeded) return yellow('asks')
  if (activity === Activity.InProgress) return green('works')
  return activity === Activity.Error ? red('failed') : dim('idle')
}
