import { part } from '../../kernel/part.ts'
import { withCallMeta } from './call-meta.ts'
import { convertDenial, isDenialOf } from './denied-call.ts'

/** Tool calls. */
export const tools = part({
  name: 'tools',
  rules: {
    resends: [isDenialOf],
    conversions: [(channel, action, { clientId }) => convertDenial(channel, action, clientId)],
    completions: [(_, channel, action, by) => withCallMeta(channel, action, by)],
  },
})
