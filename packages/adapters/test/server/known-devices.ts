import { AhpError } from '@atrium/protocol/errors'
import type { Device } from '@atrium/protocol/root/device'
import type { DeviceProof, KnownDevices } from '../../src/server/devices/pairing.ts'

/** Devices in memory, with codes that work once. After `fill()` there is no room for another device. */
export class MemoryDevices implements KnownDevices {
  readonly #devices = new Map<string, Device & DeviceProof>()
  readonly #codes = new Set<string>()
  #count = 0
  #isFull = false

  fill(): void {
    this.#isFull = true
  }

  find(hash: string): Device | undefined {
    return [...this.#devices.values()].find((device) => device.hash === hash)
  }

  async redeem(code: string, proof: DeviceProof): Promise<Device | undefined> {
    if (!this.#codes.delete(code)) return undefined
    this.#checkRoom()
    const id = `device ${++this.#count}`
    const device = { id, name: id, role: 'own' as const, pairedAt: '2026-01-01T00:00:00.000Z', ...proof }
    this.#devices.set(id, device)
    return device
  }

  keyOf(id: string): { readonly device: Device; readonly publicKey: string } | undefined {
    const device = this.#devices.get(id)
    return device?.publicKey === undefined ? undefined : { device, publicKey: device.publicKey }
  }

  browserCode(): string {
    this.#checkRoom()
    const code = `code ${++this.#count}`
    this.#codes.add(code)
    return code
  }

  revoke(id: string): void {
    this.#devices.delete(id)
  }

  #checkRoom(): void {
    if (this.#isFull) throw AhpError.permissionDenied('revoke a device first')
  }
}
