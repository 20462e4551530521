import type { Finding } from '../doctor/finding.ts'
import { hostFindings } from '../doctor/host.ts'
import { machineFindings, settingsFinding } from '../doctor/machine.ts'
import { exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { onOneLine, voice } from '../terminal/output.ts'
import type { Manners, Style } from '../terminal/output.ts'

/** `atrium doctor`: looks at all that a host needs, and says how to mend what is wrong. Needs no host. */
export async function doctor(flags: Whereabouts & Manners): Promise<Exit> {
  const { tell, quiet, style } = voice(flags)
  const { finding, settings } = await settingsFinding(flags.data)
  const found = settings
    ? [finding, ...(await machineFindings(settings)), ...(await hostFindings(flags, settings))]
    : [finding]
  for (const each of found) if (!quiet || each.level !== 'ok') tell(each, () => line(each, style))
  return found.some(({ level }) => level === 'fail') ? exits.error : exits.ok
}

function line({ level, about, detail, mend }: Finding, { green, yellow, red, dim }: Style): string {
  const mark = { ok: green('ok  '), warn: yellow('warn'), fail: red('fail') }[level]
  const way = mend === undefined ? '' : dim(` → ${mend}`)
  return `${mark}  ${about.padEnd(8)}  ${onOneLine(detail)}${way}`
}
