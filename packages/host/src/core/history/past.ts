import type {
  EnvelopesParams,
  PastPage,
  PastState,
  StateAtParams,
  Unfinished,
} from '@atrium/protocol/root/past'
import type { Listener } from '../../log/entry.ts'

/**
 * Reads the past of channels for the commands of clients: earlier states, and stored envelopes. `link` is the
 * connection that asks.
 */
export interface Past {
  stateAt(link: Listener, params: StateAtParams): Promise<PastState<object> | Unfinished>
  envelopes(link: Listener, params: EnvelopesParams): Promise<PastPage | Unfinished>
}
