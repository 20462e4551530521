import { devicesOf } from '../src/parts/devices/devices.ts'
import { pair } from '@atrium/protocol/rpc/pair'
import type { Device, Role } from '@atrium/protocol/root/device'
import { Client } from './test-host.ts'
import type { TestHost } from './test-host.ts'

/** Pairs a device, as the gate does it with a code of the host. */
export async function pairedDevice(all: TestHost, role: Role, name: string = role): Promise<Device> {
  const { code } = devicesOf(all.core()).pair({ name, role })
  const device = await all.host().devices.redeem(code, { hash: `hash of ${name}` })
  if (!device) throw new Error('the code is not valid')
  return device
}

/** A client on a link of a device. The client has not sent a handshake yet. */
export function deviceLink(all: TestHost, device: Device): Client {
  const [near, far] = pair()
  all.host().connect(near, 'owner', device)
  return new Client(far)
}

/** A client of a new device. */
export async function pairedClient(all: TestHost, role: Role, name: string = role): Promise<Client> {
  const client = deviceLink(all, await pairedDevice(all, role, name))
  await client.initialize(`client of ${name}`)
  return client
}
