import { EnvelopesParams, StateAtParams } from '@atrium/protocol/root/past'
import { command, part } from '../../kernel/part.ts'
import { CallCount } from './call-count.ts'
import { ChannelHistories } from './history.ts'

/** Earlier states and stored envelopes of channels. */
export const history = part<ChannelHistories>({
  name: 'history',
  open: (core) => new ChannelHistories(core, new CallCount(core.limits)),
  commands: {
    'x-atrium/stateAt': command('watch', StateAtParams, (past, params, link) => past.stateAt(link, params)),
    'x-atrium/envelopes': command('watch', EnvelopesParams, (past, params, link) =>
      past.envelopes(link, params),
    ),
  },
})
