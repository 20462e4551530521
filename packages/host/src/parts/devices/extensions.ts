import { Role } from '@atrium/protocol/root/device'
import { id, object, string } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const pairDeviceParams = { channel: id, name: string, role: Role }
/** The params of `x-atrium/pairDevice`. Its result is a pairing code, and the number of seconds until the code ends. */
export interface PairDeviceParams extends Infer<typeof pairDeviceParams> {}
export const PairDeviceParams = object<PairDeviceParams>('AtriumPairDeviceParams', pairDeviceParams)

const revokeDeviceParams = { channel: id, id }
/** The params of `x-atrium/revokeDevice`. Its result is the device. */
export interface RevokeDeviceParams extends Infer<typeof revokeDeviceParams> {}
export const RevokeDeviceParams = object<RevokeDeviceParams>('AtriumRevokeDeviceParams', revokeDeviceParams)
