import { titleChange } from './fair.ts'
import { Wire, masked } from '../wire.ts'

// Links that send as fast as the host takes it, each to a session of its own. Arguments: the port, the number of links.
const [port = '', count = ''] = process.argv.slice(2)
const chunk = 100

async function open(index: number): Promise<Wire> {
  const wire = await Wire.open(Number(port))
  const channel = `ahp-session:/flood-${process.pid}-${index}`
  await wire.ask('initialize', {
    channel: 'ahp-root://',
    protocolVersions: ['1.0.0'],
    clientId: `flood-${process.pid}-${index}`,
  })
  await wire.ask('createSession', { channel })
  await wire.ask('subscribe', { channel })
  let clientSeq = 0
  const flood = (): void => {
    const frames = Array.from({ length: chunk }, () => masked(titleChange(channel, ++clientSeq)))
    wire.write(Buffer.concat(frames), () => setImmediate(flood))
  }
  flood()
  return wire
}

const wires = await Promise.all(Array.from({ length: Number(count) }, (_, index) => open(index)))
const echoes = () => wires.reduce((sum, wire) => sum + wire.frames, 0)
await wires[0]?.until(() => echoes() > 1000)
process.on('message', () => process.send?.(echoes()))
process.send?.('flooding')
