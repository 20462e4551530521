import { NoParams, checkWritable, command, part } from '../../kernel/part.ts'
import { Devices, devicesOf } from './devices.ts'
import { PairDeviceParams, RevokeDeviceParams } from './extensions.ts'

/** The devices that may connect to the host. */
export const devices = part<Devices>({
  name: 'devices',
  key: devicesOf,
  open: ({ records, world, log, limits }) => Devices.open(records, world, log, limits),
  commands: {
    'x-atrium/devices': command('own', NoParams, ({ list }) => ({ devices: list })),
    'x-atrium/pairDevice': command('own', PairDeviceParams, (self, params, _, core) => {
      checkWritable(core)
      return self.pair(params)
    }),
    'x-atrium/revokeDevice': command('own', RevokeDeviceParams, (self, { id }) => self.revoke(id)),
  },
})
