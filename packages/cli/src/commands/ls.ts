import { Activity, activityOf, Flag, hasFlag } from '@atrium/protocol/status'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { connect } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { printList } from '../render/table.ts'
import { allSessions, shortNames } from '../session/find.ts'
import { sanitize, output } from '../terminal/output.ts'
import type { OutputOptions, Style } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly all?: boolean
}

/** `atrium ls`: lists the sessions, the last modified first. */
export async function list(flags: Flags): Promise<void> {
  const out = output(flags)
  const client = await connect(flags)
  const found = await allSessions(client)
  const shown = flags.all ? found : found.filter(({ status }) => !hasFlag(status, Flag.IsArchived))
  client.close()
  const names = shortNames(found.map(({ resource }) => resource))
  printList(out, shown, {
    document: (session) => session,
    row: (session) => row(session, names.get(session.resource) ?? '', out.style),
    empty: 'No sessions yet; begin one with: atrium run "…"',
  })
}

function row(
  { title, status, modifiedAt, provider }: SessionSummary,
  short: string,
  style: Style,
): readonly string[] {
  const time = new Date(modifiedAt)
  const name = sanitize(title ?? '') || style.dim('(no title)')
  return [style.cyan(sanitize(short)), activityName(status, style), ago(time), sanitize(provider), name]
}

function activityName(status: number, { yellow, green, red, dim }: Style): string {
  const activity = activityOf(status)
  if (activity === Activity.InputNeeded) return yellow('asks')
  if (activity === Activity.InProgress) return green('works')
  return activity === Activity.Error ? red('failed') : dim('idle')
}

/** Returns the age in the largest unit that is not zero. */
function ago(then: Date, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - then.getTime()) / 1000))
  const units: readonly (readonly [number, string])[] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'm'],
  ]
  const unit = units.find(([size]) => seconds >= size)
  return unit ? `${Math.floor(seconds / unit[0])}${unit[1]}` : 'now'
}
