import type { Client } from '@atrium/client/client'
import type { SessionConfigSchema } from '@atrium/protocol/common/config'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { fileUri } from '@atrium/protocol/file-uri'
import { useEffect, useState } from 'preact/hooks'
import type { ConfigValues } from './config-form.tsx'

export interface ResolvedConfig {
  readonly schema: SessionConfigSchema
  readonly values: ConfigValues
}

/**
 * The settings that a session with this agent in this folder can have. Undefined until the host has answered, and if
 * the request fails. They are requested again when the host knows more of the agent.
 */
export function useSessionConfig(
  client: Client,
  agent: AgentInfo | undefined,
  path: string,
): ResolvedConfig | undefined {
  const [resolved, setResolved] = useState<ResolvedConfig>()
  useEffect(() => {
    if (!agent) return
    const { provider } = agent
    let current = true
    const params = { provider, ...(path !== '' && { workingDirectory: fileUri(path) }) }
    client.ask('resolveSessionConfig', params).then(
      (found) => {
        if (current) setResolved(found)
      },
      // If the request fails, the dialog shows no settings.
      () => current && setResolved(undefined),
    )
    return () => void (current = false)
  }, [client, agent, path])
  return resolved
}
