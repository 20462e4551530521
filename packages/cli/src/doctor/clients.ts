import { unseenIn } from '@atrium/protocol/versions/features'
import { atriumMeta } from './host-meta.ts'
import type { WithMeta } from './host-meta.ts'
import { ok } from './finding.ts'
import type { Finding } from './finding.ts'

/** Lists the connected clients, this command included. `unseen`: also what each cannot see in its protocol version. */
export function clientFindings(client: WithMeta, unseen = false): readonly Finding[] {
  return (atriumMeta(client).clients ?? []).map(
    ({ title, name = 'without a name', version: build = '', protocolVersion }) => {
      const lacking = unseen ? unseenIn(protocolVersion) : []
      const limits = lacking.length === 0 ? '' : `; it cannot see: ${lacking.join('; ')}`
      return ok('client', `${title ?? name} ${build}, AHP ${protocolVersion}${limits}`)
    },
  )
}
