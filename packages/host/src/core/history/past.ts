import type { Listener } from '../../log/entry.ts'
import type {
  EnvelopesParams,
  EnvelopesResult,
  StateAtParams,
  StateAtResult,
  Unfinished,
} from './extensions.ts'

/** The past of the channels, as the commands of clients read it. `link` is the connection that asks. */
export interface Past {
  stateAt(link: Listener, params: StateAtParams): Promise<StateAtResult | Unfinished>
  envelopes(link: Listener, params: EnvelopesParams): Promise<EnvelopesResult | Unfinished>
}
