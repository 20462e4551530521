import type { Finding } from '../doctor/finding.ts'
import { hostFindings } from '../doctor/host.ts'
import { machineFindings, settingsFinding } from '../doctor/machine.ts'
import { exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import type { HostOptions } from '../link/connect.ts'
import { onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions, Style } from '../terminal/output.ts'

/** `atrium doctor`: checks the machine and the host, and says how to fix problems. Needs no running host. */
export async function doctor(flags: HostOptions & OutputOptions): Promise<Exit> {
  const { print, quiet, style } = output(flags)
  const { finding, settings } = await settingsFinding(flags.data)
  const found = settings
    ? [finding, ...(await machineFindings(settings)), ...(await hostFindings(flags, settings))]
    : [finding]
  for (const each of found) if (!quiet || each.level !== 'ok') print(each, () => line(each, style))
  return found.some(({ level }) => level === 'fail') ? exits.error : exits.ok
}

function line({ level, about, detail, mend }: Finding, { green, yellow, red, dim }: Style): string {
  const mark = { ok: green('ok  '), warn: yellow('warn'), fail: red('fail') }[level]
  const remedy = mend === undefined ? '' : dim(` → ${mend}`)
  return `${mark}  ${about.padEnd(8)}  ${onOneLine(detail)}${remedy}`
}
