import { Activity, activityOf, Flag, hasFlag } from '@atrium/protocol/status'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { reach } from '../link/connect.ts'
import type { Whereabouts } from '../link/connect.ts'
import { table } from '../render/table.ts'
import { allSessions, shortNames } from '../session/find.ts'
import { harmless, voice } from '../terminal/output.ts'
import type { Manners, Style } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly all?: boolean
}

/** `atrium ls`: the sessions, those that changed last first. */
export async function list(flags: Flags): Promise<void> {
  const { tell, note, json, style } = voice(flags)
  const client = await reach(flags)
  const found = await allSessions(client)
  const shown = flags.all ? found : found.filter(({ status }) => !hasFlag(status, Flag.IsArchived))
  client.close()
  const names = shortNames(found.map(({ resource }) => resource))
  if (json) for (const session of shown) tell(session, () => '')
  else if (shown.length > 0)
    tell({}, () => table(shown.map((session) => row(session, names.get(session.resource) ?? '', style))))
  else note('No sessions yet; begin one with: atrium run "…"')
}

function row(
  { title, status, modifiedAt, provider }: SessionSummary,
  short: string,
  style: Style,
): readonly string[] {
  const time = new Date(modifiedAt)
  const name = harmless(title ?? '') || style.dim('(no title)')
  return [style.cyan(harmless(short)), doing(status, style), ago(time), harmless(provider), name]
}

function doing(status: number, { yellow, green, red, dim }: Style): string {
  const activity = activityOf(status)
  if (activity === Activity.InputNeeded) return yellow('asks')
  if (activity === Activity.InProgress) return green('works')
  return activity === Activity.Error ? red('failed') : dim('idle')
}

/** In the largest unit that says something. */
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
