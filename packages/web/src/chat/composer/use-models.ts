import type { Client } from '@atrium/client/client'
import type { SessionModelInfo } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { useMemo } from 'preact/hooks'
import { useLiveChannel } from '../../link/live-channel.ts'

const none: readonly SessionModelInfo[] = []

/** The models of an agent that may be chosen. */
export function useModels(client: Client, provider: string): readonly SessionModelInfo[] {
  const { state } = useLiveChannel(client, 'root', rootUri)
  const models = state?.agents.find((each) => each.provider === provider)?.models ?? none
  return useMemo(() => models.filter(({ policyState }) => policyState !== 'disabled'), [models])
}
