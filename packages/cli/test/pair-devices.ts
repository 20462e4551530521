import { limits } from '@atrium/protocol/limits'
import { rootUri } from '@atrium/protocol/uri'
import { clientOf } from './client.ts'
import type { HostProcess } from './host-process.ts'

/** Pairs as many devices as a host may have. Returns a code that was made before, for one more device. */
export async function pairAllDevices(host: HostProcess): Promise<string> {
  const client = clientOf(host)
  const peer = await client.live()
  const codeFor = async (name: string) => {
    const params = { channel: rootUri, name, role: 'watch' }
    // The cast only names the field. A wrong code fails below.
    const { code } = (await peer.request('x-atrium/pairDevice', params)) as { readonly code: string }
    return code
  }
  const left = await codeFor('one more')
  for (let at = 0; at < limits.devices; at++) {
    const body = JSON.stringify({ code: await codeFor(`device ${at}`) })
    const { status } = await fetch(new URL('/pair', host.url.replace(/^ws/, 'http')), {
      method: 'POST',
      body,
    })
    if (status !== 200) throw new Error(`device ${at} was not paired (${status})`)
  }
  client.close()
  return left
}
