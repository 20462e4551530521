import type { Client } from '@atrium/client/client'
import { isJsonObject } from '@atrium/protocol/json'
import { rootUri } from '@atrium/protocol/uri'
import { useLiveChannel } from '../../link/live-channel.ts'

/**
 * Whether an agent takes a message into the turn that runs. If not, such a message goes to the agent after the turn. An agent
 * of which nobody knows counts as one that does.
 */
export function useSteering(client: Client, provider: string | undefined): boolean {
  const { state } = useLiveChannel(client, 'root', rootUri)
  const info: unknown = state?.agents.find((each) => each.provider === provider)
  // The schema of these members is not used: the page would be a quarter larger.
  const _meta = isJsonObject(info) ? info['_meta'] : undefined
  const own = isJsonObject(_meta) ? _meta['x-atrium'] : undefined
  return !isJsonObject(own) || own['takesSteering'] !== false
}
