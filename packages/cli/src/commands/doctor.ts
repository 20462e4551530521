import type { Finding } from '../doctor/finding.ts'
import { printDisk } from '../doctor/disk.ts'
import { connectedClients, hostFindings } from '../doctor/host.ts'
import { machineFindings, settingsFinding } from '../doctor/machine.ts'
import { exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import type { HostOptions } from '../link/connect.ts'
import { onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions, Style } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  /** Show what takes the space in the data folder, instead of checking. */
  readonly disk?: boolean
  /** List the connected clients and what each cannot see in its protocol version, instead of checking. */
  readonly clients?: boolean
}

/** `atrium doctor`: checks the machine and the host, and says how to fix problems. Needs no running host. */
export async function doctor(flags: Flags): Promise<Exit> {
  const out = output(flags)
  const { print, quiet, style } = out
  const { finding, settings } = await settingsFinding(flags.data)
  if (flags.disk && settings) {
    printDisk(out, settings.data)
    return exits.ok
  }
  if (flags.clients) {
    for (const each of await connectedClients(flags)) print(each, () => line(each, style))
    return exits.ok
  }
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
