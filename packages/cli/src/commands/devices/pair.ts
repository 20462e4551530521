import { decode, object, string } from '@atrium/protocol/schema'
import { Device } from '@atrium/protocol/root/device'
import { checkedUrl } from '../../link/connect.ts'
import { keepCredential } from '../../link/paired-hosts.ts'
import { CommandError, exits, sentenceOf } from '../../terminal/exit.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

const Paired = object<{ readonly token: string; readonly device: Device }>('Paired', {
  token: string,
  device: Device,
})

/** `atrium pair`: makes this machine a device of a host. From then on `--host URL` needs no token. */
export async function pair(host: string, code: string, flags: OutputOptions): Promise<void> {
  const url = checkedUrl(host)
  const { token, device } = await redeem(url, code)
  const file = await keepCredential(url, token, process.env)
  output(flags).report(
    { device, file },
    () =>
      `This machine is the device "${onOneLine(device.name)}" of ${onOneLine(new URL(url).host)}, with the role ` +
      `${device.role}.\nUse it with: atrium ls --host ${host}`,
  )
}

async function redeem(url: string, code: string): Promise<{ token: string; device: Device }> {
  const address = new URL('/pair', url.replace(/^ws/, 'http'))
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new CommandError(`No host answers at ${address.origin}: ${sentenceOf(cause)}`)
  })
  const text = await response.text()
  if (response.status === 409) throw new CommandError(`${onOneLine(text.trim())}.`, exits.denied)
  if (!response.ok) throw refusal(response.status, address)
  const decoded = decode(Paired, parsed(text))
  if (!decoded.ok) throw new CommandError(`${address.origin} is no Atrium host that pairs devices.`)
  return decoded.value
}

function refusal(status: number, { origin, host }: URL): CommandError {
  if (status === 403)
    return new CommandError(
      'The host does not accept this code: it is wrong, was used, or has ended. Get another one with: atrium devices add NAME',
      exits.denied,
    )
  if (status === 429)
    return new CommandError('There were too many wrong codes; try again in some minutes.', exits.denied)
  if (status === 421)
    return new CommandError(
      `The host does not accept this address; start it with: atrium serve --allow-host ${host}`,
    )
  return new CommandError(`${origin} is no Atrium host that pairs devices (${status}).`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
