import type { Listener } from '../../log/entry.ts'
import type {
  EnvelopesParams,
  EnvelopesResult,
  StateAtParams,
  StateAtResult,
  Unfinished,
} from './extensions.ts'

/**
 * Reads the past of channels for the commands of clients: earlier states, and stored envelopes. `link` is the
 * connection that asks.
 */
export interface Past {
  stateAt(link: Listener, params: StateAtParams): Promise<StateAtResult | Unfinished>
  envelopes(link: Listener, params: EnvelopesParams): Promise<EnvelopesResult | Unfinished>
}
